"""What a report says: frozen dataclasses of plain numbers and strings, and their JSON."""

import dataclasses
import json
import math
from dataclasses import dataclass
from typing import Any, ClassVar

from stickbreak.report.grouped import GroupedReport, SpanReport, TimeReport
from stickbreak.report.shown_documents import DocumentReport

_SIGNIFICANT_DIGITS = 6


class Page:
    """What a page shows: a dataclass whose JSON stands inside it."""

    __slots__ = ()

    title: str
    body: ClassVar[str]  # file, beside this one, with the page down to the section about the fit
    close: ClassVar[str] = ""  # tags that end what the file began
    programs: ClassVar[tuple[str, ...]]  # files of its script, in order

    def to_json(self) -> str:
        """Serialise the report as JSON that can stand inside an HTML ``script`` element.

        Every ``<``, ``>`` and ``&`` and every character outside ASCII (U+2028 and U+2029 too) is written as
        an escape sequence, so that no word or name can close the element. Numbers keep six significant
        digits.

        Returns
        -------
        str
            The JSON text, in ASCII.

        Raises
        ------
        ValueError
            If a number is not finite.
        """
        text = json.dumps(_rounded(self), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
        return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@dataclass(frozen=True, slots=True)
class WordShare:
    """A word of a topic, its probability in it, and its lift: how many times that of the word in all documents."""

    word: str
    probability: float
    lift: float | None = None


@dataclass(frozen=True, slots=True)
class TopicReport:
    """One topic.

    Attributes
    ----------
    index : int
        Place of the topic in the report.
    number : int
        What it is called: its row in ``topic_word_``, its leaf in a tree.
    label : str
        Given by a reader, or made of its most relevant words.
    token_share : float
        Share of the tokens of the fit.
    n_present, n_largest : int
        Documents in which the topic holds at least 5 %, and in which no topic is larger.
    coherence : float or None
        NPMI of its ten most probable words in these documents (math.md (D7)).
    exclusivity : float or None
        Of the same words (math.md (D8)).
    found : float or None
        Share of other fits in which the topic was found again, if known.
    words : tuple of WordShare
        Top words as the model ranks them.
    more_words : tuple of WordShare
        Words that are among the most relevant ones at another weight of the lift.
    histogram : tuple of int
        Documents by the topic's share in them, in equal bins over [0, 1].
    documents : tuple of (int, float)
        Documents that show it best, by their place in the report, and its share in each.
    similar : tuple of int
        Topics with the most similar words, most similar first.
    position : tuple of two floats
        Place on the map of topics.
    """

    index: int
    number: int
    label: str
    token_share: float
    n_present: int
    n_largest: int
    coherence: float | None
    exclusivity: float | None
    found: float | None
    words: tuple[WordShare, ...]
    more_words: tuple[WordShare, ...]
    histogram: tuple[int, ...]
    documents: tuple[tuple[int, float], ...]
    similar: tuple[int, ...]
    position: tuple[float, float]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Held-out document completion, in nats per token; None where a number is not known.

    `unigram` is the score of word frequencies alone on the same words.
    """

    active: float
    with_inactive: float | None
    perplexity: float
    n_tokens: float | None
    unigram: float | None = None


@dataclass(frozen=True, slots=True)
class FitReport:
    """How the fit went.

    Attributes
    ----------
    family : str
        Class of the model.
    objective_name : str
        What the objective is.
    n_laps : int or None
        Laps done.
    converged : bool or None
        Whether the stopping rule was met.
    stop_reason : str
        Why it stopped, in a sentence; may be empty.
    seconds : float or None
        Time of the passes.
    start_seconds : float or None
        Time of the start before the first pass, which the trace does not show.
    objective : float or None
        Objective of the model, nats per token.
    n_found : int
        Topics or components of the model. A model of sampled passes may have others than its last pass.
    settings : tuple of (str, str)
        Parameters of the model, as text.
    trace : dict of str to tuple of numbers
        One entry per reported lap, "lap" included; None where undefined.
    moves : tuple of dict
        The accepted moves, as `moves_` of the model has them. Empty for a family without such a list.
    """

    family: str
    objective_name: str
    n_laps: int | None
    converged: bool | None
    stop_reason: str
    seconds: float | None
    start_seconds: float | None
    objective: float | None
    n_found: int
    settings: tuple[tuple[str, str], ...]
    trace: dict[str, tuple[float | None, ...]]
    moves: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class CorpusReport:
    """The documents behind the report.

    Attributes
    ----------
    n_documents, n_words : int
        Documents and vocabulary.
    n_tokens : float
        Tokens, or total weight.
    n_empty : int
        Documents without a token; they are left out of every share.
    n_described : int
        Documents whose topic weights the report rests on (all, or a random sample of large corpora).
    """

    n_documents: int
    n_words: int
    n_tokens: float
    n_empty: int
    n_described: int


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A node of the tree of topics.

    Attributes
    ----------
    parent : int
        Place of its parent among the nodes of the report; -1 at the root.
    child : int
        Which child of its parent it is, from 0.
    name : str or None
        Its name in the taxonomy that the tree was given by.
    topic : int or None
        The number of the topic, if it has one.
    n_own : int
        Tokens of that topic itself, where there are topics below it: the other tokens belong to nodes below. Else 0.
    n_tokens, n_topics, n_children : int
        Tokens and topics at and below it, and its children with tokens; the report need not have all of these children.
    words : tuple of WordShare
        By P(w | node) P(node | w).                                                              math.md (T14)
    """

    parent: int
    child: int
    name: str | None
    topic: int | None
    n_own: int
    n_tokens: int
    n_topics: int
    n_children: int
    words: tuple[WordShare, ...]


@dataclass(frozen=True, slots=True)
class TreeReport:
    """The tree that the topics are in.

    Attributes
    ----------
    branching : tuple of int
        Children of a node at each level, where all nodes of a level have as many and topics are leaves; else ().
    n_levels : int
        Levels below the root.
    n_topics, n_nodes : int
        Topics, and nodes of any kind, that have tokens.
    nodes : tuple of TreeNode
        The largest of them, parents before children.
    """

    branching: tuple[int, ...]
    n_levels: int
    n_topics: int
    n_nodes: int
    nodes: tuple[TreeNode, ...]


@dataclass(frozen=True, slots=True)
class JoinReport:
    """A join of two groups of topics.

    Attributes
    ----------
    left, right : int
        The groups: topic k is group k, and join i makes group K + i.
    label : str
        The most relevant words of what it makes.
    words : tuple of str
        The most probable ones.
    """

    left: int
    right: int
    label: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PathReport:
    """The joins of K topics down to one.

    Attributes
    ----------
    scores, standard_errors : tuple of float
        Held-out score of K, K - 1, ..., 1 topics, nats per token; errors of its difference from the best. Empty where
        topics were joined by likeness.
    heights : tuple of float
        Largest price of the joins so far, nats, or Ward's distance of what is joined; they never fall.
    joins : tuple of JoinReport
    best, overview : int
        Numbers of topics: the one that predicts best, and one to read at a glance.
    """

    scores: tuple[float, ...]
    standard_errors: tuple[float, ...]
    heights: tuple[float, ...]
    joins: tuple[JoinReport, ...]
    best: int
    overview: int


@dataclass(frozen=True, slots=True)
class ReportData(Page):
    """Everything a report shows; of a tree the largest topics, and `tree`. `tree` and `path` are None without one.

    `columns` are the names of what `documents` have beside their texts; `time` is None without dates, `classes` are
    empty without any; `span` is None where documents of all days are described. `written` is the day, as in
    2026-11-23, and `n_labelled` the number of topics with a label that someone gave them.
    """

    body: ClassVar[str] = "topics.html"
    close: ClassVar[str] = "</div>"
    programs: ClassVar[tuple[str, ...]] = (
        "page.js",
        "charts.js",
        "fit.js",
        "tree.js",
        "path.js",
        "map.js",
        "tables.js",
        "groups.js",
        "documents.js",
        "topic.js",
        "headline.js",
        "notes.js",
        "report.js",
    )

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
    span: SpanReport | None


def finite_or_none(value: float | None) -> float | None:
    """Return a plain float, or None for what is missing, NaN or infinite.

    Parameters
    ----------
    value : float or None
        Any number.

    Returns
    -------
    float or None
        The number if it is finite.

    Examples
    --------
    >>> finite_or_none(float("nan")) is None
    True
    """
    return float(value) if value is not None and math.isfinite(value) else None


def _rounded(value: Any) -> Any:
    """Round the floats of nested dataclasses, lists and dicts to six significant digits; whole numbers stay whole."""
    if isinstance(value, str):
        return value
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
