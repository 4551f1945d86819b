"""How a fitted model shows itself in a notebook: its largest topics as a table, and pictures."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any, cast

import numpy as np
from sklearn.exceptions import NotFittedError

from stickbreak.model.labels import LabelledTopics
from stickbreak.model.pictures import TopicPictures

__all__ = ["ShownInNotebooks"]

_MOST, _WORDS = 20, 10  # topics, words of each
_CELL = "text-align:left;vertical-align:top;padding:2px 8px"
_NUMBER = "text-align:right;vertical-align:top;padding:2px 8px;white-space:nowrap"


class ShownInNotebooks(LabelledTopics):
    """The side of `TopicEstimator` that notebooks show: topics once it is fitted, parameters before."""

    @property
    def plot(self) -> TopicPictures:
        """Pictures: ``plot.topics()``, ``over_time(X)``, ``map()``, ``hierarchy()``, ``trace()``."""
        return TopicPictures(self)

    @property
    def _repr_html_(self) -> Callable[[], str]:
        table, estimator = self._topics_as_html(), cast(Any, super())
        return estimator._repr_html_ if table is None else lambda: table

    def _repr_mimebundle_(self, **options: Any) -> Any:
        table, estimator = self._topics_as_html(), cast(Any, super())
        if table is None:
            return estimator._repr_mimebundle_(**options)
        return {"text/plain": repr(self), "text/html": table}

    def _topics_as_html(self) -> str | None:
        """Return the largest topics as a table; None before a fit."""
        try:
            asked = self._asked()
        except NotFittedError:
            return None
        shown = self.shown_topics(1, most=max(asked.numbers.size, 1))
        share = dict(zip(shown.numbers.tolist(), shown.shares.tolist(), strict=True))
        sizes = np.array([share[k] for k in asked.numbers.tolist()])
        order = np.argsort(-sizes, kind="stable")[:_MOST]
        words = self._relevant(asked.numbers[order], _WORDS)
        widest = max(float(sizes.max(initial=0.0)), 1e-300)
        rows = "".join(
            _row(int(asked.numbers[i]), asked.labels[i], float(sizes[i]), float(sizes[i]) / widest, of_topic)
            for i, of_topic in zip(order.tolist(), words, strict=True)
        )
        rest = self.n_topics_ - order.size
        more = f"<p>and {rest:,} more: <code>topics_table()</code> has all</p>" if rest > 0 else ""
        heads = "".join(
            f'<th scope="col" style="{style}">{name}</th>'
            for name, style in (("topic", _NUMBER), ("share", _NUMBER), ("label", _CELL), ("words", _CELL))
        )
        said = f"{escape(type(self).__name__)}: {self.n_topics_:,} topics, the largest first"
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
