"""`stickbreak scores` and `stickbreak intrusion`: how good each topic is, counted and for people."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from stickbreak.cli.asking import asks_documents, asks_model
from stickbreak.cli.documents import Documents
from stickbreak.cli.tables import with_notes

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["intrusion", "scores"]

_Words = Annotated[int, typer.Option("--words", "-n", min=2, metavar="NUMBER", help="Top words of each topic.")]


@asks_documents()
def scores(
    fitted: Any,
    documents: Documents,
    words: _Words = 10,
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
    lines = [
        f"Mean NPMI {whole['mean_npmi']:.3f}; diversity {whole['diversity']:.2f}: the share of different words among "
        "the 25 top words of all topics."
    ]
    if worst is not None and len(table) > 1:
        lines.append(f"Topic {worst['topic']} ({worst['label']}) has the least: read its documents before you use it.")
    return with_notes(table, closing=" ".join(lines), values=whole)


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
