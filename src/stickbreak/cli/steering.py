"""The options of `fit` that steer it: seeds in a file, labels in a column."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stickbreak.cli.groups import MODEL
from stickbreak.cli.methods import METHODS
from stickbreak.cli.stored import parameters_of_estimator
from stickbreak.cli.wording import joined
from stickbreak.exceptions import InputError, ReadError
from stickbreak.storage.plain_files import read_json, read_toml

if TYPE_CHECKING:
    from stickbreak.corpus import Corpus

__all__ = [
    "LabelSeparator",
    "Labels",
    "Seeds",
    "check_labels",
    "labels_of",
    "seeds_of",
    "with_column",
]

LABELLED = ["topics", "gibbs"]  # methods that take labels of documents

Seeds = Annotated[
    Path | None,
    typer.Option(
        "--seeds",
        metavar="FILE",
        rich_help_panel=MODEL,
        help='Words of topics that you expect: a TOML file with lines such as space = ["orbit", "launch"], or a JSON '
        "file of one object, name to list of words. All methods for words take them.",
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="COLUMN",
        rich_help_panel=MODEL,
        help="Column or JSON field of the documents' labels, each of which becomes a topic. Methods: topics, "
        "gibbs (--representation partially-collapsed).",
    ),
]
LabelSeparator = Annotated[
    str | None,
    typer.Option(
        "--label-separator",
        metavar="TEXT",
        rich_help_panel=MODEL,
        help="What stands between several labels of a document, such as ';'. JSON fields may be lists.",
    ),
]


def seeds_of(method: str, path: Path | None) -> dict[str, Any]:
    """Return the parameter `seeds` that a file holds; nothing without a file.

    Parameters
    ----------
    method : str
        A key of `METHODS`.
    path : Path or None

    Raises
    ------
    InputError
        If the method takes no seeds, or the file holds something else.
    ReadError
        If it cannot be read.
    """
    if path is None:
        return {}
    _check_method("--seeds", method, _with("seeds"))
    try:
        found = read_json(path) if path.suffix.lower() == ".json" else read_toml(path)
    except OSError as error:
        raise ReadError(f"--seeds: {path} cannot be read ({error.strerror}); give a TOML or JSON file") from error
    except ValueError as error:  # not TOML or JSON, or not UTF-8
        raise ReadError(
            f'--seeds: {path} is no TOML or JSON file ({error}); write lines such as: space = ["orbit", "launch"]'
        ) from error
    from stickbreak.model.seeds import check_seeds

    check_seeds(found)
    return {"seeds": found}


def check_labels(method: str, column: str | None, separator: str | None) -> None:
    """Refuse labels where the method takes none, and a separator without labels.

    Raises
    ------
    InputError
    """
    if column is not None:
        _check_method("--labels", method, LABELLED)
    check_separator(column, separator)


def check_separator(column: str | None, separator: str | None) -> None:
    """Refuse a separator without labels, and an empty one.

    Raises
    ------
    InputError
    """
    if column is None and separator is not None:
        raise InputError("--label-separator is given without --labels; name the column of the labels")
    if separator == "":
        raise InputError("--label-separator is empty; give the text between two labels, such as ';'")


def with_column(keep: str | list[str] | None, column: str | None) -> str | list[str] | None:
    """Return the fields that are kept beside the counts, with the column of the labels."""
    if column is None or keep == "all":
        return keep
    return list(dict.fromkeys([*(keep or []), column]))


def labels_of(corpus: "Corpus", column: str, separator: str | None) -> Any:
    """Return the labels of documents, as a fit takes them.

    Parameters
    ----------
    corpus : Corpus
        With the column beside the counts.
    column : str
    separator : str or None
        Between the labels of a document.
    """
    if separator is None:
        return column
    from stickbreak.questions.columns import column_of, listed

    values = map(listed, column_of(corpus, column, "--labels"))
    return [value.split(separator) if isinstance(value, str) else value for value in values]


def _with(parameter: str) -> list[str]:
    """Return the methods that take a parameter."""
    return [name for name, row in METHODS.items() if parameter in parameters_of_estimator(row.estimator)]


def _check_method(option: str, method: str, able: list[str]) -> None:
    """Refuse a method that cannot be steered so."""
    if method not in able:
        raise InputError(f"{option} is for --method {joined(able, 'or')}, but --method is {method}; leave it out")
