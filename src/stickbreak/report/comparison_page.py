"""Two models beside each other, as one HTML file: which topics share tokens, and what became of each topic."""

from __future__ import annotations

from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stickbreak.numerics.arrays import Float
from stickbreak.storage.atomic import replace_file
from stickbreak.storage.places import PathLike

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["render_comparison", "write_comparison"]

_WIDTH, _BAR, _SIDE = 960.0, 14.0, 300.0  # of the picture, of a bar, of the labels at each side
_PER_TOPIC, _GAP = 18.0, 3.0  # height, space between two bars
_SMALLEST_SHARE = 0.001  # of all tokens: thinner ribbons are left out
_LABELLED = 11.0  # height of a bar from which on its label stands beside it
_LABEL = 38  # characters
_WORDS = 10
_SAID = {
    "same": "the same",
    "split": "split into",
    "joined": "joined from",
    "part": "part of",
    "changed": "changed; nearest is",
    "gone": "gone; nearest is",
    "new": "new; nearest is",
}


def write_comparison(
    models: tuple[Any, Any], names: tuple[str, str], table: pd.DataFrame, shared: Float, path: PathLike
) -> None:
    """Write the page that `render_comparison` returns; the file is complete or absent.

    Raises
    ------
    WriteError
        If the file cannot be written.
    """
    page = render_comparison(models, names, table, shared)
    with replace_file(path) as temporary:
        Path(temporary).write_bytes(page.encode("utf-8", "replace"))


def render_comparison(models: tuple[Any, Any], names: tuple[str, str], table: pd.DataFrame, shared: Float) -> str:
    """Return the page. It holds no program, and a content security policy forbids to load anything.

    Parameters
    ----------
    models : (fitted model, fitted model)
    names : (str, str)
        What the page calls them.
    table : DataFrame
        How their topics correspond: `Alignment.table`.
    shared : ndarray of shape (K, L)
        Share of all tokens that are in a topic of the first model and in one of the second.
    """
    of_first = table[table["topic_a"] >= 0]
    new = int((table["what"] == "new").sum())
    lead = (
        f"{int((of_first['what'] == 'same').sum()):,} of {len(of_first):,} topics are the same in both models, "
        f"{new:,} {'is' if new == 1 else 'are'} new in {names[1]}."
    )
    title = f"{names[0]} and {names[1]}"
    style = resources.files("stickbreak.report").joinpath("style.css").read_text(encoding="utf-8")
    return "\n".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; "
            "form-action 'none'; style-src 'unsafe-inline'\">",
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">\n<meta name="generator" content="stickbreak">',
            f"<title>{escape(title)}</title>\n<style>\n{style}\n{_STYLE}</style>\n</head>\n<body>",
            '<header class="page"><div class="masthead"><span class="brand">stickbreak</span></div>',
            f'<h1 dir="auto">{escape(title)}</h1><p class="lead">{escape(lead)}</p></header>\n<main class="page">',
            '<section aria-labelledby="ribbons"><h2 id="ribbons">Which topics share tokens</h2>',
            '<p class="hint">Bars are topics, as high as their share of the tokens. A band joins two topics that share '
            f"tokens. Bands of less than {_SMALLEST_SHARE:.1%} of all tokens are left out.</p>",
            f'<div class="sheet" tabindex="0">{_ribbons(_numbers(models), names, table, shared)}</div></section>',
            '<section aria-labelledby="topics"><h2 id="topics">Topic by topic</h2>',
            '<p class="hint">Similarity is the share of the tokens of both topics that they have in common: from 0.50 '
            "on a topic is the same, below 0.33 it may be gone.</p>",
            f'<div class="sheet" tabindex="0">{_rows(models, names, table)}</div></section>',
            "</main>\n</body>\n</html>\n",
        )
    )


_STYLE = """.sheet { overflow-x: auto; }
.ribbons { display: block; min-width: 640px; width: 100%; height: auto; font: 12px var(--sans); fill: var(--ink); }
.ribbons .band { fill: var(--accent-2); opacity: 0.35; } .ribbons .band.same { fill: var(--accent); }
.ribbons .band:hover { fill: var(--focus); opacity: 0.8; } .ribbons .topic { fill: var(--accent); }
.ribbons .head { font-weight: 600; }
table.compared { border-collapse: collapse; width: 100%; min-width: 44rem; font-size: 0.88rem; }
.compared th, .compared td { text-align: left; vertical-align: top; padding: 0.4rem 0.6rem; }
.compared tr { border-bottom: 1px solid var(--line); }
.compared .number { text-align: right; white-space: nowrap; }
.compared td { white-space: normal; }
.compared small { display: block; overflow-wrap: anywhere; color: var(--soft); }
"""


def _numbers(models: tuple[Any, Any]) -> list[list[int]]:
    """Return the numbers of the topics that are compared, in the order of the rows and columns of what they share."""
    return [model._asked().numbers.tolist() for model in models]


