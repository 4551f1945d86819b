"""The default with bursts beside the default without: completion of held-out documents, processor seconds.

"Plain topics" are those of the fit without bursts, whose predictions let words repeat, with the strength of the other
fit: what the topics themselves contribute is the difference to "bursts". NPMI is the mean over topics of their ten most
probable words in held-out documents, NMI that of the largest topics of documents and a column of their tables.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from benchmarks.harness import corpora
from benchmarks.harness.scores import TOP_WORDS, npmi
from benchmarks.harness.tables import table
from benchmarks.harness.units import processor_seconds
from benchmarks.topics.default import KINDS, Row, splits
from stickbreak import TopicModel
from stickbreak.corpus import Corpus, read, toy_bars
from stickbreak.evaluation.coherence import top_word_indices


def sampled(train: Corpus, most: int | None) -> Corpus:
    """Return documents of about so many tokens, drawn at random; all where `most` is None."""
    if most is None or train.n_tokens <= most:
        return train
    order = np.random.default_rng(0).permutation(train.n_documents)
    n = int(np.searchsorted(np.cumsum(train.document_lengths[order]), most)) + 1
    return train[np.sort(order[:n])]


def labelled(name: str, column: str) -> corpora.Split:
    """Return a file as `corpora.load` does, with a column of labels."""
    train, held = read(name, text_field="text", keep=[column]).split(corpora.HELD_OUT, seed=0)
    return corpora.Split(corpora.title(name), train, *held.halves(seed=0))


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

    def coherence(model: TopicModel) -> str:
        return f"{np.nanmean(npmi(top_word_indices(model.topic_word_, TOP_WORDS), held)):.3f}"

    def agreement(model: TopicModel) -> str:
        labels = train.metadata[options.label].to_pylist()
        return f"{normalized_mutual_info_score(labels, model.transform(train).argmax(axis=1)):.3f}"

    held = Corpus.from_counts(split.observed.counts + split.held_out.counts)
    scores = score(plain), score(bursts)
    of_labels = {"NMI": ", ".join(map(agreement, models))} if options.label else {}
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
        "NPMI": ", ".join(map(coherence, models)),
        **of_labels,
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
    parser.add_argument("--label", help="column of collections that are files: NMI with it")
    parser.add_argument("--passes", type=int, default=1000, help="at most")
    parser.add_argument("--seed", type=int, default=0)


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    for bursts in (False, True):  # kernels are compiled
        TopicModel(n_laps=60, random_state=0, bursts=bursts).fit(toy_bars(n_documents=50, seed=0)[0])
    chosen = splits(options.collections, options.draws)
    if options.label:
        chosen = (labelled(name, options.label) for name in options.collections)
    return table([row(split, options) for split in chosen])
