"""What counts as a word where the user names no pattern: letters of any script with their combining marks."""

from __future__ import annotations

import functools
import re
import unicodedata

__all__ = ["character_runs", "unicode_words", "word_pattern"]

_JOINERS = "\u200c\u200d"  # stand inside words of Persian and of Indian scripts
_ASCII_WORD = re.compile(r"\b[^\W\d_]{3,}\b", re.ASCII)


def unicode_words(text: str) -> list[str]:
    """Find the words of a text: three or more letters and marks, not touching a digit or an underscore.

    Parameters
    ----------
    text : str
        Composed (NFC), so that a letter with an accent is one character.

    Returns
    -------
    list of str

    Examples
    --------
    >>> unicode_words("naïve café_x h37 हिन्दी: a b abc")
    ['naïve', 'हिन्दी', 'abc']
    """
    return word_pattern(text).findall(text)


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

    Parameters
    ----------
    n : int
        Number of code points.

    Returns
    -------
    letters, marks, digits : list of (int, int)
        Runs of code points, each without its end. Underscores are among the digits.

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
