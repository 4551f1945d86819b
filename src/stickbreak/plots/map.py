"""Topics in the plane: those that use similar words are near each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stickbreak.numerics.arrays import Float, Int
from stickbreak.plots.style import COLOURS, figure
from stickbreak.plots.text import shortened

_LARGEST, _LEAST = 42.0, 7.0  # pixels across
_NAMED = 40  # topics whose label stands on the map; those of the others are shown when the mouse is there
_LABEL = 28  # characters
_WORDS = 70


def map_of_topics(
    positions: Float, numbers: Int, shares: Float, labels: Sequence[str], words: Sequence[Sequence[str]]
) -> Any:
    """Return the map of topics; the area of a disc is the share of the topic, its place is that of its words alone.

    Parameters
    ----------
    positions : ndarray of shape (n, 2)
    numbers : ndarray of int, of shape (n,)
    shares : ndarray of shape (n,)
        Of the tokens.
    labels : sequence of str
    words : sequence of sequences of str
    """
    import plotly.graph_objects as go

    named = np.zeros(numbers.size, dtype=bool)
    named[np.argsort(-shares, kind="stable")[:_NAMED]] = True
    discs = go.Scatter(
        x=positions[:, 0],
        y=positions[:, 1],
        mode="markers+text",
        text=[shortened([label], _LABEL) if own else "" for label, own in zip(labels, named, strict=True)],
        textposition="top center",
        textfont={"size": 10},
        marker={
            "size": np.maximum(_LARGEST * np.sqrt(shares / max(float(shares.max(initial=0.0)), 1e-300)), _LEAST),
            "color": COLOURS[4],
            "opacity": 0.7,
            "line": {"color": COLOURS[0], "width": 1},
        },
        customdata=[
            (int(k), shortened([label], _WORDS), float(share), shortened(of_topic, _WORDS))
            for k, label, share, of_topic in zip(numbers, labels, shares, words, strict=True)
        ],
        hovertemplate="%{customdata[0]}  %{customdata[1]}<br>%{customdata[2]:.2%} of the tokens<br>%{customdata[3]}"
        "<extra></extra>",
    )
    bare = {"visible": False}
    said = "Topics that use similar words are near each other"
    return figure([discs], said, height=700, xaxis=bare, yaxis={**bare, "scaleanchor": "x"}, showlegend=False)
