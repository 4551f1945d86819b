"""One plain value of a saved folder changed in place: the arrays and the files beside stay as they are."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stickbreak.storage.atomic import replace_file
from stickbreak.storage.persistence import MODEL, read_head
from stickbreak.storage.places import PathLike


def replace_value(path: PathLike, name: str, value: Mapping[str, Any]) -> None:
    """Write a value of `meta` of a saved folder, completely or not at all.

    Parameters
    ----------
    path : path-like
        A folder that `write_folder` wrote.
    name : str
        A key of its `meta`, which need not exist yet.
    value : mapping of str to str, int, finite float or None
        None of the keys begins with a dollar sign.

    Raises
    ------
    ModelFormatError
        If there is no such folder, or a damaged one.
    WriteError
        If it cannot be written.
    """
    head = read_head(path)
    head["meta"][name] = dict(value)
    with replace_file(Path(path) / MODEL) as temporary:
        temporary.write_text(json.dumps(head, allow_nan=False, indent=1) + "\n", encoding="ascii")
