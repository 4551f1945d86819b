"""Texts made ready to be cut into words: one spelling for each word, tags and addresses taken out, lower case."""

from __future__ import annotations

import html
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import Any
from unicodedata import normalize

from stickbreak.corpus.reading.blocks import Block
from stickbreak.corpus.stop_word_lists import ENGLISH, stop_words_of
from stickbreak.corpus.text_settings import TextOptions
from stickbreak.corpus.words import unicode_words

_LOG = logging.getLogger("stickbreak")

# Signs that nobody sees. The two joiners and the space of no width stay where scripts of Asia have a use for them.
_HIDDEN = re.compile("[\u00ad\u061c\u180e\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")
_JOINED = re.compile("(?<=[A-Za-z\u00c0-\u058f\u1e00-\u1fff])[\u200b-\u200d]+(?=[A-Za-z\u00c0-\u058f\u1e00-\u1fff])")
# Second spellings of letters: ligatures, full and half width, letters of formulas, forms of Arabic and Hebrew.
_SECOND = re.compile(
    "[\u0132\u0133\u013f\u0140\u0149\u017f\u01c4-\u01cc\u01f1-\u01f3\ufb00-\ufb06\ufb13-\ufb17\ufb1d-\ufb4f\ufb50-\ufdfb"
    "\ufe70-\ufefc\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff66-\uff9f\U0001d400-\U0001d7ff]+"
)
_ODD = re.compile(f"[{_HIDDEN.pattern[1:-1]}\u200b-\u200d{_SECOND.pattern[1:-2]}]")
_TAG = re.compile(r"<!--[^\0]*?-->|<(script|style)\b[^\0]*?</\1\s*>|</?[A-Za-z!][^<>\0]{0,2000}>", re.IGNORECASE)
_ADDRESS = re.compile(
    r"\b(?:https?|ftp)://[^\s<>\"\0]+|\bwww\.[^\s<>\"\0]+|[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+|(?<![\w@])@\w+",
    re.IGNORECASE,
)
_KNOWN_TAG = re.compile(
    r"</?(?:p|a|br|div|span|b|i|li|ul|ol|td|tr|table|img|h[1-6]|strong|em|font)\b[^<>]{0,2000}>|&nbsp;|&[a-z]{2,6};"
)
_WEB_ADDRESS = re.compile(r"\bhttps?://|\bwww\.")
_RUN = re.compile(r"(?<!['\u2019])[^\W_]{2,}")
_SAMPLE = 500  # texts
_SAMPLE_CHARACTERS = 1 << 17
_OFTEN = 0.1  # of the texts: where at least this share has tags, tags are taken out
_MUCH = 0.2  # of the words


def preparation(options: TextOptions) -> Callable[[str], str]:
    """Return what makes a text ready: each word in one spelling, lower case and without accents as far as wanted."""
    stripped, lower, turkish = options.stripped, bool(options.lowercase), options.is_turkish
    accents: Callable[[str], str] | None = None
    if options.strip_accents is not None:
        from sklearn.feature_extraction.text import strip_accents_ascii, strip_accents_unicode

        accents = strip_accents_ascii if options.strip_accents == "ascii" else strip_accents_unicode

    def prepare(text: str) -> str:
        if stripped:
            text = _without(text, stripped)
        if not text.isascii():
            text = _in_one_spelling(text)
        if lower:
            text = (text.replace("I", "\u0131") if turkish else text).replace("\u0130", "i").lower()
        return text if accents is None else accents(text)

    return prepare


def _in_one_spelling(text: str) -> str:
    """Compose letters and accents (NFC), drop signs that nobody sees, and write ligatures and the like as letters."""
    if _ODD.search(text):
        text = _JOINED.sub("", _HIDDEN.sub("", text))
        text = _SECOND.sub(lambda found: normalize("NFKC", found[0]), text)
    return normalize("NFC", text)


def _without(text: str, stripped: tuple[str, ...]) -> str:
    """Take tags and addresses out."""
    if "html" in stripped and ("<" in text or "&" in text):
        if "urls" in stripped:
            text = _ADDRESS.sub(" ", text)  # before entities in them become other signs
        text = html.unescape(_TAG.sub(" ", text))
        text = _TAG.sub(" ", text) if "<" in text else text
    return _ADDRESS.sub(" ", text) if "urls" in stripped else text


def readable(texts: Iterable[str], options: TextOptions | None) -> list[str]:
    """Return texts as they are shown: without tags, where tags are not counted."""
    tags = ("html",) if options is not None and "html" in options.stripped else ()
    return [_without(text, tags) for text in texts]


def settled(options: TextOptions, blocks: Iterator[Block]) -> tuple[TextOptions, Iterator[Block]]:
    """Settle by the first texts what options leave open, and tell what they leave out; return all texts again."""
    first = next(blocks, None)
    if first is None:
        return options, iter(())
    whole = chain([first], blocks)
    texts: list[str] = []
    size = 0
    for text in () if first.is_cut else islice(first.texts, _SAMPLE):
        texts.append(text.as_py())
        size += len(texts[-1])
        if size > _SAMPLE_CHARACTERS:
            break
    found = _found_in(texts) if options.strip == "auto" else ()
    if found:
        options = replace(options, strip=found)
    if texts and options.token_pattern is None and options.tokenizer is None:
        _tell_of_short_words(texts, options)
    return options, whole


def _found_in(texts: list[str]) -> tuple[str, ...]:
    """Return what is to be taken out of texts: tags and addresses where many texts have them."""
    least = _OFTEN * len(texts)
    tags = sum(_KNOWN_TAG.search(text) is not None for text in texts)
    addresses = sum(_WEB_ADDRESS.search(text) is not None for text in texts)
    found = tuple(name for name, n in (("html", tags), ("urls", addresses)) if n and n >= least)
    if found:
        kinds = {"html": "HTML tags", "urls": "addresses (URLs, e-mail, @names)"}
        _LOG.warning(
            "%s are left out of the texts, as many of the first ones have them; to count them give --strip none "
            "(in Python: strip=None)",
            " and ".join(kinds[name] for name in found),
        )
    return found


def _tell_of_short_words(texts: list[str], options: TextOptions) -> None:
    """Tell where many words are shorter than three letters or hold a digit."""
    prepare, others, n_usual = preparation(options), Counter[str](), 0
    known: Any = stop_words_of(options.stop_words) if isinstance(options.stop_words, str) else options.stop_words or ()
    stop_words = stop_words_of(ENGLISH).union(known)
    for text in texts:
        ready = prepare(text)
        n_usual += sum(word not in stop_words for word in unicode_words(ready))
        others.update(
            word
            for word in _RUN.findall(ready)
            if (len(word) == 2 or any(map(str.isdigit, word))) and not word.isdigit() and word not in stop_words
        )
    n_others = others.total()
    if n_others and n_others >= _MUCH * (n_others + n_usual) and len(texts) > 1:
        _LOG.warning(
            "%.0f %% of the words of the first texts have two letters or a digit (%s) and are left out; to count "
            "them give "
            "--set token_pattern='[^\\W_]{2,}' (in Python: token_pattern)",
            100 * n_others / (n_others + n_usual),
            ", ".join(word for word, _ in others.most_common(3)),
        )
