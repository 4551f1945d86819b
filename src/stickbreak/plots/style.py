"""How all figures look: margins, fonts, colours that people with colour blindness can tell apart."""

from __future__ import annotations

from typing import Any

__all__ = ["COLOURS", "faded", "figure"]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#6b6b6b", "#a3850f")  # Okabe and Ito


def figure(traces: list[Any], title: str, *, width: int = 800, height: int = 450, **layout: Any) -> Any:
    """Return a Plotly figure of some traces in the style of all.

    Parameters
    ----------
    traces : list of Plotly traces
    title : str
    width, height : int
        Pixels.
    **layout
        What Plotly's layout takes besides.
    """
    import plotly.graph_objects as go

    shared = {
        "template": "plotly_white",
        "margin": {"l": 60, "r": 20, "t": 50, "b": 50},
        "hoverlabel": {"align": "left"},
        "title": {"text": title, "x": 0, "xref": "paper", "xanchor": "left"},
    }
    return go.Figure(traces, layout={**shared, "width": width, "height": height, **layout})


def faded(colour: str, opacity: float) -> str:
    """Return a colour that what is behind it shines through.

    Examples
    --------
    >>> faded("#0072b2", 0.25)
    'rgba(0,114,178,0.25)'
    """
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"
