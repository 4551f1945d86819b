"""Which words are kept: those of neither too few nor too many documents, the most frequent ones of them."""

from __future__ import annotations

import logging
import math
import re
from typing import Any

import numpy as np

from stickbreak.corpus.stop_word_lists import ENGLISH, languages, stop_words_of
from stickbreak.corpus.text_settings import TextOptions
from stickbreak.exceptions import InvalidCorpus

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


_LOG = logging.getLogger("stickbreak")

_SMALL_COLLECTION = 20  # documents; below it a share of documents means nothing
_MOST_COMMON, _SHARE_OF_STOP_WORDS = 30, 0.4
_MUCH = 0.2  # of the words of the texts: where at least this share is left out, the fit says so


def kept_words(
    words: Any,
    document_frequency: np.ndarray,
    totals: np.ndarray,
    n_documents: int,
    options: TextOptions,
) -> list[int]:
    """Choose the words that min_df, max_df and max_features keep."""
    if not len(words):
        raise InvalidCorpus(
            "no word is left: token_pattern finds no words in the texts, or only stop words; change "
            "token_pattern or stop_words"
        )
    uncut = is_uncut(words, totals)
    if uncut:
        _LOG.warning("%s", UNCUT)
    least, most = document_limits(options, n_documents)
    rare, common = document_frequency < least, document_frequency > most
    inside = np.flatnonzero(~rare & ~common)
    spelled = dict(zip(inside.tolist(), words.take(inside).to_pylist(), strict=True))
    kept = sorted(spelled, key=spelled.__getitem__)
    if not kept and uncut:
        raise InvalidCorpus(f"no word is left of {len(words)} in {n_documents} documents: {UNCUT}")
    if not kept:
        raise InvalidCorpus(
            f"no word is left of {len(words)} different words in {n_documents} documents: min_df={options.min_df} "
            f"removes {rare.sum()} and max_df={options.max_df} removes {common.sum()}; lower min_df, raise max_df, or "
            "find other words with token_pattern"
        )
    if options.max_features is not None and len(kept) > options.max_features:
        most_frequent = np.argsort(-totals[kept], kind="stable")[: options.max_features]
        kept = [kept[place] for place in sorted(most_frequent.tolist())]
    if options.stop_words == ENGLISH:
        _tell_of_language(words, document_frequency)
    if not uncut and options.ngram_range[1] == 1:  # most longer n-grams are rare in any texts
        _tell_left_out(totals, rare, common, kept, (least, most))
    return kept


def _tell_of_language(words: Any, document_frequency: np.ndarray) -> None:
    """Log that the most common words are stop words of another language than English."""
    most = np.argsort(-document_frequency, kind="stable")[:_MOST_COMMON]
    common = set(words.take(most).to_pylist())
    found = {language: len(common & stop_words_of(language)) for language in languages() if language != ENGLISH}
    language = max(found, key=found.__getitem__)
    if found[language] >= _SHARE_OF_STOP_WORDS * _MOST_COMMON:
        _LOG.warning(
            "the most common words look like stop words of %s, but those of English are left out; give --stop-words %s "
            "(in Python: stop_words)",
            language.capitalize(),
            language,
        )


def _tell_left_out(
    totals: np.ndarray, rare: np.ndarray, common: np.ndarray, kept: list[int], limits: tuple[float, float]
) -> None:
    """Log that much of the texts is left out, with what leaves out most of it."""
    n_tokens, (least, most) = int(totals.sum()), limits
    left_out = n_tokens - int(totals[kept].sum())
    if left_out < _MUCH * n_tokens:
        return
    by_rare, by_common = int(totals[rare].sum()), int(totals[common].sum())
    reasons = (
        (by_rare, f"are in fewer than {math.ceil(least):,} documents; lower --min-df (in Python: min_df)"),
        (by_common, f"are in more than {math.floor(most):,} documents; raise --max-df (in Python: max_df)"),
        (left_out - by_rare - by_common, "are not frequent enough; raise max_features (--set max_features=...)"),
    )
    _LOG.warning(
        "%.0f %% of the words of the texts are left out (stop words not counted), most of them because they %s to keep "
        "more",
        100 * left_out / n_tokens,
        max(reasons)[1],
    )


def document_limits(options: TextOptions, n_documents: int) -> tuple[float, float]:
    """Give the least and the largest number of documents that a word may be in."""
    least: float = options.min_df
    if isinstance(least, int):
        allowed = max(1, n_documents // _SMALL_COLLECTION)
        if allowed < least:
            _LOG.info("min_df=%d is lowered to %d for %d documents", least, allowed, n_documents)
        least = min(least, allowed)
    else:
        least = least * n_documents
    most: float = options.max_df
    if not isinstance(most, int):
        most = math.inf if n_documents < _SMALL_COLLECTION else most * n_documents
    return least, most
