"""What all commands that ask a model have in common: the model, its documents, and how the answer is given."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import wraps
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stickbreak.cli import options as o
from stickbreak.cli.documents import InputSettings, read_limits
from stickbreak.cli.models import load_model
from stickbreak.cli.output import say
from stickbreak.cli.paths import check_input
from stickbreak.cli.tables import Next, check_table_file, tell_table
from stickbreak.cli.wording import joined
from stickbreak.cli.words import Words
from stickbreak.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TableOut", "Topic", "asks_documents", "asks_model", "load_words_model", "topic_number"]

Topic = Annotated[
    str | None, typer.Option("--topic", metavar="TOPIC", help="Only this topic, by number or label. Default: all.")
]
_Csv = Annotated[bool, typer.Option("--csv", help="Print all rows as CSV.")]
_Rows = Annotated[int, typer.Option("--rows", min=1, metavar="NUMBER", help="Most rows to print.")]
TableOut = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="File to write instead: .csv, .json or .parquet.")
]
_ANSWER = {"rows": (_Rows, 50), "as_csv": (_Csv, False), "out": (TableOut, None), "as_json": (o.Json, False)}
_READING = {
    "format": o.Format,
    "text_field": o.TextField,
    "name_field": o.NameField,
    "metadata": o.Metadata,
    "vocabulary": o.Vocabulary,
    "encoding": o.Encoding,
    "delimiter": o.Delimiter,
    "max_document_bytes": o.MaxDocumentBytes,
    "max_unpacked_bytes": o.MaxUnpackedBytes,
    "max_declared": o.MaxDeclared,
}


def load_words_model(path: Path) -> Any:
    """Load a model of words.

    Parameters
    ----------
    path : Path
        Folder of the model.

    Raises
    ------
    InputError
        If it is a model of vectors, which has no words to ask for.
    """
    fitted, material = load_model(path)
    if not issubclass(material, Words):
        raise InputError(
            f"{path} holds a {type(fitted).__name__}, a model of vectors; questions are for models of words "
            "(transform and report know both)"
        )
    return fitted


def topic_number(fitted: Any, text: str) -> int:
    """Return the number of a topic that is given by its number, or by its label in capital or small letters.

    Digits are a number wherever there is a topic of that number, and the label of a topic only elsewhere.

    Parameters
    ----------
    fitted : fitted model
    text : str

    Raises
    ------
    InputError
        If no topic has this label, or several have.
    """
    text = text.strip()
    if text.isdecimal() and (fitted._is_topic(int(text)) or text not in fitted.labels_.values()):
        return int(text)
    asked = fitted.labelled_topics()
    labels = dict(zip(asked.numbers.tolist(), asked.labels, strict=True)) | fitted.labels_
    found = [k for k, label in labels.items() if label.casefold() == text.casefold()]
    exact = [k for k in found if labels[k] == text]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if found:
        raise InputError(
            f"--topic is {text!r}, the label of topics {joined(list(map(str, found)), 'and')}; give one number"
        )
    near = get_close_matches(text, list(labels.values()), 1)
    advice = f"did you mean {near[0]!r}?" if near else "stickbreak topics prints numbers and labels"
    raise InputError(f"--topic is {text!r}, but no topic has this label; {advice}")


def asks_model(question: Callable[..., pd.DataFrame]) -> Callable[..., None]:
    """Make a command of a function from a model and its own options to a table.

    Parameters
    ----------
    question : callable
        (fitted model, own arguments) -> table. Its docstring is the help of the command. An argument `folder` is given
        the folder of the model.
    """
    named = "folder" in inspect.signature(question).parameters

    def run(own: dict[str, Any], shared: dict[str, Any]) -> pd.DataFrame:
        given = {"folder": shared["model"], **own} if named else own
        fitted = load_words_model(shared["model"])
        return question(fitted, **_with_number(fitted, given))

    return _command(question, run, {"model": (o.ModelPath, inspect.Parameter.empty)})


def asks_documents(keep: str | None = None) -> Callable[[Callable[..., pd.DataFrame]], Callable[..., None]]:
    """Make a command of a function from a model, documents and its own options to a table.

    Parameters
    ----------
    keep : str, optional
        The own argument that names a column to be kept beside the documents; where it is None, all are kept.
    """

    def decorate(question: Callable[..., pd.DataFrame]) -> Callable[..., None]:
        def run(own: dict[str, Any], shared: dict[str, Any]) -> pd.DataFrame:
            model, path = shared["model"], shared["documents"]
            check_input(path)
            kept: Any = None if keep is None else (own[keep] and [own[keep]]) or "all"
            limits = read_limits(*(shared[f"max_{name}"] for name in ("document_bytes", "unpacked_bytes", "declared")))
            names = ("format", "text_field", "name_field", "encoding", "vocabulary", "delimiter", "metadata")
            given = InputSettings(limits=limits, keep=kept, **{name: shared[name] for name in names})
            fitted = load_words_model(model)
            own = _with_number(fitted, own)
            read = Words.read_for(path, model, fitted, given)
            if not shared["quiet"]:
                say(read.told_briefly)
            return question(fitted, read.documents, **own)

        before = {"model": (o.ModelPath, inspect.Parameter.empty), "documents": (o.InputPath, inspect.Parameter.empty)}
        after = {name: (kind, None) for name, kind in _READING.items()} | {"quiet": (o.Quiet, False)}
        return _command(question, run, before, after)

    return decorate


def _with_number(fitted: Any, own: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a command with the number of the topic that it is asked about."""
    topic = own.get("topic")
    return own if topic is None else own | {"topic": topic_number(fitted, topic)}


def _following(one: Next, arguments: Mapping[str, Any]) -> list[str]:
    """Return the words of the next command, for the model of this one, and perhaps for its documents, read as now."""
    words = ["stickbreak", one.command, str(arguments["model"])]
    if not one.documents:
        return [*words, *one.options]
    read = [
        [f"--{name.replace('_', '-')}", str(arguments[name])] for name in _READING if arguments.get(name) is not None
    ]
    return [*words, str(arguments["documents"]), *one.options, *chain.from_iterable(read)]


def _command(
    question: Callable[..., pd.DataFrame],
    run: Callable[[dict[str, Any], dict[str, Any]], pd.DataFrame],
    before: dict[str, tuple[Any, Any]],
    after: dict[str, tuple[Any, Any]] | None = None,
) -> Callable[..., None]:
    """Return the command: its arguments are those before, its own, those after, and how the answer is given."""
    given = inspect.signature(question).parameters
    own = {name: one for name, one in given.items() if name not in ("fitted", "documents", "folder")}
    shared = {**before, **(after or {}), **_ANSWER}

    @wraps(question)
    def command(**arguments: Any) -> None:
        answer = {name: arguments[name] for name in _ANSWER}
        check_table_file(answer["out"], *(arguments[name] for name in before))
        frame = run({name: arguments[name] for name in own}, {name: arguments[name] for name in shared})
        tell_table(frame, **answer, following=lambda one: _following(one, arguments))

    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(name, kind, annotation=a, default=d) for name, (a, d) in before.items()]
    parameters += [one.replace(kind=kind) for one in own.values()]
    late = {**(after or {}), **_ANSWER}
    parameters += [inspect.Parameter(name, kind, annotation=a, default=d) for name, (a, d) in late.items()]
    setattr(command, "__signature__", inspect.Signature(parameters))  # noqa: B010 - typing knows no such attribute
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    del command.__wrapped__
    return command
