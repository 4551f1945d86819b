"""What each job function may send and return, in bytes. Tests with workers check it."""

import pickle
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from stickbreak.corpus.sources import Stored


class Bytes(NamedTuple):
    """A bound: so many bytes, and so many for each token, each document and each byte of what jobs share."""

    fixed: int
    token: int = 0
    document: int = 0
    shared: int = 0

    def of(self, documents: Stored | None, shared: int) -> int:
        found = self.fixed + self.shared * shared
        if documents is not None and (self.token or self.document):
            corpus = documents.load()
            found += self.token * int(corpus.n_tokens) + self.document * corpus.n_documents
        return found

    def of_all(self, blocks: Sequence[Stored | None], shared: int) -> int:
        """Return the bound of a job of several blocks."""
        return sum(self.of(documents, 0) for documents in blocks) + self.shared * shared


class Declared(NamedTuple):
    """Bounds of a job, and of what comes back: names of files and small tables are in the fixed bytes."""

    job: Bytes
    result: Bytes


NAMES = Bytes(1_000)  # a job names rows and files
DECLARED = {
    "backoff_tree.document_blocks.counts_of_block": Declared(NAMES, Bytes(2_000, token=8)),  # pairs of word and leaf
    "backoff_tree.document_blocks.sampled": Declared(NAMES, Bytes(1_000, document=8)),
    "counting.parts.count_job": Declared(Bytes(5_000), NAMES),  # pieces of files; parts are files
    "hybrid.laps.sample_minibatch": Declared(Bytes(1_000, document=8), Bytes(3_000, token=16, shared=1)),
    "model.topic_estimator._rows": Declared(NAMES, Bytes(1_000, document=1_600)),  # a weight for each topic, up to 200
    "prediction.left_to_right._scored": Declared(NAMES, Bytes(1_000, document=64)),
    "sampling.laps.sweep_chain": Declared(Bytes(5_000, token=16), Bytes(5_000, token=16)),  # the state of a chain
    "variational.hdp.statistics_at": Declared(NAMES, Bytes(2_000, shared=2)),
    "variational.batch_update.update_batch": Declared(NAMES, Bytes(300_000, shared=2)),  # 500 documents of deletes
    "variational.stochastic.sum_up_batch": Declared(NAMES, Bytes(4_000, shared=2)),
}
"""The job functions of all families, by module and name."""


def inner(work: Any) -> Callable[..., Any]:
    """The function of a job itself, within what hands it one thread."""
    if isinstance(work, partial):
        return inner(work.args[0] if callable(work.args[0]) else work.func)
    return work


def name_of(work: Callable[..., Any]) -> str:
    return f"{work.__module__}.{work.__qualname__}".removeprefix("stickbreak.")


def check(work: Any, job: Any, shared: Any, result: int) -> None:
    """See that a function is at the top of a module, and that it, its job and its result hold no more than declared.

    `result` is a number of bytes.
    """
    function = inner(work)
    assert getattr(sys.modules[function.__module__], function.__name__) is function
    assert function.__closure__ is None
    assert len(pickle.dumps(work)) < 200
    if function.__module__.startswith("stickbreak."):
        declared, sent = DECLARED[name_of(function)], len(pickle.dumps(shared))
        documents = [documents_of(each) or documents_of(shared) for each in (job if isinstance(job, list) else [job])]
        assert len(pickle.dumps(job)) <= declared.job.of_all(documents, sent), name_of(function)
        assert result <= declared.result.of_all(documents, sent), name_of(function)


def documents_of(job: Any) -> Stored | None:
    """The documents that a job names, if it names any."""
    if job is None or isinstance(job, Stored):
        return job
    inside = (documents_of(getattr(job, name, None)) for name in ("documents", "block", "source"))
    return next((found for found in inside if found is not None), None)
