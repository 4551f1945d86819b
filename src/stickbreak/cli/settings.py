"""What `--set NAME=VALUE` sets: a parameter of the estimator, or of how texts are counted."""

import ast
import difflib
import inspect
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from stickbreak.cli.methods import METHODS
from stickbreak.exceptions import InputError, ReadError

if TYPE_CHECKING:
    from stickbreak.corpus import ReadLimits, TextOptions

__all__ = [
    "Settings", "advice_on", "counting_names", "joined", "limits_of", "named_tokenizer", "parameters_of", "stripped",
    "text_options", "values_set",
]  # fmt: skip

_NAMED = {  # parameters that have an option of their own
    "random_state": "--random-state",
    "n_jobs": "--jobs",
    "seeds": "--seeds FILE",
    "scratch": "--scratch",
    "stop_words": "--stop-words",
    "min_df": "--min-df",
    "max_df": "--max-df",
    "tokenizer": "--tokenizer",
    "verbose": "--quiet",
}
_WORDS = {"true": True, "yes": True, "false": False, "no": False, "none": None, "inf": float("inf")}


def joined(words: Sequence[str], last: str) -> str:
    """Return "a", "a or b", "a, b or c", with the word `last` before the last one."""
    *several, end = words
    return f"{', '.join(several)} {last} {end}" if several else end


_PLAIN = ("prevalence", "token_pattern")  # whose commas are their own


def values_set(texts: Iterable[str]) -> dict[str, Any]:
    """Return what NAME=VALUE texts set. A value is as in Python; words need no quotes, @FILE is the lines of a file."""
    values: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip().lstrip("-").replace("-", "_")
        if not equals or not name.isidentifier():
            raise InputError(f"--set is {text!r:.60}; give NAME=VALUE, such as --set alpha=0.5")
        if name in _NAMED:
            raise InputError(f"--set {name} has an option of its own: {_NAMED[name]}")
        if name in _PLAIN:
            plain = value.strip().strip("\"'")
            values[name] = None if plain.lower() == "none" else plain
        else:
            values[name] = _lines_of(name, value[1:]) if value.startswith("@") else _value(value.strip())
    return values


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        pass
    if "," in text and text[:1] not in "([{'\"":
        return tuple(_value(part.strip()) for part in text.split(",") if part.strip())
    return _WORDS.get(text.lower(), text)


