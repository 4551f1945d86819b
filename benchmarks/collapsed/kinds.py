"""The defaults on many kinds of collections: long, short, with a strong common vocabulary, of one topic, of none.

Each family fits with its defaults. tomotopy's LDA of 100 topics, which learns alpha, gets the processor seconds that
the default of the collapsed family took, and at least 50 passes. Completion is that of the harness: at the prior of the
fit, and at the best of totals from 1 to 80 with the same proportions. "Unigram" is the score of the frequencies of
words. Three kinds are drawn: `reviews:D` (94 tokens, half of them from a common vocabulary; 60 weak topics), `titles:D`
(4 to 5 tokens from 1,500 words, 80 topics) and `words:D` (no topics at all).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import corpora
from benchmarks.harness.ours import own_prior, usual_prior
from benchmarks.harness.peers import TomotopyLDA
from benchmarks.harness.scores import completion
from benchmarks.harness.tables import table
from benchmarks.harness.units import Answer, processor_seconds
from stickbreak import CollapsedHDP, GibbsHDP, HybridHDP, VariationalHDP
from stickbreak.corpus import Corpus, toy_bars

Row = dict[str, object]
FAMILIES: dict[str, Callable[..., Any]] = {
    "collapsed": CollapsedHDP,
    "gibbs": GibbsHDP,
    "variational": VariationalHDP,
    "hybrid": HybridHDP,
}
PEER, PEER_TOPICS, FEWEST_PASSES = "tomotopy-lda", 100, 50
TOTALS = (1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0)  # of the prior
HELD_OUT = 0.1


def zipf(n_words: int, power: float = 1.05, shift: float = 8.0) -> np.ndarray:
    """Return the frequencies of words by Zipf's law, (W,)."""
    weights = (np.arange(n_words) + shift) ** -power
    return weights / weights.sum()


def drawn(
    n_documents: int,
    n_words: int,
    n_topics: int,
    mean_tokens: float,
    *,
    common: float,
    strength: float,
    alpha: float,
    seed: int = 0,
) -> Corpus:
    """Draw documents whose topics share a common vocabulary.

    Parameters
    ----------
    n_documents, n_words, n_topics : int
    mean_tokens : float
        Of a document; lengths are Poisson, at least 1.
    common : float
        Share of the tokens that come from the common vocabulary alone.
    strength : float
        Total of the Dirichlet distribution, around the common vocabulary, from which topics are drawn.
    alpha : float
        Total concentration of the documents.
    seed : int
    """
    rng = np.random.default_rng(seed)
    base = zipf(n_words)
    topics = rng.dirichlet(strength * base + 1e-9, n_topics)
    lengths = np.maximum(rng.poisson(mean_tokens, n_documents), 1)
    weights = rng.dirichlet(np.full(n_topics, alpha / n_topics), n_documents)
    counts = []
    for length, theta in zip(lengths, weights, strict=True):
        mixed = common * base + (1 - common) * (theta @ topics)
        counts.append(np.bincount(rng.choice(n_words, length, p=mixed / mixed.sum()), minlength=n_words))
    return Corpus.from_counts(np.array(counts))


def reviews(n_documents: int) -> Corpus:
    """Draw documents of 94 tokens with weak topics."""
    return drawn(n_documents, 4000, 60, 94, common=0.5, strength=30, alpha=3)


def titles(n_documents: int) -> Corpus:
    """Draw documents of some five words."""
    return drawn(n_documents, 1500, 80, 4.5, common=0.2, strength=30, alpha=1)


def words(n_documents: int) -> Corpus:
    """Draw documents of 60 tokens without topics."""
    return drawn(n_documents, 3000, 1, 60, common=1, strength=30, alpha=1)


DRAWN: dict[str, Callable[[int], Corpus]] = {"reviews": reviews, "titles": titles, "words": words}


def load(name: str) -> corpora.Split:
    """Return the corpus of a name: one that is drawn, or one of the harness."""
    kind, _, size = name.partition(":")
    if kind not in DRAWN:
        return corpora.load(corpora.names([name])[0])
    if not size.isdecimal() or int(size) < 10:
        sys.exit(f"{name!r} names no collection; write {kind}:DOCUMENTS, at least ten.")
    train, held = DRAWN[kind](int(size)).split(HELD_OUT, seed=0)
    return corpora.Split(name, train, *held.halves(seed=0))


def row(split: corpora.Split, system: str, answer: Answer, seconds: float) -> Row:
    """Return a row of the table."""
    topics, prior = answer
    shares = prior / prior.sum()
    best = max((completion(split, topics, total * shares), -total) for total in TOTALS)
    total = np.asarray(split.train.counts.sum(axis=0)).ravel()
    unigram = (total / total.sum())[None]
    return {
        "collection": split.name,
        "documents": f"{split.train.n_documents:,}",
        "system": system,
        "own prior": f"{completion(split, topics, prior):.4f}",
        "best prior": f"{best[0]:.4f}",
        "its total": f"{-best[1]:g}",
        "unigram": f"{completion(split, unigram, np.ones(1)):.4f}",
        "K": topics.shape[0],
        "alpha": f"{prior.sum():.1f}",
        "processor seconds": f"{seconds:.0f}",
    }


def fitted(system: str, split: corpora.Split, seed: int) -> tuple[Answer, float]:
    """Return what a family has learned with its defaults, and its processor seconds."""
    model = FAMILIES[system](random_state=seed, n_jobs=1)
    seconds = processor_seconds(lambda: model.fit(split.train))
    prior = own_prior(model) if hasattr(model, "alpha_") else usual_prior(model)
    return (model.topic_word_, prior), seconds


def peer(split: corpora.Split, seed: int, seconds: float) -> tuple[Answer, float]:
    """Return what tomotopy's LDA has learned in so many processor seconds, and what it took."""
    system, spent = TomotopyLDA(split.train, {"K": PEER_TOPICS, "seed": seed}), 0.0
    for of_unit in system.work():
        spent += of_unit
        if spent >= seconds and system.passes >= FEWEST_PASSES:
            break
    return system.answer(), spent


def rows(split: corpora.Split, systems: list[str], seed: int) -> list[Row]:
    """Return the rows of a collection; the peer comes last, since it gets the seconds of the first."""
    found, allowed = [], 0.0
    for system in sorted(systems, key=lambda name: name == PEER):
        answer, seconds = peer(split, seed, allowed) if system == PEER else fitted(system, split, seed)
        allowed = allowed or seconds
        found.append(row(split, system, answer, seconds))
        sys.stderr.write(f"{found[-1]}\n")
    return found


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    known = "reviews:D, titles:D, words:D, or a corpus by name"
    parser.add_argument("--collections", nargs="+", default=["reviews:3000", "titles:6000", "words:1000"], help=known)
    parser.add_argument("--systems", nargs="+", choices=[*FAMILIES, PEER], default=[*FAMILIES, PEER])
    parser.add_argument("--seed", type=int, default=0)


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    bars, _ = toy_bars(n_documents=50, seed=0)
    for system in options.systems:
        if system != PEER:
            FAMILIES[system](random_state=0).fit(bars)  # kernels are compiled
    return table([found for name in options.collections for found in rows(load(name), options.systems, options.seed)])
