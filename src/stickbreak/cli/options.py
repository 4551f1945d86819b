"""The options that several commands share, what they stand for, and how an argument becomes several options."""

import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stickbreak.exceptions import InputError
from stickbreak.storage.places import without_secrets
from stickbreak.storage.urls import location_of

if TYPE_CHECKING:
    from stickbreak.model.naming import ChatModel

__all__ = [
    "ALL_CORES", "DATES", "READING", "TAKEN_CHECKPOINT", "DateFormat", "Dates", "Force", "InputPath", "Jobs", "Json",
    "LabelSeparator", "Labels", "MaxDf", "Metadata", "MinDf", "ModelPath", "Quiet", "RandomState", "Scratch", "Server",
    "ServerModel", "Set", "StopWords", "Strip", "TableFile", "Timeout", "TopicsShown", "Verbose", "Workers",
    "chat_model", "check_resumed", "check_separator", "given_options", "kept_fields", "option", "set_signature",
    "spread", "workers_of",
]  # fmt: skip

ALL_CORES = -1
TAKEN_CHECKPOINT = "Add --resume to continue from it, or --force to replace it."
_READING, _DATES = "How the input is read", "Dates"


def option(names: str, metavar: str | None, help: str, panel: str | None = None, **more: Any) -> Any:
    """Return an option of some names ("--out -o") for `Annotated`."""
    return typer.Option(*names.split(), metavar=metavar, help=help, rich_help_panel=panel, **more)


def _text(names: str, metavar: str, help: str, panel: str | None = _READING) -> Any:
    return Annotated[str | None, option(names, metavar, help, panel)]


def _number(names: str, help: str, most: int | None = None) -> Any:
    return Annotated[int | None, option(names, "NUMBER", help, _READING, min=1, max=most)]


InputPath = Annotated[  # or a UrlPath: typer knows no unions
    Path,
    typer.Argument(parser=location_of, metavar="INPUT", help="A file, a folder, a URL, or - (standard input)."),
]
ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="Folder of a model, written by fit.")]
Json = Annotated[bool, option("--json", None, "Print the result as JSON.")]
Quiet = Annotated[bool, option("--quiet -q", None, "Print results and warnings only.")]
Force = Annotated[bool, option("--force", None, "Replace an existing model.")]
Verbose = Annotated[bool, option("--verbose", None, "Also print numbers for experts.")]
TopicsShown = Annotated[int, option("--topics-shown", "NUMBER", "Most topics to print.", min=0)]
TableFile = Annotated[Path | None, option("--out -o", "FILE", "File to write instead: .csv, .json or .parquet.")]
RandomState = Annotated[int, option("--random-state", "NUMBER", "Seed of the random numbers.", min=0)]
Jobs = Annotated[
    int | None,
    option("--jobs", "NUMBER", "Threads. Default: all cores.", min=1),
]
Workers = _text(
    "--workers",
    "NUMBER|ADDRESS",
    "Processes of this machine that share the work, or the address of a Dask scheduler, such as tcp://host:8786. The "
    "result is the same.",
    None,
)
Scratch = Annotated[
    Path | None,
    option(
        "--scratch",
        "FOLDER",
        "Folder for what does not fit in memory. With the address of a scheduler: one that all its machines see.",
    ),
]
Server = Annotated[
    str | None,
    option("--with", "URL", "Server of a language model that speaks OpenAI's chat protocol: llama.cpp, Ollama, vLLM."),
]
ServerModel = Annotated[str | None, option("--model", "NAME", "With --with: the model, as the server knows it.")]
Timeout = Annotated[
    float | None, option("--timeout", "SECONDS", "With --with: how long an answer may take. Default: 60.")
]
Metadata = Annotated[
    Path | None,
    option(
        "--metadata",
        "TABLE",
        "CSV, TSV or Parquet file with a row for each document, in their order: dates and categories.",
    ),
]
Labels = _text("--labels", "COLUMN", "Column of known labels; each is a topic.", None)
LabelSeparator = _text(
    "--label-separator", "TEXT", "Between several labels in one cell, such as ';'. Default: one label.", None
)
StopWords = Annotated[
    str,
    option("--stop-words", "WORDS", "To leave out: a language, none, FILE, english+FILE."),
]
MinDf = Annotated[
    str, option("--min-df", "NUMBER", "Leave out words in fewer documents (5), or in a smaller share (0.01).")
]
MaxDf = Annotated[
    str, option("--max-df", "NUMBER", "Leave out words in a larger share of the documents (0.5), or in more (500).")
]
Strip = _text("--strip", "html,urls", "Leave out tags, addresses, or none. Default: what a tenth of texts have.", None)
Dates = _text("--dates", "COLUMN", "Column of dates. Default: the only one.", None)
DateFormat = _text(
    "--date-format", "TEXT", "How dates are written: %d.%m.%Y, seconds, milliseconds. Default: 2026-11-23.", None
)
Set = Annotated[
    list[str] | None,
    option("--set", "NAME=VALUE", "Any other parameter: see --help-all."),
]

