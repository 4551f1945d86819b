"""Show each parameter with its own default, and functions that are methods of a class.

A docstring may describe several parameters in one entry:
"alpha, gamma, eta : float, default=5.0, 1.0, 0.05" would give each of the three the same default. Here it becomes three
entries without that part. The reference then takes the default of each from the signature.
"""

import copy
import re
from typing import Any

from griffe import Class, Extension, Function, Module, Parameters

_SEVERAL = re.compile(r"^(\w+(?:, \w+)+)( : .*?),? default=.*\n((?:[ \t]+.*\n?|\n(?=[ \t]))*)", re.MULTILINE)


class OwnDefaults(Extension):
    """The extension of griffe, which reads the docstrings for mkdocstrings."""

    def on_class_instance(self, *, cls: Class, **_: Any) -> None:
        """Change the docstring of a class."""
        _separate(cls)

    def on_function_instance(self, *, func: Function, **_: Any) -> None:
        """Change the docstring of a function or method."""
        _separate(func)

    def on_package(self, *, pkg: Module, loader: Any, **_: Any) -> None:
        """Make methods of the functions that classes of a package take as theirs (`search = questions.search`)."""
        if pkg.name == "stickbreak":
            _adopt(pkg, loader)


def _adopt(of: Module | Class, loader: Any) -> None:
    for name, member in list(of.members.items()):
        if member.is_alias:
            continue
        if member.is_module or member.is_class:
            _adopt(member, loader)
        elif isinstance(of, Class) and member.is_attribute:
            function = _function(str(member.value), of, loader)
            if function is not None:
                method = copy.copy(function)
                method.parameters = Parameters(*list(function.parameters)[1:])  # the first one is the model
                of.set_member(name, method)


def _function(written: str, of: Class, loader: Any) -> Function | None:
    """Return the function of the package that a name stands for in the module of a class, if it does."""
    head, *rest = written.split(".")
    try:
        found = loader.modules_collection[".".join([of.module.resolve(head), *rest])]
        found = found.final_target if found.is_alias else found
    except Exception:  # no name, or not of the package
        return None
    return found if found.is_function else None


def _separate(described: Class | Function) -> None:
    if described.docstring is not None:
        described.docstring.value = _SEVERAL.sub(_entries, described.docstring.value)


def _entries(found: re.Match[str]) -> str:
    names, kind, text = found.groups()
    return "".join(f"{name}{kind}\n{text}" for name in names.split(", "))
