"""All figures of models, for notebooks (`model.plot`) and for the report: plain data in, a Plotly figure out."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from stickbreak.numerics.arrays import Float, Int
from stickbreak.plots.style import COLOURS, PALE, faded, figure, group_colour, plain, shortened

if TYPE_CHECKING:
    import pandas as pd

_LABEL, _WORDS = 40, 70  # characters
_LARGEST_DISC, _LEAST_DISC = 42.0, 7.0  # pixels across
_MAP_WIDTH, _MAP_HEIGHT, _LETTER, _LINE = 560, 460, 7.0, 15  # pixels of what is drawn, of a letter, of a line
_DASHES = ("solid", "dash", "dot", "dashdot")  # of lines whose colours are the same
_DAYS = {"day": 1, "week": 7, "month": 30, "quarter": 91, "year": 365}
_LEAST_WIDTH = 0.02  # of the bar of a period, as a share of the widest
_CHANCE = 0.05  # a p from which a difference may be chance
_FOLDS = 3.0  # powers of two at the ends of a scale of colours
_PAD = 4  # pixels between the bars of two topics
_MOST_HEIGHT, _LETTERS = 1600, 9  # pixels: of the bars of two models, of a bar that is labelled
_LEAST_SHARED = 0.001  # of all tokens: thinner bands between two models are left out


# ---------------------------------------------------------------------------------------------------------- topics
def bars_of_topics(table: pd.DataFrame, n_topics: int) -> Any:
    """Return bars of the shares of topics, the first at the top, with their words beside them.

    `table` has the largest topics first, with columns topic, label, share, words.
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


def map_of_topics(
    positions: Float, numbers: Int, shares: Float, labels: Sequence[str], words: Sequence[Sequence[str]]
) -> Any:
    """Return the map of topics; the area of a disc is the share of the topic, its place is that of its words.

    `positions` are (n, 2); the other arguments have an entry for each topic.
    """
    import plotly.graph_objects as go

    sizes = np.maximum(_LARGEST_DISC * np.sqrt(shares / max(float(shares.max(initial=0.0)), 1e-300)), _LEAST_DISC)
    named = _with_room(positions, sizes, labels)
    discs = go.Scatter(
        x=positions[:, 0].tolist(),
        y=positions[:, 1].tolist(),
        mode="markers+text",
        text=[_short_label(label) if own else "" for label, own in zip(labels, named, strict=True)],
        textposition="bottom center",
        textfont={"size": 11},
        marker={"size": sizes.tolist(), "color": COLOURS[4], "opacity": 0.7, "line": {"color": COLOURS[6], "width": 1}},
        customdata=[
            (int(k), shortened([label], _WORDS), float(share), shortened(of_topic, _WORDS))
            for k, label, share, of_topic in zip(numbers, labels, shares, words, strict=True)
        ],
        hovertemplate="%{customdata[0]}  %{customdata[1]}<br>%{customdata[2]:.2%} of the tokens<br>%{customdata[3]}"
        "<extra></extra>",
    )
    left, right = float(positions[:, 0].min()), float(positions[:, 0].max())
    room = 0.12 * max(right - left, 1e-9)  # for the names of the outermost topics
    said = "Topics that use similar words are near each other"
    return figure(
        [discs],
        said,
        height=600,
        showlegend=False,
        hovermode="closest",
        margin={"l": 10, "r": 10, "t": 50, "b": 10},
        xaxis={"visible": False, "range": [left - room, right + room]},
        yaxis={"visible": False},
    )


