"""How all figures look: margins, colours that people with colour blindness can tell apart, texts that stay texts."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

__all__ = ["COLOURS", "PALE", "faded", "figure", "group_colour", "plain", "shortened"]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#6b6b6b", "#a3850f")  # Okabe and Ito
PALE = ("#80b9d9", "#eaae80", "#80cfb9", "#e6bdd3", "#abdaf4", "#f3cf80", "#b5b5b5", "#d1c287")  # behind black letters
_GOLDEN_ANGLE = 137.508  # degrees


def figure(traces: list[Any], title: str, *, width: int = 800, height: int = 450, **layout: Any) -> Any:
    """Return a Plotly figure of some traces in the style of all. `layout` is what Plotly's layout takes besides."""
    import plotly.graph_objects as go

    shared = {
        "template": "plotly_white",
        "margin": {"l": 60, "r": 20, "t": 50, "b": 50},
        "hoverlabel": {"align": "left"},
        "title": {"text": title, "x": 0, "xref": "paper", "xanchor": "left"},
    }
    return go.Figure(traces, layout={**shared, "width": width, "height": height, **layout})


def group_colour(i: int) -> str:
    """Return the colour of group i of any number of groups: neighbours in the order never look alike.

    Examples
    --------
    >>> group_colour(0), group_colour(1)
    ('hsl(172, 50%, 44%)', 'hsl(310, 50%, 54%)')
    """
    return f"hsl({(172 + _GOLDEN_ANGLE * i) % 360:.0f}, 50%, {44 + 10 * (i % 2)}%)"


def faded(colour: str, opacity: float) -> str:
    """Return a colour that what is behind it shines through.

    Examples
    --------
    >>> faded("#0072b2", 0.25)
    'rgba(0,114,178,0.25)'
    """
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"


def plain(text: str) -> str:
    """Return a text that Plotly shows as it stands, also where it looks like HTML.

    Examples
    --------
    >>> plain("a <b> & c")
    'a &lt;b&gt; &amp; c'
    """
    return escape(text, quote=False)


def shortened(words: Iterable[str], most: int) -> str:
    """Return a text of at most `most` characters and a mark where more follows, as Plotly shows it.

    Examples
    --------
    >>> shortened(["orbit", "launch"], 20), shortened(["orbit", "launch"], 8)
    ('orbit launch', 'orbit la…')
    """
    text = " ".join(words)
    return plain(text if len(text) <= most else text[:most] + "…")
