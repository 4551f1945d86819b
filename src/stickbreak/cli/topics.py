"""`stickbreak topics`."""

from typing import Annotated

import typer

from stickbreak.cli.models import load_model
from stickbreak.cli.options import Json, ModelPath
from stickbreak.cli.output import print_json, print_topics


def topics(
    model: ModelPath,
    words: Annotated[
        int, typer.Option("--words", "-n", min=1, help="Words of each topic; of vectors: coordinates of each mean.")
    ] = 10,
    as_json: Json = False,
) -> None:
    """Print the topics of a model: number, weight in the collection, most probable words.

    Of a model of vectors its components: spread of a coordinate, shares of the
    variance along the leading directions, and the coordinates whose means tell a
    component from the others.
    """
    fitted, material = load_model(model)
    lines = material.lines(fitted, model, words)
    if as_json:
        found = f"{material.topic}s"
        print_json({f"n_{found}": material.n_topics(fitted), found: [line.as_json() for line in lines]})
    else:
        print_topics(lines, material.columns)
