"""`stickbreak scores` and `stickbreak intrusion`: how good each topic is, counted and for people."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stickbreak.cli.asking import asks_documents, asks_model
from stickbreak.cli.documents import Documents
from stickbreak.cli.tables import with_notes
from stickbreak.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["intrusion", "scores"]

_SCORES = ("npmi", "umass", "c_v", "exclusivity")
_LEAST_NPMI, _LEAST_EXCLUSIVITY = 0.02, 0.1  # of a topic that says something

_Words = Annotated[int, typer.Option("--words", "-n", min=2, metavar="NUMBER", help="Top words of each topic.")]


@asks_documents()
def scores(
    fitted: Any,
    documents: Documents,
    words: _Words = 10,
    sort: Annotated[
        str | None,
        typer.Option(
            "--sort", metavar="COLUMN", help="Order by npmi, umass, c_v or exclusivity, the worst topic first."
        ),
    ] = None,
    window: Annotated[int, typer.Option("--window", min=2, metavar="NUMBER", help="Words in a window of c_v.")] = 110,
) -> "pd.DataFrame":
    """Print how good each topic is: whether its top words occur together, and in no other topic.

    npmi (from -1 to 1; 0 is chance) and umass (0 is best) count documents, c_v
    (up to 1) counts windows of texts. exclusivity is the share of its top words
    that a topic has for itself. Give the documents of the fit, or others.
    """
    from stickbreak.evaluation import topic_scores

    texts = documents.texts
    if callable(texts):
        texts = texts(range(documents.corpus.n_documents))
    table = topic_scores(fitted, documents.corpus, texts=texts, n_words=words, window=window)
    whole = table.attrs
    worst = table.loc[table["npmi"].idxmin()] if table["npmi"].notna().any() else None
    if sort is not None:
        if sort not in _SCORES or sort not in table:
            there = ", ".join(name for name in _SCORES if name in table)
            raise InputError(f"--sort is {sort!r:.40}, which is not a score of these topics; give one of {there}")
        table = table.sort_values(sort, kind="stable", ignore_index=True)
    junk = dict(_junk(table))
    lines = [
        f"Mean NPMI {whole['mean_npmi']:.3f}; diversity {whole['diversity']:.2f}: the share of different words among "
        "the 25 top words of all topics."
    ]
    if junk:
        lines = ["\n".join([*lines, *(f"Junk: topic {topic}: {reason}" for topic, reason in junk.items())])]
    elif worst is not None and len(table) > 1:
        lines.append(f"Topic {worst['topic']} ({worst['label']}) has the least: read its documents before you use it.")
    return with_notes(table, closing=" ".join(lines), values={**whole, "junk": junk})


def _junk(table: "pd.DataFrame") -> Iterator[tuple[int, str]]:
    """Yield the topics that say little, with the reason."""
    for row in table.to_dict("records"):
        reasons = []
        if row["npmi"] < _LEAST_NPMI:
            reasons.append(f"its top words occur together hardly more often than by chance (NPMI {row['npmi']:.3f})")
        if row["exclusivity"] < _LEAST_EXCLUSIVITY:
            reasons.append(f"other topics have its top words, too (exclusivity {row['exclusivity']:.2f})")
        if reasons:
            yield int(row["topic"]), " and ".join(reasons)


@asks_model
def intrusion(
    fitted: Any,
    words: Annotated[int, typer.Option("--words", "-n", min=1, metavar="NUMBER", help="Top words of each topic.")] = 5,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the choice and of the order.")] = 0,
) -> "pd.DataFrame":
    """Print lists of words with one that does not belong, to be found by people.

    The more often people find the intruder, the better is the topic (Chang et al.
    2009). Hide the last column from them.
    """
    from stickbreak.evaluation import word_intrusion

    shown = fitted.topics_table()
    phi = fitted.word_distributions(shown["topic"].to_numpy())
    table = word_intrusion(phi, fitted.vocabulary_, n_words=words, random_state=seed)
    return table.assign(topic=shown["topic"].to_numpy()[table["topic"].to_numpy(dtype=int)])
