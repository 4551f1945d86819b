"""Show each parameter with its own default, also where a docstring describes several parameters in one entry.

"alpha, gamma, eta : float, default=5.0, 1.0, 0.05" would give each of the three the default "5.0, 1.0, 0.05". Without
that part the reference takes the default of each parameter from the signature.
"""

import re
from typing import Any

from griffe import Class, Extension, Function

_SEVERAL = re.compile(r"^(\s*\w+(?:, \w+)+ : .*?),? default=.*$", re.MULTILINE)


class OwnDefaults(Extension):
    """The extension of griffe, which reads the docstrings for mkdocstrings."""

    def on_class_instance(self, *, cls: Class, **_: Any) -> None:
        """Change the docstring of a class."""
        _drop_shared_defaults(cls)

    def on_function_instance(self, *, func: Function, **_: Any) -> None:
        """Change the docstring of a function or method."""
        _drop_shared_defaults(func)


def _drop_shared_defaults(described: Class | Function) -> None:
    if described.docstring is not None:
        described.docstring.value = _SEVERAL.sub(r"\1", described.docstring.value)
