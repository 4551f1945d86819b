"""How a fit went: a column of its trace, pass by pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from stickbreak.plots.style import COLOURS, figure


def line_of_trace(laps: Any, values: Any, name: str) -> Any:
    """Return a line of one value for each pass.

    Parameters
    ----------
    laps, values : ndarray of shape (n_laps,)
    name : str
        What the values are.
    """
    import plotly.graph_objects as go

    line = go.Scatter(x=np.asarray(laps), y=np.asarray(values), mode="lines+markers", line={"color": COLOURS[0]})
    line.update(marker={"size": 4}, hovertemplate="pass %{x}: %{y:,.6g}<extra></extra>")
    title = f"{name[:1].upper()}{name[1:]} after each pass"
    return figure([line], title, xaxis={"title": "pass"}, yaxis={"title": name})
