"""What a fit asks of its documents and parameters, checked before any work is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_memory
from stickbreak.initialization import sample_bytes
from stickbreak.storage.memory import memory_installed
from stickbreak.variational.global_step import NATURAL
from stickbreak.variational.objective import POINT

STORED_BYTES = 10.0  # of an entry of the stored S
TOPICS_OF_ROOT = 1 / 3  # topics of a document by the square root of its words: 0.3 to 0.37 measured on KOS and NIPS
ENTRY_BYTES = 12.0  # of a topic of a document: its number and its expected count
SMALL_BATCH = 1_000  # documents of the smallest batches that are offered
LOOKED_AT = 10_000  # documents, spread evenly, that tell how many hold a word
PAIR_BYTES = 60.0  # of a pair of document and word of a visited batch: its word and count, ratios, the order by word


def check_learned(names: Sequence[str], *, memoized: bool) -> None:
    """Refuse to learn hyperparameters where only given ones are used."""
    if names and not memoized:
        raise InputError(
            f"learn is {tuple(names)!r}, but only the memoized schedule learns hyperparameters; "
            "fit with schedule='memoized', or set learn=()."
        )


def check_stick_rule(stick_rule: str, bound: str) -> None:
    """Refuse the natural gradient of corpus weights of which only a point is kept."""
    if bound == POINT and stick_rule == NATURAL:
        raise InputError(
            "stick_rule is 'natural', which needs a distribution of the corpus weights, but bound='point' has only "
            "their values; set stick_rule='interpolate', or another bound."
        )


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """What the memory of a fit depends on, beside its documents and its number of topics."""

    n_batches: int = 1
    kept: bool = True  # whether statistics of the batches are kept from visit to visit ...
    on_disk: bool = False  # ... in files: those of a group of batches are in memory
    at_once: int = 1  # batches that are visited at the same topics
    threads: int = 1
    beside: int = 0  # topics of a second state that a move tries beside the first, in units of K
    sampled: bool = True  # Gibbs sampling finds topics in a sample of the documents
    stream: bool = False  # whether the documents are a minibatch, which the user can make smaller

    @property
    def in_memory(self) -> int:
        """Batches whose statistics are in memory."""
        return 0 if not self.kept else min(self.at_once, self.n_batches) if self.on_disk else self.n_batches

    @property
    def visits(self) -> int:
        """Batches that are visited at a time."""
        return self.threads if min(self.at_once, self.n_batches) >= self.threads else 1


def check_sizes(corpus: Corpus, n_topics: int, plan: MemoryPlan) -> None:
    """Refuse more topics than the memory can carry; the message names what would help."""
    needed, installed = bytes_needed(corpus, n_topics, plan), memory_installed()
    advice = "give fewer topics or fewer words"
    if needed > installed:
        in_files = replace(plan, on_disk=plan.on_disk or plan.kept)
        smaller = replace(in_files, n_batches=max(plan.n_batches, -(-corpus.n_documents // SMALL_BATCH)))
        if in_files != plan and bytes_needed(corpus, n_topics, in_files) <= installed:
            advice += ", or a folder for scratch"
        elif smaller != in_files and bytes_needed(corpus, n_topics, smaller) <= installed:
            smaller_visits = "smaller minibatches" if plan.stream else "more batches by n_batches"
            advice += f", or {smaller_visits}" + (" and a folder for scratch" if in_files != plan else "")
    check_memory(n_topics, corpus.n_words, needed, advice)


def bytes_needed(corpus: Corpus, n_topics: int, plan: MemoryPlan) -> float:
    """Estimate the memory of a fit, without the documents themselves and the program.

    That is the largest of two: the sample of a start beside the state; visits, the state, and the second
    state of a trial. A state is S in total, tau, and what is kept of the batches.
    """
    states = _state(corpus, n_topics, plan)
    sample = sample_bytes(corpus) if plan.sampled else 0.0
    second = _state(corpus, n_topics * plan.beside, plan) if plan.beside else 0.0
    return max(states + sample, states + second + plan.visits * _visit(corpus, n_topics * max(1, plan.beside), plan))


def _rows(corpus: Corpus, plan: MemoryPlan) -> tuple[float, float]:
    """Return the rows of S: in total, and of a batch (tokens: at most one for each pair)."""
    return float(corpus.n_words), min(float(corpus.n_words), corpus.counts.nnz / plan.n_batches)


def _state(corpus: Corpus, n_topics: int, plan: MemoryPlan) -> float:
    """Estimate the bytes of S in total, tau, and of what is kept of the batches."""
    kept = ENTRY_BYTES * topics_of_document(corpus) * corpus.n_documents / plan.n_batches
    kept += STORED_BYTES * stored_entries(corpus, n_topics, plan) if plan.in_memory else 0.0
    return 16.0 * n_topics * _rows(corpus, plan)[0] + plan.in_memory * kept


def _visit(corpus: Corpus, n_topics: int, plan: MemoryPlan) -> float:
    """Estimate the bytes of a visit: the batch, the weights of its words, its S."""
    return PAIR_BYTES * corpus.counts.nnz / plan.n_batches + 16.0 * n_topics * _rows(corpus, plan)[1]


def topics_of_document(corpus: Corpus) -> float:
    """Estimate the topics that a document has after the first pass, on average."""
    return max(1.0, TOPICS_OF_ROOT * float(np.sqrt(corpus.counts.nnz / max(corpus.n_documents, 1))))


def stored_entries(corpus: Corpus, n_topics: int, plan: MemoryPlan) -> float:
    """Estimate the pairs (word, topic) that meet in a batch: a word meets the topics of the documents that hold it."""
    rows = np.unique(np.linspace(0, corpus.n_documents - 1, min(corpus.n_documents, LOOKED_AT)).astype(np.int64))
    holding = np.bincount(corpus.counts[rows].indices, minlength=corpus.n_words)
    of_batch = holding * (corpus.n_documents / rows.size / plan.n_batches)
    return float(np.minimum(n_topics, topics_of_document(corpus) * of_batch).sum())
