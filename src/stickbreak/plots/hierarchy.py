"""Topics and what they are part of: the joins of a fit, or the nodes of a tree."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np

from stickbreak.numerics.arrays import Float
from stickbreak.plots.style import COLOURS, figure
from stickbreak.plots.text import shortened

_LABEL, _WORDS = 40, 60  # characters
_NODES = 400  # of a tree


def joins(linkage: Float, labels: Sequence[str], words: Sequence[Sequence[str]]) -> Any:
    """Return the joins of topics as a dendrogram; a vertical line meets as many branches as there are topics left.

    Parameters
    ----------
    linkage : ndarray of shape (K - 1, 4)
        The joins in SciPy's form.
    labels : sequence of str
        Of the K topics.
    words : sequence of sequences of str
        Of what each join makes.
    """
    import plotly.graph_objects as go
    from scipy.cluster.hierarchy import leaves_list

    K = len(labels)
    order = leaves_list(linkage)
    place, left = np.empty(2 * K - 1), np.empty(2 * K - 1)  # of each cluster: row, number of topics where it is made
    place[order], left[:K] = np.arange(K), K
    xs: list[float | None] = []
    ys: list[float | None] = []
    for i, (a, b) in enumerate(linkage[:, :2].astype(int)):
        place[K + i], left[K + i] = (place[a] + place[b]) / 2, K - 1 - i
        xs += [left[a], left[K + i], left[K + i], left[b], None]
        ys += [place[a], place[a], place[b], place[b], None]
    lines = go.Scatter(x=xs, y=ys, mode="lines", line={"color": COLOURS[6], "width": 1}, hoverinfo="skip")
    nodes = go.Scatter(
        x=left[K:],
        y=place[K:],
        mode="markers",
        marker={"color": COLOURS[0], "size": 6},
        customdata=[shortened(of_join, _WORDS) for of_join in words],
        hovertemplate="%{x} topics left: %{customdata}<extra></extra>",
    )
    names = [f"{k}  {shortened([labels[k]], _LABEL)}" for k in order.tolist()]
    return figure(
        [lines, nodes],
        "Which topics join, down to one",
        height=140 + 15 * K,
        showlegend=False,
        xaxis={"title": "topics left", "type": "log", "autorange": "reversed", "dtick": "D2", "side": "top"},
        yaxis={"tickvals": list(range(K)), "ticktext": names, "automargin": True, "range": [K - 0.5, -0.5]},
        margin={"l": 60, "r": 20, "t": 100, "b": 20},
    )


def nodes_of_tree(root: Any) -> Any:
    """Return the largest nodes of a tree of topics: each above its children, as wide as its share of the tokens.

    A node has no more tokens than its parent, so the largest nodes are a tree themselves.

    Parameters
    ----------
    root : TopicNode
    """
    import plotly.graph_objects as go

    ids: list[str] = []
    parents: list[str] = []
    tokens: list[int] = []
    names: list[str] = []
    order = count()
    waiting: list[tuple[int, int, Any, str]] = [(0, next(order), root, "")]
    while waiting and len(ids) < _NODES:
        _, number, node, parent = heapq.heappop(waiting)
        ids.append(str(number))
        parents.append(parent)
        tokens.append(node.n_tokens)
        names.append(shortened(node.top_words(5), _LABEL) if node.level else "all topics")
        for child in node.children:
            heapq.heappush(waiting, (-child.n_tokens, next(order), child, ids[-1]))
    boxes = go.Icicle(
        ids=ids,
        parents=parents,
        values=tokens,
        labels=names,
        branchvalues="total",
        tiling={"orientation": "h"},
        hovertemplate="%{label}<br>%{value:,} tokens, %{percentRoot:.2%} of all<extra></extra>",
    )
    most = f"The {_NODES} largest nodes of the tree" if waiting else "The tree of topics"
    return figure([boxes], f"{most}; a click goes into a node", height=700, margin={"l": 10, "r": 10, "t": 50, "b": 10})
