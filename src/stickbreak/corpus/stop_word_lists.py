"""Stop words by the names of languages."""

from __future__ import annotations

import unicodedata
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path

from stickbreak.exceptions import InputError

ENGLISH = "english"
_CONTRACTIONS = "ain aren couldn didn doesn don hadn hasn isn mightn mustn needn oughtn shan shouldn wasn weren wouldn"


def languages() -> tuple[str, ...]:
    """Return the names of the languages whose stop words are known, in the order of the alphabet.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> len(languages()) > 20, "german" in languages()
    (True, True)
    """
    import stop_words

    return tuple(sorted({ENGLISH, *stop_words.AVAILABLE_LANGUAGES}))


def stop_words_of(language: str) -> frozenset[str]:
    """Return the stop words of a language: words such as "the" and "and", which say nothing about a subject.

    Parameters
    ----------
    language : str
        "english" is scikit-learn's list with the stems of contractions ("don", "doesn", ...); others are those of the
        package stop-words: see `languages()`.

    Returns
    -------
    frozenset of str

    Raises
    ------
    InputError
        If the language is not known.

    Examples
    --------
    >>> "aber" in stop_words_of("german"), "aber" in stop_words_of("english")
    (True, False)
    """
    known = languages()
    if not isinstance(language, str) or language not in known:
        raise InputError(
            f"stop_words is {language!r:.40}, which is not a known language; give a list of words, or one of "
            f"{', '.join(known)}"
        )
    return _listed(language)


@cache
def _listed(language: str) -> frozenset[str]:
    """Return the words of a known language."""
    if language == ENGLISH:
        return _of_scikit_learn() | set(_CONTRACTIONS.split())
    import stop_words

    words = (unicodedata.normalize("NFC", word.strip()) for word in stop_words.get_stop_words(language))
    return frozenset(word for word in words if word)


def _of_scikit_learn() -> frozenset[str]:
    """Return scikit-learn's list from its file: to import the package takes each process that counts a second."""
    package = find_spec("sklearn")
    file = Path(str(package and package.origin)).parent / "feature_extraction" / "_stop_words.py"
    try:
        return frozenset(run_path(str(file))["ENGLISH_STOP_WORDS"])
    except (OSError, KeyError):  # another version keeps it elsewhere
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
