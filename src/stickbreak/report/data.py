"""What a report says: frozen dataclasses of plain numbers and strings, and their JSON."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from typing import Any

_SIGNIFICANT_DIGITS = 6

Table = tuple[tuple[float | None, ...], ...]


class Page:
    """What a page shows: a dataclass whose JSON stands inside it."""

    __slots__ = ()

    title: str

    def to_json(self) -> str:
        """Serialise the report as JSON that can stand inside an HTML ``script`` element.

        Numbers keep six significant digits.

        Returns
        -------
        str
            The JSON text, in ASCII.

        Raises
        ------
        ValueError
            If a number is not finite.
        """
        return json_for_html(self)


def json_for_html(value: Any) -> str:
    """Write dataclasses, lists and dicts as JSON in ASCII, in which no text can close a ``script`` element."""
    text = json.dumps(_rounded(value), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def finite_or_none(value: float | None) -> float | None:
    """Return a plain float, or None for what is missing, NaN or infinite.

    Examples
    --------
    >>> finite_or_none(float("nan")) is None
    True
    """
    return float(value) if value is not None and math.isfinite(value) else None


def _rounded(value: Any) -> Any:
    """Round the floats of nested dataclasses, lists and dicts to six significant digits; whole numbers stay whole."""
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 2**53:
            return int(value)
        return float(f"{value:.{_SIGNIFICANT_DIGITS}g}")
    if isinstance(value, dict):
        return {key: _rounded(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(entry) for entry in value]
    if dataclasses.is_dataclass(value):
        return {field.name: _rounded(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return value


@dataclass(frozen=True, slots=True)
class WordShare:
    """A word of a topic, its probability in it, and its lift: how many times that of the word in all documents."""

    word: str
    probability: float
    lift: float | None = None


@dataclass(frozen=True, slots=True)
class TopicReport:
    """One topic."""

    index: int  # its place in the report
    number: int  # what it is called: its row in topic_word_, its leaf in a tree
    label: str  # given by a reader, or made of its most relevant words
    token_share: float  # of the tokens of the fit
    n_present: int  # documents in which it holds at least 5 %
    n_largest: int  # documents in which no topic is larger
    coherence: float | None  # NPMI of its ten most probable words in these documents (docs/math (D7))
    exclusivity: float | None  # of the same words (docs/math (D8))
    found: float | None  # share of other fits in which it was found again, if known
    similarity: float | None  # to its match in other fits: the mean of the shares of the tokens of both that both have
    words: tuple[WordShare, ...]  # the top words as the model ranks them
    more_words: tuple[WordShare, ...]  # those among the most relevant ones at another weight of the lift
    histogram: tuple[int, ...]  # documents by its share in them, in equal bins over [0, 1]
    documents: tuple[tuple[int, float], ...]  # those that show it best: place in the report, share
    similar: tuple[int, ...]  # places of the topics with the most similar words, most similar first
    position: tuple[float, float]  # on the map
    node: int | None  # place of the nearest node of the tree in the report


@dataclass(frozen=True, slots=True)
class DocumentReport:
    """A document that a report shows."""

    row: int  # in the corpus
    name: str
    n_tokens: float
    topics: tuple[tuple[int, float], ...]  # its largest ones: place in the report, share
    values: tuple[str | None, ...]  # in the columns of the report
    snippet: str | None  # the passage that is richest in words of its topics, if texts were given
    words: tuple[str, ...]  # its most telling words, if no text was given
    marks: dict[str, int]  # words of the passage, as it has them, and the topic that each most probably has here


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Held-out document completion, in nats per token; None where a number is not known."""

    active: float
    with_inactive: float | None
    perplexity: float
    n_tokens: float | None
    unigram: float | None = None  # the score of word frequencies alone on the same words


