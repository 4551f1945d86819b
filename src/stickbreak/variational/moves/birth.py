"""Birth: further topics, from the documents that the present ones explain worst (a trial).

Hughes and Sudderth (2013) for mixtures: a fresh model is fitted to a target set, and its components join the others.
"""

from __future__ import annotations

from itertools import islice
from typing import Any, ClassVar

import numpy as np

from stickbreak.fitting.executor import Executor
from stickbreak.initialization import Start, smoothed_cvb0
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.streams import stream
from stickbreak.variational.local_step import Batch
from stickbreak.variational.model import HDP, Inference, Schedule
from stickbreak.variational.moves.refine import as_corpus, refined, sample
from stickbreak.variational.moves.trial import Trial
from stickbreak.variational.observations import Visit
from stickbreak.variational.state import GlobalParameters

DOCUMENTS = 500  # of the target
EMPTY = 1e-3  # tokens: topics with fewer after the sweeps are left out
TOPICS = 10  # that are born at once
SWEEPS = 30


class Birth(Trial):
    """Add up to ten topics found by collapsed inference in the documents that lose most under the present topics.

    Then all topics go through the collapsed sweeps of a refinement, so that every document can choose among them.

    A document's loss is what its words would gain, in nats, if it had a topic of its own. After a rejected birth the
    next one looks at the documents that lose less, until the topics change.
    """

    name: ClassVar[str] = "birth"

    def __init__(self) -> None:
        super().__init__()
        self._tries = 0
        self._seed = 0
        self._worst: list[Batch] = []

    def begin(self, state: Inference) -> None:
        """Forget the documents of the last lap."""
        super().begin(state)
        self._worst = []
        self._share = DOCUMENTS / max(state.totals.n_documents, 1)

    def observe(self, index: int, visit: Visit, executor: Executor) -> None:
        """Keep the documents of the batch that lose most."""
        n = max(1, round(self._share * visit.batch.n_documents))
        order = np.argsort(-losses(visit), kind="stable")
        first = n * self._tries % max(order.size, 1)
        assert isinstance(visit.batch, Batch)
        self._worst.append(visit.batch.selected(np.sort(order[first : first + n])))

    def propose(self, state: Inference, schedule: Schedule) -> tuple[GlobalParameters, Int] | None:
        """Return the present topics and those of the target."""
        model, parameters = state.model, state.parameters
        if not isinstance(model, HDP) or "eta" not in model.hyperparameters:
            return None  # collapsed inference is for words
        corpus = as_corpus(Batch.joined(self._worst), state.totals.S.shape[0])
        if corpus.n_tokens == 0:
            return None
        seed = int(stream(schedule.seed, f"birth {self._seed}").integers(2**31))
        self._seed += 1
        eta = model.hyperparameters["eta"]
        states = smoothed_cvb0(corpus, TOPICS, alpha=model.alpha, gamma=model.gamma, eta=eta, seed=seed)
        *_, found = islice(states, SWEEPS)
        born = found.N > corpus.n_tokens / TOPICS**2  # the others are leftovers
        share = found.N[born] / state.totals.N.sum()
        tau = np.concatenate([parameters.tau, model.likelihood.table(np.maximum(found.S[:, born], 0.0))], axis=1)
        weights = np.concatenate([parameters.expected_beta[:-1], share]) / (1.0 + share.sum())
        names = np.concatenate([state.topic_ids, state.next_id + np.arange(share.size)])
        everything, documents = sample(state, schedule)
        nowhere = np.zeros((documents.n_documents, names.size))  # every document may choose a new topic
        start = refined(state, everything, tau, weights, nowhere)
        used = start.counts.sum(axis=0) > EMPTY
        start = Start(np.ascontiguousarray(start.counts[:, used]), start.weights[used])
        return model.parameters(start, state.totals.n_documents), names[used]

    def reject(self, state: Inference, candidate: int) -> None:
        """Look at other documents next; rest once all were looked at."""
        self._found = None
        self._tries += 1
        if self._tries * self._share >= 1:
            self._tries = 0
            super().reject(state, candidate)

    def waiting(self, state: Inference) -> bool:
        """Whether births of these topics were rejected, but not yet for all documents."""
        return self._tries > 0 and not self._tired(state)

    def snapshot(self) -> dict[str, Any]:
        """Return what the move remembers."""
        return {**super().snapshot(), "tries": self._tries, "seed": self._seed}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Take up what `snapshot` returned."""
        super().restore(snapshot)
        self._tries, self._seed = int(snapshot["tries"]), int(snapshot["seed"])


def losses(visit: Visit) -> Float:
    """Return sum_w c_dw (log c_dw - log Z_dw) of each document, in nats, (D_b,); Z_dw is about n_d p(w | d)."""
    batch = visit.batch
    document = np.repeat(np.arange(batch.n_documents), np.diff(batch.indptr))
    normaliser = batch.count / visit.ratio
    return np.bincount(
        document,
        weights=batch.count * (np.log(batch.count) - np.log(normaliser)),
        minlength=batch.n_documents,
    ).astype(np.float64)