def map_of_documents(
    positions: Float, groups: Int, names: Sequence[str], places: Float, told: Sequence[str] | None = None
) -> Any:
    """Return the map of documents: a point for each, in the colour of its group, and the names of the groups.

    `positions` are (n, 2), `groups` (n,); `names` and `places`, (G, 2), are of the groups, the largest first; `told` is
    what a document shows when one points at it.
    """
    import plotly.graph_objects as go

    texts = None if told is None else np.array([plain(text) for text in told], dtype=object)
    points = [
        go.Scattergl(
            x=positions[groups == g, 0].astype(np.float32),
            y=positions[groups == g, 1].astype(np.float32),
            mode="markers",
            name=shortened([name], _LABEL),
            marker={
                "size": max(2.0, min(6.0, 300 / np.sqrt(max(len(positions), 1)))),
                "color": group_colour(g),
                "opacity": 0.7,
            },
            text=None if texts is None else texts[groups == g],
            hovertemplate="%{text}<extra>%{fullData.name}</extra>"
            if told is not None
            else "%{fullData.name}<extra></extra>",
        )
        for g, name in enumerate(names)
    ]
    sizes = np.bincount(groups, minlength=len(names)).astype(np.float64)
    named = _with_room(places, np.sqrt(sizes), names)
    notes = [
        {"x": x, "y": y, "text": f"<b>{_short_label(name)}</b>", "showarrow": False, "font": {"size": 12}}
        for (x, y), name, own in zip(places.tolist(), names, named, strict=True)
        if own
    ]
    return figure(
        points,
        f"{len(positions):,} documents; neighbours have similar topics",
        width=1000,
        height=750,
        showlegend=False,
        hovermode="closest",
        dragmode="pan",
        annotations=notes,
        margin={"l": 10, "r": 10, "t": 50, "b": 10},
        xaxis={"visible": False},
        yaxis={"visible": False, "scaleanchor": "x"},
    )


def _short_label(label: str) -> str:
    """Return a label for the map: of several words the first two."""
    return shortened([", ".join(label.split(", ")[:2])], 28)


def _with_room(positions: Float, sizes: Float, labels: Sequence[str]) -> list[bool]:
    """Tell which labels do not cover another one, the largest discs first."""
    span = np.ptp(positions, axis=0) if len(positions) else np.ones(2)
    places = positions / np.where(span > 0, span, 1.0) * (_MAP_WIDTH, -_MAP_HEIGHT)
    taken: list[tuple[float, float, float]] = []  # middle, height, half the width
    named = [False] * len(labels)
    for k in np.argsort(-sizes, kind="stable").tolist():
        x, y, half = float(places[k, 0]), float(places[k, 1] + sizes[k] / 2), _LETTER * len(_short_label(labels[k])) / 2
        if all(abs(x - other) > half + wide or abs(y - high) > _LINE for other, high, wide in taken):
            named[k] = True
            taken.append((x, y, half))
    return named


