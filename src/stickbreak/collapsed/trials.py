"""How many topics long documents begin with: trials of few and of more say (math.md (C26)).

Words of long documents stand beside words of all their topics, so that co-occurrence shows fewer topics than there are.
Its corners are rough topics all the same, and Gibbs sampling forms them. Documents that are set apart say whether more
of them predict better. The first passes of a fit do this, one by one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stickbreak.collapsed.aside import halved
from stickbreak.collapsed.companions import Companions
from stickbreak.collapsed.growing import taking_part
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.sampled import scores
from stickbreak.collapsed.shards import Shard
from stickbreak.collapsed.state import Priors
from stickbreak.collapsed.walking import Documents, are_short
from stickbreak.corpus import Corpus
from stickbreak.fitting.alive import alive
from stickbreak.fitting.checkpoint import is_table, require, whole_number
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.laps import Packed
from stickbreak.numerics.arrays import Float
from stickbreak.sparse_gibbs import priors as chain_priors
from stickbreak.sparse_gibbs.chain import SAMPLE_EVERY, Chain

LEAST, MOST = 1 << 18, 1 << 23  # stored counts of a collection that begins like this ...
MOST_TOKENS = 1 << 25  # ... and its tokens, each of which has a topic
JUDGES = 20  # documents set apart, at least
MANY = 0.35  # times the root of the stored counts
PASSES = 5  # of a trial
PART, PARTS = 1 << 18, 4  # tokens of a part, at least, and parts at most: threads sweep these
FORMING = 60  # of the topics that are taken, with those of the trial


class Trial:
    """Topics that Gibbs sampling forms.

    Parameters
    ----------
    corpus : Corpus
        The documents that take part.
    n_topics : int
    priors : Priors
        Of the fit. Weights of topics are learned from alike ones on.
    seed : int
    n_parts : int
        Of the documents and of the words, which are swept side by side. math.md (L11)
    engine : Engine, optional
        The default is the present thread.
    """

    def __init__(
        self, corpus: Corpus, n_topics: int, priors: Priors, seed: int, n_parts: int = 1, engine: Engine | None = None
    ) -> None:
        self._chain = Chain(corpus, n_topics, seed, averages=True, n_parts=n_parts, executor=engine)
        self._priors = chain_priors.Priors.even(n_topics, priors.alpha, priors.eta)
        self._given, self._n_parts, self.passes, self.objective = priors, n_parts, 0, 0.0

    def begin(self, topics: Float) -> Self:
        """Give each token one of the topics that have its word, (K, W)."""
        self._chain.begin_near(topics)
        return self

    def go_on(self) -> None:
        """Make a pass, whose objective is the mean log p of a token given all others.          math.md (L2), (L4)"""
        self.passes += 1
        self.objective = self._chain.lap(self.passes, self._priors)
        self._priors = self._chain.with_weights(self._priors, self.passes)

    @property
    def weights(self) -> Float:
        """Expected weights of the topics, a_k / alpha, (K,)."""
        weights: Float = self._priors.a / self._priors.alpha
        return weights

    @property
    def priors(self) -> Priors:
        """Priors of the fit with the alpha that was learned."""
        return replace(self._given, alpha=self._priors.alpha)

    @property
    def n_topics(self) -> int:
        """Number of topics that have tokens in the last pass."""
        return self._chain.in_use.size

    def topics(self) -> Float:
        """Return the mean counts of the topics that have tokens in the mean, and eta, (K, W).          math.md (L3)"""
        counts = self._chain.counts()
        return np.ascontiguousarray(counts[:, alive(counts.sum(axis=0))].T) + self._given.eta

    def counts(self) -> tuple[Float, Float]:
        """Return the mean counts (W, K) and the tables (K,) of the topics of the last pass.    math.md (L3), (L4)

        These have all tokens: what a word has in other topics, in the mean, is shared out as its tokens are.
        """
        counts, k = self._chain.counts(), self._chain.in_use
        total, kept = counts.sum(axis=1), np.ascontiguousarray(counts[:, k])
        kept *= (total / np.maximum(kept.sum(axis=1), np.finfo(np.float64).tiny))[:, None]
        return kept, self._chain.tables(self._priors)[k]

    def scores(self, judges: Sequence[Shard], seed: int, engine: Engine) -> Float:
        """Return the log probability of the tokens held out of each of some documents, (D',)."""
        return scores(judges, self._chain.counts(), self.weights, self.priors, seed, engine)

    def packed(self) -> Packed:
        """Return what the next passes depend on, as arrays and plain values."""
        arrays, values = self._chain.snapshot()
        more = {**self._priors.row(), "passes": self.passes, "objective": self.objective, "n_parts": self._n_parts}
        return {**arrays, "a": self._priors.a}, {**values, **more}

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any]) -> Self:
        """Take up what `packed` returned; a ValueError for what cannot be."""
        self.passes, self.objective = whole_number("passes", values["passes"]), values["objective"]
        require(values.get("n_parts", 1) == self._n_parts, "its passes swept the documents in other parts")
        sound = isinstance(self.objective, float) and math.isfinite(self.objective)
        require(sound, "the objective of a trial is not a number")
        require(values["n_samples"] == self.passes // SAMPLE_EVERY, "a trial has other samples than passes")
        self._priors = self._priors.restored(arrays["a"], values)
        self._chain.restore(arrays, values)
        return self


@dataclass(frozen=True, slots=True)
class Compared:
    """A trial, and the log probability of the tokens held out of each document that is set apart."""

    trial: Trial
    scores: Float  # (D',)


class Forming:
    """Passes that form topics of the words beside many words, or beside fewer that predict better.    math.md (C26)

    Parameters
    ----------
    documents : Documents
        Those that are set apart have no part in the topics, and judge them.
    rules : Rules
    engine : Engine
    """

    trial: Trial  # the one that passes go on with

    def __init__(self, documents: Documents, rules: Rules, engine: Engine) -> None:
        self._documents, self._rules, self._engine = documents, rules, engine
        self._judges: list[Shard] = documents.walk(engine, halved, rules.seed).listed
        self._corpus = documents.chosen(taking_part(documents, engine))
        self._found: Companions | None = None  # until it is asked for
        self._numbers: list[int] = []  # topics of the trials, the most first
        self._n_judged = 0  # trials that have been compared
        self._best: Compared | None = None

    @classmethod
    def of(cls, documents: Documents, rules: Rules, engine: Engine) -> Forming | None:
        """Return what forms the topics of some documents, before its first pass.

        None where documents are short, few or very many, too few are set apart, counts are weights, or some topics are
        given.
        """
        if not _are_many_and_long(documents) or rules.steering.n_kept:
            return None
        forming = cls(documents, rules, engine)
        return forming if forming._is_suited() and forming._begin() else None

    def _is_suited(self) -> bool:
        """Return whether there are judges, and the tokens can have a topic each."""
        corpus, n_judges = self._corpus, sum(shard.indptr.size - 1 for shard in self._judges)
        return n_judges >= JUDGES and corpus.n_tokens <= MOST_TOKENS and not (corpus.counts.data % 1.0).any()

    def _begin(self) -> bool:
        """Begin the first trial; return whether words show topics to begin with."""
        if self._companions is None:
            return False
        few, many = min(self._companions.n_shown, self._rules.max_topics), self._many
        self._numbers = sorted({few, round(math.sqrt(few * many)), max(few, many)}, reverse=True)
        self.trial = self._begun()
        return True

    @property
    def _many(self) -> int:
        return min(round(MANY * math.sqrt(self._documents.n_counts)), self._rules.max_topics)

    @property
    def _companions(self) -> Companions | None:
        """What stands beside the words of the documents; None where no word is in enough of them."""
        if self._found is None:
            self._found = Companions.of(self._documents, 2 * self._many, self._rules.seed, self._engine)
        return self._found

    @property
    def is_over(self) -> bool:
        """Whether the topics are formed."""
        return self._n_judged == len(self._numbers) and self.trial.passes >= FORMING

    @property
    def best(self) -> Trial:
        """The trial that predicted best, or the first one while it goes on."""
        return self.trial if self._best is None else self._best.trial

    @property
    def n_left(self) -> int:
        """Passes that are left, at most."""
        n_trials = len(self._numbers) - self._n_judged  # with the present one
        return FORMING - self.trial.passes + max(n_trials - 1, 0) * PASSES

    def go_on(self) -> None:
        """Make a pass."""
        self.trial.go_on()
        if self._n_judged < len(self._numbers) and self.trial.passes == PASSES:
            self._compare()

    def _begun(self) -> Trial:
        """Begin the next trial."""
        assert self._companions is not None
        topics = self._companions.topics(self._numbers[self._n_judged], self._rules.priors.eta)
        return self._trial_of(len(topics)).begin(topics)

    def _trial_of(self, n_topics: int) -> Trial:
        n_parts = min(max(1, int(self._corpus.n_tokens) // PART), PARTS)
        return Trial(self._corpus, n_topics, self._rules.priors, self._rules.seed, n_parts, self._engine)

    def _compare(self) -> None:
        """Let the documents set apart say whether this trial is better than the best of those before."""
        now, best = Compared(self.trial, self.trial.scores(self._judges, self._rules.seed, self._engine)), self._best
        is_better = best is None or float((now.scores - best.scores).sum()) > 0
        self._n_judged = self._n_judged + 1 if is_better else len(self._numbers)
        self._best = best = now if is_better or best is None else best
        if self._n_judged < len(self._numbers):
            self.trial = self._begun()
        else:
            self.trial, self._best, self._found = best.trial, None, None

    def packed(self) -> Packed:
        """Return what the next passes depend on, as arrays and plain values."""
        arrays, values = _named("trial", self.trial.packed())
        if self._best is not None:
            more, plain = _named("best", self._best.trial.packed())
            arrays, values = {**arrays, **more, "best.scores": self._best.scores}, {**values, **plain}
        return arrays, {**values, "n_judged": self._n_judged, "numbers": list(self._numbers)}

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any]) -> None:
        """Take up what `packed` returned.

        Raises
        ------
        KeyError, ValueError
            If it cannot be of these documents.
        """
        self._n_judged = whole_number("n_judged", values["n_judged"])
        numbers, n_kept = values["numbers"], self._rules.steering.n_kept
        require(isinstance(numbers, list) and bool(numbers), "it has no trials")
        self._numbers = [whole_number("number of topics", n) for n in numbers]
        most, fewer = self._rules.max_topics, sorted(set(self._numbers), reverse=True) == self._numbers
        require(fewer and all(1 <= n <= most for n in self._numbers), "the topics of its trials cannot be")
        require(self._n_judged <= len(numbers), "it has compared too many trials")
        suited = _are_many_and_long(self._documents) and not n_kept and self._is_suited()
        require(suited, "Gibbs sampling forms no topics of these documents")
        self.trial, self._best = self._restored("trial", arrays, values), None
        least, last = (0, PASSES - 1) if self._n_judged < len(numbers) else (PASSES, FORMING)
        require(least <= self.trial.passes <= last, "its trial has made other passes than it can have")
        if 0 < self._n_judged < len(numbers):
            before, n_apart = arrays["best.scores"], sum(shard.indptr.size - 1 for shard in self._judges)
            require(is_table(before, n_apart), "the scores of its trial are not those of its documents")
            self._best = Compared(self._restored("best", arrays, values), before.copy())
            require(self._best.trial.passes == PASSES, "its best trial has made other passes than it can have")

    def _restored(self, name: str, arrays: Mapping[str, NDArray], values: Mapping[str, Any]) -> Trial:
        """Return a trial that was saved."""
        own, plain = _of_name(name, arrays), _of_name(name, values)
        n_topics = own["a"].size
        require(1 <= n_topics <= max(self._numbers), "it has trials of more topics than there can be")
        return self._trial_of(n_topics).restore(own, plain)


def _are_many_and_long(documents: Documents) -> bool:
    """Return whether documents have enough stored counts each and in all, and not too many."""
    return not are_short(documents.n_documents, documents.n_counts) and LEAST <= documents.n_counts <= MOST


def _named(name: str, packed: Packed) -> Packed:
    """Return what is packed under names that begin with this one."""
    arrays, values = packed
    return {f"{name}.{key}": part for key, part in arrays.items()}, {f"{name}.{k}": v for k, v in values.items()}


def _of_name(name: str, packed: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is packed under names that begin with this one."""
    return {key.removeprefix(f"{name}."): part for key, part in packed.items() if key.startswith(f"{name}.")}
