"""The model that a command is given, and the kind of material that it is of."""

from pathlib import Path
from typing import Any

from stickbreak.cli.kinds import MATERIALS
from stickbreak.cli.material import Material
from stickbreak.cli.methods import method_of
from stickbreak.exceptions import InputError

__all__ = ["check_model", "load_model"]


def check_model(path: Path | None) -> Path | None:
    """Return a path as it is; refuse one that holds no model, before another model is loaded.

    Parameters
    ----------
    path : Path or None
        None where nothing was given: whoever asks for it says so.

    Raises
    ------
    ModelFormatError
    """
    from stickbreak.storage.persistence import read_head

    if path is not None:
        read_head(path)
    return path


def load_model(path: Path) -> tuple[Any, type[Material]]:
    """Load a model, and say what its kind of material is.

    Parameters
    ----------
    path : Path
        Folder that `fit` or `save` wrote.

    Returns
    -------
    model : fitted model
        Any family of `stickbreak fit`.
    material : type of Material
        Words or vectors.

    Raises
    ------
    ModelFormatError
        If the folder holds no model, or a damaged one.
    InputError
        If it is of a family without a row in `METHODS`.
    """
    import stickbreak

    model = stickbreak.load(path)
    name = type(model).__name__
    method = method_of(name)
    if method is None:
        raise InputError(
            f"{path} holds a {name}, which the commands do not know; use it in Python: stickbreak.load({str(path)!r})"
        )
    return model, MATERIALS[method.data]
