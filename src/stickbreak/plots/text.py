"""Words and labels as Plotly shows them: it takes some HTML, which texts of documents must not be."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

__all__ = ["plain", "shortened"]


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
