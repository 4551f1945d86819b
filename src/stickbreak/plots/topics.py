"""The largest topics as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stickbreak.plots.style import COLOURS, figure
from stickbreak.plots.text import plain, shortened

if TYPE_CHECKING:
    import pandas as pd

_LABEL = 45  # characters


def bars_of_topics(table: pd.DataFrame, n_topics: int) -> Any:
    """Return bars of the shares of topics, the first at the top, with their words beside them.

    Parameters
    ----------
    table : DataFrame
        The largest topics first, with columns topic, label, share, words.
    n_topics : int
        Topics of the model.
    """
    import plotly.graph_objects as go

    names = [f"{k}  {shortened([label], _LABEL)}" for k, label in zip(table["topic"], table["label"], strict=True)]
    bars = go.Bar(
        x=table["share"],
        y=names,
        orientation="h",
        marker_color=COLOURS[0],
        customdata=[plain(words) for words in table["words"]],
        hovertemplate="%{y}<br>%{x:.2%} of the tokens<br>%{customdata}<extra></extra>",
    )
    said = f"{n_topics:,} topics" if len(table) == n_topics else f"The {len(table)} largest of {n_topics:,} topics"
    return figure(
        [bars],
        said,
        height=110 + 22 * len(table),
        xaxis={"title": "share", "tickformat": ".1%"},
        yaxis={"autorange": "reversed", "automargin": True, "tickmode": "linear"},
        bargap=0.25,
    )
