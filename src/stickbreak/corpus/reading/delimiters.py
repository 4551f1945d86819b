"""The character between two fields of a table: which ones can be asked for, and how it is told from the first rows."""

from __future__ import annotations

import csv
from collections.abc import Sequence

from stickbreak.exceptions import InputError

__all__ = ["checked_delimiter", "likely_delimiter"]

_NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_CANDIDATES = (",", ";", "\t", "|")


def checked_delimiter(delimiter: object) -> str | None:
    r"""Return the delimiter that was asked for.

    Parameters
    ----------
    delimiter : object
        One character, or "tab" (also "\t" written with a backslash), "comma", "semicolon", "pipe"; or None.

    Returns
    -------
    str or None

    Raises
    ------
    InputError
        If it cannot stand between fields.

    Examples
    --------
    >>> checked_delimiter("tab"), checked_delimiter(";")
    ('\t', ';')
    """
    if delimiter is None:
        return None
    found = _NAMES.get(delimiter, delimiter) if isinstance(delimiter, str) else ""
    if len(found) != 1 or found in '"\r\n\0\ufeff':
        raise InputError(f"delimiter is {delimiter!r:.40}; give one character, such as ';', or 'tab'")
    return found


def likely_delimiter(lines: Sequence[str], usual: str, *, whole: bool) -> str:
    r"""Tell the delimiter of a table by its first lines.

    A delimiter fits if it cuts the header into two or more fields and every row into as many, quotes respected. The
    usual one is taken if it fits; else the one that fits and gives most fields. If none fits, the usual one is taken if
    it cuts the header; else the one that cuts the header most and every row, though not into as many; else the usual
    one if it leaves every row whole (a table of one column); else the one that cuts the header most.

    Parameters
    ----------
    lines : sequence of str
        The first lines, with their ends.
    usual : str
        The delimiter of this kind of file: "," or tab.
    whole : bool
        Whether these are all lines; if not, the last row may be cut off and is not looked at.

    Returns
    -------
    str

    Examples
    --------
    >>> likely_delimiter(["id;text\n", "1;salt, bread\n"], ",", whole=True)
    ';'
    """
    widths = {
        delimiter: _widths(lines, delimiter, whole=whole) for delimiter in {usual: None, **dict.fromkeys(_CANDIDATES)}
    }
    fitting = [d for d, (header, rows, sound) in widths.items() if header > 1 and sound and rows <= {header}]
    if usual in fitting:
        return usual
    if fitting:
        return max(fitting, key=lambda delimiter: widths[delimiter][0])
    header, rows, sound = widths[usual]
    most = max(widths, key=lambda delimiter: widths[delimiter][0])
    ragged = widths[most][0] > 1 and min(widths[most][1], default=1) > 1
    if header > 1 or (sound and rows <= {header} and not ragged):
        return usual
    return most


def _widths(lines: Sequence[str], delimiter: str, *, whole: bool) -> tuple[int, set[int], bool]:
    """Return the number of fields of the header, those of the rows, and whether the quotes are sound."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    found: list[int] = []
    sound = True
    try:
        found.extend(len(row) for row in reader if row)
    except csv.Error:
        sound = not whole and reader.line_num >= len(lines)  # a quote that ends on a later line
    else:
        found = found if whole or len(found) < 2 else found[:-1]
    return (found[0] if found else 0), set(found[1:]), sound
