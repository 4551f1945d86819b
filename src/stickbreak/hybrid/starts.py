"""Where the hybrid starts: topics of tokens drawn at random, or topics that are found first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.corpus.csr import row_blocks
from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.laps import Callback
from stickbreak.hybrid.state import UNBOUNDED, HybridState, Known, WordTopics
from stickbreak.initialization import Start, make_start, start_from_topics
from stickbreak.initialization.start import StreamParameters, is_random, settings_of
from stickbreak.numerics.arrays import Int
from stickbreak.numerics.streams import stream

_BLOCK = 1 << 18  # entries of the corpus that are written out at once, some 40 bytes a token


class Parameters(StreamParameters, Protocol):
    """The parameters of a start."""

    top_level: str


def begin(
    given: Parameters,
    corpus: Corpus,
    n_topics: int,
    seed: int,
    share: float,
    engine: Engine,
    report: Callback,
    stop: Callable[[], bool],
    pseudo: sparse.csr_array | None = None,
) -> HybridState:
    """Return the globals at the start.

    `corpus`: the documents, or the first minibatch of them. `share`: documents of all to those of `corpus`. `engine`:
    where a start that finds topics runs. `report`: told of each sweep of a start that finds topics. `stop`: whether it
    is to end early; asked only while some of its work is left. `pseudo` (W, n_kept): pseudo-counts of topics that come
    before the others.
    """
    unbounded = given.top_level == UNBOUNDED
    if not isinstance(given.init, str):
        return state_from_topics(start_from_topics(given.init, corpus), corpus, share, unbounded=unbounded)
    if is_random(given.init):
        return random_state(corpus, n_topics, seed, share, unbounded=unbounded)
    settings = settings_of(given, n_topics, seed, engine, report, stop, pseudo)
    start = make_start(given.init, corpus, settings)
    if pseudo is None:
        return state_from_topics(start, corpus, share, unbounded=unbounded)
    return known_beside(start, pseudo, corpus, share, unbounded=unbounded)


def known_beside(
    start: Start, pseudo: sparse.csr_array, corpus: Corpus, share: float, *, unbounded: bool
) -> HybridState:
    """Start from topics whose counts hold pseudo-counts, which are not scaled; their topics have a table more."""
    n_kept, entries, counts = int(pseudo.shape[1]), pseudo.tocoo(), start.counts.copy()
    word, topic = entries.row.astype(np.int64), entries.col.astype(np.int64)
    counts[word, topic] = np.maximum(counts[word, topic] - entries.data, 0.0)
    state = state_from_topics(Start(counts, start.weights), corpus, share, unbounded=unbounded)
    known = Known(word, topic, entries.data.astype(np.float64), n_kept)
    table = state.pairs.dense(np.arange(state.n_topics)).T
    table[word, topic] += known.count
    state.pairs, state.known = WordTopics.from_dense(table), known
    state.tokens[:n_kept] += known.tokens
    state.tables[:n_kept] += 1.0
    return state


def random_state(corpus: Corpus, n_topics: int, seed: int, share: float, *, unbounded: bool = False) -> HybridState:
    """Start from tokens that are assigned to topics at random.

    Every topic then has many tables: under g_weight="mean_field" one without tables would never come back.

    `corpus`: the documents, or a minibatch of them. `share`: documents of all to those of `corpus`. `unbounded`:
    whether topics may be added.
    """
    rng, tables = stream(seed, "random start"), np.zeros(n_topics)
    found, times = np.zeros((2, 0), np.int64)  # pairs (word, topic) as one number each, increasing; their tokens
    for block in row_blocks(corpus.counts, _BLOCK):  # a corpus may be on disk, and larger than the memory
        tokens = Tokens.from_corpus(corpus[block])
        z = rng.integers(n_topics, size=tokens.word.size)
        found, times = _tally(found, times, tokens.word.astype(np.int64) * n_topics + z)
        document = np.repeat(np.arange(tokens.n_documents), tokens.lengths)
        tables += np.bincount(np.unique(document * n_topics + z) % n_topics, minlength=n_topics)
    size, topic = np.bincount(found // n_topics, minlength=corpus.n_words), (found % n_topics).astype(np.int32)
    pairs = WordTopics.from_pairs(size, topic, share * times.astype(np.float64), n_topics)
    return HybridState(pairs, pairs.sums(), share * tables, 0, unbounded)


def _tally(found: Int, times: Int, further: Int) -> tuple[Int, Int]:
    """Count further numbers among those that were found before, increasing, and how often each was."""
    numbers, n = np.unique(further, return_counts=True)
    place = np.searchsorted(found, numbers)
    known = np.append(found, -1)[place] == numbers
    times[place[known]] += n[known]
    new = ~known
    return np.insert(found, place[new], numbers[new]), np.insert(times, place[new], n[new])


def state_from_topics(start: Start, corpus: Corpus, share: float, *, unbounded: bool = False) -> HybridState:
    """Start from given topics, scaled to all tokens, with a table for each topic that a document would have."""
    counts = np.asarray(start.counts, dtype=np.float64) * (share * corpus.n_tokens / start.counts.sum())
    lengths = corpus.document_lengths.astype(np.float64)
    weights = start.weights / start.weights.sum()
    tables = share * np.array([float(np.sum(-np.expm1(lengths * np.log1p(-min(w, 1.0 - 1e-12))))) for w in weights])
    return HybridState(WordTopics.from_dense(counts), counts.sum(axis=0), tables, 0, unbounded)
