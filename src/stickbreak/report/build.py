"""From a fitted model and its documents to the numbers of a report."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stickbreak.corpus import Corpus
from stickbreak.corpus.text_columns import texts_in
from stickbreak.evaluation.coherence import coherence
from stickbreak.exceptions import InputError
from stickbreak.model.texts import counted_for
from stickbreak.prediction.completion import Completion
from stickbreak.prediction.fitted import FittedTopics, document_blocks
from stickbreak.prediction.topics import as_topics
from stickbreak.prediction.words import check_same_words
from stickbreak.questions.topic_map import affinities, map_positions, most_similar
from stickbreak.report.data import (
    CorpusReport,
    ExampleDocument,
    HeldOut,
    ReportData,
    TopicReport,
    WordShare,
    finite_or_none,
)
from stickbreak.report.fit import FittedRun, describe_fit, package_version
from stickbreak.report.path import describe_path
from stickbreak.report.shares import TopicShares
from stickbreak.report.shown import ReportTopics, report_topics
from stickbreak.report.snippets import Texts, best_passage, fetch_texts
from stickbreak.report.tree import describe_tree

ALONG_BINS = 50
_MOST_DOCUMENTS, _TREE_DOCUMENTS = 100_000, 10_000
_TELLING_WORDS = 8
_SIMILAR_TOPICS = 4
_COHERENCE_WORDS = 10


class ReportedModel(FittedTopics, FittedRun, Protocol):
    """What a report asks: any estimator of words answers, and so can a model of your own."""


def build_report(
    model: ReportedModel,
    corpus: Any,
    *,
    title: str | None = None,
    held_out: Completion | float | None = None,
    unigram: float | None = None,
    texts: Texts | None = None,
    weights: ArrayLike | None = None,
    n_words: int = 20,
    n_examples: int = 5,
    snippet_length: int = 300,
    max_documents: int | None = None,
    seed: int = 0,
) -> ReportData:
    """Gather what a report on a fitted model says.

    Parameters
    ----------
    model : fitted model
        Any family, or an object with what `FittedTopics` and `FittedRun` name. Of a tree the report shows its largest
        nodes (2,000) and its largest topics (300).
    corpus : Corpus or texts
        Documents to describe the topics by, usually those that the model was fitted on.
    title : str, optional
        Heading of the report; the default names the number of documents.
    held_out : Completion or float, optional
        Held-out document completion, in nats per token, if known (`evaluation.document_completion`).
    unigram : float, optional
        What word frequencies alone score on the same words, if known (`evaluation.unigram_completion`). Then the report
        says how many times better the topics guess a word.
    texts : callable or sequence of str, optional
        The texts of the documents, or a function from rows to their texts; without, the documents that show a
        topic are described by their most telling words. Texts in place of `corpus` are also these.
    weights : array-like of shape (n_documents, n_topics) or (n_documents, n_topics + 1), optional
        Topic weights of the documents, if already known; of a tree they are sparse, (n_documents, n_leaves_). The
        default asks ``model.transform``, in blocks.
    n_words : int, default=20
        Top words of each topic.
    n_examples : int, default=5
        Documents shown for each topic.
    snippet_length : int, default=300
        Characters of text shown of a document, about.
    max_documents : int, optional
        Of larger corpora, a random sample of this size stands for all in every share; the default is 100,000, and
        10,000 for a tree, which samples their tokens.
    seed : int, default=0
        Seed of that sample.

    Returns
    -------
    ReportData
        Plain numbers and strings.

    Raises
    ------
    InputError
        If the corpus does not have the words of the model, or texts, weights or options do not fit.
    """
    texts = texts_in(corpus) if texts is None and not isinstance(corpus, Corpus) else texts
    corpus = counted_for(model, corpus)
    check_same_words(model, corpus)
    asked = as_topics(model)
    tree = describe_tree(asked)
    if max_documents is None:
        max_documents = _MOST_DOCUMENTS if tree is None else _TREE_DOCUMENTS
    for name, value, least in (
        ("n_words", n_words, 1),
        ("n_examples", n_examples, 0),
        ("snippet_length", snippet_length, 40),
        ("max_documents", max_documents, 1),
    ):
        if value < least:
            raise InputError(f"{name} is {value}; give at least {least}.")
    lengths = np.asarray(corpus.document_lengths, dtype=np.float64)
    rows = _described_rows(lengths, max_documents, seed)
    shown = report_topics(asked, corpus, weights, n_words)
    shares = _gather_shares(shown, rows, lengths, n_examples)
    topics = _TopicWriter(shown, corpus, model.vocabulary_, lengths, shares, texts, snippet_length).write()
    defined = [t.coherence for t in topics if t.coherence is not None]
    return ReportData(
        title=title or f"Topics of {corpus.n_documents:,} documents",
        version=package_version(),
        corpus=CorpusReport(
            n_documents=corpus.n_documents,
            n_words=corpus.n_words,
            n_tokens=float(lengths.sum()),
            n_empty=int((lengths == 0).sum()),
            n_described=int(rows.size),
        ),
        fit=describe_fit(model),
        held_out=_describe_held_out(held_out, unigram),
        mean_coherence=float(np.mean(defined)) if defined else None,
        topics=topics,
        tree=tree,
        path=describe_path(asked),
    )


def _described_rows(lengths: NDArray[np.float64], max_documents: int, seed: int) -> NDArray[np.int64]:
    """Return the non-empty documents, or a sorted random sample of them."""
    rows = np.flatnonzero(lengths > 0).astype(np.int64)
    if rows.size <= max_documents:
        return rows
    sample = np.random.default_rng(seed).choice(rows, size=max_documents, replace=False)
    return np.asarray(np.sort(sample), dtype=np.int64)


def _gather_shares(
    shown: ReportTopics,
    rows: NDArray[np.int64],
    lengths: NDArray[np.float64],
    n_examples: int,
) -> TopicShares:
    """Run through the described documents in blocks."""
    n_bins, n_topics = max(1, min(ALONG_BINS, lengths.size)), len(shown.numbers)
    shares = TopicShares.empty(n_topics, n_bins, n_examples)
    for block in document_blocks(rows.size, n_topics):
        part = rows[block]
        shares.add(part, lengths[part], *shown.of_documents(part), part * n_bins // lengths.size)
    return shares


@dataclass(slots=True)
class _TopicWriter:
    """Turns arrays over topics into one `TopicReport` each."""

    shown: ReportTopics
    corpus: Corpus
    vocabulary: Sequence[str]
    lengths: NDArray[np.float64]
    shares: TopicShares
    texts: Texts | None
    snippet_length: int

    def write(self) -> tuple[TopicReport, ...]:
        """Describe all topics that are shown."""
        shown, shares, phi = self.shown, self.shares, self.shown.topic_word
        scores = coherence(phi, self.corpus, _COHERENCE_WORDS)
        affinity = affinities(phi)
        similar = most_similar(affinity, _SIMILAR_TOPICS)
        positions = map_positions(affinity)
        found = self._texts_by_row()
        return tuple(
            TopicReport(
                index=k,
                number=number,
                token_share=float(shown.shares[k]),
                n_present=int(shares.n_present[k]),
                n_largest=int(shares.n_largest[k]),
                coherence=finite_or_none(scores[k]),
                words=tuple(WordShare(word, probability) for word, probability in shown.words[k]),
                histogram=tuple(int(n) for n in shares.histogram[k]),
                along=tuple(float(shares.along_sum[b, k] / n) if n else None for b, n in enumerate(shares.along_count)),
                documents=self._examples(k, found),
                similar=similar[k],
                position=(float(positions[k, 0]), float(positions[k, 1])),
            )
            for k, number in enumerate(shown.numbers)
        )

    def _texts_by_row(self) -> dict[int, str] | None:
        """Fetch the texts of all example documents at once."""
        if self.texts is None:
            return None
        rows = np.unique(self.shares.example_rows)
        return fetch_texts(self.texts, [int(r) for r in rows if r >= 0], self.corpus.n_documents)

    def _examples(self, k: int, found: Mapping[int, str] | None) -> tuple[ExampleDocument, ...]:
        """Describe the documents that show topic k best."""
        terms = frozenset(part for word, _ in self.shown.words[k] for part in word.lower().split())
        examples = []
        for row, share in zip(self.shares.example_rows[k], self.shares.example_shares[k], strict=True):
            if row < 0:
                continue
            text = None if found is None else found[int(row)]
            examples.append(
                ExampleDocument(
                    row=int(row),
                    name=self._name(int(row)),
                    share=float(share),
                    n_tokens=float(self.lengths[row]),
                    snippet=None if text is None else best_passage(text, terms, self.snippet_length),
                    words=self._telling_words(int(row), self.shown.topic_word[k]) if text is None else (),
                )
            )
        return tuple(examples)

    def _name(self, row: int) -> str:
        """Return the name of a document, or its row number."""
        return str(row) if self.corpus.names is None else self.corpus.names[row]

    def _telling_words(self, row: int, phi: NDArray[np.float64]) -> tuple[str, ...]:
        """Return the words of a document that contribute most to a topic, by count times probability."""
        counts = self.corpus.counts
        entries = slice(counts.indptr[row], counts.indptr[row + 1])
        words = counts.indices[entries]
        order = np.argsort(-counts.data[entries] * phi[words], kind="stable")[:_TELLING_WORDS]
        return tuple(self.vocabulary[w] for w in words[order])


def _describe_held_out(score: Completion | float | None, unigram: float | None) -> HeldOut | None:
    """Bring a held-out score into the form of the report."""
    if score is None:
        return None
    if isinstance(score, Completion):
        return HeldOut(score.active, score.with_inactive, score.perplexity, score.n_tokens, unigram)
    return HeldOut(float(score), None, math.exp(-float(score)), None, unigram)
