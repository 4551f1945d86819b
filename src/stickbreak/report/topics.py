"""The topics that a report shows: their words, shares and examples, their joins and their tree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.evaluation.measures import exclusivity
from stickbreak.exceptions import InputError
from stickbreak.numerics.arrays import Float, Int
from stickbreak.plots.figures import largest_nodes
from stickbreak.prediction.topics import FlatTopics
from stickbreak.prediction.word_pairs import npmi_of_words
from stickbreak.prediction.words import log_word_shares, most_relevant, top_word_indices
from stickbreak.questions.documents import keep_best, wilson_lower_bound
from stickbreak.questions.labels import labels_of
from stickbreak.questions.topic_map import joined_by_likeness, words_of_joins
from stickbreak.report.data import (
    JoinReport,
    PathReport,
    TopicReport,
    TreeNode,
    TreeReport,
    WordShare,
    finite_or_none,
)

PRESENT_SHARE = 0.05  # a topic counts as present in a document from this share on
HISTOGRAM_BINS = 20
MOST_NODES, _NODE_WORDS = 2000, 10  # of a tree
_MOST_TOPICS = 300  # of a tree
_MOST_NUMBERS = 1 << 24  # of the words of these, held at once: 128 MiB
_SCORED_WORDS = 10
_WEIGHTS_OF_LIFT = (0.0, 0.3, 1.0)
_JOIN_WORDS, _LABEL_WORDS = 8, 3
_UNKNOWN = (math.nan, math.nan)
_AT_A_GLANCE = 20  # groups
_MOST_AT_A_GLANCE, _LARGEST = 40, 1 / 3  # more of them, where one would have more of the tokens than this


@dataclass(frozen=True, slots=True)
class ReportTopics:
    """What the report needs to know of n topics that it shows."""

    numbers: tuple[int, ...]  # what each is called (`ShownTopics`); its column in the result of transform
    topic_word: Float  # (n, W)
    shares: Float  # (n,) of the tokens of the fit
    log_word_shares: Float  # (W,) as `log_word_shares` returns them
    words: list[list[tuple[str, float]]]  # top words with their probabilities, as the model ranks them
    model: FlatTopics
    corpus: Corpus
    given: Any  # weights of the documents, a column for each of transform, if already known

    def of_documents(self, rows: Int) -> tuple[Float, Float]:
        """Return the weights of these topics in some documents, (D, n), and the largest weight of any there, (D,)."""
        found = self.model.active_weights(self.corpus[rows]) if self.given is None else self.given[rows]
        columns = np.array(self.numbers)
        if isinstance(found, sparse.csr_array):
            return found[:, columns].toarray(), found.max(axis=1).toarray().ravel()
        found = np.asarray(found, dtype=np.float64)
        if self.given is not None:  # rest of the weight left out
            total = found.sum(axis=1, keepdims=True)
            found = found / np.where(total > 0, total, 1.0)
        return found[:, columns], found.max(axis=1)


def report_topics(model: FlatTopics, corpus: Corpus, given: Any, n_words: int) -> ReportTopics:
    """Gather the topics that a report shows: all, or of a tree the largest 300 at most."""
    shown = model.shown_topics(n_words, most=max(1, min(_MOST_TOPICS, _MOST_NUMBERS // corpus.n_words)))
    known = None if given is None else _checked(given, corpus, model.n_columns_)
    phi = model.word_distributions(shown.numbers)
    log_shares, numbers = log_word_shares(model), tuple(shown.numbers.tolist())
    return ReportTopics(numbers, phi, shown.shares, log_shares, shown.words, model, corpus, known)


def _checked(given: ArrayLike, corpus: Corpus, n_columns: int) -> Any:
    """Return weights without that of the rest, refuse those that are not of the documents and the topics."""
    table: Any = sparse.csr_array(given) if sparse.issparse(given) else np.asarray(given)
    widths = (n_columns,) if sparse.issparse(given) else (n_columns, n_columns + 1)
    if table.ndim != 2 or table.shape[0] != corpus.n_documents or table.shape[1] not in widths:
        raise InputError(
            f"weights have shape {table.shape} but there are {corpus.n_documents} documents and {n_columns} "
            "topics; give the result of transform on the same corpus."
        )
    return table[:, :n_columns]


@dataclass(slots=True)
class TopicShares:
    """Running sums over documents (K topics, E examples of a topic)."""

    n_present: Int  # (K,) documents with a share of at least `PRESENT_SHARE`
    n_largest: Int  # (K,) documents in which the topic is the largest
    histogram: Int  # (K, HISTOGRAM_BINS) documents by share
    together: Float  # (K, K) sums of products of the shares of two topics
    example_rows: Int  # (K, E) best documents so far, best first; -1 for none
    example_scores: Float  # (K, E) by `wilson_lower_bound`
    example_shares: Float  # (K, E)

    @classmethod
    def empty(cls, n_topics: int, n_examples: int) -> TopicShares:
        """Start before the first document."""
        return cls(
            n_present=np.zeros(n_topics, dtype=np.int64),
            n_largest=np.zeros(n_topics, dtype=np.int64),
            histogram=np.zeros((n_topics, HISTOGRAM_BINS), dtype=np.int64),
            together=np.zeros((n_topics, n_topics)),
            example_rows=np.full((n_topics, n_examples), -1, dtype=np.int64),
            example_scores=np.full((n_topics, n_examples), -np.inf),
            example_shares=np.zeros((n_topics, n_examples)),
        )

    def add(self, rows: Int, lengths: Float, weights: Float, largest: Float) -> None:
        """Add a block of n documents, none of them empty, in increasing order of their rows.

        `weights` are (n, K); a row sums to less than one where its document has other topics, too. `largest` is the
        largest weight of any topic, of these or others.
        """
        n_topics = weights.shape[1]
        self.n_present += (weights >= PRESENT_SHARE).sum(axis=0)
        led = (largest > 0) & (weights.max(axis=1) >= largest)  # documents of unknown words have no topic at all
        self.n_largest += np.bincount(weights[led].argmax(axis=1), minlength=n_topics)
        bins = np.minimum((weights * HISTOGRAM_BINS).astype(np.int64), HISTOGRAM_BINS - 1)
        flat = bins + HISTOGRAM_BINS * np.arange(n_topics)
        self.histogram += np.bincount(flat.ravel(), minlength=self.histogram.size).reshape(self.histogram.shape)
        self.together += weights.T @ weights
        best = self.example_rows, self.example_scores, self.example_shares
        keep_best(best, rows, wilson_lower_bound(weights, lengths[:, None]), weights)


@dataclass(slots=True)
class TopicWriter:
    """Turns arrays over topics into one `TopicReport` each."""

    model: FlatTopics
    shown: ReportTopics
    corpus: Corpus
    shares: TopicShares
    place: Mapping[int, int]  # of the rows of documents in the report
    found: Mapping[int, tuple[float, float]]  # how often in other fits, and how similar, by the number of the topic
    nodes: Mapping[int, int]  # of the tree, by the number of the topic

    def write(self, similar: list[tuple[int, ...]], positions: Float) -> tuple[TopicReport, ...]:
        """Describe all topics that are shown, with those similar to each and their places on the map."""
        shown, shares, phi = self.shown, self.shares, self.shown.topic_word
        scores = npmi_of_words(top_word_indices(phi, _SCORED_WORDS).astype(np.int64), self.corpus)
        own = exclusivity(phi, _SCORED_WORDS)
        labels = labels_of(
            self.model, np.array(shown.numbers, dtype=np.int64), self.model.labels_, (phi, shown.log_word_shares)
        )
        words = self._words()
        return tuple(
            TopicReport(
                index=k,
                number=number,
                label=labels[k],
                token_share=float(shown.shares[k]),
                n_present=int(shares.n_present[k]),
                n_largest=int(shares.n_largest[k]),
                coherence=finite_or_none(scores[k]),
                exclusivity=finite_or_none(own[k]),
                found=finite_or_none(self.found.get(number, _UNKNOWN)[0]),
                similarity=finite_or_none(self.found.get(number, _UNKNOWN)[1]),
                words=words[k][0],
                more_words=words[k][1],
                histogram=tuple(int(n) for n in shares.histogram[k]),
                documents=self._examples(k),
                similar=similar[k],
                position=(float(positions[k, 0]), float(positions[k, 1])),
                node=self.nodes.get(number),
            )
            for k, number in enumerate(shown.numbers)
        )

    def _words(self) -> list[tuple[tuple[WordShare, ...], tuple[WordShare, ...]]]:
        """Return the words of each topic, and those that are among the most relevant at another weight of the lift."""
        log_shares, told = self.shown.log_word_shares, []
        index = {word: w for w, word in enumerate(self.model.vocabulary_)}
        for phi, words in zip(self.shown.topic_word, self.shown.words, strict=True):
            first = {index[word]: probability for word, probability in words}
            ranked = [most_relevant(phi[None], log_shares, len(words), weight)[0] for weight in _WEIGHTS_OF_LIFT]
            more = dict.fromkeys(int(w) for top in ranked for w in top)
            told.append(
                (
                    tuple(self._word(w, p, log_shares) for w, p in first.items()),
                    tuple(self._word(w, float(phi[w]), log_shares) for w in more if w not in first and phi[w] > 0),
                )
            )
        return told

    def _word(self, w: int, probability: float, log_shares: Float) -> WordShare:
        """Return a word with its probability and lift."""
        known = np.isfinite(log_shares[w]) and probability > 0
        lift = float(f"{math.exp(math.log(probability) - log_shares[w]):.4g}") if known else None
        return WordShare(self.model.vocabulary_[w], probability, lift)

    def _examples(self, k: int) -> tuple[tuple[int, float], ...]:
        """Return the documents that show topic k best, by their place in the report."""
        found = zip(self.shares.example_rows[k].tolist(), self.shares.example_shares[k].tolist(), strict=True)
        return tuple((self.place[row], share) for row, share in found if row >= 0 and share > 0)


def describe_path(shown: ReportTopics, likeness: Float) -> PathReport | None:
    """Describe the path of a model, or join topics by their likeness (K, K), one on the diagonal.

    None for a tree, which has groups of its own, and for fewer than three topics without a path.
    """
    if shown.model.tree_ is not None:
        return None
    described = shown.model.described_path(_JOIN_WORDS)
    if described is None or not len(described.linkage):
        return joined_path(shown, likeness) if len(shown.numbers) > 2 else None
    joins = _joins(shown, described.linkage, described.words, described.labels)
    return PathReport(
        scores=tuple(described.scores.tolist()),
        standard_errors=tuple(described.standard_errors.tolist()),
        heights=tuple(described.linkage[:, 2].tolist()),
        joins=joins,
        best=described.best,
        overview=_at_a_glance(joins, shown.shares, described.overview),
    )


def _at_a_glance(joins: tuple[JoinReport, ...], shares: Float, overview: int) -> int:
    """Return the number of groups to read at a glance: more than the overview, where one would have most tokens."""
    K, size = len(shares), shares.tolist()
    alive, largest = set(range(K)), {K: float(shares.max(initial=0.0))}  # by the number of groups
    for i, join in enumerate(joins):
        size.append(size[join.left] + size[join.right])
        alive = alive - {join.left, join.right} | {K + i}
        largest[K - i - 1] = max(size[k] for k in alive) if K - i - 1 <= _MOST_AT_A_GLANCE else 0.0
    enough = (n for n in range(overview, min(_MOST_AT_A_GLANCE, K) + 1) if largest.get(n, 1.0) <= _LARGEST)
    return next(enough, overview)


def joined_path(shown: ReportTopics, likeness: Float) -> PathReport:
    """Describe the joins of topics by their likeness."""
    K, tree = len(shown.numbers), joined_by_likeness(likeness)
    heights = tuple(tree[:, 2].tolist())
    return PathReport((), (), heights, _joins(shown, tree), best=K, overview=min(K, _AT_A_GLANCE))


def _joins(
    shown: ReportTopics, tree: Float, words: list[list[str]] | None = None, labels: Mapping[int, str] | None = None
) -> tuple[JoinReport, ...]:
    """Describe what each join makes: by the words that the model gives it, or the most relevant ones of the mixture."""
    ranked = words_of_joins(tree, shown.topic_word, shown.shares, shown.log_word_shares, _JOIN_WORDS)
    telling = [[shown.model.vocabulary_[w] for w in row] for row in ranked]
    given, own = labels or {}, telling if words is None else words
    return tuple(
        JoinReport(left, right, given.get(i, ", ".join(telling[i][:_LABEL_WORDS])), tuple(own[i]))
        for i, (left, right) in enumerate(tree[:, :2].astype(int).tolist())
    )


def describe_tree(model: Any, most_nodes: int = MOST_NODES) -> TreeReport | None:
    """Describe the largest nodes of a fitted tree; None where the topics form no tree."""
    root = model.tree_
    if root is None:
        return None
    nodes = [
        TreeNode(
            parent=parent,
            child=node.path[-1] if node.level else 0,
            name=node.shown_name,
            topic=node.topic,
            n_own=_own_tokens(node),
            n_tokens=node.n_tokens,
            n_topics=node.n_topics,
            n_children=len(node.children),
            words=tuple(WordShare(word, probability) for word, probability in node.words(_NODE_WORDS)),
        )
        for parent, node in largest_nodes(root, most_nodes)
    ]
    return TreeReport(root.branching, root.depth, model.n_topics_, root.n_nodes, tuple(nodes))


def _own_tokens(node: Any) -> int:
    """Return the tokens of a topic that has others below it: those that are in none of them."""
    if node.topic is None or not node.children:
        return 0
    return max(0, int(node.n_tokens - sum(child.n_tokens for child in node.children)))


def nearest_nodes(tree: TreeReport | None, numbers: tuple[int, ...]) -> dict[int, int]:
    """Return the place of the node of the report that is nearest to each topic, by the number of the topic."""
    if tree is None:
        return {}
    children = {(node.parent, node.child): place for place, node in enumerate(tree.nodes)}
    found: dict[int, int] = {}
    for place, node in enumerate(tree.nodes):
        if node.topic is not None:
            found.setdefault(node.topic, place)
    for number in numbers:
        path, rest, at = [], number, 0
        for n in reversed(tree.branching):
            rest, child = divmod(rest, n)
            path.append(child)
        while path and (at, path[-1]) in children:
            at = children[at, path.pop()]
        found.setdefault(number, at)
    return found
