"""What the command line needs to know of an estimator, from its signature, its constraints and its docstring.

The signature has the defaults. The docstring has the types (`int or None`, `{"last", "best"}`, `sequence of int`; a
`sequence of str` comes from a file), and
its first sentence on a parameter becomes the help. `_parameter_constraints` has the ranges of numbers.
"""

import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from stickbreak.cli.parameters import Kind, Parameter

__all__ = ["describe"]

_SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?:^\w+\n-+\n|\Z)", re.DOTALL | re.MULTILINE)
_ENTRY = re.compile(r"^(\w[\w, ]*) : (.*)\n((?:(?: +.*)?\n?)*)", re.MULTILINE)
_BETWEEN_TYPES = re.compile(r"(?:, (?:or )?| or )(?![^{(]*[})])")  # not inside braces
_SEQUENCE = re.compile(r"sequence of (.*)|\((.*)\)")
_NAME = re.compile(r'"([^"]*)"')
_END = re.compile(r"(?<=[.])\s+(?=[A-Z(\"`0-9]\w*)")
_NONE = re.compile(r"\bNone: (.*?)(?:[,;.] |\.$| \()")
_TELLING = 1e15  # a larger limit is that of the numbers, and says nothing


def describe(estimator: type) -> Iterator[Parameter]:
    """Yield the parameters of an estimator in the order of its signature.

    Parameters
    ----------
    estimator : type
        With a docstring in the style of numpydoc.
    """
    entries = dict(_entries(inspect.getdoc(estimator) or ""))
    constraints = getattr(estimator, "_parameter_constraints", {})
    for name, one in inspect.signature(estimator).parameters.items():
        types, text = entries.get(name, ((), ""))
        kinds = tuple(kind for type_ in types for kind in _kind(type_, constraints.get(name, ())))
        yield Parameter(
            name,
            default=one.default if kinds else None,
            text=_END.split(text)[0],
            none=_meaning_of_none(text) if "None" in types else None,
            kinds=kinds,
            stream_only=name in getattr(estimator, "_stream_only", ()),
        )


def _entries(docstring: str) -> Iterator[tuple[str, tuple[list[str], str]]]:
    """Yield each parameter that a docstring describes, with its types and the text on it."""
    section = _SECTION.search(docstring + "\n")
    for names, types, text in _ENTRY.findall(section[1] if section else ""):
        for name in names.split(", "):
            yield name, (_BETWEEN_TYPES.split(types.split(", default=")[0]), " ".join(text.split()))


def _kind(type_: str, constraints: Iterable[Any]) -> Iterator[Kind]:
    """Yield the kind of value of a type in a docstring, unless no command line can hold it (an array, a model)."""
    sequence = _SEQUENCE.fullmatch(type_)
    of = next(filter(None, sequence.groups())) if sequence else type_
    several, length = sequence is not None, of.count(",") + 1 if sequence and sequence[2] else None
    names = tuple(_NAME.findall(of))
    if names:
        yield Kind("name", names, several=several)
    elif several and of == "str":
        yield Kind("path", several=True)
    elif of == "bool":
        yield Kind("bool")
    elif of.split(",")[0] in ("int", "float"):
        number = Kind("int" if of.startswith("int") else "float", several=several, length=length)
        yield number if several else _within(number, constraints)


def _within(number: Kind, constraints: Iterable[Any]) -> Kind:
    """Return numbers of the range that scikit-learn's constraints set, if they do."""
    interval = next((one for one in constraints if hasattr(one, "closed")), None)
    if interval is None:
        return number
    type_ = int if number.type == "int" else float
    least, most = (
        None if end is None or abs(end) >= _TELLING else type_(end) for end in (interval.left, interval.right)
    )
    above = least is not None and interval.closed in ("right", "neither")
    infinity = any("inf" in map(str, getattr(one, "options", ())) for one in constraints)
    return replace(number, least=least, most=most, above=above, infinity=infinity)


def _meaning_of_none(text: str) -> str:
    found = _NONE.search(text)
    return found[1] if found else ""