@dataclass(frozen=True, slots=True)
class FitReport:
    """How the fit went."""

    family: str  # the class of the model
    objective_name: str
    n_laps: int | None
    converged: bool | None
    stop_reason: str  # a sentence; may be empty
    seconds: float | None  # of the passes
    start_seconds: float | None  # of the start before the first pass, which the trace does not show
    objective: float | None  # nats per token
    n_found: int  # topics or components of the model, which may have others than its last pass
    settings: tuple[tuple[str, str], ...]  # parameters, as text
    trace: dict[str, tuple[float | None, ...]]  # an entry for each reported lap, "lap" included
    moves: tuple[dict[str, Any], ...]  # the accepted moves, as `moves_` of the model has them
    left_out: tuple[str, ...] = ()  # what the reading of the documents left out or replaced, in sentences
    unit: str = "token"  # what the objective is counted by


@dataclass(frozen=True, slots=True)
class CorpusReport:
    """The documents behind the report."""

    n_documents: int
    n_words: int
    n_tokens: float
    n_empty: int  # documents without a token, left out of every share
    n_described: int  # documents that the shares rest on: all, or a random sample


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A node of the tree of topics."""

    parent: int  # its place among the nodes of the report; -1 at the root
    child: int  # which child of its parent it is, from 0
    name: str | None  # in the taxonomy that the tree was given by
    topic: int | None  # the number of the topic, if it has one
    n_own: int  # tokens of that topic itself, where there are topics below it
    n_tokens: int
    n_topics: int
    n_children: int  # with tokens; the report need not have all of them
    words: tuple[WordShare, ...]  # by P(w | node) P(node | w), docs/math (T14)


@dataclass(frozen=True, slots=True)
class TreeReport:
    """The tree that the topics are in."""

    branching: tuple[int, ...]
    n_levels: int
    n_topics: int
    n_nodes: int
    nodes: tuple[TreeNode, ...]  # by decreasing number of tokens, parents before their children


@dataclass(frozen=True, slots=True)
class JoinReport:
    """A join of two clusters: cluster k < K is topic k, cluster K + i what join i made."""

    left: int
    right: int
    label: str  # given by a reader, or the most relevant words of what it makes
    words: tuple[str, ...]  # its most probable ones


@dataclass(frozen=True, slots=True)
class PathReport:
    """The joins of K topics down to one."""

    scores: tuple[float, ...]  # held out, of K, K - 1, ..., 1 topics; empty where topics were joined by likeness
    standard_errors: tuple[float, ...]  # of the differences from the best
    heights: tuple[float, ...]  # largest price of the joins so far, nats, or Ward's distance of what is joined
    joins: tuple[JoinReport, ...]
    best: int  # the number of topics that predicts best
    overview: int  # a number to read at a glance


@dataclass(frozen=True, slots=True)
class GroupedReport:
    """Shares of topics in groups of documents: a row for each topic, a value for each group."""

    column: str  # that the groups come from
    groups: tuple[str, ...]  # their names; of periods the first days
    documents: tuple[int, ...]  # with tokens in each group
    tokens: tuple[float, ...]
    shares: Table
    low: Table  # ends of the 95 % intervals
    high: Table
    p: Table = ()  # of classes: whether a share differs from that of all other classes, adjusted for their number


@dataclass(frozen=True, slots=True)
class TrendReport:
    """How the share of a topic changes in a year, with the ends of a 95 % interval and an adjusted p."""

    topic: int
    change: float
    low: float | None
    high: float | None
    p: float | None


@dataclass(frozen=True, slots=True)
class TimeReport:
    """Shares over time."""

    by: str  # length of a period
    shares: GroupedReport
    trends: tuple[TrendReport, ...]  # the fastest growing first
    n_dated: int  # documents with a date
    n_wordless: int  # those of them without a token


@dataclass(frozen=True, slots=True)
class ChangedWord:
    """A word that a topic has more, or less, often in a group of documents than as a whole."""

    topic: int  # its place in the report
    column: str  # that the groups come from; of periods their length
    group: str
    word: str
    lift: float
    p: float  # adjusted for all words, topics and groups


@dataclass(frozen=True, slots=True)
class SpanReport:
    """The days that the documents of a report are of, where they were chosen."""

    column: str
    since: str | None
    until: str | None
    n_documents: int
    n_empty: int  # those of them without a token
    n_undated: int  # documents without a date, which are left out


@dataclass(frozen=True, slots=True)
class MapGroups:
    """Groups of topics at one grain of the map of documents."""

    groups: tuple[int, ...]  # of each topic of the map
    names: tuple[str, ...]  # the group with most tokens first
    places: tuple[tuple[float, float], ...]  # from 0 to 65,535
    sizes: tuple[int, ...]  # documents


@dataclass(frozen=True, slots=True)
class DocumentMapReport:
    """The map of documents."""

    n_documents: int  # that have a word of the model
    n_shown: int  # all of them, or a random sample
    searched: str  # what the search looks into, beside names
    topics: tuple[tuple[int, str], ...]  # number and label
    levels: tuple[MapGroups, ...]  # from few groups to all topics
    points: str  # in base64, each by each: rows (four bytes), x, y and the place of the largest topic (two bytes)
    told: str  # JSON with "names" (or null) and the beginnings of "texts", deflated, in base64


@dataclass(frozen=True, slots=True)
class ReportData(Page):
    """Everything a report shows; of a tree the largest topics, and `tree`. `tree` and `path` are None without one.

    `columns` are the names of what `documents` have beside their texts; `time` is None without dates, `classes` are
    empty without any, and so are `changed_words`; `span` is None where documents of all days are described. `written`
    is the day, as in 2026-11-23, and `n_labelled` the number of topics with a label that someone gave them.
    `n_other_fits` says in how many fits topics were looked for again; None where it is not known.
    """

    title: str
    version: str
    written: str
    n_labelled: int
    corpus: CorpusReport
    fit: FitReport
    held_out: HeldOut | None
    mean_coherence: float | None
    diversity: float | None
    topics: tuple[TopicReport, ...]
    tree: TreeReport | None
    path: PathReport | None
    columns: tuple[str, ...]
    documents: tuple[DocumentReport, ...]
    time: TimeReport | None
    classes: tuple[GroupedReport, ...]
    changed_words: tuple[ChangedWord, ...]
    span: SpanReport | None
    document_map: DocumentMapReport | None = None  # None for fewer than two documents or topics
    n_other_fits: int | None = None


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A coordinate of a component: its name, mean, standard deviation, and part in the leading directions."""

    name: str
    mean: float
    spread: float
    directions: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A patch in grey: a byte for each pixel, row by row, in base64; of a direction, its share of the variance."""

    grey: str
    share: float | None


@dataclass(frozen=True, slots=True)
class GroupShare:
    """A group, and the weight of the component in it."""

    name: str
    share: float


@dataclass(frozen=True, slots=True)
class ComponentReport:
    """One component of a model of vectors."""

    number: int  # its row in means_, its column in the result of transform
    weight: float  # expected
    share: float  # of the described vectors of which it is the most probable component
    count: float  # vectors that it has in the fit
    shares: tuple[float, ...]  # of the variance, along the leading directions
    coordinates: tuple[Coordinate, ...]  # those that tell it from the others, first
    pictures: tuple[Picture, ...]  # its mean and its leading directions; none where vectors are not patches
    examples: tuple[Picture, ...]  # some of the vectors of which it is the most probable component
    groups: tuple[GroupShare, ...]  # those in which it weighs most


@dataclass(frozen=True, slots=True)
class ComponentsData(Page):
    """Everything a report on a model of vectors shows: of many components the largest 300."""

    title: str
    version: str
    n_components: int
    n_groups: int | None
    n_vectors: int
    n_described: int
    dim: int
    patch_size: int | None
    fit: FitReport
    held_out: float | None
    components: tuple[ComponentReport, ...]


@dataclass(frozen=True, slots=True)
class MapData(Page):
    """Everything that the page of a map of documents shows."""

    title: str
    version: str
    document_map: DocumentMapReport
