"""The passage of a document that shows a topic best."""

import re
from collections import Counter
from collections.abc import Callable, Sequence

from stickbreak.exceptions import InputError

Texts = Callable[[Sequence[int]], Sequence[str]] | Sequence[str]

_WORD = re.compile(r"\w+")
_READ_CHARACTERS = 20_000  # of a long document, only its beginning is searched


def fetch_texts(texts: Texts, rows: Sequence[int], n_documents: int) -> dict[int, str]:
    """Return the texts of some documents.

    Parameters
    ----------
    texts : callable or sequence of str
        All texts of the corpus, or a function from rows to their texts (called once).
    rows : sequence of int
        Rows that are needed.
    n_documents : int
        Documents of the corpus.

    Returns
    -------
    dict of int to str
        Text by row.

    Raises
    ------
    InputError
        If there is not one text for each document.
    """
    if callable(texts):
        found = texts(rows)
        if len(found) != len(rows):
            raise InputError(f"texts returned {len(found)} texts for {len(rows)} documents; return one for each row.")
        return dict(zip(rows, found, strict=True))
    if len(texts) != n_documents:
        raise InputError(f"there are {len(texts)} texts for {n_documents} documents; give one text for each document.")
    return {row: texts[row] for row in rows}


def best_passage(text: str, words: frozenset[str], length: int) -> str:
    """Cut the passage with the most different words of a topic out of a text.

    Parameters
    ----------
    text : str
        The document.
    words : frozenset of str
        Words of the topic, in lower case.
    length : int
        Characters of the passage, about.

    Returns
    -------
    str
        The passage in one line, with an ellipsis where text was cut off.

    Examples
    --------
    >>> text = "It rained all day. The cat sat on the mat, and then it slept."
    >>> best_passage(text, frozenset({"cat", "mat"}), 30)
    '… The cat sat on the mat, and…'
    """
    line = " ".join(text[:_READ_CHARACTERS].split())
    if len(line) <= length:
        return line + ("…" if len(text) > _READ_CHARACTERS else "")
    begin = _lead_in(line, _richest_start(line, words, length - 2), length)
    end = min(len(line), begin + length - 2)
    if end < len(line):
        end = max(line.rfind(" ", begin + length // 2, end), 0) or end
    passage = line[begin:end].strip()
    return ("… " if begin > 0 else "") + passage + ("…" if end < len(line) else "")


def _richest_start(line: str, words: frozenset[str], length: int) -> int:
    """Return where the window begins that holds the most different words; the first such, or zero."""
    hits = [(m.start(), m.end(), word) for m in _WORD.finditer(line) if (word := m[0].lower()) in words]
    inside: Counter[str] = Counter()
    best, most, first = 0, 0, 0
    for _, end, word in hits:
        inside[word] += 1
        while hits[first][0] < end - length and hits[first][1] < end:
            inside[hits[first][2]] -= 1
            inside += Counter()  # drops words that left
            first += 1
        if len(inside) > most:
            best, most = hits[first][0], len(inside)
    return best


def _lead_in(line: str, position: int, length: int) -> int:
    """Move the start of a passage back to the beginning of its sentence, or by a few words."""
    earliest = max(0, position - length // 3)
    if earliest == 0:
        return 0
    for mark in (". ", "! ", "? ", " "):
        found = line.find(mark, earliest, position)
        if found >= 0:
            return found + len(mark)
    return position
