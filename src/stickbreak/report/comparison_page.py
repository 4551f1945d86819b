"""Two models beside each other, as one HTML file: which topics share tokens, and what became of each topic."""

from __future__ import annotations

from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stickbreak.numerics.arrays import Float
from stickbreak.prediction.words import relevant_words
from stickbreak.storage.atomic import replace_file
from stickbreak.storage.places import PathLike

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["render_comparison", "write_comparison"]

_WIDTH, _BAR = 360.0, 14.0  # of bars and bands, which stretch with the page, and of a bar
_SIDE = 31.0  # of the labels at each side, per cent of the picture
_PER_TOPIC, _GAP = 18.0, 3.0  # height, space between two bars
_SMALLEST_SHARE = 0.001  # of all tokens: thinner ribbons are left out
_LABELLED = 11.0  # height of a bar from which on its label stands beside it
_LABEL, _SHORT = 38, 15  # characters, of a label and of the one on a narrow screen
_WORDS = 10
_ENDS = {"split": "split", "joined": "joined", "part": "part of another", "changed": "changed", "gone": "gone"}
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
    lead = _lead(names, table)
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
            f"{_ribbons(_numbers(models), names, table, shared)}</section>",
            '<section aria-labelledby="topics"><h2 id="topics">Topic by topic</h2>',
            '<p class="hint">Similarity is the share of the tokens of both topics that they have in common: from 0.50 '
            "on a topic is the same, below 0.33 it may be gone. <code>stickbreak compare MODEL OTHER --csv</code> "
            "prints the table for other programs.</p>",
            f'<div class="sheet" tabindex="0">{_rows(models, names, table)}</div></section>',
            "</main>\n</body>\n</html>\n",
        )
    )


_STYLE = """.sheet { overflow-x: auto; }
.ribbons { display: block; width: 100%; font: 12px var(--sans); fill: var(--ink); overflow: hidden; }
.ribbons .band { fill: var(--accent-2); opacity: 0.35; } .ribbons .band.same { fill: var(--accent); }
.ribbons .band:hover { fill: var(--focus); opacity: 0.8; } .ribbons .topic { fill: var(--accent); }
.ribbons .head { font-weight: 600; } .ribbons .short { display: none; }
table.compared { border-collapse: collapse; width: 100%; font-size: 0.88rem; }
.compared th, .compared td { text-align: left; vertical-align: top; padding: 0.4rem 0.6rem; }
.compared tr { border-bottom: 1px solid var(--line); break-inside: avoid; }
.compared .number { text-align: right; white-space: nowrap; }
.compared td { white-space: normal; border: 0; }
.compared small { display: block; overflow-wrap: anywhere; color: var(--soft); }
@media screen and (max-width: 46rem) {
  .ribbons { font-size: 11px; } .ribbons .long { display: none; } .ribbons .short { display: inline; }
  .compared, .compared tbody { display: block; }
  .compared thead { position: absolute; left: -999rem; }
  .compared tr { display: grid; grid-template-columns: minmax(0, 1fr) auto; padding: 0.6rem 0; }
  .compared td { padding: 0.15rem 0; } .compared td:empty { display: none; }
  .compared td:not(.number)[data-model]::before {
    content: attr(data-model); display: block; font-size: 0.8rem; color: var(--soft);
  }
  .compared td:not([data-model]) { grid-column: 1 / -1; text-align: left; font-weight: 600; }
  .compared td.number:not([data-model])::before { content: "similarity "; font-weight: 400; color: var(--soft); }
}
"""


def _lead(names: tuple[str, str], table: pd.DataFrame) -> str:
    """Say in a sentence or two what became of the topics of the first model, and how many of the second are new."""
    of_first = table.loc[table["topic_a"] >= 0, "what"].tolist()
    new, of_second = int((table["what"] == "new").sum()), int((table["topic_b"] >= 0).sum())
    others = "".join(f", {of_first.count(what):,} {said}" for what, said in _ENDS.items() if what in of_first)
    return (
        f"{of_first.count('same'):,} of {len(of_first):,} topics of {names[0]} are the same in {names[1]}{others}. "
        f"{new:,} of {of_second:,} topics of {names[1]} {'is' if new == 1 else 'are'} new."
    )


def _numbers(models: tuple[Any, Any]) -> list[list[int]]:
    """Return the numbers of the topics that are compared, in the order of the rows and columns of what they share."""
    return [model.labelled_topics().numbers.tolist() for model in models]


