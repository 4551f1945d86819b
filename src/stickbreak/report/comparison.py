"""Two models beside each other, as one HTML file: which topics share tokens, and what became of each topic."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stickbreak.numerics.arrays import Float
from stickbreak.plots.figures import shared_topics
from stickbreak.prediction.words import relevant_words
from stickbreak.questions.labels import labelled_topics
from stickbreak.report.data import Page
from stickbreak.report.write import render_page
from stickbreak.storage.atomic import replace_file
from stickbreak.storage.persistence import package_version
from stickbreak.storage.places import PathLike

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["render_comparison", "write_comparison"]

_WORDS = 10
_ENDS = {"split": "split", "joined": "joined", "part": "part of another", "changed": "changed", "gone": "gone"}


@dataclass(frozen=True, slots=True)
class ComparedTopic:
    """A topic of one of the models."""

    number: int
    label: str
    share: float
    words: str


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """A line of the table: a topic and what became of it."""

    first: ComparedTopic | None
    second: ComparedTopic | None
    what: str
    parts: str
    similarity: float | None


@dataclass(frozen=True, slots=True)
class ComparisonData(Page):
    """What the page says."""

    title: str
    version: str
    names: tuple[str, str]
    lead: str
    rows: tuple[ComparedPair, ...]


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
        Path(temporary).write_bytes(page.encode("utf-8"))


def render_comparison(models: tuple[Any, Any], names: tuple[str, str], table: pd.DataFrame, shared: Float) -> str:
    """Return the page. A content security policy forbids it to load anything.

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
    numbers = [labelled_topics(model).numbers for model in models]
    words: list[dict[int, str]] = []
    for model, of_model in zip(models, numbers, strict=True):
        ranked = relevant_words(model, of_model, _WORDS)
        told = (" ".join(model.vocabulary_[w] for w in row) for row in ranked)
        words.append(dict(zip(of_model.tolist(), told, strict=True)))

    def topic(row: Any, side: int) -> ComparedTopic | None:
        number = int(row[f"topic_{'ab'[side]}"])
        if number < 0:
            return None
        label, share = row[f"label_{'ab'[side]}"], row[f"share_{'ab'[side]}"]
        return ComparedTopic(number, str(label), float(share), words[side][number])

    rows = tuple(
        ComparedPair(
            topic(row, 0),
            topic(row, 1),
            row["what"],
            ", ".join(map(str, row["parts"])),
            float(row["similarity"]) if row["topic_a"] >= 0 <= row["topic_b"] else None,
        )
        for row in table.to_dict("records")
    )
    pairs = {
        (a, b): float(shared[i, j])
        for i, a in enumerate(numbers[0].tolist())
        for j, b in enumerate(numbers[1].tolist())
        if shared[i, j] > 0
    }
    same = {(row.first.number, row.second.number) for row in rows if row.first and row.second}
    ribbons = shared_topics(names, (_side(table, "a"), _side(table, "b")), pairs, same)
    data = ComparisonData(f"{names[0]} and {names[1]}", package_version(), names, _lead(names, table), rows)
    return render_page("comparison.html", data, {"ribbons": ribbons}, ("page.js", "components.js"))


def _lead(names: tuple[str, str], table: pd.DataFrame) -> str:
    """Say in a sentence or two what became of the topics of the first model, and how many of the second are new."""
    of_first = table.loc[table["topic_a"] >= 0, "what"].tolist()
    new, of_second = int((table["what"] == "new").sum()), int((table["topic_b"] >= 0).sum())
    others = "".join(f", {of_first.count(what):,} {said}" for what, said in _ENDS.items() if what in of_first)
    return (
        f"{of_first.count('same'):,} of {len(of_first):,} topics of {names[0]} are the same in {names[1]}{others}. "
        f"{new:,} of {of_second:,} topics of {names[1]} {'is' if new == 1 else 'are'} new."
    )


def _side(table: pd.DataFrame, side: str) -> list[tuple[int, str, float]]:
    """Return (number, label, share) of the topics of a model: the first by size, the other by their matches."""
    rows = table[table[f"topic_{side}"] >= 0]
    rows = rows.sort_values(
        "share_a" if (rows["share_a"] > 0).any() else f"share_{side}", ascending=False, kind="stable"
    )
    columns = (rows[f"topic_{side}"], rows[f"label_{side}"], rows[f"share_{side}"])
    return [(int(k), str(label), float(share)) for k, label, share in zip(*columns, strict=True)]
