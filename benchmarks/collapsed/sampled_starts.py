"""What the sampled start changes, on collections that its rule was not chosen by.

Each collection is fitted twice with the defaults and the same seed: without the sampled start, and with it. Both fits
are the same up to where the start is tried, and to the end where it is not taken. "Difference" is what the documents
set apart say, in nats and with its standard error. "Own" and "best" are the
completion of documents held out of both fits, in nats per token, at the prior of the fit and at the best total of it.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np
from stickbreak.collapsed import laps, sampled_start
from stickbreak.collapsed.state import Priors

from benchmarks.collapsed.kinds import HELD_OUT, TOTALS, drawn
from benchmarks.harness import corpora
from benchmarks.harness.ours import own_prior
from benchmarks.harness.scores import completion
from benchmarks.harness.tables import table
from stickbreak import CollapsedHDP
from stickbreak.corpus import Corpus, planted_lda

Row = dict[str, object]


def titles(n_documents: int, seed: int, *, n_topics: int = 80, mean_tokens: float = 4.5) -> Corpus:
    """Draw documents of a few words."""
    return drawn(n_documents, 1500, n_topics, mean_tokens, common=0.2, strength=30, alpha=1, seed=seed)


def posts(seed: int) -> Corpus:
    """Draw documents of twelve words from a large vocabulary, each of one topic or two, half of them common words."""
    return drawn(6000, 8000, 60, 12, common=0.5, strength=60, alpha=0.2, seed=seed)


def at_random(seed: int) -> Corpus:
    """Draw documents of six words, all equally frequent, without topics."""
    lengths = np.maximum(np.random.default_rng(seed).poisson(6, 4000), 1)
    return Corpus.from_counts(
        np.array(
            [np.random.default_rng([seed, d]).multinomial(n, np.full(500, 1 / 500)) for d, n in enumerate(lengths)]
        )
    )


def repeated(seed: int) -> Corpus:
    """Draw documents of a few words, each of them six times."""
    return Corpus.from_counts(np.tile(titles(1000, seed).counts.toarray(), (6, 1)))


def single(seed: int) -> Corpus:
    """Draw documents of one word."""
    rng = np.random.default_rng(seed)
    return Corpus.from_counts(np.eye(300)[rng.choice(300, 6000, p=rng.dirichlet(np.full(300, 0.5)))])


DRAWN: dict[str, Any] = {
    "titles, seed 1": lambda: titles(12000, 1),
    "titles, seed 2": lambda: titles(12000, 2),
    "3,000 titles": lambda: titles(3000, 3),
    "8 words": lambda: titles(6000, 4, mean_tokens=8),
    "20 words": lambda: titles(4000, 5, mean_tokens=20),
    "40 words": lambda: titles(3000, 6, mean_tokens=40),
    "5 topics": lambda: titles(6000, 7, n_topics=5, mean_tokens=8),
    "300 topics": lambda: titles(12000, 8, n_topics=300, mean_tokens=8),
    "1 topic": lambda: titles(6000, 9, n_topics=1, mean_tokens=8),
    "20 planted topics": lambda: planted_lda(5000, 1000, n_topics=20, mean_tokens=5, seed=10)[0],
    "60 planted topics": lambda: planted_lda(6000, 2000, n_topics=60, mean_tokens=10, seed=11)[0],
    "reviews, seed 1": lambda: drawn(3000, 4000, 60, 94, common=0.5, strength=30, alpha=3, seed=1),
    "posts": lambda: posts(12),
    "words at random": lambda: at_random(13),
    "repeated titles": lambda: repeated(14),
    "one word": lambda: single(15),
}


@dataclass
class Trial:
    """What a fit found of its sampled start."""

    model: CollapsedHDP
    gains: list[np.ndarray] = field(default_factory=list)
    taken: bool = False


def fitted(corpus: Corpus, seed: int, *, sampled: bool) -> Trial:
    """Fit with the defaults, with or without the sampled start."""
    trial = Trial(CollapsedHDP(random_state=seed, n_jobs=1))
    gains, start = sampled_start.gains, sampled_start.try_sampled_start

    def noted(*given: Any) -> np.ndarray:
        trial.gains.append(gains(*given))
        return trial.gains[-1]

    def tried(*given: Any) -> Priors | None:
        found = start(*given) if sampled else None
        trial.taken = found is not None
        return found

    with patch.object(sampled_start, "gains", noted), patch.object(laps, "try_sampled_start", tried):
        trial.model.fit(corpus)
    return trial


def load(name: str) -> corpora.Split:
    """Return the collection of a name: one that is drawn, or one of the harness."""
    if name not in DRAWN:
        return corpora.load(corpora.names([name])[0])
    train, held = DRAWN[name]().split(HELD_OUT, seed=0)
    return corpora.Split(name, train, *held.halves(seed=0))


def scored(split: corpora.Split, model: CollapsedHDP) -> tuple[float, float]:
    """Return the completion at the prior of a fit, and at the best total of it; NaN of documents without halves."""
    if not ((split.observed.document_lengths > 0) & (split.held_out.document_lengths > 0)).any():
        return np.nan, np.nan
    topics, prior = model.topic_word_, own_prior(model)
    shares = prior / prior.sum()
    return completion(split, topics, prior), max(completion(split, topics, total * shares) for total in TOTALS)


def row(name: str, seed: int) -> Row:
    """Return a row of the table."""
    split = load(name)
    new = fitted(split.train, seed, sampled=True)
    gain = new.gains[0] if new.gains else np.zeros(0)
    taken = new.taken
    old = fitted(split.train, seed, sampled=False) if taken else new
    now, before = (scored(split, one.model) for one in (new, old))
    error = np.sqrt((gain**2).sum())
    found: Row = {
        "collection": split.name,
        "documents": f"{split.train.n_documents:,}",
        "tokens of a document": f"{split.train.n_tokens / split.train.n_documents:.1f}",
        "difference": f"{gain.sum():.0f} ± {error:.0f}" if new.gains else "not tried",
        "taken": "yes" if taken else "no",
        "topics without": old.model.n_topics_,
        "topics": new.model.n_topics_,
        "own without": f"{before[0]:.3f}",
        "own": f"{now[0]:.3f}",
        "best without": f"{before[1]:.3f}",
        "best": f"{now[1]:.3f}",
    }
    sys.stderr.write(f"{found}\n")
    return found


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    known = f"{'; '.join(DRAWN)}; or a corpus by name"
    parser.add_argument("--collections", nargs="+", default=list(DRAWN), help=known)
    parser.add_argument("--seed", type=int, default=0)


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    return table([row(name, options.seed) for name in options.collections])
