"""The pictures that a fitted model draws: `model.plot`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from stickbreak.exceptions import InputError
from stickbreak.fitting.requirements import check_whole
from stickbreak.plots.hierarchy import joins, nodes_of_tree
from stickbreak.plots.map import map_of_topics
from stickbreak.plots.over_time import lines_over_time
from stickbreak.plots.topics import bars_of_topics
from stickbreak.plots.trace import line_of_trace
from stickbreak.prediction.topics import checked_numbers
from stickbreak.questions.topic_map import affinities, neighbour_map

__all__ = ["Pictures", "TopicPictures"]

_ON_A_MAP = 2_000  # topics
_WORDS = 10


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
        return line_of_trace(trace["lap"], trace[column], name)


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

    def map(self) -> Any:
        """Draw the topics in the plane, so that those that use similar words are near each other.

        The place of a topic depends on its words alone, the area of its disc is its share of the tokens. Of a tree the
        100 largest leaves are shown, and never more than 2,000 topics.
        """
        model = self._model
        asked = model._asked()
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

    def hierarchy(self) -> Any:
        """Draw which topics belong together: the joins that `find_path` found, or the nodes of a tree.

        Raises
        ------
        NoPath
            If `find_path` was not called.
        """
        model = self._model
        if model.tree_ is not None:
            return nodes_of_tree(model.tree_)
        linkage = model.hierarchy_
        if not len(linkage):
            raise InputError("this model has a single topic, so there is nothing to join.")
        return joins(linkage, model._asked().labels, model.described_path(_WORDS).words)
