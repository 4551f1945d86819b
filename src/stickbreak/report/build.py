"""From a fitted model and its documents to the numbers of a report."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stickbreak.corpus import Corpus
from stickbreak.evaluation.measures import topic_diversity
from stickbreak.exceptions import InputError
from stickbreak.numerics.arrays import Float, Int
from stickbreak.prediction.completion import Completion
from stickbreak.prediction.topics import FittedTopics, FlatTopics, as_topics
from stickbreak.prediction.words import check_same_words, document_blocks
from stickbreak.questions.columns import Span
from stickbreak.questions.document_map import MapTopics, placed_documents, sampled_rows
from stickbreak.questions.topic_map import affinities, in_documents, most_similar, neighbour_map
from stickbreak.report.data import (
    CorpusReport,
    DocumentMapReport,
    DocumentReport,
    HeldOut,
    PathReport,
    ReportData,
    TopicReport,
    finite_or_none,
)
from stickbreak.report.document_map import describe_map
from stickbreak.report.documents import DocumentWriter, Texts, counted_with_texts, fetch_texts, rows_shown
from stickbreak.report.fit import FittedRun, describe_fit
from stickbreak.report.grouped import (
    SampleWeights,
    columns_of_report,
    describe_changed_words,
    describe_classes,
    describe_span,
    describe_time,
)
from stickbreak.report.topics import (
    ReportTopics,
    TopicShares,
    TopicWriter,
    describe_path,
    describe_tree,
    joined_path,
    nearest_nodes,
    report_topics,
)
from stickbreak.storage.persistence import package_version

if TYPE_CHECKING:
    import pandas as pd

    from stickbreak.comparison import Stability

_MOST_DOCUMENTS, _TREE_DOCUMENTS = 100_000, 10_000
_LEAST_DOCUMENTS, _MOST_WORK = 1_000, 1e9  # stored counts times topics whose weights take a minute
_EXAMPLES, _FEWER_EXAMPLES, _MANY_TOPICS = 5, 3, 300
_SIMILAR_TOPICS = 4
_MAP_DOCUMENTS = 10_000  # of more, `stickbreak report --map` draws up to ten times as many
_MOST_COLUMNS = 6
_MOST_NATS = 700.0  # whose exponential is finite


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
    stability: Stability | pd.DataFrame | None = None,
    dates: Any = None,
    by: str | None = None,
    categories: Any = None,
    date_format: str | None = None,
    since: Any = None,
    until: Any = None,
    n_words: int = 20,
    n_examples: int | None = None,
    snippet_length: int = 400,
    max_documents: int | None = None,
    seed: int = 0,
    callback: Callable[[dict[str, Any]], None] | None = None,
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
        Held-out document completion, in nats per token (`evaluation.document_completion`). The default is the one that
        the model knows, with its `unigram` (`note_held_out`).
    unigram : float, optional
        What word frequencies alone score on the same words, if known (`evaluation.unigram_completion`). Then the report
        says how many times better the topics guess a word.
    texts : callable or sequence of str, optional
        The texts of the documents, or a function from rows to their texts; without, the documents that show a
        topic are described by their most telling words. Texts in place of `corpus` are also these.
    weights : array-like of shape (n_documents, n_topics) or (n_documents, n_topics + 1), optional
        Topic weights of the documents, if already known; of a tree they are sparse, (n_documents, n_leaves_). The
        default asks ``model.transform``, in blocks.
    stability : Stability or DataFrame, optional
        How often the topics come again in other fits, if known: of `comparison.stability`, whose typical run the model
        then is, or of `comparison.found_again`.
    dates : str, array-like of length n_documents, or False, optional
        A column of `Corpus.metadata`, or the date of each document. The default is the only column of dates, if there
        is one. False: the report shows nothing over time.
    by : {"day", "week", "month", "quarter", "year"}, optional
        The periods; the default is that of `topics_over_time`.
    categories : str, sequence of str, or mapping of str to array-like, optional
        Columns of `Corpus.metadata`, or values of all documents by the name of the column. The default is up to three
        columns with at most 30 different values, of text or true and false. An empty list: none.
    date_format : str, optional
        How dates are written, as in `datetime.strptime`, or "seconds" or "milliseconds" since 1970. By default text
        must be as in ISO 8601 (2026-11-23); times since 1970 are recognised where nearly all lie from 1990 to 2100.
    since, until : str or date, optional
        First and last day. The documents that are shown, and the shares in documents, over time and by class are of
        these days. The shares of topics in all tokens stay those of the fit. A month or a year is meant as a whole.
    n_words : int, default=20
        Top words of each topic.
    n_examples : int, optional
        Documents shown for each topic. The default is 5, and 3 where there are more than 300 topics.
    snippet_length : int, default=400
        Characters of text shown of a document, about.
    max_documents : int, optional
        Of larger corpora, a random sample of this size stands for all in every share. The default is 100,000, and
        10,000 for a tree, which samples their tokens. Where documents are long and topics many it is fewer: about as
        many as have 10^9 stored counts times topics.
    seed : int, default=0
        Seed of that sample.
    callback : callable, optional
        Called with a dict as weights of documents are found: {"stage": "report", "done", "total"}.

    Returns
    -------
    ReportData
        Plain numbers and strings.

    Raises
    ------
    InputError
        If the corpus does not have the words of the model, or texts, weights or options do not fit.
    """
    corpus, texts = counted_with_texts(model, corpus, texts)
    check_same_words(model, corpus)
    asked = as_topics(model)
    tree = describe_tree(asked)
    if max_documents is None:
        max_documents = _documents_at_most(corpus, asked.n_topics_) if tree is None else _TREE_DOCUMENTS
    if n_examples is None:
        n_examples = _EXAMPLES if asked.n_topics_ <= _MANY_TOPICS else _FEWER_EXAMPLES
    for name, value, least in (
        ("n_words", n_words, 1),
        ("n_examples", n_examples, 0),
        ("snippet_length", snippet_length, 40),
        ("max_documents", max_documents, 1),
    ):
        if value < least:
            raise InputError(f"{name} is {value}; give at least {least}.")
    columns = columns_of_report(corpus, dates, by, categories, date_format, Span.of(since, until))
    lengths = np.asarray(corpus.document_lengths, dtype=np.float64)
    chosen = columns.chosen(lengths.size)
    rows = _described_rows(lengths, chosen, max_documents, seed)
    shown = report_topics(asked, corpus, weights, n_words)
    keep = columns.time is not None or columns.classes
    on_map = sampled_rows(rows, _MAP_DOCUMENTS, len(shown.numbers), seed)
    shares, sample, of_map = _gather_shares(shown, rows, on_map, lengths, n_examples, keep=keep, callback=callback)
    beside = [] if corpus.metadata is None else list(corpus.metadata.column_names)[:_MOST_COLUMNS]
    shown_rows = rows_shown(shares.example_rows, rows, seed)
    asked_rows = np.union1d(shown_rows, on_map).tolist()
    known = None if texts is None else fetch_texts(texts, asked_rows, corpus)
    writer_of_documents = DocumentWriter(shown, corpus, lengths, known, beside, snippet_length)
    documents = _documents(writer_of_documents, shares, shown_rows)
    place = {one.row: i for i, one in enumerate(documents)}
    affinity = affinities(shown.topic_word)
    likeness = (affinity + in_documents(shares.together)) / 2
    found, nodes = _found_again(stability, asked), nearest_nodes(tree, shown.numbers)
    writer = TopicWriter(asked, shown, corpus, shares, place, found, nodes)
    topics = writer.write(most_similar(affinity, _SIMILAR_TOPICS), neighbour_map(likeness))
    path = describe_path(shown, likeness)
    joined = path or joined_path(shown, likeness)
    defined = [t.coherence for t in topics if t.coherence is not None]
    return ReportData(
        title=title or f"Topics of {corpus.n_documents:,} documents",
        version=package_version(),
        written=date.today().isoformat(),
        n_labelled=len(asked.labels_),
        corpus=CorpusReport(
            n_documents=corpus.n_documents,
            n_words=corpus.n_words,
            n_tokens=float(lengths.sum()),
            n_empty=int((lengths == 0).sum()),
            n_described=int(rows.size),
        ),
        fit=describe_fit(model, model.n_topics_),
        held_out=_describe_held_out(*_known_score(asked, held_out, unigram)),
        mean_coherence=float(np.mean(defined)) if defined else None,
        diversity=finite_or_none(topic_diversity(shown.topic_word)),
        topics=topics,
        tree=tree,
        path=path,
        columns=tuple(beside),
        documents=documents,
        time=describe_time(columns, sample, lengths, shown.numbers, seed),
        classes=describe_classes(columns, sample, seed),
        changed_words=describe_changed_words(columns, asked, corpus, sample, shown.numbers),
        span=describe_span(columns, lengths),
        document_map=_document_map(
            shown, of_map, on_map, int((chosen & (lengths > 0)).sum()), topics, joined, known, seed
        ),
        n_other_fits=getattr(getattr(stability, "table", stability), "attrs", {}).get("n_fits"),
    )


