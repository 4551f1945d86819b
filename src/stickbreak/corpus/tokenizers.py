"""Functions of the user that cut a text into words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from stickbreak.exceptions import InputError

__all__ = ["cutting", "tokenizer_of"]


def tokenizer_of(name: str) -> Callable[[str], Iterable[str]]:
    """Import a function that the user names.

    Parameters
    ----------
    name : str
        "package.module:function". It must come from the user, not from a file: what it names is run.

    Raises
    ------
    InputError
        If there is no such function.

    Examples
    --------
    >>> tokenizer_of("shlex:split")("bread and butter")
    ['bread', 'and', 'butter']
    """
    module, colon, path = name.partition(":")
    found: Any = None
    reason = "it has no colon" if not colon else ""
    if colon:
        try:
            found = import_module(module)
            for part in path.split("."):
                found = getattr(found, part)
        except ModuleNotFoundError as error:
            top = module.partition(".")[0]
            if error.name == top:
                raise InputError(
                    f"tokenizer is {name!r:.60}, which needs the module {top!r:.40}, and that is not installed; "
                    f"install its package (pip install {top:.40}), or start the command in the folder of its file"
                ) from error
            reason = str(error)
        except (ImportError, AttributeError, ValueError, TypeError) as error:
            reason = str(error)
    if reason or not callable(found):
        raise InputError(
            f"tokenizer is {name!r:.60}, which cannot be used ({reason or 'it is not a function'!s:.80}); give "
            "package.module:function, of a function from a text to a list of words"
        )
    return found


def cutting(tokenizer: Callable[[str], Iterable[str]] | str) -> Callable[[str], list[str]]:
    """Return a function that cuts a text into words: those of a tokenizer that hold a letter or digit.

    Parameters
    ----------
    tokenizer : callable or str
        A name alone, as a loaded model has it, is refused.

    Raises
    ------
    InputError
        If it is a name; from the returned function, if the tokenizer does not return words.
    """
    if isinstance(tokenizer, str):
        raise InputError(
            f"texts were cut into words by {tokenizer!r:.60}, which a saved model or corpus only names; give the "
            "function: stickbreak.load(path, tokenizer=function), or --tokenizer on the command line"
        )

    def cut(text: str) -> list[str]:
        words = tokenizer(text)
        found = list(words) if isinstance(words, Iterable) and not isinstance(words, str) else None
        if found is None or not all(isinstance(word, str) for word in found):
            raise InputError(f"the tokenizer returned {words!r:.40}; it must return a list of words")
        return [word.strip() for word in found if any(map(str.isalnum, word))]

    return cut
