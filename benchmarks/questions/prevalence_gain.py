"""What columns of documents gain in prediction: `prevalence` and tomotopy's DMR beside models without columns.

Texts with a column of labels. The second halves of documents are predicted from the first, or from a few of
their tokens (`--observed`), with the topics and the priors of each system and one fixed point for all. `shuffled` are
labels of other documents: they must gain nothing. tomotopy learns its priors every ten passes, from the tenth on.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.harness.corpora import Split, root
from benchmarks.harness.scores import mean
from benchmarks.harness.tables import table
from benchmarks.topics.bursts import labelled, sampled
from stickbreak import TopicModel
from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine
from stickbreak.prediction.completion import completion_log_likelihood
from stickbreak.prediction.document_weights import collapsed_weights

LEAST = 1e-12  # of a weight and a probability


def with_labels(corpus: Corpus, column: str, seen: np.ndarray) -> Corpus:
    """Return the words of documents that are seen in training, and a column of labels."""
    words = tuple(np.array(corpus.words)[seen])
    labels = {} if corpus.metadata is None else {"label": corpus.metadata[column].to_pylist()}
    return Corpus.from_counts(corpus.counts[:, np.flatnonzero(seen)], words, metadata=labels or None)


def ours(train: Corpus, held: Corpus, options: argparse.Namespace, formula: str | None) -> tuple[Any, Any]:
    """Return topics (K, W), and the prior of each held-out document, (D, K)."""
    model = TopicModel(
        n_topics=options.topics, n_laps=options.passes, prevalence=formula, random_state=options.seed, tolerance=None
    ).fit(train)
    prior = np.atleast_2d(model._prior_of_documents(held))[:, :-1]
    return model.topic_word_, np.broadcast_to(prior, (len(held), options.topics))


def tomotopys(train: Corpus, held: Corpus, options: argparse.Namespace, *, labels: bool) -> tuple[Any, Any]:
    """Return the same of tomotopy, with or without labels."""
    import tomotopy

    kind = tomotopy.DMRModel if labels else tomotopy.LDAModel
    model = kind(k=options.topics, alpha=5.0 / options.topics, eta=0.05, seed=options.seed)
    model.burn_in = 0
    words, names = train.words, train.metadata["label"].to_pylist()
    for row, label in zip(train.counts, names, strict=True):
        tokens = [words[w] for w, n in zip(row.indices, row.data, strict=True) for _ in range(int(n))]
        if tokens:
            model.add_doc(tokens, **({"metadata": label} if labels else {}))
    model.train(options.passes, workers=1)
    known = [model.used_vocabs[v] for v in range(len(model.used_vocabs))]
    place = {word: w for w, word in enumerate(words)}
    topics = np.full((options.topics, len(words)), LEAST)
    topics[:, [place[word] for word in known]] = [model.get_topic_word_dist(k) for k in range(options.topics)]
    if not labels:
        return topics, np.broadcast_to(model.alpha, (len(held), options.topics))
    of_label = {label: np.asarray(model.get_topic_prior(label)) for label in set(names)}
    return topics, np.array([of_label[label] for label in held.metadata["label"].to_pylist()])


def row(name: str, found: tuple[Any, Any], split: Split, options: argparse.Namespace) -> dict[str, str]:
    """Return a row of the table."""
    topics, prior = (np.maximum(part, LEAST) for part in found)
    rng, scores = np.random.default_rng(options.seed), {}
    for most in (None, options.observed):
        observed = split.observed.counts.copy().astype(np.int64)
        if most is not None:
            observed = few(observed, most, rng)
        with Engine(1) as engine:
            weights = collapsed_weights(Corpus.from_counts(observed), topics, np.ascontiguousarray(prior), engine)
        what = "from halves" if most is None else f"from {most} tokens"
        scores[what] = f"{mean(completion_log_likelihood(weights, topics, split.held_out.counts)):.4f}"
    return {"system": name, **scores}


def few(counts: Any, most: int, rng: np.random.Generator) -> Any:
    """Return documents with at most so many of their tokens, at random."""
    out = counts.copy()
    for d in range(counts.shape[0]):
        own = slice(counts.indptr[d], counts.indptr[d + 1])
        n = counts.data[own]
        out.data[own] = rng.multivariate_hypergeometric(n, min(most, int(n.sum())))
    out.eliminate_zeros()
    return out


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--collection", default="20news", help="a collection with texts")
    parser.add_argument("--column", default="label", help="of the labels")
    parser.add_argument("--topics", type=int, default=30)
    parser.add_argument("--passes", type=int, default=100)
    parser.add_argument("--tokens", type=int, default=150_000, help="of training, about")
    parser.add_argument("--observed", type=int, default=5, help="tokens in place of the first halves")
    parser.add_argument("--seed", type=int, default=0)


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    split = labelled(str(root() / options.collection / "docs.jsonl.gz"), options.column)
    train = sampled(split.train, options.tokens)
    seen = np.asarray(train.counts.sum(axis=0)).ravel() > 0
    parts = (with_labels(part, options.column, seen) for part in (train, split.observed, split.held_out))
    split = Split(split.name, *parts)
    train, observed = split.train, split.observed
    rng = np.random.default_rng(options.seed)
    order = rng.permutation(len(train))
    shuffled = replace(train, metadata=train.metadata.take(order))
    found = {
        "TopicModel": lambda: ours(train, observed, options, None),
        "with prevalence": lambda: ours(train, observed, options, "label"),
        "with labels shuffled": lambda: ours(shuffled, observed, options, "label"),
        "tomotopy LDA": lambda: tomotopys(train, observed, options, labels=False),
        "tomotopy DMR": lambda: tomotopys(train, observed, options, labels=True),
    }
    return table([row(name, make(), split, options) for name, make in found.items()])
