"""Plots of runs: a system has the same colour in all; ours are solid, peers dashed or hatched."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.harness.figures import pyplot
from benchmarks.harness.systems import SYSTEMS

if TYPE_CHECKING:
    from harness.groups import Group

COLOURS = dict(
    zip(
        SYSTEMS,
        (
            "#1f4e9e", "#5fa2dd", "#c0392b", "#2e8b57", "#8e44ad", "#8d6e42",
            "#c2185b", "#5e6b1f", "#a3b545", "#00695c", "#80cbc4", "#6d4c41", "#bcaaa4",
            "#e08a00", "#f5c242", "#17a2a2", "#7fd1c7", "#222222", "#8c8c8c",
        ),
        strict=True,
    )
)  # fmt: skip
# Settings of one system.
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
AXES = {"K": "topics", "words": "words", "documents": "documents", "threads": "threads"}
COLUMNS, PANEL, DPI = 3, (3.6, 2.9), 80
# Nats per token below the best end that are shown.
LOWEST = 0.6


class Styles:
    """The look of each label: colour by system, marker by its settings.

    Parameters
    ----------
    labels : list of str
        As `systems.title` writes them.
    """

    def __init__(self, labels: list[str]) -> None:
        self.names = {label: _system_of(label) for label in labels}
        order = list(SYSTEMS)
        self.labels = sorted(self.names, key=lambda label: (order.index(self.names[label]), label))

    def of(self, label: str) -> dict[str, Any]:
        """Return what a line looks like."""
        name = self.names[label]
        same = [other for other in self.labels if self.names[other] == name]
        return {
            "color": COLOURS[name],
            "linestyle": "-" if SYSTEMS[name].is_ours else "--",
            "marker": MARKERS[same.index(label) % len(MARKERS)],
            "linewidth": 1.3,
            "markersize": 3.5,
        }

    def legend(self, figure: Any, plt: Any) -> None:
        """Put all labels below a figure."""
        marks = [plt.Line2D([], [], label=label, **self.of(label)) for label in self.labels]
        figure.legend(handles=marks, loc="outside lower center", ncols=4, frameon=False, fontsize=8)


def _system_of(label: str) -> str:
    """Return the system that a label begins with, the longest if there are several."""
    fits = [name for name, kind in SYSTEMS.items() if label == kind.title or label.startswith(kind.title + ",")]
    return max(fits, key=lambda name: len(SYSTEMS[name].title))


def draw_runs(groups: list[Group], pictures: Path) -> list[str]:
    """Draw completion against seconds and against topics, and coherence; return what shows them in Markdown."""
    styles = Styles(list(dict.fromkeys(group.label for group in groups)))
    return [
        _seconds(groups, styles, pictures / "side_by_side_seconds.png"),
        _topics(groups, styles, pictures / "side_by_side_topics.png"),
        _coherence(groups, styles, pictures / "side_by_side_coherence.png"),
    ]


def _seconds(groups: list[Group], styles: Styles, path: Path) -> str:
    chosen = list(dict.fromkeys((group.corpus, group.K) for group in groups))
    plt, figure, panels = _panels(len(chosen))
    for panel, (corpus, n_topics) in zip(panels, chosen, strict=True):
        inside = [group for group in groups if (group.corpus, group.K) == (corpus, n_topics)]
        for group in inside:
            _, seconds, scores = zip(*group.typical["trajectory"], strict=True)
            panel.plot(seconds, scores, **styles.of(group.label))
        ends = [group.typical["completion"] for group in inside]
        best = max(max(point[2] for point in group.typical["trajectory"]) for group in inside)
        panel.set_ylim(max(min(ends), best - LOWEST) - 0.03, best + 0.02)
        panel.set_title(f"{corpus}, K = {n_topics} at the start", fontsize=9)
        _logarithmic(panel)
    _name_axes(panels, "processor seconds", "completion (nats per token)")
    styles.legend(figure, plt)
    return _save(figure, path, "Document completion against processor seconds of learning, one thread")


def _topics(groups: list[Group], styles: Styles, path: Path) -> str:
    chosen = list(dict.fromkeys(group.corpus for group in groups))
    plt, figure, panels = _panels(len(chosen))
    for panel, corpus in zip(panels, chosen, strict=True):
        inside = [group for group in groups if group.corpus == corpus]
        for label in dict.fromkeys(group.label for group in inside):
            points = [(g.median("topics"), g.median("completion")) for g in inside if g.label == label]
            panel.plot(*zip(*points, strict=True), **{**styles.of(label), "markersize": 6})
        panel.set_title(corpus, fontsize=9)
        _logarithmic(panel)
    _name_axes(panels, "topics that hold 99 % of the tokens", "completion (nats per token)")
    styles.legend(figure, plt)
    return _save(figure, path, "Document completion against topics in use: the upper left corner is better")


def _coherence(groups: list[Group], styles: Styles, path: Path) -> str:
    chosen = {group.corpus: max(g.K for g in groups if g.corpus == group.corpus) for group in groups}
    _, figure, panels = _panels(len(chosen), height=1.0 + 0.2 * len(styles.labels))
    labels = styles.labels[::-1]
    for panel, (corpus, n_topics) in zip(panels, chosen.items(), strict=True):
        inside = {group.label: group for group in groups if (group.corpus, group.K) == (corpus, n_topics)}
        for y, label in enumerate(labels):
            if label not in inside:
                continue
            look, group = styles.of(label), inside[label]
            hatch = None if look["linestyle"] == "-" else "////"
            panel.barh(y, group.median("npmi"), color=look["color"], alpha=0.85, hatch=hatch, edgecolor="white")
            panel.plot(group.median("npmi_held_out"), y, "|", color="black", markersize=9)
        panel.set_yticks(range(len(labels)), labels, fontsize=7)
        panel.set_title(f"{corpus}, K = {n_topics} at the start", fontsize=9)
    _name_axes(panels, "mean NPMI; the mark: held out", "")
    return _save(figure, path, "Coherence of the ten most probable words of the topics in use")


def draw_costs(points: dict[str, dict[str, dict[int, float]]], pictures: Path) -> list[str]:
    """Draw milliseconds of a pass against each axis; return what shows them in Markdown."""
    varied = {axis: found for axis, found in points.items() if any(len(line) > 1 for line in found.values())}
    if not varied:
        return []
    styles = Styles(list(dict.fromkeys(label for found in varied.values() for label in found)))
    plt, figure, panels = _panels(len(varied), columns=2)
    for panel, (axis, found) in zip(panels, varied.items(), strict=True):
        for label, line in found.items():
            if len(line) > 1:
                panel.plot(list(line), list(line.values()), **styles.of(label))
        _logarithmic(panel)
        panel.set(yscale="log", xlabel=AXES[axis])
        panel.set_xticks(sorted({x for line in found.values() for x in line}), minor=False)
        panel.yaxis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_formatter("")
        panel.set_ylabel("milliseconds of a pass" + (", by the clock" if axis == "threads" else ""), fontsize=8)
    styles.legend(figure, plt)
    title = "Milliseconds of a pass against topics, words, documents, threads"
    return [_save(figure, pictures / "side_by_side_cost.png", title)]


def _panels(n: int, *, columns: int = COLUMNS, height: float = PANEL[1]) -> tuple[Any, Any, list[Any]]:
    """Return matplotlib, a figure and n panels of it, row by row."""
    plt = pyplot()
    columns = min(columns, n)
    rows = math.ceil(n / columns)
    size = (max(PANEL[0] * columns, 2 * PANEL[0]), height * rows + 0.7)
    figure, grid = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    flat = list(np.ravel(grid))
    for panel in flat[n:]:
        panel.set_visible(False)
    for panel in flat[:n]:
        panel.spines[["top", "right"]].set_visible(False)
        panel.tick_params(labelsize=8)
    return plt, figure, flat[:n]


def _logarithmic(panel: Any) -> None:
    from matplotlib.ticker import LogLocator

    panel.set(xscale="log")
    panel.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    panel.xaxis.set_major_formatter("{x:g}")
    panel.xaxis.set_minor_formatter("")


def _name_axes(panels: list[Any], x: str, y: str) -> None:
    """Name the axes below the last panels of each column, and left of the first column."""
    columns = min(COLUMNS, len(panels))
    for panel in panels[-columns:]:
        panel.set_xlabel(x, fontsize=8)
    for panel in panels[::columns]:
        panel.set_ylabel(y, fontsize=8)


def _save(figure: Any, path: Path, title: str) -> str:
    figure.savefig(path, dpi=DPI)
    pyplot().close(figure)
    return f"![{title}]({path.parent.name}/{path.name})\n\n{title}."