def _described_rows(lengths: Float, chosen: NDArray[np.bool_], max_documents: int, seed: int) -> Int:
    """Return the chosen documents that are not empty, or a sorted random sample of them."""
    rows = np.flatnonzero((lengths > 0) & chosen).astype(np.int64)
    if not (rows.size or chosen.all()):
        raise InputError("no document of these days has a word that the model knows; give another first or last day.")
    if rows.size <= max_documents:
        return rows
    sample = np.random.default_rng(seed).choice(rows, size=max_documents, replace=False)
    return np.asarray(np.sort(sample), dtype=np.int64)


def _gather_shares(
    shown: ReportTopics, rows: Int, on_map: Int, lengths: Float, n_examples: int, *, keep: Any, callback: Any
) -> tuple[TopicShares, SampleWeights, NDArray[np.float32]]:
    """Run through the described documents in blocks, and keep the weights of those that something is asked of.

    The last of what is returned are the weights of the documents `on_map`, some of `rows`; both are sorted.
    """
    n_topics = len(shown.numbers)
    of_map = np.empty((on_map.size, n_topics), dtype=np.float32)
    shares = TopicShares.empty(n_topics, n_examples)
    kept = np.empty((rows.size if keep else 0, n_topics), dtype=np.float32)
    for block in document_blocks(rows.size, n_topics):
        part = rows[block]
        weights, largest = shown.of_documents(part)
        shares.add(part, lengths[part], weights, largest)
        if keep:
            kept[block] = weights
        first, last = np.searchsorted(on_map, (part[0], part[-1] + 1))
        of_map[first:last] = weights[np.searchsorted(part, on_map[first:last])]
        if callback is not None:
            callback({"stage": "report", "done": block.stop, "total": rows.size})
    return shares, SampleWeights(rows, lengths[rows], kept), of_map


