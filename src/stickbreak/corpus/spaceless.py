"""Scripts that are written without spaces between words, and how to see that a text was not cut into words."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

__all__ = ["UNCUT", "is_uncut"]

UNCUT = (
    "the words look like whole sentences of a language written without spaces; give a function that cuts texts into "
    "words, such as that of jieba (pip install jieba): TextOptions(tokenizer=jieba.lcut), or --tokenizer jieba:lcut"
)
"""What to do, in one sentence."""

_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # names from abroad: long words
_HAN_AND_HIRAGANA = "\u3005\u3007\u3041-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SOUTH_EAST = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u109f\ua9e0-\ua9fe\uaa60-\uaa7f\u1780-\u17dd"
_RUN = re.compile(f"[{_HAN_AND_HIRAGANA}{_KATAKANA}]+|[{_SOUTH_EAST}]+")
_NAME = re.compile(f"[{_KATAKANA}]+")
_LONG, _LONG_SOUTH_EAST = 7, 18  # characters; hardly any word of these scripts is longer
_SHARE_OF_SCRIPTS, _SHARE_OF_ALL = 1 / 2, 1 / 10
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]{5,}")  # clauses; words have 1 to 4
_SHARE_OF_CLAUSES = 4 / 5


def is_uncut(words: Any, totals: np.ndarray) -> bool:
    """Whether words look like sentences of Chinese, Japanese, Thai, Lao, Khmer or Burmese.

    A run of one of these scripts is long if it has 7 or more characters (Thai, Lao, Khmer, Burmese, whose vowels and
    tones count: 18), and is not all Katakana. They look so if long runs hold more than half of the characters of
    these scripts, and more than a tenth of all. Clauses of Chinese between two commas are often shorter: the same holds
    if runs of 5 or more Chinese characters alone hold more than four fifths. Korean has spaces, and is not looked at.

    Parameters
    ----------
    words : pyarrow.Array of strings
        The different words.
    totals : ndarray of int of shape (len(words),)
        How often each occurs.

    Returns
    -------
    bool

    Examples
    --------
    >>> import pyarrow as pa
    >>> texts = ["我昨天去超市买了面包"], ["我", "昨天", "超市", "面包"]
    >>> [is_uncut(pa.array(words), np.ones(len(words), int)) for words in texts]
    [True, False]
    """
    import pyarrow.compute as pc

    everything = int(np.asarray(pc.utf8_length(words)) @ totals)
    others = np.flatnonzero(~np.asarray(pc.string_is_ascii(words)))
    of_scripts = long = clauses = 0
    for word, total in zip(words.take(others).to_pylist(), totals[others].tolist(), strict=True):
        for run in _RUN.findall(word):
            of_scripts += len(run) * total
            least = _LONG_SOUTH_EAST if "\u0e00" <= run[0] < "\u1800" or "\ua9e0" <= run[0] < "\uab00" else _LONG
            if len(run) >= least and not _NAME.fullmatch(run):
                long += len(run) * total
            if _HAN.fullmatch(run):
                clauses += len(run) * total
    uncut = max(
        long if long > _SHARE_OF_SCRIPTS * of_scripts else 0, clauses if clauses > _SHARE_OF_CLAUSES * of_scripts else 0
    )
    return uncut > _SHARE_OF_ALL * everything
