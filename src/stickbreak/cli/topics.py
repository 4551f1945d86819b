"""`stickbreak topics`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stickbreak.cli.asking import TableOut
from stickbreak.cli.models import load_model
from stickbreak.cli.options import Json, ModelPath, TopicsShown, Verbose
from stickbreak.cli.output import MOST_LEAVES, TOPICS_SHOWN, print_json, print_topics, show, show_rest
from stickbreak.cli.tables import check_table_file, tell_table
from stickbreak.cli.words import Words
from stickbreak.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd


def topics(
    model: ModelPath,
    words: Annotated[
        int, typer.Option("--words", "-n", min=1, help="Words of each topic; of vectors: coordinates of each mean.")
    ] = 10,
    topics_shown: TopicsShown = TOPICS_SHOWN,
    all_topics: Annotated[bool, typer.Option("--all", help="Print all topics.")] = False,
    verbose: Verbose = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print all topics as CSV: topic, label, share, corpus_weight, words.")
    ] = False,
    as_json: Json = False,
    out: TableOut = None,
) -> None:
    """Print the largest topics of a model: number, share, labels that were given, words.

    Topics of seeds come first. share is the share of all tokens of the fit that belong to the
    topic. Words are in the order of their relevance. --verbose adds its corpus weight:
    the share that the model expects in a new collection. JSON has all topics and both
    numbers; of a tree the 100 largest, or with --all every one. A
    model of vectors has components: spread is the standard deviation of a
    coordinate, directions are the shares of the variance along the three leading
    ones, and the means are those that differ most from the other components. Last
    comes the held-out score of a fit with --held-out.
    """
    check_table_file(out, model)
    fitted, material = load_model(model)
    n_topics = material.n_topics(fitted)
    if as_csv or out is not None:
        tell_table(_table(fitted, material, model, words), as_json=False, as_csv=as_csv, out=out, rows=n_topics)
        return
    wanted = n_topics if all_topics else topics_shown
    lines = material.lines(fitted, model, words, max(wanted, MOST_LEAVES))
    score = material.told_score(fitted)
    if as_json:
        found = f"{material.topic}s"
        held_out = None if score is None else score.values
        print_json({f"n_{found}": n_topics, found: [line.as_json() for line in lines], "held_out": held_out})
    else:
        print_topics(lines[:wanted], material.expert_columns if verbose else material.columns, verbose=verbose)
        show_rest(n_topics - min(wanted, len(lines)), model)
        if score is not None:
            numbers = [f"{label:<12}{text}" for label, text in score.lines] if verbose else []
            show("\n".join(["", score.sentence, *numbers]))


def _table(fitted: Any, material: Any, path: Path, words: int) -> "pd.DataFrame":
    """Return the topics of a model of words, one in each row."""
    if not issubclass(material, Words):
        raise InputError(f"{path} holds a model of vectors, which has no words for a table; use --json")
    table: pd.DataFrame = fitted.topics_table(n_words=words)
    return table
