"""Which paths a command may read and write: no output lands on an input, on a pipe or among the files of a model."""

import stat
from pathlib import Path

from stickbreak.exceptions import ReadError, WriteError
from stickbreak.storage.urls import Location, UrlPath

__all__ = ["check_input", "check_output"]

_OF_A_MODEL = ("model.json", "arrays.safetensors", "input.json", "fit.toml")


def check_input(path: Location) -> None:
    """Refuse what is not there, before anything heavy is imported, and a pipe, which can be read only once.

    Parameters
    ----------
    path : Location
        File or folder with documents.

    Raises
    ------
    ReadError
        If it does not exist, or is a pipe or a socket.
    """
    if isinstance(path, UrlPath):
        return
    from stickbreak.corpus.reading.files import reading

    with reading(path):
        mode = path.stat().st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        raise ReadError(f"{path} is a pipe, but documents are read more than once; write them to a file first")


def check_output(path: Path, *inputs: Location) -> None:
    """Refuse a file that would take the place of what is read, or of a part of a model.

    Parameters
    ----------
    path : Path
        File to be written.
    *inputs : Location
        Files and folders that the command reads.

    Raises
    ------
    WriteError
        If it is one of them, or named as a part of a model.
    """
    for given in inputs:
        if isinstance(given, Path) and path.exists() and given.exists() and path.samefile(given):
            raise WriteError(f"cannot write {path}: it is also the input; choose another name")
    if path.name in _OF_A_MODEL:
        raise WriteError(f"cannot write {path}: {path.name} is the name of a part of a model; choose another name")
