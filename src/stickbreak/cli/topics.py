"""`stickbreak topics`."""

from typing import Annotated

import typer

from stickbreak.cli.models import load_words
from stickbreak.cli.options import Json, ModelPath
from stickbreak.cli.output import describe_topics, print_json, print_topics


def topics(
    model: ModelPath,
    words: Annotated[int, typer.Option("--words", "-n", min=1, help="Words of each topic.")] = 10,
    as_json: Json = False,
) -> None:
    """Print the topics of a model: number, weight in the collection, most probable words."""
    fitted = load_words(model)
    lines = describe_topics(fitted, words)
    if as_json:
        print_json({"n_topics": int(fitted.n_topics_), "topics": [line.as_json() for line in lines]})
    else:
        print_topics(lines)
