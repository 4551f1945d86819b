"""From the numbers of a report to one HTML file that opens without a network."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import zlib
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stickbreak.numerics.arrays import Float
from stickbreak.plots.figures import (
    bands_over_time,
    heat_of_classes,
    joins,
    lines_of_trace,
    lines_over_time,
    map_of_topics,
    nodes_of_tree,
    scores_of_groups,
)
from stickbreak.plots.style import group_colour
from stickbreak.report.data import (
    ComponentsData,
    FitReport,
    MapData,
    Page,
    ReportData,
    TopicReport,
    TrendReport,
    json_for_html,
)
from stickbreak.storage.atomic import replace_file
from stickbreak.storage.places import PathLike

if TYPE_CHECKING:
    import jinja2
    import pandas as pd

_CHANCE = 0.05  # a p from which a change may be chance
_CHANGES, _TRENDS = 5, 10  # of each direction, at the top and in the section about time
_HEAT_ROWS = 40  # topics
_MOST_BANDS = 12  # of groups over time; the others are one
_MOST_BRANCHES = 24  # of a tree that have colours of their own


def write_report(data: Page, path: PathLike) -> None:
    """Write a report as one self-contained HTML file.

    The file is complete or absent, never half-written: it is built beside its place and renamed.

    Parameters
    ----------
    data : Page
        What the report says, from `build_report`, `build_component_report` or `build_map`.
    path : str or path-like
        The file; an existing one is replaced.

    Raises
    ------
    WriteError
        If the file cannot be written.
    """
    page = render_html(data)
    with replace_file(path) as temporary:
        Path(temporary).write_bytes(page.encode("utf-8"))


def render_html(data: Page) -> str:
    """Return the report as HTML.

    Style, program, plotly.js, figures and the numbers are inlined. A content security policy forbids the page to load
    anything and to run any script but its own two, which it names by their hashes; words and names only ever become
    text.

    Parameters
    ----------
    data : Page
        What the report says.

    Returns
    -------
    str
        The whole page.
    """
    if isinstance(data, ReportData):
        scripts = ("page.js", "map.js", "topics.js")
        return render_page("topics.html", data, figures_of(data), scripts, **_summary(data))
    if isinstance(data, MapData):
        return render_page("map.html", data, {}, ("page.js", "map.js", "alone.js"))
    assert isinstance(data, ComponentsData)
    return render_page(
        "components.html", data, _fit_figure(data.fit, "vector", "components"), ("page.js", "components.js")
    )


def render_page(template: str, data: Any, figures: dict[str, Any], programs: tuple[str, ...], **values: Any) -> str:
    """Return a page of its template, of what it says, of Plotly figures by name and of its scripts."""
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs  # 4.6 MB of text: read only when a report is written

    program = "".join(_text_of(name) for name in programs)
    plotly = get_plotlyjs().replace("\r\n", "\n") if figures else ""
    page = (
        _environment()
        .get_template(template)
        .render(
            data=data,
            json=Markup(json_for_html(data)),
            figures=Markup(json_for_html({name: _embedded(drawn) for name, drawn in figures.items()})),
            figure_names=set(figures),
            style=Markup(_text_of("style.css")),
            program=Markup(program),
            plotly=base64.b64encode(zlib.compress(plotly.encode("utf-8"), 9)).decode("ascii"),
            script_hashes=Markup(f"{_source_hash(program)} {_source_hash(plotly)}"),
            **values,
        )
    )
    return page.encode("utf-8", "replace").decode("utf-8")  # no lone surrogates


def _text_of(name: str) -> str:
    """Read a file of the folder page/, with line ends as the browser will hash them."""
    text = resources.files("stickbreak.report").joinpath("page", name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


def _source_hash(script: str) -> str:
    """Return the source expression of a script for a content security policy."""
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


# ------------------------------------------------------------------------------------------ numbers as people read them
def _environment() -> jinja2.Environment:
    """Return what fills in templates: every text is escaped, and a name that is not there is an error."""
    import jinja2

    loader = jinja2.PackageLoader("stickbreak.report", "page")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "whole": _whole,
        "fixed": _fixed,
        "percent": _percent,
        "points": _points,
        "plural": lambda n, noun, several="": f"{_whole(n)} {noun if n == 1 else several or noun + 's'}",
        "duration": _duration,
        "sentence": lambda text: text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else "."),
        "short": lambda x: f"{x:.4g}".replace("-", "−"),
    }
    return environment


def _whole(x: float) -> str:
    return f"{math.floor(x + 0.5):,}"


def _fixed(x: float, n: int = 3) -> str:
    text = f"{x:,.{n}f}"
    return text.replace("-", "−") if re.search("[1-9]", text) else text.removeprefix("-")  # zeros have no sign


def _percent(x: float) -> str:
    if 0 < x < 0.0001:
        return "<0.01%"
    return (
        f"{100 * x:.{0 if x == 0 or x >= 0.9995 else 2 if x < 0.00995 else 1}f}%"  # small shares differ in the second
    )


def _points(change: float) -> str:
    """Write a change of a share in points, with its sign."""
    text = _fixed(100 * change, 2)
    return f"+{text}" if change > 0 and text != "0.00" else text


def _duration(seconds: float) -> str:
    if seconds < 59.5:
        return f"{seconds:.{1 if seconds < 10 else 0}f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _summary(data: ReportData) -> dict[str, Any]:
    """Return what the template of topics says in sentences."""
    topics, held_out = data.topics, data.held_out
    known = [topic for topic in topics if topic.found is not None]
    total = sum(topic.token_share for topic in known)
    below, half = 0.0, None
    for n, topic in enumerate(sorted(topics, key=lambda topic: -topic.token_share), 1):
        below += topic.token_share
        if below >= 0.5:
            half = n
            break
    grown, fallen = _changes(data)
    trends = () if data.time is None else data.time.trends
    growing = [trend for trend in trends if trend.change > 0][:_TRENDS]
    falling = [trend for trend in reversed(trends) if trend.change < 0][:_TRENDS]
    chosen = data.span or data.corpus
    with_text = any(one.snippet is not None for one in data.documents)
    return {
        "half": half,
        "stability": sum(t.token_share * (t.found or 0.0) for t in known) / total if total > 0 else None,
        "times": None
        if held_out is None or held_out.unigram is None
        else math.exp(min(held_out.active - held_out.unigram, 700.0)),
        "cut_short": re.search("^interrupted|No sample yet|not tried yet", data.fit.stop_reason) is not None,
        "n_grow": len(grown),
        "n_shrink": len(fallen),
        "grown": grown[:_CHANGES],
        "fallen": fallen[:_CHANGES],
        "growing": growing,
        "falling": falling,
        "named": data.tree is not None and any(node.name for node in data.tree.nodes),
        "told": "passages" if with_text else "telling words",
        "n_others": chosen.n_documents - chosen.n_empty - len(data.documents),
    }


def _changes(data: ReportData) -> tuple[list[TrendReport], list[TrendReport]]:
    """Return the trends that grow, and those that shrink, by more than chance, the fastest first."""
    trends = () if data.time is None else data.time.trends
    sure = [trend for trend in trends if trend.p is not None and trend.p < _CHANCE]
    return [t for t in sure if t.change > 0], [t for t in reversed(sure) if t.change < 0]


# --------------------------------------------------------------------------------------------------------- figures
def _embedded(drawn: Any) -> dict[str, Any]:
    """Return a Plotly figure as plain data for a page, which has its own width, headings and colours of the frame."""
    plain: dict[str, Any] = json.loads(drawn.to_json(validate=False))  # NaN becomes null
    layout = plain["layout"]
    for name in ("template", "width", "title"):
        layout.pop(name, None)
    layout["margin"]["t"] = max(20, layout["margin"]["t"] - 30)
    return plain


def figures_of(data: ReportData) -> dict[str, Any]:
    """Return the Plotly figures of a report on topics by the names that its template has for them."""
    topics, found = data.topics, _fit_figure(data.fit, "token", "topics")
    groups = _groups(data)
    order = [topic for _, inside in groups for topic in inside]
    if data.tree is not None:
        found["tree"] = _tree_figure(data)
    if data.path is not None:
        labels = [topic.label for topic in topics]
        tree = np.array([[j.left, j.right, h, 0] for j, h in zip(data.path.joins, data.path.heights, strict=True)])
        found["joins"] = joins(tree, labels, [join.words for join in data.path.joins])
        if data.path.scores:
            found["scores"] = scores_of_groups(data.path.scores, data.path.standard_errors)
    if len(topics) > 2:
        found["map"] = _map_figure(topics, groups)
    if data.time is not None:
        shares, by = data.time.shares, data.time.by
        grown, fallen = _changes(data)
        changed = [trend.topic for trend in (*grown[:_CHANGES], *fallen[:_CHANGES])]
        if changed:
            found["changes"] = lines_over_time(_over_time(data, changed), by)
        found["topic-time"] = lines_over_time(_over_time(data, [0]), by)  # the script fills in the others
        every = np.nan_to_num(np.array(shares.shares, dtype=np.float64))
        bands = [(name, every[[topic.index for topic in inside]].sum(axis=0)) for name, inside in _few(groups)]
        found["time"] = bands_over_time(shares.groups, shares.documents, bands, by)
    largest = {topic.index for topic in sorted(topics, key=lambda topic: -topic.token_share)[:_HEAT_ROWS]}
    rows = [topic for topic in order if topic.index in largest]
    places, names = [topic.index for topic in rows], [f"#{topic.number} {topic.label}" for topic in rows]
    for i, grouped in enumerate(data.classes):
        table, p = (np.array(part, dtype=np.float64)[places] for part in (grouped.shares, grouped.p))
        found[f"class-{i}"] = heat_of_classes(names, grouped.groups, table, grouped.tokens, p)
    return found


def _fit_figure(fit: FitReport, unit: str, noun: str) -> dict[str, Any]:
    """Return the curves of the objective and of the number of topics; none of a fit of one pass."""
    laps = fit.trace["lap"]
    columns = {
        name: fit.trace[column]
        for column, name in (
            ("objective", f"{fit.objective_name}, nats per {unit}"),
            (f"n_{noun}", f"number of {noun}"),
        )
        if column in fit.trace
    }
    return {"fit": lines_of_trace(laps, columns)} if len(laps) > 1 and columns else {}


Groups = list[tuple[str, list[TopicReport]]]  # names, and the topics inside


def _groups(data: ReportData) -> Groups:
    """Return the groups of topics that the page begins with: of the path, of the branches of a tree, or all as one."""
    topics = sorted(data.topics, key=lambda topic: -topic.token_share)
    if data.tree is not None:
        return _branches(data, topics)
    if data.path is None:
        return [("all topics", topics)]
    by_number = sorted(data.topics, key=lambda topic: topic.number)
    clusters: dict[int, tuple[str, list[TopicReport]]] = {k: (t.label, [t]) for k, t in enumerate(by_number)}
    K = len(topics)
    for i, join in enumerate(data.path.joins[: K - data.path.overview]):
        clusters[K + i] = join.label, clusters.pop(join.left)[1] + clusters.pop(join.right)[1]
    size = {k: sum(topic.token_share for topic in inside) for k, (_, inside) in clusters.items()}
    return [
        (clusters[k][0], sorted(clusters[k][1], key=lambda topic: -topic.token_share))
        for k in sorted(clusters, key=lambda k: -size[k])
    ]


def _branches(data: ReportData, topics: list[TopicReport]) -> Groups:
    """Return the topics by the branches at the deepest level that has few of them."""
    assert data.tree is not None
    nodes, names = data.tree.nodes, _names_of_nodes(data)
    ways: list[list[int]] = []  # of each node: the nodes from the root down to it
    for i, node in enumerate(nodes):
        ways.append([*(ways[node.parent] if node.parent >= 0 else []), i])

    def parts(depth: int) -> dict[int, list[TopicReport]]:
        inside: dict[int, list[TopicReport]] = {}
        for topic in topics:
            way = ways[topic.node or 0]
            inside.setdefault(way[min(depth, len(way) - 1)], []).append(topic)
        return inside

    found = parts(1)
    for depth in range(2, data.tree.n_levels):
        finer = parts(depth)
        if len(finer) > _MOST_BRANCHES:
            break
        found = finer
    return [(" ".join(names[i]), found[i]) for i in sorted(found, key=lambda i: -nodes[i].n_tokens)]


def _few(groups: Groups) -> Groups:
    """Return the largest groups, and the others as one where these are several."""
    if len(groups) <= _MOST_BANDS + 1:
        return groups
    others = [topic for _, inside in groups[_MOST_BANDS:] for topic in inside]
    return [*groups[:_MOST_BANDS], (f"{len(groups) - _MOST_BANDS} smaller groups", others)]


def _names_of_nodes(data: ReportData) -> list[tuple[str, str]]:
    """Return the path of each node of the tree, and its name and the words that are not also of the node above."""
    assert data.tree is not None
    found: list[tuple[str, str]] = []
    for node in data.tree.nodes:
        if node.parent < 0:
            found.append(("all", "all topics"))
            continue
        above, parent = data.tree.nodes[node.parent], found[node.parent][0]
        shared = {entry.word for entry in above.words}
        words = sorted((entry.word for entry in node.words), key=lambda word: word in shared)
        path = f"{node.child}" if parent == "all" else f"{parent}.{node.child}"
        found.append((path, ", ".join([*([node.name] if node.name else []), *words[:4]])))
    return found


def _tree_figure(data: ReportData) -> Any:
    """Return the nodes of the tree; each is called by its path, so no two are called the same."""
    assert data.tree is not None
    nodes, names = data.tree.nodes, _names_of_nodes(data)
    return nodes_of_tree(
        [path for path, _ in names],
        [names[node.parent][0] if node.parent >= 0 else "" for node in nodes],
        [node.n_tokens for node in nodes],
        [name if path == "all" else f"{path} {name}" for path, name in names],
        data.tree.n_nodes,
    )


def _map_figure(topics: tuple[TopicReport, ...], groups: Groups) -> Any:
    """Return the map, in which topics of a group have one colour."""
    colour = {topic.index: group_colour(i) for i, (_, inside) in enumerate(groups) for topic in inside}
    shares: Float = np.array([topic.token_share for topic in topics])
    words = [[entry.word for entry in topic.words] for topic in topics]
    numbers, labels = np.array([topic.number for topic in topics]), [topic.label for topic in topics]
    drawn = map_of_topics(np.array([topic.position for topic in topics]), numbers, shares, labels, words)
    return drawn.update_traces(marker={"color": [colour[topic.index] for topic in topics]})


def _over_time(data: ReportData, places: list[int]) -> pd.DataFrame:
    """Return the shares of some topics over time as `topics_over_time` does."""
    import pandas as pd

    assert data.time is not None
    shares = data.time.shares
    columns = ["topic", "label", "period", "mean_weight", "low", "high", "documents"]
    rows = [
        (data.topics[k].number, data.topics[k].label, *cells)
        for k in places
        for cells in zip(shares.groups, shares.shares[k], shares.low[k], shares.high[k], shares.documents, strict=True)
    ]
    return pd.DataFrame(rows, columns=columns).astype({"mean_weight": float, "low": float, "high": float})