def _ribbons(numbers: list[list[int]], names: tuple[str, str], table: pd.DataFrame, shared: Float) -> str:
    """Draw bars of the topics of both models and the bands between them."""
    sides = [_side(table, side) for side in ("a", "b")]
    height = _PER_TOPIC * max(max(len(side) for side in sides), 12)
    places = [{number: i for i, number in enumerate(side)} for side in numbers]
    scale = (height - _GAP * max(len(side) for side in sides)) / max(float(shared.sum()), 1e-300)
    top: list[dict[int, float]] = []
    drawn: list[str] = []
    labels = [_text(at, 14.0, name, "head ") for at, name in enumerate(names)]
    for at, (x, side, sums) in enumerate(
        zip((0.0, _WIDTH - _BAR), sides, (shared.sum(axis=1), shared.sum(axis=0)), strict=True)
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
                labels.append(_text(at, y + tall / 2 + 4, label))
            y += tall + _GAP
        top.append(tops)
    bands = _bands(numbers, table, shared, scale, top)
    inner = (
        f'<svg x="{_SIDE:g}%" y="0" width="{100 - 2 * _SIDE:g}%" height="{height + 40:.0f}" '
        f'viewBox="0 0 {_WIDTH:g} {height + 40:.0f}" preserveAspectRatio="none">{"".join(bands)}{"".join(drawn)}</svg>'
    )
    return (
        f'<svg class="ribbons" width="100%" height="{height + 40:.0f}" role="img" '
        f'aria-label="Bars of the topics of both models, and bands between those that share tokens">{inner}'
        f"{''.join(labels)}</svg>"
    )


def _text(side: int, y: float, label: str, kind: str = "") -> str:
    """Write a label beside a bar at the left, 0, or at the right, 1, whole and for a narrow screen."""
    place, anchor = (f"{_SIDE - 1:g}%", "end") if side == 0 else (f"{101 - _SIDE:g}%", "start")
    cut = [label if len(label) <= most else label[:most] + "…" for most in (_LABEL, _SHORT)]
    return "".join(
        f'<text class="{kind}{width}" x="{place}" y="{y:.2f}" text-anchor="{anchor}">{escape(text)}</text>'
        for width, text in zip(("long", "short"), cut, strict=True)
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
    x0, x1 = _BAR, _WIDTH - _BAR
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
        chosen = model.labelled_topics().numbers
        told = [" ".join(model.vocabulary_[w] for w in row) for row in relevant_words(model, chosen, _WORDS)]
        words.append(dict(zip(chosen.tolist(), told, strict=True)))
    heads = (names[0], "share", "what became of it", names[1], "share", "similarity")
    lines = []
    for row in table.itertuples():
        parts = ", ".join(map(str, row.parts))
        cells = [
            *_topic(int(row.topic_a), row.label_a, row.share_a, words[0], names[0]),
            _cell(f"{_SAID[row.what]} {parts}" if parts else _SAID[row.what].partition(";")[0]),
            *_topic(int(row.topic_b), row.label_b, row.share_b, words[1], names[1]),
            _cell(f"{row.similarity:.2f}" if row.topic_a >= 0 <= row.topic_b else "", ' class="number"'),
        ]
        lines.append(f'<tr role="row">{"".join(cells)}</tr>')
    head = "".join(f'<th scope="col" role="columnheader">{escape(name)}</th>' for name in heads)
    # Roles are named, as a table that is laid out in another way on a narrow screen loses its own.
    return (
        f'<table class="compared" role="table"><thead role="rowgroup"><tr role="row">{head}</tr></thead>'
        f'<tbody role="rowgroup">{"".join(lines)}</tbody></table>'
    )


def _cell(content: str, more: str = "") -> str:
    """Write a cell of the table; the content is HTML."""
    return f'<td role="cell"{more}>{content}</td>'


def _topic(number: int, label: str, share: float, words: dict[int, str], model: str) -> tuple[str, str]:
    """Return the cells of a topic of a model, empty where there is none."""
    of_model = f' data-model="{escape(model)}"'
    if number < 0:
        return _cell("", of_model), _cell("", f' class="number"{of_model}')
    told = f"<small>{escape(words[number])}</small>"
    return _cell(f"{number}  {escape(label)}{told}", of_model), _cell(f"{share:.2%}", f' class="number"{of_model}')