def _ribbons(numbers: list[list[int]], names: tuple[str, str], table: pd.DataFrame, shared: Float) -> str:
    """Draw bars of the topics of both models and the bands between them."""
    sides = [_side(table, side) for side in ("a", "b")]
    height = _PER_TOPIC * max(max(len(side) for side in sides), 12)
    places = [{number: i for i, number in enumerate(side)} for side in numbers]
    scale = (height - _GAP * max(len(side) for side in sides)) / max(float(shared.sum()), 1e-300)
    top: list[dict[int, float]] = []
    drawn: list[str] = []
    for at, (x, side, sums) in enumerate(
        zip((_SIDE, _WIDTH - _SIDE - _BAR), sides, (shared.sum(axis=1), shared.sum(axis=0)), strict=True)
    ):
        y, tops = 24.0, {}
        for row, (number, label, share) in enumerate(side):
            tall = max(float(sums[places[at][number]]) * scale, 0.5)
            tops[number] = y
            told = escape(f"{number}  {label}: {share:.2%}")
            drawn.append(
                f'<rect class="topic" x="{x:g}" y="{y:.2f}" width="{_BAR:g}" height="{tall:.2f}">'
                f"<title>{told}</title></rect>"
            )
            if tall >= _LABELLED or row < 3:
                short = label if len(label) <= _LABEL else label[:_LABEL] + "…"
                place, anchor = (x - 8, "end") if at == 0 else (x + _BAR + 8, "start")
                drawn.append(
                    f'<text x="{place:g}" y="{y + tall / 2 + 4:.2f}" text-anchor="{anchor}">{escape(short)}</text>'
                )
            y += tall + _GAP
        top.append(tops)
    bands = _bands(numbers, table, shared, scale, top)
    heads = (
        f'<text class="head" x="{_SIDE - 8:g}" y="14" text-anchor="end">{escape(names[0])}</text>'
        f'<text class="head" x="{_WIDTH - _SIDE + 8:g}" y="14">{escape(names[1])}</text>'
    )
    return (
        f'<svg class="ribbons" viewBox="0 0 {_WIDTH:g} {height + 40:.0f}" role="img" '
        f'aria-label="Bars of the topics of both models, and bands between those that share tokens">{heads}'
        f"{''.join(bands)}{''.join(drawn)}</svg>"
    )


def _side(table: pd.DataFrame, side: str) -> list[tuple[int, str, float]]:
    """Return (number, label, share) of the topics of a model: the first by size, the other by their matches."""
    rows = table[table[f"topic_{side}"] >= 0]
    rows = rows.sort_values(
        "share_a" if (rows["share_a"] > 0).any() else f"share_{side}", ascending=False, kind="stable"
    )
    columns = (rows[f"topic_{side}"], rows[f"label_{side}"], rows[f"share_{side}"])
    return [(int(k), str(label), float(share)) for k, label, share in zip(*columns, strict=True)]


def _bands(
    numbers: list[list[int]], table: pd.DataFrame, shared: Float, scale: float, top: list[dict[int, float]]
) -> list[str]:
    """Draw a band for each pair of topics with tokens in common, each in its own part of both bars."""
    left, right = dict(top[0]), dict(top[1])
    matched = {(int(a), int(b)) for a, b in zip(table["topic_a"], table["topic_b"], strict=True)}
    x0, x1 = _SIDE + _BAR, _WIDTH - _SIDE - _BAR
    middle, drawn = (x0 + x1) / 2, []
    found = [
        (top[0][a], top[1][b], a, b, float(shared[i, j]))
        for i, a in enumerate(numbers[0])
        for j, b in enumerate(numbers[1])
        if shared[i, j] >= _SMALLEST_SHARE
    ]
    for _, _, a, b, share in sorted(found):
        tall = share * scale
        y0, y1 = left[a], right[b]
        left[a], right[b] = y0 + tall, y1 + tall
        kind = "band same" if (a, b) in matched else "band"
        drawn.append(
            f'<path class="{kind}" d="M{x0:g},{y0:.2f}C{middle:g},{y0:.2f} {middle:g},{y1:.2f} {x1:g},{y1:.2f}'
            f'v{tall:.2f}C{middle:g},{y1 + tall:.2f} {middle:g},{y0 + tall:.2f} {x0:g},{y0 + tall:.2f}z">'
            f"<title>{a} and {b}: {share:.2%} of all tokens</title></path>"
        )
    return drawn


def _rows(models: tuple[Any, Any], names: tuple[str, str], table: pd.DataFrame) -> str:
    """Return the table of all topics."""
    words = []
    for model in models:
        chosen = model._asked().numbers
        told = [" ".join(row) for row in model._relevant(chosen, _WORDS)]
        words.append(dict(zip(chosen.tolist(), told, strict=True)))
    heads = (names[0], "share", "what became of it", names[1], "share", "similarity")
    lines = []
    for row in table.itertuples():
        parts = ", ".join(map(str, row.parts))
        cells = [
            *_topic(int(row.topic_a), row.label_a, row.share_a, words[0]),
            f"<td>{_SAID[row.what]} {parts}</td>" if parts else f"<td>{_SAID[row.what].partition(';')[0]}</td>",
            *_topic(int(row.topic_b), row.label_b, row.share_b, words[1]),
            f'<td class="number">{row.similarity:.2f}</td>' if row.topic_a >= 0 <= row.topic_b else "<td></td>",
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    return f'<table class="compared"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'


def _topic(number: int, label: str, share: float, words: dict[int, str]) -> tuple[str, str]:
    """Return the cells of a topic, empty where there is none."""
    if number < 0:
        return "<td></td>", "<td></td>"
    told = f"<small>{escape(words[number])}</small>"
    return f"<td>{number}  {escape(label)}{told}</td>", f'<td class="number">{share:.2%}</td>'