# --------------------------------------------------------------------------------------------- joins and trees
def joins(linkage: Float, labels: Sequence[str], words: Sequence[Sequence[str]]) -> Any:
    """Return the joins of topics as a dendrogram; a vertical line meets as many branches as there are topics left.

    `linkage` is (K - 1, 4), in SciPy's form; `words` are those of what each join makes.
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
        x=left[K:].tolist(),
        y=place[K:].tolist(),
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


def scores_of_groups(scores: Sequence[float], standard_errors: Sequence[float]) -> Any:
    """Return how well K, K - 1, ..., 1 groups of topics predict held-out words.

    `scores` are in nats per token, that of K groups first; the errors are of the differences from the best.
    """
    import plotly.graph_objects as go

    line = go.Scatter(
        x=list(range(len(scores), 0, -1)),
        y=list(scores),
        error_y={"type": "data", "array": list(standard_errors), "thickness": 1, "width": 0},
        mode="lines+markers",
        line={"color": COLOURS[0]},
        marker={"size": 4},
        hovertemplate="%{x} topics: %{y:.3f} ± %{error_y.array:.3f}<extra></extra>",
    )
    title = "Held-out score against the number of topics"
    return figure([line], title, height=300, xaxis={"title": "topics left"}, yaxis={"title": "nats per token"})


def largest_nodes(root: Any, most: int) -> Iterator[tuple[int, Any]]:
    """Yield the largest nodes of a tree of topics, each with the place of its parent among them (-1: none).

    A node has no more tokens than its parent, so the largest nodes are a tree themselves: parents come first.
    """
    order = count()
    waiting = [(0, next(order), root, -1)]  # (tokens, negative; order; node; place of its parent)
    for place in range(most):
        if not waiting:
            return
        _, _, node, parent = heapq.heappop(waiting)
        for child in node.children:
            heapq.heappush(waiting, (-child.n_tokens, next(order), child, place))
        yield parent, node


def nodes_of_tree(
    ids: Sequence[str], parents: Sequence[str], tokens: Sequence[int], names: Sequence[str], n_nodes: int
) -> Any:
    """Return nodes of a tree of topics: each beside its parent, as high as its share of the tokens.

    The root has the parent ""; `n_nodes` are those of the whole tree.
    """
    import plotly.graph_objects as go

    boxes = go.Icicle(
        ids=list(ids),
        parents=list(parents),
        values=list(tokens),
        labels=[shortened([name], _LABEL) for name in names],
        branchvalues="total",
        maxdepth=3,
        tiling={"orientation": "h"},
        textfont={"color": "#111"},
        root={"color": "#d9d9d9"},
        leaf={"opacity": 1},
        hovertemplate="%{label}<br>%{value:,} tokens, %{percentRoot:.2%} of all<extra></extra>",
    )
    most = f"The {len(ids):,} largest nodes of the tree" if len(ids) < n_nodes else "The tree of topics"
    title, margin = f"{most}; a click goes into a node", {"l": 10, "r": 10, "t": 50, "b": 10}
    text = {"minsize": 11, "mode": "hide"}
    return figure([boxes], title, height=700, margin=margin, uniformtext=text, iciclecolorway=PALE)


# ------------------------------------------------------------------------------------------- time and classes
def effects_of_term(table: pd.DataFrame) -> Any:
    """Return the effects of a term on topics as points with intervals, the largest above.

    `table` has the rows of one term, as `effects` returns them.
    """
    import plotly.graph_objects as go

    rows = table.sort_values("estimate", kind="stable")
    known = rows["p"].to_numpy(dtype=np.float64) < _CHANCE
    points = go.Scatter(
        x=rows["estimate"].tolist(),
        y=list(range(len(rows))),
        error_x={
            "type": "data",
            "symmetric": False,
            "array": (rows["high"] - rows["estimate"]).tolist(),
            "arrayminus": (rows["estimate"] - rows["low"]).tolist(),
            "thickness": 1,
            "width": 0,
        },
        mode="markers",
        marker={"color": [COLOURS[0] if sure else COLOURS[6] for sure in known]},
        customdata=rows[["low", "high", "p"]].to_numpy(dtype=np.float64).tolist(),
        hovertemplate="%{x:+.2%} (%{customdata[0]:+.2%} to %{customdata[1]:+.2%}), "
        "p %{customdata[2]:.2g}<extra></extra>",
    )
    names = [f"{k}  {shortened([label], _LABEL)}" for k, label in zip(rows["topic"], rows["label"], strict=True)]
    return figure(
        [points],
        f"Effect of {plain(rows['term'].iloc[0])} on the share of each topic, with 95 % intervals; grey may be chance",
        height=140 + 18 * len(rows),
        xaxis={"title": "points of the share", "tickformat": "+.1%"},
        yaxis={"tickvals": list(range(len(rows))), "ticktext": names, "automargin": True, "showgrid": False},
    )


def lines_over_time(table: pd.DataFrame, by: str) -> Any:
    """Return a line for each topic, with its intervals.

    The area of a marker grows with the documents of its period: a period of one document looks like little.

    `table` is as `topics_over_time` returns it, of the topics to show.
    """
    import plotly.graph_objects as go

    most = max(table["documents"].max(), 1)
    traces: list[Any] = []
    for number, (topic, rows) in enumerate(table.groupby("topic", sort=False)):
        colour, dash = COLOURS[number % len(COLOURS)], _DASHES[number // len(COLOURS) % len(_DASHES)]
        error = {
            "type": "data",
            "symmetric": False,
            "array": (rows["high"] - rows["mean_weight"]).tolist(),
            "arrayminus": (rows["mean_weight"] - rows["low"]).tolist(),
            "color": faded(colour, 0.45),
            "thickness": 1,
            "width": 0,
        }
        traces.append(
            go.Scatter(
                x=[str(period)[:10] for period in rows["period"]],
                y=rows["mean_weight"].tolist(),
                error_y=error,
                mode="lines+markers",
                name=f"{topic}  {shortened([rows['label'].iloc[0]], _LABEL)}",
                line={"color": colour, "dash": dash},
                marker={"size": (3 + 7 * np.sqrt(rows["documents"] / most)).tolist()},
                customdata=rows[["low", "high", "documents"]].to_numpy().tolist(),
                hovertemplate="%{x|%Y-%m-%d}: %{y:.2%} (%{customdata[0]:.2%} to %{customdata[1]:.2%})<br>"
                "%{customdata[2]:,} documents",
            )
        )
    return figure(
        traces,
        f"Mean weight in the documents of each {by}, with 95 % intervals",
        xaxis={"type": "date"},
        yaxis={"title": "mean weight", "tickformat": ".1%", "rangemode": "tozero"},
        legend={"orientation": "h", "yanchor": "top", "y": -0.12, "xanchor": "left", "x": 0},
    )


def bands_over_time(
    periods: Sequence[str], documents: Sequence[int], groups: Sequence[tuple[str, Float]], by: str
) -> Any:
    """Return the shares of groups of topics in each period above each other; a bar is as wide as it has documents.

    `periods` are first days; `groups` are names and shares in each period.
    """
    import plotly.graph_objects as go

    most = max(*documents, 1)
    widths = [_DAYS[by] * 864e5 * max(n / most, _LEAST_WIDTH) for n in documents]  # milliseconds
    bars = [
        go.Bar(
            x=list(periods),
            y=shares.tolist(),
            width=widths,
            name=shortened([name], _LABEL),
            marker={"color": group_colour(i)},
            customdata=list(documents),
            hovertemplate="%{x|%Y-%m-%d}, %{customdata:,} documents: %{y:.2%}",
        )
        for i, (name, shares) in enumerate(groups)
    ]
    return figure(
        bars,
        f"Mean weight in the documents of each {by}",
        height=560,
        barmode="stack",
        xaxis={"type": "date", "showgrid": False},
        yaxis={"title": "mean weight", "tickformat": ".0%"},
        legend={"orientation": "h", "yanchor": "top", "y": -0.1, "xanchor": "left", "x": 0, "traceorder": "normal"},
    )


def heat_of_classes(
    topics: Sequence[str], classes: Sequence[str], shares: Float, tokens: Sequence[float], p: Float | None = None
) -> Any:
    """Return the shares of topics in classes of documents as colours, compared with the mean or as they are.

    `shares` and `p` are (K, G), NaN where a number is not known; a dot marks a p below 0.05. The mean is that of all
    `tokens` of the classes.
    """
    import plotly.graph_objects as go

    sizes = np.where(np.isnan(shares), 0.0, np.asarray(tokens, dtype=np.float64))
    mean = np.nansum(shares * sizes, axis=1, keepdims=True) / np.maximum(sizes.sum(axis=1, keepdims=True), 1e-300)
    ratio = np.maximum(shares, 1e-9) / np.maximum(mean, 1e-9)
    folds = np.clip(np.log2(ratio), -_FOLDS, _FOLDS)
    dots = np.full(shares.shape, "") if p is None else np.where(p < _CHANCE, "•", "")
    names = [plain(name) for name in classes]
    shared = {
        "x": list(range(len(names))),  # numbers: two names may look the same
        "y": list(range(len(topics))),
        "xgap": 1,
        "ygap": 1,
        "text": dots.tolist(),
        "texttemplate": "%{text}",
        "customdata": [
            [(plain(topic), *cell) for cell in zip(names, of_topic, times, strict=True)]
            for topic, of_topic, times in zip(topics, shares.tolist(), ratio.tolist(), strict=True)
        ],
        "hovertemplate": "%{customdata[0]}<br>%{customdata[1]}<br>%{customdata[2]:.2%} of the words, "
        "%{customdata[3]:.1f} times the mean<extra></extra>",
    }
    middle = "rgba(128,128,128,0)"
    scales = [[0, COLOURS[0]], [0.5, middle], [1, COLOURS[1]]], [[0, middle], [1, COLOURS[0]]]
    bar = {"thickness": 10, "len": 0.6, "outlinewidth": 0}
    folds_bar = {**bar, "tickvals": [-3, -1.5, 0, 1.5, 3], "ticktext": ["⅛", "⅓", "1 ×", "3 ×", "8 ×"]}
    maps = [
        go.Heatmap(z=folds.tolist(), zmin=-_FOLDS, zmax=_FOLDS, colorscale=scales[0], colorbar=folds_bar, **shared),
        go.Heatmap(
            z=shares.tolist(),
            zmin=0,
            colorscale=scales[1],
            colorbar={**bar, "tickformat": ".3~%"},
            visible=False,
            **shared,
        ),
    ]
    buttons = [
        {"label": label, "method": "restyle", "args": [{"visible": shown}]}
        for label, shown in (("compared with the mean", [True, False]), ("share of the words", [False, True]))
    ]
    return figure(
        maps,
        "Shares of topics in classes of documents",
        height=190 + 22 * len(topics),
        margin={"l": 60, "r": 20, "t": 90, "b": 30},
        xaxis={
            "tickvals": shared["x"],
            "ticktext": [shortened([name], 24) for name in classes],
            "tickangle": 0 if len(names) < 6 else -60,
            "side": "top",
            "showgrid": False,
            "automargin": True,
        },
        yaxis={
            "tickvals": shared["y"],
            "ticktext": [shortened([topic], 34) for topic in topics],
            "autorange": "reversed",
            "showgrid": False,
            "automargin": True,
        },
        updatemenus=[
            {
                "type": "buttons",
                "direction": "right",
                "x": 0,
                "xanchor": "left",
                "y": 0,
                "yanchor": "top",
                "pad": {"t": 8},
                "buttons": buttons,
            }
        ],
    )


# --------------------------------------------------------------------------------------------- fits, two models
def lines_of_trace(laps: Any, columns: Mapping[str, Any]) -> Any:
    """Return a line for each column of the trace of a fit, one below the other.

    `columns` are by what the values are.
    """
    import plotly.graph_objects as go

    n, gap = len(columns), 0.14
    mode = "lines+markers" if len(laps) <= 60 else "lines"
    traces: list[Any] = []
    heads: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    for i, (name, values) in enumerate(columns.items()):
        line = go.Scatter(x=np.asarray(laps).tolist(), y=np.asarray(values).tolist(), mode=mode, name=plain(name))
        line.update(yaxis=f"y{i + 1}", line={"color": COLOURS[i % len(COLOURS)]}, marker={"size": 4})
        traces.append(line.update(hovertemplate=f"pass %{{x}}: %{{y:,.6g}}<extra>{plain(name)}</extra>"))
        top = 1 - i / n
        axes[f"yaxis{i + 1}"] = {"domain": [max(0.0, top - 1 / n + gap * (i < n - 1)), top]}
        head = {"text": f"{name[:1].upper()}{plain(name[1:])}", "x": 0, "y": top, "xref": "paper", "yref": "paper"}
        heads.append(head | {"xanchor": "left", "yanchor": "bottom", "showarrow": False})
    first = next(iter(columns))
    return figure(
        traces,
        f"{first[:1].upper()}{first[1:]} after each pass",
        height=450 if n == 1 else 250 * n,
        showlegend=False,
        xaxis={"title": "pass", "anchor": f"y{n}"},
        annotations=heads if n > 1 else [],
        margin={"l": 60, "r": 20, "t": 60, "b": 50},
        **axes,
    )


def shared_topics(
    names: tuple[str, str],
    topics: tuple[Sequence[tuple[int, str, float]], Sequence[tuple[int, str, float]]],
    shared: Mapping[tuple[int, int], float],
    same: set[tuple[int, int]],
) -> Any:
    """Return bars of the topics of two models, and bands between those that share tokens.

    `topics` are (number, label, share) from top to bottom; `shared` are shares of all tokens; `same` are matched pairs.
    """
    import plotly.graph_objects as go

    bands = {pair: share for pair, share in shared.items() if share >= _LEAST_SHARED}
    drawn = [{pair[side] for pair in bands} for side in (0, 1)]  # a bar without a band would displace the others
    nodes = [(side, *topic) for side in (0, 1) for topic in topics[side] if topic[0] in drawn[side]]
    place = [{number: i for i, (of, number, *_) in enumerate(nodes) if of == side} for side in (0, 1)]
    most = max(*map(len, place), 12)
    height = min(18 * most, _MOST_HEIGHT)
    pad = min(_PAD, 0.3 * height / most)
    bars = [bar for side in (0, 1) for bar in _bars([*place[side]], side, bands, most * pad / height)]
    links = go.Sankey(
        arrangement="fixed",
        node={
            "label": [
                shortened([label], _LABEL) if size * height >= _LETTERS else ""
                for (_, _, label, _), (_, size) in zip(nodes, bars, strict=True)
            ],
            "x": [0.001 if side == 0 else 0.999 for side, *_ in nodes],
            "y": [middle for middle, _ in bars],
            "customdata": [f"{number}  {shortened([label], _WORDS)}: {share:.2%}" for _, number, label, share in nodes],
            "hovertemplate": "%{customdata}<extra></extra>",
            "color": [COLOURS[0] if side == 0 else COLOURS[1] for side, *_ in nodes],
            "pad": pad,
            "thickness": 14,
        },
        link={
            "source": [place[0][a] for a, _ in bands],
            "target": [place[1][b] for _, b in bands],
            "value": list(bands.values()),
            "color": [faded(COLOURS[2], 0.5) if pair in same else faded(COLOURS[6], 0.15) for pair in bands],
            "customdata": [f"{a} and {b}: {share:.2%} of all tokens" for (a, b), share in bands.items()],
            "hovertemplate": "%{customdata}<extra></extra>",
        },
    )
    title = f"{plain(names[0])} at the left, {plain(names[1])} at the right"
    return figure([links], title, height=60 + height, margin={"l": 10, "r": 10, "t": 50, "b": 10})


def _bars(
    numbers: Sequence[int], side: int, bands: Mapping[tuple[int, int], float], empty: float
) -> list[tuple[float, float]]:
    """Return (middle, height) of bars below each other, as shares of the picture; `empty`: of all gaps."""
    sizes = np.zeros(len(numbers))
    place = {number: i for i, number in enumerate(numbers)}
    for pair, share in bands.items():
        sizes[place[pair[side]]] += share
    sizes *= (1 - empty) / max(float(sizes.sum()), 1e-300)
    gap = empty / max(len(numbers), 1)
    middles = np.cumsum(sizes + gap) - sizes / 2 - gap / 2
    return [(min(max(y, 0.001), 0.999), size) for y, size in zip(middles.tolist(), sizes.tolist(), strict=True)]
