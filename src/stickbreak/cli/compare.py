"""`stickbreak compare`: the topics of two models beside each other."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stickbreak.cli.asking import asks_model, load_words_model
from stickbreak.cli.models import check_model
from stickbreak.cli.paths import check_output
from stickbreak.cli.tables import Next, with_notes

if TYPE_CHECKING:
    import pandas as pd

    from stickbreak.comparison import Alignment
    from stickbreak.questions.labels import LabelledTopics

__all__ = ["compare"]

_ENDS = {"split": "split", "joined": "joined", "part": "part of another", "changed": "changed", "gone": "gone"}
_MOST_TOLD = 3  # topics that are gone, or new, below the table


@asks_model
def compare(
    fitted: Any,
    folder: Path,
    other: Annotated[
        Path, typer.Argument(metavar="OTHER", callback=check_model, help="Folder of the model to compare with.")
    ],
    page: Annotated[Path | None, typer.Option("--page", metavar="FILE", help="HTML file to write besides.")] = None,
) -> "pd.DataFrame":
    """Print which topics of MODEL are the same in OTHER, and which were split, joined, are gone or new.

    Topic a belongs to MODEL. Topic b is its partner in OTHER, or "none" if it has no partner.
    Topics are matched one to one by the tokens that they can have in common.
    similarity is that share of the tokens of both: from 0.50 on a topic is the same,
    below 0.33 it may be gone. parts names the topics of OTHER that a topic was split
    into, those of MODEL that were joined, or the nearest of one that is gone, new or
    changed. --page draws it.
    """
    from stickbreak.comparison import align

    if page is not None:
        check_output(page, other)
    second = load_words_model(other)
    found = align(fitted, second)
    if page is not None:
        from stickbreak.report import write_comparison

        write_comparison((fitted, second), _names(folder, other), found.table, found.shared, page)
    table = found.table.assign(parts=[" ".join(map(str, parts)) for parts in found.table["parts"]])
    of_first = table.loc[table["topic_a"] >= 0, "what"].tolist()
    n_new = int((table["what"] == "new").sum())
    closing = (
        f"{of_first.count('same'):,} of {len(of_first):,} topics of a are the same in b{_others(of_first)}; "
        f"{n_new:,} of b {'is' if n_new == 1 else 'are'} new. Partners have {found.agreement:.0%} of the tokens in "
        "common."
    )
    values = {"agreement": found.agreement, "n_same": of_first.count("same"), "n_new": n_new}
    lines = [closing, *_without_partner(found, fitted.labelled_topics(), second.labelled_topics())]
    following = () if page is not None else (Next("draw it", "compare", (str(other), "--page", "compared.html")),)
    heading = f"a: {folder}, b: {other}"
    return with_notes(table, heading=heading, closing="\n".join(lines), values=values, next=following)


def _without_partner(found: "Alignment", first: "LabelledTopics", second: "LabelledTopics") -> Iterator[str]:
    """Yield a line for each of the largest topics that are gone, or new, with the nearest topic of the other model."""
    for what, side, ours, others, shared in (
        ("gone", "a", first, second, found.shared),
        ("new", "b", second, first, found.shared.T),
    ):
        rows = found.table[found.table["what"] == what].nlargest(_MOST_TOLD, f"share_{side}")
        for number, label, size in rows[[f"topic_{side}", f"label_{side}", f"share_{side}"]].itertuples(index=False):
            of_topic = shared[ours.numbers.tolist().index(number)]
            nearest = int(of_topic.argmax())
            if of_topic[nearest] > 0:
                yield (
                    f"{what.capitalize()}: {number} ({label}); nearest is {others.numbers[nearest]} "
                    f"({others.labels[nearest]}), with {of_topic[nearest] / size:.0%} of its tokens."
                )


def _names(folder: Path, other: Path) -> tuple[str, str]:
    """Return what a page calls two models: their folders, with the whole paths where the names are the same."""
    a, b = folder.resolve(), other.resolve()
    return (a.name, b.name) if a.name != b.name else (str(folder), str(other))


def _others(outcomes: Sequence[str]) -> str:
    """Say what became of the topics that are not the same."""
    told = [f"{outcomes.count(what):,} {said}" for what, said in _ENDS.items() if what in outcomes]
    return f", {', '.join(told)}" if told else ""
