"""The default on many kinds of collections: generated ones of every kind, several draws each, and real ones.

K is the number of topics, and K 99 % how many hold that share of the tokens; a generated kind has its number of planted
topics in its name. Scores are completion, at the prior of the fit ("own") and at the best of totals of 0.1 to 100, with
the same proportions. tomotopy's LDA of 100 topics, which learns alpha, gets as many processor seconds as the default
took, and at least 50 passes.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections.abc import Callable

import numpy as np

from benchmarks.harness import corpora
from benchmarks.harness.peers import TomotopyLDA
from benchmarks.harness.scores import completion
from benchmarks.harness.tables import table
from benchmarks.harness.units import processor_seconds
from stickbreak import TopicModel
from stickbreak.corpus import Corpus, toy_bars

Row = dict[str, object]
PEER_TOPICS, FEWEST_PASSES = 100, 50
TOTALS = (0.1, 0.3, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)  # of the prior
HELD_OUT, MANY = 0.1, 0.99


def drawn(
    draw: int,
    n_documents: int,
    n_words: int,
    n_topics: int,
    mean_tokens: float,
    *,
    alpha: float = 1.0,
    eta: float = 0.05,
    power: float = 0.0,
    common: float = 0.0,
) -> Corpus:
    """Draw documents.

    Parameters
    ----------
    draw : int
        Number of the draw.
    n_documents, n_words, n_topics : int
    mean_tokens : float
        Of a document; lengths are Poisson, at least 2.
    alpha : float
        Total concentration of the documents.
    eta : float
        Pseudo-count of each word, from which topics are drawn.
    power : float
        Topic k has a share in proportion to k ** -power.
    common : float
        Share of the tokens that come from one vocabulary of all topics.
    """
    rng = np.random.default_rng(draw)
    topics = rng.dirichlet(np.full(n_words, eta), n_topics)
    topics = (1 - common) * topics + common * rng.dirichlet(np.full(n_words, 0.1))
    shares = np.arange(1, n_topics + 1) ** -power
    weights = rng.dirichlet(alpha * shares / shares.sum(), n_documents)
    lengths = np.maximum(rng.poisson(mean_tokens, n_documents), 2)
    return Corpus.from_counts(
        np.array([rng.multinomial(n, row @ topics) for n, row in zip(lengths, weights, strict=True)])
    )


def bars(draw: int, n_documents: int) -> Corpus:
    """Draw documents of ten bars."""
    return toy_bars(n_documents=n_documents, seed=draw)[0]


def copies(draw: int) -> Corpus:
    """Draw documents of ten topics, a fifth of which come twice."""
    corpus = drawn(draw, 1000, 1000, 10, 100)
    rows = np.random.default_rng(draw).choice(1000, 200, replace=False)
    return corpus[np.concatenate([np.arange(1000), rows])]


KINDS: dict[str, Callable[[int], Corpus]] = {
    "10 bars": lambda draw: bars(draw, 600),
    "10 bars in 100": lambda draw: bars(draw, 100),
    "5 in 120 of 60": lambda draw: drawn(draw, 120, 100, 5, 60),
    "10 in 1,000 of 100": lambda draw: drawn(draw, 1000, 1000, 10, 100),
    "10, copies": copies,
    "40 in 3,000 of 100": lambda draw: drawn(draw, 3000, 2000, 40, 100),
    "100 in 4,000 of 100": lambda draw: drawn(draw, 4000, 3000, 100, 100),
    "40 of 1/k, 3,000 of 100": lambda draw: drawn(draw, 3000, 2000, 40, 100, power=1.0),
    "40 in 600 of 2,000": lambda draw: drawn(draw, 600, 3000, 40, 2000),
    "20 in 20,000 of 8": lambda draw: drawn(draw, 20_000, 1000, 20, 8, alpha=0.3),
    "80 in 30,000 of 8": lambda draw: drawn(draw, 30_000, 2000, 80, 8, alpha=0.3),
    "40 of 1/k, 20,000 of 10": lambda draw: drawn(draw, 20_000, 1500, 40, 10, alpha=0.3, power=1.0),
    "60 weak, 3,000 of 94": lambda draw: drawn(draw, 3000, 1500, 60, 94, common=0.5),
    "1 in 1,000 of 60": lambda draw: drawn(draw, 1000, 500, 1, 60, eta=1.0),
    "1, random words, 1,500 of 60": lambda draw: drawn(draw, 1500, 800, 1, 60, eta=50.0),
    "1, random words, 10,000 of 8": lambda draw: drawn(draw, 10_000, 800, 1, 8, eta=50.0),
}


def splits(names: list[str], draws: int) -> list[corpora.Split]:
    """Return the collections of some names: each draw of a kind, or one of the harness."""
    found = []
    for name in names:
        if name not in KINDS:
            found.append(corpora.load(corpora.names([name])[0]))
            continue
        for draw in range(draws):
            train, held = KINDS[name](draw).split(HELD_OUT, seed=0)
            found.append(corpora.Split(f"{name} (draw {draw})", train, *held.halves(seed=0)))
    return found


def scores(split: corpora.Split, topics: np.ndarray, prior: np.ndarray) -> Row:
    """Return the completion of held-out documents."""
    best = max(completion(split, topics, total * prior / prior.sum()) for total in TOTALS)
    return {"best": f"{best:.4f}", "own": f"{completion(split, topics, prior):.4f}"}


def peer(split: corpora.Split, seed: int, seconds: float) -> Row:
    """Return how tomotopy's LDA completes them after so many processor seconds."""
    system, spent = TomotopyLDA(split.train, {"K": PEER_TOPICS, "seed": seed}), 0.0
    for of_unit in system.work():
        spent += of_unit
        if spent >= seconds and system.passes >= FEWEST_PASSES:
            break
    return {f"tomotopy {name}": value for name, value in scores(split, *system.answer()).items()}


def row(split: corpora.Split, seed: int, *, with_peer: bool) -> Row:
    """Return a row of the table."""
    model = TopicModel(random_state=seed, n_jobs=1)
    seconds = processor_seconds(lambda: model.fit(split.train))
    large = int((np.sort(model.topic_shares_)[::-1].cumsum() < MANY).sum()) + 1
    found = {
        "collection": split.name,
        "seed": seed,
        "began with": model.started_,
        "K": model.n_topics_,
        "K 99 %": large,
        **scores(split, model.topic_word_, model.topic_prior_),
        **(peer(split, seed, seconds) if with_peer else {}),
        "processor seconds": f"{seconds:.1f}",
        "peak GiB": f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f}",
    }
    sys.stderr.write(f"{found}\n")
    return found


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--collections", nargs="+", default=[*KINDS], help="kinds, or corpora by name")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--peer", action="store_true", help="beside tomotopy's LDA")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    TopicModel(n_laps=60, random_state=0).fit(bars(0, 50))  # kernels are compiled
    found = splits(options.collections, options.draws)
    return table([row(split, seed, with_peer=options.peer) for split in found for seed in options.seeds])
