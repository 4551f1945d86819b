"""How a fitted model shows itself: its pictures (`model.plot`), and its largest topics as a table in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from stickbreak.corpus.text_columns import text_of, texts_in
from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_whole
from stickbreak.plots.figures import (
    bars_of_topics,
    effects_of_term,
    joins,
    largest_nodes,
    lines_of_trace,
    lines_over_time,
    map_of_documents,
    map_of_topics,
    nodes_of_tree,
)
from stickbreak.prediction.topics import FlatTopics, checked_numbers
from stickbreak.prediction.words import relevant_words
from stickbreak.questions.document_map import MOST_DOCUMENTS, beginning, document_map
from stickbreak.questions.labels import labelled_topics
from stickbreak.questions.topic_map import affinities, neighbour_map

_ON_A_MAP = 2_000  # topics
_WORDS = 10
_ROWS = 20  # of the table of a notebook
_CELL = "text-align:left;vertical-align:top;padding:2px 8px"
_NUMBER = "text-align:right;vertical-align:top;padding:2px 8px;white-space:nowrap"
_NODES = 400  # of a tree
_BEGINNING = 100  # characters of a text


class Pictures:
    """Pictures of any fitted model. Each method returns a Plotly figure, which a notebook shows.

    ``figure.write_html("trace.html")`` and ``figure.write_image("trace.svg")`` (with the package kaleido) keep it.
    """

    def __init__(self, model: Any) -> None:
        self._model = model

    def trace(self, column: str = "objective") -> Any:
        """Draw how the fit went.

        Parameters
        ----------
        column : str, default="objective"
            A column of `trace_`: "n_topics" and "seconds" are in all.

        Raises
        ------
        InputError
            If the trace has no such column.
        """
        trace = self._model.trace_
        if column not in trace or column == "lap":
            known = ", ".join(name for name in trace if name != "lap")
            raise InputError(f"the trace of this model has no column {column!r}; choose one of {known}.")
        name = {"objective": self._model.objective_name, "n_topics": "number of topics"}.get(column, column)
        return lines_of_trace(trace["lap"], {name: trace[column]})


class TopicPictures(Pictures):
    """Pictures of a fitted model of words."""

    def topics(self, n: int = 20) -> Any:
        """Draw the shares of the largest topics, with their labels.

        Parameters
        ----------
        n : int, default=20
            Number of topics, at most.
        """
        table = self._model.topics_table(n_words=_WORDS).sort_values("share", ascending=False, kind="stable")
        return bars_of_topics(table.head(check_whole("n", n, 1)), self._model.n_topics_)

    def over_time(
        self,
        X: Any,
        dates: Any = None,
        by: str | None = None,
        *,
        topics: Sequence[int] | None = None,
        date_format: str | None = None,
    ) -> Any:
        """Draw how the shares of topics change, with 95 % intervals.

        Parameters
        ----------
        X, dates, by, date_format
            As in `topics_over_time`.
        topics : sequence of int, optional
            Numbers of topics. The default is the six whose share grows or falls fastest.

        Raises
        ------
        InputError
            If there are no dates, or no such topic.
        """
        model, dates = self._model, list(dates) if isinstance(dates, Iterator) else dates  # it is asked twice
        if topics is None:
            trends = model.topic_trends(X, dates, date_format=date_format)
            topics = trends["topic"].iloc[np.argsort(-trends["change"].abs().to_numpy(), kind="stable")[:6]].tolist()
        chosen = checked_numbers("topics", topics, model.n_columns_).tolist()
        if not chosen:
            raise InputError("topics is empty; give at least one number of a topic, or None.")
        table = model.topics_over_time(X, dates, by, date_format=date_format)
        rows = {k: table[table["topic"] == k] for k in chosen}
        lacking = [k for k in chosen if rows[k].empty]
        if lacking:
            raise InputError(f"topic {lacking[0]} has no share over time; choose one that topics_over_time has.")
        import pandas as pd

        return lines_over_time(pd.concat(list(rows.values())), table.attrs["by"])

    def effects(self, X: Any, formula: str, term: str | None = None, **options: Any) -> Any:
        """Draw the effect of one term of a formula on the share of each topic, with 95 % intervals.

        Parameters
        ----------
        X, formula
            As in `effects`, which also has the other options.
        term : str, optional
            A term as the table of `effects` names it. The default is the first one after the intercept.

        Raises
        ------
        InputError
            If there is no such term, or `effects` refuses what it is given.
        """
        table = self._model.effects(X, formula, **options)
        terms = [name for name in dict.fromkeys(table["term"]) if name != "Intercept" or term == name]
        if not terms or (term is not None and term not in terms):
            raise InputError(f"the formula has no term {term!r}; give one of {', '.join(map(repr, terms))}.")
        return effects_of_term(table[table["term"] == (terms[0] if term is None else term)])

    def map(self) -> Any:
        """Draw the topics in the plane, so that those that use similar words are near each other.

        The place of a topic depends on its words alone, the area of its disc is its share of the tokens. Of a tree the
        100 largest leaves are shown, and never more than 2,000 topics.
        """
        model = self._model
        asked = labelled_topics(model)
        shown = model.shown_topics(_WORDS, most=asked.numbers.size)
        first = np.argsort(-shown.shares, kind="stable")[:_ON_A_MAP]
        numbers = shown.numbers[first]
        label = dict(zip(asked.numbers.tolist(), asked.labels, strict=True))
        return map_of_topics(
            neighbour_map(affinities(model.word_distributions(numbers))),
            numbers,
            shown.shares[first],
            [label[k] for k in numbers.tolist()],
            [[word for word, _ in shown.words[i]] for i in first.tolist()],
        )

    def documents(self, X: Any, n: int = MOST_DOCUMENTS, *, n_groups: int | None = None, random_state: int = 0) -> Any:
        """Draw the documents in the plane, so that those with similar topics are near each other.

        Colours are those of the group of the largest topic. The page that ``stickbreak report --map`` writes has more
        names as one zooms in, a search, and the beginnings of texts.

        Parameters
        ----------
        X : Corpus, texts, sparse matrix or array of shape (D, W)
            Documents. Texts show how they begin when one points at them, other documents their names.
        n : int, default=100000
            Documents, at most; of more, a random sample is shown.
        n_groups : int, optional
            About how many groups of topics have colours and names; the number of topics and more: all. The default is
            20, or the overview of the path.
        random_state : int, default=0
            Seed of the sample and of the places.
        """
        texts = texts_in(X)
        corpus = self._model._corpus(X if texts is None else texts)
        found = document_map(self._model, corpus, n, random_state)
        level = found.levels[0]
        for finer in found.levels[1:]:
            if n_groups is not None and len(finer.names) <= max(n_groups, len(level.names)):
                level = finer
        names = texts or corpus.document_names
        told = [beginning(text_of(names[row]), _BEGINNING) for row in found.rows.tolist()]
        return map_of_documents(found.positions, level.groups[found.topics], level.names, level.places, told)

    def hierarchy(self) -> Any:
        """Draw which topics belong together: the joins that `find_path` found, or the nodes of a tree.

        Raises
        ------
        NoPath
            If `find_path` was not called.
        """
        model = self._model
        if model.tree_ is not None:
            nodes = list(largest_nodes(model.tree_, _NODES))
            ids = [".".join(map(str, node.path)) or "all" for _, node in nodes]
            parents = [ids[parent] if parent >= 0 else "" for parent, _ in nodes]
            names = [" ".join(node.top_words(5)) if node.level else "all topics" for _, node in nodes]
            tokens = [node.n_tokens for _, node in nodes]
            return nodes_of_tree(ids, parents, tokens, names, model.tree_.n_nodes)
        linkage = model.hierarchy_
        if not len(linkage):
            raise InputError("this model has a single topic, so there is nothing to join.")
        return joins(linkage, labelled_topics(model).labels, model.described_path(_WORDS).words)


def topics_as_html(model: FlatTopics) -> str | None:
    """Return the largest topics as a table; None before a fit."""
    try:
        asked = labelled_topics(model)
    except NotFittedError:
        return None
    shown = model.shown_topics(1, most=max(asked.numbers.size, 1))
    share = dict(zip(shown.numbers.tolist(), shown.shares.tolist(), strict=True))
    sizes = np.array([share[k] for k in asked.numbers.tolist()])
    order = np.argsort(-sizes, kind="stable")[:_ROWS]
    ranked = relevant_words(model, asked.numbers[order], _WORDS)
    words = [[str(model.vocabulary_[w]) for w in row] for row in ranked]
    widest = max(float(sizes.max(initial=0.0)), 1e-300)
    rows = "".join(
        _row(int(asked.numbers[i]), asked.labels[i], float(sizes[i]), float(sizes[i]) / widest, of_topic)
        for i, of_topic in zip(order.tolist(), words, strict=True)
    )
    rest = model.n_topics_ - order.size
    more = f"<p>and {rest:,} more: <code>topics_table()</code> has all</p>" if rest > 0 else ""
    heads = "".join(
        f'<th scope="col" style="{style}">{name}</th>'
        for name, style in (("topic", _NUMBER), ("share", _NUMBER), ("label", _CELL), ("words", _CELL))
    )
    said = f"{escape(type(model).__name__)}: {model.n_topics_:,} topics, the largest first"
    return (
        f'<table style="border-collapse:collapse"><caption style="text-align:left">{said}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{more}"
    )


def _row(number: int, label: str, share: float, part: float, words: list[str]) -> str:
    """Return a line of the table; the share has a bar of its size behind it."""
    bar = f"background:linear-gradient(to left,rgba(70,130,180,.35) {100 * part:.0f}%,transparent 0)"
    return (
        f'<tr><th scope="row" style="{_NUMBER};font-weight:normal">{number}</th>'
        f'<td style="{_NUMBER};{bar}">{share:.2%}</td>'
        f'<td style="{_CELL}">{escape(label)}</td><td style="{_CELL}">{escape(" ".join(words))}</td></tr>'
    )
