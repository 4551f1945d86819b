"""The model that a command is given: one of words, with topics."""

from pathlib import Path
from typing import Any

from stickbreak.exceptions import InputError

__all__ = ["load_words"]


def load_words(path: Path) -> Any:
    """Load a model of words; the command line has nothing for models of vectors yet.

    Parameters
    ----------
    path : Path
        Folder that `fit` or `save` wrote.

    Returns
    -------
    fitted model
        Any family of `stickbreak fit`.

    Raises
    ------
    ModelFormatError
        If the folder holds no model, or a damaged one.
    InputError
        If it holds a model of vectors.
    """
    import stickbreak

    model = stickbreak.load(path)
    if type(model).__name__ in stickbreak.VECTOR_ESTIMATORS:
        raise InputError(
            f"{path} holds a {type(model).__name__}, a model of vectors, but this command takes models of words; "
            f"use it in Python: stickbreak.load({str(path)!r})"
        )
    return model
