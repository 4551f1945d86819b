"""What a word is: by default, and by functions of the user that cut a text."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

import regex

from stickbreak.exceptions import InputError

_JOINERS = "\u200c\u200d"  # stand inside words of Persian and of Indian scripts
_ASCII_WORD = re.compile(r"\b[^\W\d_]{3,}\b", re.ASCII)
_PATIENCE = 60.0  # seconds for one text and a pattern of the user; usual ones take less than a thousandth


def unicode_words(text: str) -> list[str]:
    """Find the words of a text: three or more letters and marks, not touching a digit or an underscore.

    Examples
    --------
    >>> unicode_words("naïve café_x h37 हिन्दी: a b abc")
    ['naïve', 'हिन्दी', 'abc']
    """
    return word_pattern(text).findall(text)


def matches(pattern: str, text: str) -> Iterator[regex.Match[str]]:
    """Yield where a pattern of the user finds a word in a text: a match, or its group, that is not empty.

    Raises
    ------
    InputError
        If the search does not end.
    """
    try:
        found = regex.compile(pattern).finditer(text, timeout=_PATIENCE)
        yield from (match for match in found if match[match.re.groups])
    except TimeoutError:
        raise InputError(
            f"token_pattern {pattern!r:.60} has searched one text of {len(text):,} characters for {_PATIENCE:.0f} "
            "seconds; part repeats that share letters by a mark, as in \\w+(?:-\\w+)*, or leave token_pattern out"
        ) from None


def pattern_words(pattern: str, text: str) -> list[str]:
    """Find the words of a text by a pattern of the user, which may have one group."""
    return [match[match.re.groups] for match in matches(pattern, text)]


def word_pattern(text: str) -> re.Pattern[str]:
    """Return the regular expression of the words of a text, without groups."""
    return _ASCII_WORD if text.isascii() else _unicode_word()


@functools.cache
def _unicode_word() -> re.Pattern[str]:
    """Compile the regular expression of a word; Python's `re` knows no class of combining marks."""
    inside = rf"[\w{_combining_marks()}]"  # no repeat stands within another: those take time without bound
    return re.compile(rf"(?<!{inside})(?=[^\W\d_])(?!{inside}*[\d_]){inside}{{3,}}")


def character_runs(n: int) -> tuple[list[tuple[int, int]], ...]:
    """Tell which of the first n characters are letters, marks, digits or underscores.

    Examples
    --------
    >>> character_runs(128)
    ([(65, 91), (97, 123)], [], [(48, 58), (95, 96)])
    """
    characters = "".join(map(chr, range(n)))
    patterns = r"[^\W\d_]+", rf"[{_combining_marks()}]+", r"[\d_]+"
    letters, marks, digits = ([found.span() for found in re.finditer(one, characters)] for one in patterns)
    return letters, marks, digits


@functools.cache
def _combining_marks() -> str:
    """Write all combining marks (and joiners) as ranges of a character class."""
    ranges: list[list[int]] = []
    for code in (*range(0x300, 0x20000), *range(0xE0100, 0xE01F0)):
        character = chr(code)
        if unicodedata.category(character) in ("Mn", "Mc") or character in _JOINERS:
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(low)}-{chr(high)}" for low, high in ranges)


def tokenizer_of(name: str) -> Callable[[str], Iterable[str]]:
    """Import a function that the user names.

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
    """Return a function that cuts a text into words: those of a tokenizer that hold a letter or digit."""
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
