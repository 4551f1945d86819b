"""Show each parameter with its own default, also where a docstring describes several parameters in one entry.

"alpha, gamma, eta : float, default=5.0, 1.0, 0.05" would give each of the three the same default. Here it becomes three
entries without that part. The reference then takes the default of each from the signature.
"""

import re
from typing import Any

from griffe import Class, Extension, Function

_SEVERAL = re.compile(r"^(\w+(?:, \w+)+)( : .*?),? default=.*\n((?:[ \t]+.*\n?|\n(?=[ \t]))*)", re.MULTILINE)


class OwnDefaults(Extension):
    """The extension of griffe, which reads the docstrings for mkdocstrings."""

    def on_class_instance(self, *, cls: Class, **_: Any) -> None:
        """Change the docstring of a class."""
        _separate(cls)

    def on_function_instance(self, *, func: Function, **_: Any) -> None:
        """Change the docstring of a function or method."""
        _separate(func)


def _separate(described: Class | Function) -> None:
    if described.docstring is not None:
        described.docstring.value = _SEVERAL.sub(_entries, described.docstring.value)


def _entries(found: re.Match[str]) -> str:
    names, kind, text = found.groups()
    return "".join(f"{name}{kind}\n{text}" for name in names.split(", "))
