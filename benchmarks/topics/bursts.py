"""The default with bursts beside the default without: completion of held-out documents, processor seconds.

"Plain topics" are those of the fit without bursts, whose predictions let words repeat, with the strength of the other
fit: what the topics themselves contribute is the difference to "bursts".
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from benchmarks.harness import corpora
from benchmarks.harness.tables import table
from benchmarks.harness.units import processor_seconds
from benchmarks.topics.default import KINDS, Row, splits
from stickbreak import TopicModel
from stickbreak.corpus import Corpus, toy_bars


def sampled(train: Corpus, most: int | None) -> Corpus:
    """Return documents of about so many tokens, drawn at random; all where `most` is None."""
    if most is None or train.n_tokens <= most:
        return train
    order = np.random.default_rng(0).permutation(train.n_documents)
    n = int(np.searchsorted(np.cumsum(train.document_lengths[order]), most)) + 1
    return train[np.sort(order[:n])]


def row(split: corpora.Split, options: argparse.Namespace) -> Row:
    """Return a row of the table."""
    train = sampled(split.train, options.tokens)
    seen = np.asarray(train.counts.sum(axis=0)).ravel() > 0
    settings = {"n_topics": options.topics, "n_laps": options.passes, "random_state": options.seed}
    models = [TopicModel(bursts=bursts, **settings) for bursts in (False, True)]
    seconds = [processor_seconds(lambda model=model: model.fit(train)) for model in models]
    plain, bursts = models

    def score(model: TopicModel) -> float:
        return model.complete(split.observed, split.held_out, seen=seen).active

    scores = score(plain), score(bursts)
    plain.strength_ = bursts.strength_
    found: Row = {
        "collection": split.name,
        "tokens": int(train.n_tokens),
        "of a word and document": f"{train.n_tokens / train.counts.nnz:.2f}",
        "K": f"{plain.n_topics_}, {bursts.n_topics_}",
        "plain": f"{scores[0]:.4f}",
        "bursts": f"{scores[1]:.4f}",
        "gain": f"{scores[1] - scores[0]:+.3f}",
        "plain topics": f"{score(plain) - scores[0]:+.3f}",
        "strength": f"{bursts.strength_:.0f}",
        "passes": f"{plain.n_laps_}, {bursts.n_laps_}",
        "processor seconds": f"{seconds[0]:.1f}, {seconds[1]:.1f}",
    }
    sys.stderr.write(f"{found}\n")
    return found


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--collections", nargs="+", default=[*KINDS], help="kinds, or corpora by name")
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--topics", type=int, help="their number; the default finds it")
    parser.add_argument("--tokens", type=int, help="of a random part of the documents of a fit; the default takes all")
    parser.add_argument("--passes", type=int, default=1000, help="at most")
    parser.add_argument("--seed", type=int, default=0)


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    for bursts in (False, True):  # kernels are compiled
        TopicModel(n_laps=60, random_state=0, bursts=bursts).fit(toy_bars(n_documents=50, seed=0)[0])
    return table([row(split, options) for split in splits(options.collections, options.draws)])
