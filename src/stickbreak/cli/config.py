"""Files of options in TOML: `fit --config FILE` reads one, and every fit leaves one beside its model.

A key is an option without its dashes (`held-out = 0.1`), or `input`. What the command line says goes before the file.
"""

import difflib
import json
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from stickbreak.cli.parameters import NOTHING
from stickbreak.exceptions import InputError, ReadError
from stickbreak.storage.atomic import replace_file
from stickbreak.storage.places import for_a_file
from stickbreak.storage.plain_files import read_toml
from stickbreak.storage.urls import UrlPath

__all__ = ["FILE", "read_config", "toml_lines", "write_config"]

FILE = "fit.toml"
_HEAD = """\
# Options of a fit by stickbreak {version}. To repeat it: stickbreak fit --config {file} --out ANOTHER_FOLDER
# Paths are as they were given: start the command in the same folder, or name the input on the line.
"""
_WANTED = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", Path: "a path as text"}


def read_config(path: Path, options: Mapping[str, tuple[str, type]]) -> dict[str, Any]:
    """Return the options in a file by the names of their arguments.

    Parameters
    ----------
    path : Path
        A TOML file.
    options : mapping
        Key -> its argument and the type of that; `object` for an option of the model, which reads numbers, names and
        lists of them as text.

    Raises
    ------
    ReadError
        If the file cannot be read, or is not TOML.
    InputError
        If it has a key that is not an option, or a value of another type.
    """
    try:
        found = read_toml(path)
    except OSError as error:
        raise ReadError(f"--config: {path} cannot be read ({error.strerror}); give a TOML file of options") from error
    except ValueError as error:  # not TOML, or not UTF-8
        raise ReadError(f"--config: {path} is not a TOML file ({error}); write lines such as: topics = 50") from error
    arguments = {}
    for key, value in found.items():
        if key not in options:
            near = difflib.get_close_matches(key.replace("_", "-"), options, 1)
            hint = f"did you mean {near[0]}?" if near else "stickbreak fit --help-all lists them"
            raise InputError(f"{path}: {key!r} is not an option of stickbreak fit; {hint}")
        argument, type_ = options[key]
        arguments[argument] = _argument(f"{path}: {key}", value, type_)
    return arguments


def _argument(where: str, value: Any, type_: type) -> Any:
    """Return the argument that a value in a file stands for."""
    if type_ is object:
        parts = value if isinstance(value, list) else [value]
        if not all(isinstance(part, str | int | float) for part in parts):
            raise InputError(f"{where} is {_shown(value)}; give a number, a text, or a list of either")
        # a text may be a path of names, which can hold a comma
        between = "\n" if all(isinstance(part, str) for part in parts) else ","
        return between.join(map(_text, parts)) or NOTHING
    accepted = {float: (int, float), str: (str, int, float), Path: (str,)}.get(type_, (type_,))
    if not isinstance(value, accepted) or isinstance(value, bool) is not (type_ is bool):
        raise InputError(f"{where} is {_shown(value)}; give {_WANTED[type_]}")
    return _text(value) if type_ in (str, Path) else value


def _text(value: Any) -> str:
    """Write a value as on the command line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else repr(value)


def _shown(value: Any) -> str:
    return f"{value!r:.60}" if isinstance(value, str | int | float | list) else f"a {type(value).__name__}"


def write_config(folder: Path, options: Mapping[str, Any]) -> None:
    """Write the options of a fit into the folder of its model.

    Parameters
    ----------
    folder : Path
    options : mapping
        Argument -> value.

    Raises
    ------
    WriteError
        If the file cannot be written.
    """
    head = _HEAD.format(version=version("stickbreak"), file=FILE)
    with replace_file(folder / FILE) as temporary:
        temporary.write_bytes((head + "".join(toml_lines(options))).encode())


def toml_lines(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a TOML file with these options.

    Parameters
    ----------
    options : mapping
        Argument -> true or false, a number, a text, a path, or a sequence of numbers or texts.
    """
    for argument, value in options.items():
        if isinstance(value, UrlPath):
            value, whole = for_a_file(value.url)
            if not whole:
                name = argument.replace("_", "-")
                yield f"# {name} had credentials or options that no file should hold: name it on the line\n"
        line = f"{argument.replace('_', '-')} = {_toml(value)}\n"
        if _is_unicode(line):
            yield line
        else:
            yield f"# {argument.replace('_', '-')} is left out: its name on the disk is not Unicode\n"


def _toml(value: Any) -> str:
    """Write a value in TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_toml, value))}]"
    # What JSON escapes TOML does, too; but it forbids a bare U+007F, which JSON leaves as it is.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _is_unicode(text: str) -> bool:
    """Tell whether a text can be encoded: names of files that are not UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