READING: dict[str, Any] = {
    "text_field": _text("--text", "NAME", "Column or JSON field of the text."),
    "name_field": _text("--name-field", "NAME", "Column or JSON field of the documents' names."),
    "format": _text(
        "--format",
        "NAME",
        "jsonl, csv, tsv, parquet, lines, folder, counts, uci, ldac, svmlight, mtx, npz, corpus; of vectors npy, csv, "
        "tsv, parquet, vectors or images. Default: recognized from name and content.",
    ),
    "encoding": _text("--encoding", "NAME", "Encoding of text files. Default: UTF-8."),
    "delimiter": _text("--delimiter", "TEXT", "Between the fields of CSV and TSV, or tab. Default: recognized."),
    "header": Annotated[
        bool | None,
        option("--header/--no-header", None, "Whether the first row names columns. Default: recognized.", _READING),
    ],
    "bad_rows": _text("--bad-rows", "fail|skip", "Leave out rows that cannot be read. Default: fail."),
    "encoding_errors": _text("--encoding-errors", "strict|replace", "Replace bytes of another encoding."),
    "vocabulary": _text("--vocabulary", "FILE", "A word on each line: the columns of counts, or the words to count."),
    "tokenizer": _text("--tokenizer", "MODULE:FUNCTION", "Function from a text to a list of words: jieba:lcut."),
    "vectors": _text("--vectors", "COLUMN|FILE", "A vector of each text: a column, or a file (.npy, .parquet, .csv)."),
    "group_field": _text("--group-field", "NAME", "For a table of vectors: column of their groups."),
    "patch_size": _number("--patch-size", "For images: side of a patch in pixels. Default: 8.", 1024),
    "n_patches": _number("--patches", "For images: most patches of each. Default: 1,000."),
    "document_bytes": _number("--max-document-bytes", "Largest line or document. Default: 64 MiB."),
    "unpacked_bytes": _number("--max-unpacked-bytes", "Largest size of a packed file, once unpacked."),
    "declared_size": _number("--max-declared", "Most documents or words that a header may declare."),
}
"""How documents are read, in every command that reads some: argument -> option; by default none."""

DATES: dict[str, Any] = {
    "dates": Dates,
    "date_format": DateFormat,
    "since": _text("--since", "DATE", "Only documents from this day on.", None),
    "until": _text("--until", "DATE", "Only documents up to this day.", None),
}
"""Which documents, by their days."""


def given_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def chat_model(server: str | None, model: str | None, timeout: float | None) -> "ChatModel | None":
    """Return the language model that --with and --model name; None where they are not given."""
    if server is None and (model is not None or timeout is not None):
        raise InputError("--model and --timeout are given without --with; add --with URL, the address of the server")
    if server is None:
        return None
    if model is None:
        raise InputError(f"--with {without_secrets(server):.100} needs --model NAME, a model that the server has")
    from stickbreak.model.naming import ChatModel

    return ChatModel(server, model, timeout=60.0 if timeout is None else timeout)


def spread(**groups: Mapping[str, Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace arguments of a command by several options each; the command gets their values in a dict."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def command(**arguments: Any) -> None:
            values = {group: {name: arguments.pop(name) for name in options} for group, options in groups.items()}
            function(**arguments, **values)

        kind = inspect.Parameter.KEYWORD_ONLY
        own = [
            one.replace(kind=kind) for name, one in inspect.signature(function).parameters.items() if name not in groups
        ]
        made = [
            inspect.Parameter(name, kind, annotation=annotation, default=None)
            for options in groups.values()
            for name, annotation in options.items()
        ]
        set_signature(command, [*own, *made])
        return command

    return decorate


def set_signature(command: Callable[..., None], parameters: list[inspect.Parameter]) -> None:
    """Let typer see these parameters in place of those of the function."""
    setattr(command, "__signature__", inspect.Signature(parameters))  # noqa: B010 - typing knows no such attribute
    command.__annotations__ = {one.name: one.annotation for one in parameters} | {"return": None}
    command.__dict__.pop("__wrapped__", None)


def workers_of(workers: str | None, scratch: Path | None, *, copies: bool = True) -> AbstractContextManager[Any]:
    """Return the workers that a command was given, for the time of its work; none of them: this process alone.

    Where the command `copies` documents for its workers, those of a cluster need a folder for them.
    """
    if workers is None:
        return nullcontext()
    number = int(workers) if workers.isdecimal() else None
    if number == 0 or (number is None and "://" not in workers):
        raise InputError(f"--workers is {workers!r}; give a number of processes or an address, tcp://host:8786")
    if copies and number is None and scratch is None:
        raise InputError("--workers ADDRESS needs --scratch: a folder that all machines of the cluster see")
    from stickbreak.fitting.cluster import cluster

    return cluster(workers if number is None else number, scratch=scratch)


def check_separator(column: str | None, separator: str | None) -> None:
    """Refuse a separator without labels, and an empty one."""
    if column is None and separator is not None:
        raise InputError("--label-separator is given without --labels; name the column of the labels")
    if separator == "":
        raise InputError("--label-separator is empty; give the text between two labels, such as ';'")


def check_resumed(checkpoint: Path | None, *, resume: bool) -> None:
    """Refuse to go on from no checkpoint."""
    if resume and checkpoint is None:
        raise InputError("--resume needs a checkpoint to continue from; add --checkpoint FOLDER")


def kept_fields(keep: str | None) -> str | list[str] | None:
    """Read all, or names with commas between them."""
    return keep if keep is None or keep == "all" else [name.strip() for name in keep.split(",")]
