"""The starts by name, from given topics, and of families that take minibatches: they decide more than anything."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from itertools import islice
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import rounded
from stickbreak.exceptions import InputError
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.loop import Callback, logger
from stickbreak.fitting.step_sizes import offset_for
from stickbreak.initialization.anchors import anchors
from stickbreak.initialization.base import Start, StartSettings, documents, even_weights, largest_first, weights_of
from stickbreak.model.initial_topics import check_initial_topics, initial_counts
from stickbreak.model.seeds import base_of
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.ranges import MOST_TOPICS, SMALLEST
from stickbreak.numerics.streams import stream
from stickbreak.sparse_gibbs.chain import Chain
from stickbreak.sparse_gibbs.priors import Priors
from stickbreak.topics.laps import TopicLaps, TopicSettings

RANDOM = "random"  # the start that looks at no document first; each family draws its own
SMOOTHING = 4.0  # times eta in the start "lda": a topic that repeats another gives up its words
MOST_TOKENS = 1 << 22  # in which a start finds topics
TOKEN_BYTES = 64.0  # of each
FIRST_MERGES = 5  # a fifth of the sweeps is over when topics begin to merge
_MOST_FOUND = 1000  # topics of a start that finds the number


def lda(corpus: Corpus, settings: StartSettings) -> Start:
    """Start from `sweeps` passes of LDA by Gibbs sampling (docs/math (L2)), the number of topics given.

    Raises InputError if they are more than can be numbered.
    """
    if settings.n_topics > MOST_TOPICS:
        raise InputError(
            f"init is 'lda', which starts with {MOST_TOPICS} topics at most, but there are {settings.n_topics} with "
            "those of seeds; give a smaller n_topics, or another init."
        )
    return _sampled(corpus, replace(settings, eta=SMOOTHING * settings.eta), settings.n_topics)


def topic_model(corpus: Corpus, settings: StartSettings) -> Start:
    """Start from `sweeps` passes of the default, which finds the number of topics (docs/math (L12) to (L15))."""
    return _sampled(corpus, settings, None)


def _sampled(corpus: Corpus, settings: StartSettings, n_topics: int | None) -> Start:
    """Return topics of Gibbs sampling over a corpus, or over a sample of its documents, scaled up to the corpus."""
    sample, rows = documents_that_fit(corpus, settings.seed)
    labels = settings.labels if rows is None or settings.labels is None else settings.labels.sample(rows)
    priors = Priors(np.zeros(0), settings.alpha, settings.eta, settings.pseudo)
    most = max(settings.max_topics or _MOST_FOUND, settings.n_kept + 1)
    first = max(1, settings.sweeps // FIRST_MERGES)
    topic_settings = TopicSettings(n_topics, most, priors, ("alpha",), settings.seed, labels, None, first, splits=False)
    laps = TopicLaps(sample, topic_settings, settings.engine)
    laps.begin(lambda row: None, lambda: False)
    for done, _ in enumerate(islice(laps.laps(0), settings.sweeps), 1):
        if settings.progress is not None:
            settings.progress(done, settings.sweeps)
        if settings.stop is not None and done < settings.sweeps and settings.stop():
            break
    scale = corpus.n_tokens / max(sample.n_tokens, 1e-300)
    counts, a = np.ascontiguousarray(laps.chain.mean()) * scale, laps.priors.a
    if settings.pseudo is not None:
        counts[:, : settings.n_kept] += settings.pseudo.toarray()
    return largest_first(Start(counts, weights_of(a)), settings.n_kept)


def near_uniform(corpus: Corpus, settings: StartSettings) -> Start:
    """Start near the uniform distribution: tau_kw ~ eta + Gamma(100, 1/100)."""
    rng = stream(settings.seed, "near-uniform start")
    counts = rng.gamma(100.0, 0.01, size=(corpus.n_words, settings.n_topics))
    return Start(counts, even_weights(settings.n_topics))


STARTS: dict[str, Callable[[Corpus, StartSettings], Start]] = {
    "lda": lda,
    "near-uniform": near_uniform,
    "documents": documents,
    "anchors": anchors,
}


def check_init(init: Any, names: Collection[str]) -> None:
    """Refuse a start that no fit could make sense of, whatever its documents.

    `init` (K, W). `names`: the starts that the model knows.
    """
    if isinstance(init, str):
        if init not in names:
            known = ", ".join(map(repr, names))
            raise InputError(
                f"init is {init!r}; give one of {known}, an array of topics (K, W), or a fitted model of topics."
            )
        return
    check_initial_topics(init, "a name of a start")


def make_start(name: str, corpus: Corpus, settings: StartSettings) -> Start:
    """Return the named start."""
    check_init(name, STARTS)
    return STARTS[name](corpus, settings)


def start_from_topics(topics: Any, corpus: Corpus) -> Start:
    """Start from given topics.

    `topics` (K, W): see `stickbreak.model.initial_topics.initial_counts`. Raises InputError if the shape does not fit
    the corpus, or a row is negative, not finite or empty.
    """
    counts = initial_counts(topics, corpus)
    return largest_first(Start(np.ascontiguousarray(counts.T), weights_of(counts.sum(axis=1))))


def sample_bytes(corpus: Corpus) -> float:
    """Return the memory of a start by Gibbs sampling, in all documents or in the sample of `documents_that_fit`."""
    return TOKEN_BYTES * min(float(MOST_TOKENS), float(corpus.n_tokens))


def resampled(
    corpus: Corpus, topics: Float, a: Float, settings: StartSettings, halves: np.random.Generator | None = None
) -> Start:
    """Return the topics that `sweeps` passes of Gibbs sampling lead to from present ones, in their order.

    They are the mean over the second half of the passes.

    `topics` (K, W): word distributions. `a` (K,): pseudo-counts of the topics in a document. `halves`: cuts each topic
    in two first: every document puts what it has of a topic into one of its halves, drawn at random. The halves of
    topic k are the topics k and K + k.
    """
    K, parts, whole = len(topics), 1 if halves is None else 2, _whole(corpus, settings.seed)
    chain = Chain(whole, parts * K, settings.seed, engine=settings.engine)
    (z,) = chain.near(topics * a[:, None] + np.finfo(np.float64).tiny)
    if halves is not None:
        document = chain.tokens.documents_of_words(0)
        for k in range(K):
            own = np.flatnonzero(z == k)
            z[own] += (K * halves.integers(2, size=corpus.n_documents)[document[own]]).astype(np.uint16)
    chain.take([z])
    priors = Priors(np.tile(a / parts, parts), float(a.sum()), settings.eta, settings.pseudo)
    counts, n = np.zeros((corpus.n_words, parts * K)), 0
    for number in range(1, settings.sweeps + 1 if whole.n_tokens else 1):
        chain.lap(number, priors)
        if 2 * number > settings.sweeps:
            counts, n = counts + chain.last(), n + 1
    counts *= corpus.n_tokens / max(n * whole.n_tokens, 1.0)
    if settings.pseudo is not None:
        counts[:, : settings.n_kept] += settings.pseudo.toarray()
    return Start(np.ascontiguousarray(counts), weights_of(counts.sum(axis=0) + SMALLEST))


def documents_that_fit(corpus: Corpus, seed: int) -> tuple[Corpus, Int | None]:
    """Return documents of whole counts in which a start finds topics, all or a random sample, and the rows of these."""
    sample, rows = corpus, None
    if corpus.n_tokens > MOST_TOKENS:
        order = stream(seed, "documents of the start").permutation(corpus.n_documents)
        n_fit = int(np.searchsorted(np.cumsum(corpus.document_lengths[order]), MOST_TOKENS, side="right"))
        logger.info("the start uses %d of %d documents", max(1, n_fit), corpus.n_documents)
        rows = np.sort(order[: max(1, n_fit)])
        sample = corpus[rows]
    return _whole(sample, seed), rows


def _whole(corpus: Corpus, seed: int) -> Corpus:
    """Return a corpus of whole counts, rounded at random; a token for each where none is left."""
    whole = rounded(corpus, seed)
    if whole.n_tokens:
        return whole
    counts = corpus.counts.copy()
    counts.data = np.ones_like(counts.data)
    return Corpus(counts, corpus.vocabulary)


class StreamParameters(Protocol):
    """The parameters of a start."""

    alpha: float
    gamma: float
    eta: Any
    init: Any
    init_sweeps: int
    learning_decay: float
    learning_offset: float | None


def is_random(init: Any) -> bool:
    """Return whether a start is that of random topics."""
    return isinstance(init, str) and init == RANDOM


def finds_topics(init: Any) -> bool:
    """Return whether a start finds its topics in documents: they are neither random nor given."""
    return isinstance(init, str) and init != RANDOM


def settings_of(
    given: StreamParameters,
    n_topics: int,
    seed: int,
    engine: Engine,
    report: Callback,
    stop: Callable[[], bool],
    pseudo: sparse.csr_array | None = None,
) -> StartSettings:
    """Return what a start that finds topics depends on.

    `n_topics`: topics without a prior of their own. `engine`: where the start runs. `report`: told of each sweep.
    `stop`: whether the start is to end early; asked only while some of its work is left. `pseudo` (W, n_kept):
    pseudo-counts of topics that come before the others.
    """
    return StartSettings(
        n_topics if pseudo is None else n_topics + int(pseudo.shape[1]),
        given.alpha,
        given.gamma,
        base_of(given.eta),
        seed,
        given.init_sweeps,
        lambda done, total: report({"stage": "init", "done": done, "total": total}),
        engine,
        stop,
        pseudo,
    )


def offset_after(given: StreamParameters, share: float) -> float:
    """Return the offset of the steps, where minibatches are this share of what the start is found in. docs/math (B5)"""
    if given.learning_offset is not None:
        return float(given.learning_offset)
    return 1.0 if is_random(given.init) else offset_for(share, given.learning_decay)
