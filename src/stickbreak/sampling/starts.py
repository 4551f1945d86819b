"""Where a chain starts: always in a seating, which every representation can take up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.loop import Callback
from stickbreak.initialization import Start, StartSettings, make_start, start_from_topics, topic_model
from stickbreak.numerics.arrays import Float, Int32
from stickbreak.numerics.pseudo_counts import by_word
from stickbreak.numerics.stirling import StirlingRatios, wide_enough
from stickbreak.numerics.streams import key_of
from stickbreak.sampling.checks import CHAIN_STARTS, RANDOM, SEQUENTIAL, TOPIC_MODEL
from stickbreak.sampling.kernels.documents import NO_LABELS, assign
from stickbreak.sampling.known_topics import ChainLabels
from stickbreak.sampling.representations import Sweep, TableIndicators, seat_tokens
from stickbreak.sampling.state import NO_LIMIT, Concentrations, Seating, TopicCounts, no_words

DOCUMENT_ROUNDS = 10  # of the weights of a document under given topics
SEEDED_AT_ONCE = 1 << 14  # documents whose weights of the topics that are given are in memory at a time


def chain_starts(
    init: Any, corpus: Corpus, settings: StartSettings, seeds: Sequence[int], report: Callback
) -> list[str | Start]:
    """Return where each chain starts; `report` is told of starts that find topics, all chains together."""
    if not isinstance(init, str):
        return [start_from_topics(init, corpus)] * len(seeds)
    if init in CHAIN_STARTS:
        return [init] * len(seeds)
    starts: list[str | Start] = []
    for c, seed in enumerate(seeds):

        def progress(done: int, total: int, before: int = c) -> None:
            report({"stage": "init", "done": before * total + done, "total": total * len(seeds)})

        own = replace(settings, seed=seed, progress=progress)
        starts.append(topic_model(corpus, own) if init == TOPIC_MODEL else make_start(init, corpus, own))
    return starts


def start_seating(
    init: str | Start,
    n_topics: int,
    tokens: Tokens,
    now: Concentrations,
    ratios: StirlingRatios,
    seed: int,
    labels: ChainLabels | None = None,
    max_topics: int = NO_LIMIT,
) -> tuple[int, Seating]:
    """Return the number of topics and the seating of a start.

    "sequential": each token by its predictive distribution given those before it (Wang and Blei 2012, Sec. 4), with at
    most `max_topics`. "random": topics drawn uniformly. "single": all tokens in one topic. A `Start`: topics of another
    inference, from which each token draws its own. Topics of `labels` come first.
    """
    n_kept = tokens.n_given
    if isinstance(init, Start):
        z, beta = _from_topics(init, tokens, now, seed, labels)
    elif init == SEQUENTIAL:
        nothing = TopicCounts(0, np.zeros(0, np.int64), np.zeros(0, np.int64), no_words(tokens))
        first = Sweep(now, ratios, (seed, 0), Engine(1), max_topics)
        return seat_tokens(tokens, Seating.empty(tokens), nothing, first, seated=False)
    elif init == RANDOM:
        rng = np.random.Generator(np.random.Philox(key=int(key_of(seed, 0, "random start"))))
        z, beta = rng.integers(n_topics, size=tokens.word.size, dtype=np.int32), np.full(n_topics, 1.0 / n_topics)
        if n_kept:
            z, beta = (
                with_kept(z + np.int32(n_kept), tokens, rng),
                np.full(n_kept + n_topics, 1.0 / (n_kept + n_topics)),
            )
        if labels is not None:
            z = labels.allowed(z, tokens, rng)
    else:
        z, beta = np.zeros(tokens.word.size, np.int32), np.ones(1)
    z[tokens.sampled[-1] :] = tokens.given_topics
    rows = NO_LABELS if labels is None else labels.rows(now.alpha, with_rest(beta))
    state = TableIndicators(tokens)
    n_topics = state.draw_tables(z, beta, now, rows, key_of(seed, 0, "tables"))
    return n_topics, state.seats(wide_enough(ratios, state.most_tables()), key_of(seed, 0, "seats"))


def with_rest(beta: Float) -> Float:
    """Return corpus weights of topics to start from with the rest to one, which unseen topics have, (K + 1,)."""
    return np.append(beta, max(1.0 - float(beta.sum()), 0.0))


def with_kept(z: Int32, tokens: Tokens, rng: np.random.Generator) -> Int32:
    """Give tokens to the topics that are given, as (L17) says: those of their words, and others of their documents.

    docs/math (L17)
    """
    first, n_kept, found = tokens.sampled[-1], tokens.n_given, np.empty_like(z)
    if first == z.size:
        return z  # topics of labels without words of their own
    pairs = np.unique(np.stack([tokens.word[first:], tokens.given_topics]), axis=1)
    begin = np.searchsorted(pairs[0], np.arange(tokens.n_words + 1))
    topics_of_word, which = np.diff(begin), rng.random(z.size)
    for document in range(0, tokens.n_documents, SEEDED_AT_ONCE):
        start = tokens.start[document : document + SEEDED_AT_ONCE + 1]
        own = slice(start[0], start[-1])
        word, row = tokens.word[own], np.repeat(np.arange(start.size - 1), np.diff(start))
        n = topics_of_word[word]
        place = begin[word] + (which[own] * n).astype(np.int64)
        topic = pairs[1][np.minimum(place, pairs.shape[1] - 1)]
        weights = np.ones((start.size - 1, n_kept + 1))  # tokens of the words of each topic, then 1 for the others
        weights[:, :-1] = 0.0
        np.add.at(weights, (row[n > 0], topic[n > 0]), 1.0)
        upto = np.cumsum(weights, axis=1)
        u = rng.random(word.size) * upto[row, -1]
        drawn = np.zeros(word.size, np.int64)
        for k in range(n_kept):
            drawn += u >= upto[row, k]
        drawn = np.where(n > 0, topic, drawn)
        found[own] = np.where(drawn < n_kept, drawn, z[own])
    return found


def _from_topics(
    start: Start, tokens: Tokens, now: Concentrations, seed: int, labels: ChainLabels | None
) -> tuple[Int32, Float]:
    """Draw each token's topic from given topics, with weights of its document that fit them."""
    z, rng = np.zeros(tokens.word.size, np.int32), np.zeros(1, np.uint64)
    phi = start.counts + by_word(now.eta)
    phi /= phi.sum(axis=0)
    rows = NO_LABELS if labels is None else labels.rows(now.alpha, with_rest(start.weights))
    prior, key = now.alpha * start.weights, key_of(seed, 0, "start from topics")
    assign(tokens.start, tokens.word, phi, prior, rows, DOCUMENT_ROUNDS, z, rng, key)
    return z, start.weights