def _document_map(
    shown: ReportTopics,
    weights: NDArray[np.float32],
    rows: Int,
    n_documents: int,
    topics: tuple[TopicReport, ...],
    joined: PathReport,
    texts: Mapping[int, str] | None,
    seed: int,
) -> DocumentMapReport | None:
    """Return the map of some documents and their weights; None where nothing is to be told apart."""
    if len(topics) < 2 or not (weights > 0).any():
        return None
    of_map = MapTopics(
        numbers=np.array(shown.numbers),
        labels=tuple(topic.label for topic in topics),
        places=np.array([topic.position for topic in topics]),
        shares=shown.shares,
        joins=np.array([(join.left, join.right) for join in joined.joins]),
        names=tuple(join.label for join in joined.joins),
        overview=joined.overview,
    )
    found = placed_documents(weights, rows, n_documents, of_map, seed, shown.model.map_vectors(shown.corpus[rows]))
    return describe_map(found, shown.corpus, texts, shown.model.vocabulary_, shown.topic_word)


def _documents(writer: DocumentWriter, shares: TopicShares, shown: Int) -> tuple[DocumentReport, ...]:
    """Describe documents: the examples of all topics, and random ones where these are few."""
    of_topics: dict[int, list[int]] = {}
    for k, rows in enumerate(shares.example_rows):
        for row in rows[rows >= 0].tolist():
            of_topics.setdefault(row, []).append(k)
    return writer.write(shown, of_topics)


def _found_again(stability: Stability | pd.DataFrame | None, model: FlatTopics) -> dict[int, tuple[float, float]]:
    """Return how often each topic comes again in other fits, and how similar it is there, by its number."""
    if stability is None:
        return {}
    table: Any = getattr(stability, "table", stability)
    asked = model.shown_topics(1).numbers.size  # of a tree its largest leaves
    if len(table) != asked:
        raise InputError(
            f"stability is about {len(table)} topics, but the model has {asked}; make the report of "
            "the model that it is about (stability.model)."
        )
    found = zip(table["found"].astype(float).tolist(), table["similarity"].astype(float).tolist(), strict=True)
    return dict(zip(table["topic"].astype(int).tolist(), found, strict=True))


def _documents_at_most(corpus: Corpus, n_topics: int) -> int:
    """Return of how many documents weights are found: of fewer where documents are long and topics many."""
    work = float(corpus.counts.nnz) * n_topics
    share = min(1.0, _MOST_WORK / max(work, 1.0))
    return min(_MOST_DOCUMENTS, max(_LEAST_DOCUMENTS, int(share * corpus.n_documents)))


def _known_score(
    topics: FlatTopics, score: Completion | float | None, unigram: float | None
) -> tuple[Completion | float | None, float | None]:
    """Return the score that was given, or else the one that was noted in the model; your own has none."""
    noted = topics.held_out_
    if score is not None or noted is None:
        return score, unigram
    return noted.score, noted.unigram if unigram is None else unigram


def _describe_held_out(score: Completion | float | None, unigram: float | None) -> HeldOut | None:
    """Bring a held-out score into the form of the report."""
    if score is None:
        return None
    active = score.active if isinstance(score, Completion) else float(score)
    perplexity = math.exp(min(-active, _MOST_NATS))
    if isinstance(score, Completion):
        return HeldOut(active, score.with_inactive, perplexity, score.n_tokens, unigram)
    return HeldOut(active, None, perplexity, None, unigram)