def _lines_of(name: str, file: str) -> tuple[str, ...]:
    try:
        lines = [line.strip() for line in Path(file).read_text(encoding="utf-8-sig").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError(f"--set {name}: {file} cannot be read ({error}); give a text file in UTF-8") from error
    return tuple(line for line in lines if line)


@dataclass(frozen=True, slots=True)
class Settings:
    """What was set, by whose it is: the estimator, the counting of texts, the reading of files."""

    estimator: dict[str, Any]
    counting: dict[str, Any]
    reading: dict[str, Any]

    @classmethod
    def of(cls, values: Mapping[str, Any], method: str | None) -> Self:
        """Divide the values that were set; a method that is None has no parameters."""
        if not values:
            return cls({}, {}, {})
        counting, reading = counting_names(), _reading_names()
        known = {} if method is None or not values.keys() - counting - reading else parameters_of(method)
        for name in values:
            if name not in known and name not in counting and name not in reading:
                raise InputError(_unknown(name, method, [*known, *counting, *reading]))
        return cls(
            {name: _as_sequence(known[name].default, value) for name, value in values.items() if name in known},
            {name: value for name, value in values.items() if name in counting},
            {name: value for name, value in values.items() if name in reading},
        )


def counting_names() -> set[str]:
    """Return the fields of `TextOptions` that have no option of their own."""
    from stickbreak.corpus import TextOptions

    return {one.name for one in fields(TextOptions)} - _NAMED.keys()


def _reading_names() -> set[str]:
    """Return the arguments of `corpus.read` that say how a file is read."""
    from stickbreak.corpus import read

    return set(inspect.signature(read).parameters) - {"path", "text", "keep", "limits", "chunk_size"}


def parameters_of(method: str) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of the estimator of a method that `--set` can set."""
    parameters = inspect.signature(METHODS[method].load()).parameters
    return {name: one for name, one in parameters.items() if name not in _NAMED}


def _as_sequence(default: Any, value: Any) -> Any:
    """Let one name stand for a sequence of it, where the default is a sequence."""
    return (value,) if isinstance(default, tuple) and isinstance(value, str) else value


def advice_on(option: str) -> str:
    """Say how what seems to be meant by an option that `fit` does not know is given."""
    name = option.lstrip("-").replace("-", "_")
    named = {"seed": "--random-state", **_NAMED}.get(name)
    return f"a parameter is given by --set {name}=VALUE" if named is None else f"give {named}"


def _unknown(name: str, method: str | None, known: Sequence[str]) -> str:
    """Say what could have been meant by the name of no setting."""
    near = difflib.get_close_matches(name, known, 2)
    owners = [] if method is None else [other for other in METHODS if name in parameters_of(other)]
    if owners:
        return f"--set {name} is for --method {joined(owners, 'or')}, but the method is {method}; leave it out"
    if near:
        advice = f"did you mean {joined(near, 'or')}?"
    else:
        advice = f"stickbreak fit --method {method or 'NAME'} --help-all lists all"
    return f"--set {name}: no parameter has this name; {advice}"


def text_options(
    stop_words: str, min_df: str, max_df: str, tokenizer: str | None, limits: "ReadLimits", counting: Mapping[str, Any]
) -> "TextOptions":
    """Return how texts become counts."""
    from stickbreak.corpus import TextOptions

    return TextOptions(
        stop_words=_stop_words(stop_words, limits),
        min_df=_number_or_share("--min-df", min_df),
        max_df=_number_or_share("--max-df", max_df),
        tokenizer=named_tokenizer(tokenizer),
        **counting,
    )


def stripped(text: str | None) -> dict[str, Any]:
    """Return the field of `TextOptions` that --strip sets."""
    if text is None:
        return {}
    return {"strip": {"none": None, "auto": "auto"}.get(text, tuple(name.strip() for name in text.split(",")))}


def named_tokenizer(name: str | None) -> Any:
    """Import the function that --tokenizer names, which may be in a file of the current folder."""
    if name is None:
        return None
    from stickbreak.corpus.words import tokenizer_of

    sys.path.insert(0, os.getcwd())
    try:
        return tokenizer_of(name)
    except InputError as error:
        raise InputError(f"--{error}") from error
    finally:
        sys.path.remove(os.getcwd())


def limits_of(reading: Mapping[str, Any]) -> "ReadLimits":
    """Return the limits of what a file may ask for."""
    from stickbreak.corpus import ReadLimits

    names = ("document_bytes", "unpacked_bytes", "declared_size")
    return ReadLimits(**{name: reading[name] for name in names if reading.get(name) is not None})


def _number_or_share(option: str, text: str) -> int | float:
    """Read 5 as a number of documents, 0.05 as a share of them."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    raise InputError(f"{option} is {text!r}; give a number of documents (5) or a share of them (0.05)")


def _stop_words(text: str, limits: "ReadLimits") -> str | tuple[str, ...] | None:
    """Read LANGUAGE, none, FILE, or some of them with + between them, the file last."""
    if text in ("english", "none"):
        return None if text == "none" else text
    from stickbreak.corpus import languages, stop_words_of

    named, rest, known = [], text, languages()
    while rest:
        first, _, others = rest.partition("+")
        if first not in known:
            break
        named.append(first)
        rest = others
    if len(named) == 1 and not rest:
        return named[0]
    words = set(_words_of(Path(rest), limits)) if rest or not named else set()
    return tuple(sorted(words.union(*map(stop_words_of, named))))


def _words_of(file: Path, limits: "ReadLimits") -> tuple[str, ...]:
    from stickbreak.corpus.reading.decoding import NotDecoded, decoded_lines

    if not file.exists():
        raise ReadError(
            f"--stop-words: {file} cannot be read (it does not exist); give a language (english, german, ...), none or "
            "an existing file of words"
        )
    try:
        return tuple(word for line in decoded_lines(file, limits=limits) for word in line.split())
    except NotDecoded as error:
        raise ReadError(f"--stop-words: {error.problem}; save this file as UTF-8") from error
    except ReadError as error:
        raise ReadError(f"--stop-words: {error}") from error
