"""A model that a command is given, and what it was fitted to."""

from importlib import import_module
from pathlib import Path
from typing import Any

from stickbreak.cli.documents import Documents, DocumentsAndVectors
from stickbreak.cli.methods import Method, method_of
from stickbreak.cli.vectors import SingleVectors, Vectors
from stickbreak.exceptions import InputError

__all__ = ["KINDS", "check_model", "kind_of", "load_model", "load_words_model"]

KINDS: dict[str, type[Documents] | type[Vectors]] = {
    "documents": Documents,
    "groups": Vectors,
    "vectors": SingleVectors,
    "documents and vectors": DocumentsAndVectors,
}
"""What a method is fitted to -> how the commands read and tell it."""


def kind_of(method: Method) -> Any:
    """Return how the commands read and tell what a method is fitted to: one of `KINDS`, or the class of a plug-in."""
    module, colon, name = method.data.partition(":")
    return getattr(import_module(module), name) if colon else KINDS[method.data]


def load_model(path: Path) -> tuple[Any, Any]:
    """Load a model, and return it with the kind of what it was fitted to."""
    import stickbreak

    model = stickbreak.load(path)
    name = type(model).__name__
    method = method_of(name)
    if method is None:
        raise InputError(
            f"{path} holds a {name}, which the commands do not know; use it in Python: stickbreak.load({str(path)!r})"
        )
    return model, kind_of(method)


def load_words_model(path: Path) -> Any:
    """Load a model of words; refuse one of vectors, which has no words to ask for."""
    model, kind = load_model(path)
    if not issubclass(kind, Documents):
        raise InputError(
            f"{path} holds a {type(model).__name__}, a model of vectors, but this is for models of words; "
            "vectors have topics, transform, evaluate and report (without --map)"
        )
    return model


def check_model(path: Path | None) -> Path | None:
    """Return a path as it is; refuse one that holds no model, before another model is loaded."""
    from stickbreak.storage.persistence import read_head

    if path is not None:
        read_head(path)
    return path
