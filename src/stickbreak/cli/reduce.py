"""`stickbreak reduce`."""

import shutil
from typing import Annotated, Any

import typer

from stickbreak.cli.models import load_model
from stickbreak.cli.options import Force, Json, ModelPath, Out, Quiet
from stickbreak.cli.output import print_json, say
from stickbreak.cli.wording import joined
from stickbreak.exceptions import InputError

_NAMED = {"overview": "overview", "best": "best", "within-one-error": "smallest_within_one_error"}
_INPUT = "input.json"  # beside a model: how its documents were read


def reduce(
    model: ModelPath,
    out: Out,
    topics: Annotated[
        str,
        typer.Option(
            "--topics", metavar="NUMBER", help="Number of topics, or one of overview, best and within-one-error."
        ),
    ] = "overview",
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write a model with fewer, broader topics, without fitting again.

    A fit also joins its topics pair by pair, down to one, each time the pair that
    costs held-out words least. This command stops at a number of topics: overview
    is 20, best the number that predicts held-out words best, and within-one-error
    the smallest that is within one standard error of it. No documents are needed.
    The new model works with all commands.
    """
    from stickbreak.storage.atomic import replace_folder
    from stickbreak.storage.persistence import check_target

    fitted, material = load_model(model)
    number = _number(topics)
    check_target(out, overwrite=force)
    reduced = material.reduced(fitted, number)
    with replace_folder(out, overwrite=force or out.is_dir()) as folder:
        reduced.save(folder)
        if (model / _INPUT).is_file():
            shutil.copyfile(model / _INPUT, folder / _INPUT)
    before, after = material.n_topics(fitted), material.n_topics(reduced)
    if as_json:
        print_json({"model": str(out), f"n_{material.topic}s_before": before, f"n_{material.topic}s": after})
    elif not quiet:
        say(f"{before} {material.topic}s joined to {after}, written to {out}")


def _number(text: str) -> Any:
    """Return a number of topics, or the attribute of a path that has it."""
    if text in _NAMED:
        return _NAMED[text]
    if not text.isdecimal() or int(text) == 0:
        raise InputError(f"--topics is {text!r}; give a number of topics, {joined(list(_NAMED), 'or')}")
    return int(text)
