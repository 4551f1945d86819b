"""The shares of some topics over time, as lines with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stickbreak.plots.style import COLOURS, faded, figure
from stickbreak.plots.text import shortened

if TYPE_CHECKING:
    import pandas as pd

_LABEL = 40  # characters
_DASHES = ("solid", "dash", "dot", "dashdot")  # of lines whose colours are the same


def lines_over_time(table: pd.DataFrame, by: str) -> Any:
    """Return a line for each topic, with a band from the low to the high end of its intervals.

    The area of a marker grows with the documents of its period: a period of one document looks like little.

    Parameters
    ----------
    table : DataFrame
        As `topics_over_time` returns it, of the topics to show.
    by : str
        The periods.
    """
    import plotly.graph_objects as go

    traces: list[Any] = []
    for number, (topic, rows) in enumerate(table.groupby("topic", sort=False)):
        colour, dash = COLOURS[number % len(COLOURS)], _DASHES[number // len(COLOURS) % len(_DASHES)]
        known = rows.dropna(subset=["low", "high"])
        traces.append(
            go.Scatter(
                x=[*known["period"], *known["period"][::-1]],
                y=[*known["high"], *known["low"][::-1]],
                fill="toself",
                fillcolor=faded(colour, 0.18),
                line={"width": 0},
                hoverinfo="skip",
                showlegend=False,
                legendgroup=str(topic),
            )
        )
        traces.append(
            go.Scatter(
                x=rows["period"],
                y=rows["mean_weight"],
                mode="lines+markers",
                name=f"{topic}  {shortened([rows['label'].iloc[0]], _LABEL)}",
                line={"color": colour, "dash": dash},
                marker={"size": 3 + 7 * np.sqrt(rows["documents"] / table["documents"].max())},
                legendgroup=str(topic),
                customdata=rows[["low", "high", "documents"]],
                hovertemplate="%{x|%Y-%m-%d}: %{y:.2%} (%{customdata[0]:.2%} to %{customdata[1]:.2%})<br>"
                "%{customdata[2]:,} documents",
            )
        )
    return figure(
        traces,
        f"Mean weight in the documents of each {by}, with 95 % intervals",
        yaxis={"title": "mean weight", "tickformat": ".1%", "rangemode": "tozero"},
        legend={"orientation": "h", "yanchor": "top", "y": -0.12, "xanchor": "left", "x": 0},
    )
