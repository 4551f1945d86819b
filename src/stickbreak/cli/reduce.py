"""`stickbreak reduce`."""

import shutil
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from stickbreak.cli.asking import load_words_model
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
        str | None,
        typer.Option(
            "--topics",
            metavar="NUMBER",
            help="Number of topics, or one of overview, best and within-one-error. Default: overview.",
        ),
    ] = None,
    merge: Annotated[
        list[str] | None,
        typer.Option("--merge", metavar="NUMBERS", help="Topics to make one, such as 3,7; may be given again."),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option("--drop", metavar="NUMBERS", help="Topics to leave out, such as 5 or 5,9; may be given again."),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write a model with fewer, broader topics, without fitting again.

    A fit also joins its topics pair by pair, down to one, each time the pair that
    costs held-out words least. This command stops at a number of topics: overview
    is 20, best the number that predicts held-out words best (all of them, unless fewer
    are better by more than two standard errors), and within-one-error the smallest
    that is within one standard error of it. No documents are needed.
    The new model works with all commands.

    --merge and --drop change only the topics that they name. A merged topic keeps the label of the first
    of its topics that has one. A topic that is dropped is forgotten with its tokens: the weights of documents
    are of the topics that are left. Topics are numbered by size again, and labels stay with their topics.
    """
    from stickbreak.path.joined_models import regrouped
    from stickbreak.storage.atomic import replace_folder
    from stickbreak.storage.persistence import check_target

    by_hand = bool(merge or drop)
    if by_hand and topics is not None:
        raise InputError("--topics is given with --merge or --drop; give a number, or name topics")
    fitted, material = load_model(model)
    check_target(out, overwrite=force)
    told: list[str] = []
    numbers: dict[str, Any] = {}
    if by_hand:
        groups, gone = [_topics("--merge", text) for text in merge or ()], [_topics("--drop", t) for t in drop or ()]
        words_model: Any = load_words_model(model)
        reduced, place = regrouped(words_model, groups, [k for one in gone for k in one])
        told = list(_changes(fitted, reduced, groups, place.tolist()))
        numbers = {"numbers": {str(old): None if new < 0 else new for old, new in enumerate(place.tolist())}}
    else:
        reduced = material.reduced(fitted, _number("overview" if topics is None else topics))
    with replace_folder(out, overwrite=force or out.is_dir()) as folder:
        reduced.save(folder)
        if (model / _INPUT).is_file():
            shutil.copyfile(model / _INPUT, folder / _INPUT)
    before, after = material.n_topics(fitted), material.n_topics(reduced)
    if as_json:
        print_json({"model": str(out), f"n_{material.topic}s_before": before, f"n_{material.topic}s": after, **numbers})
    elif not quiet:
        told.append(f"{before} {material.topic}s became {after}, numbered by size, written to {out}")
        say("\n".join(told))


def _topics(option: str, text: str) -> list[int]:
    """Read numbers of topics with commas between them."""
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise InputError(f"{option} is {text!r}; give numbers of topics, such as 3,7") from None


def _changes(before: Any, after: Any, groups: list[list[int]], number: list[int]) -> Iterator[str]:
    """Yield what became of the topics that were named."""
    old, new = before.labelled_topics().labels, after.labelled_topics().labels
    for group in groups:
        of_group = joined([f"{k} ({old[k]})" for k in group], "and")
        yield f"Topics {of_group} are now topic {number[group[0]]} ({new[number[group[0]]]})."
    for k in (k for k, now in enumerate(number) if now < 0):
        yield f"Topic {k} ({old[k]}) is dropped with {before.topic_shares_[k]:.2%} of the tokens."


def _number(text: str) -> Any:
    """Return a number of topics, or the attribute of a path that has it."""
    if text in _NAMED:
        return _NAMED[text]
    if not text.isdecimal() or int(text) == 0:
        raise InputError(f"--topics is {text!r}; give a number of topics, {joined(list(_NAMED), 'or')}")
    return int(text)
