"""From the options of text to counts on the command line to those of the library."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stickbreak.exceptions import InputError, ReadError

if TYPE_CHECKING:
    from stickbreak.corpus import ReadLimits, TextOptions


def text_options(
    stop_words: str,
    min_df: str,
    max_df: str,
    max_features: int | None,
    ngram_min: int,
    ngram_max: int,
    token_pattern: str | None,
    keep_case: bool,
    strip_accents: str | None,
    limits: "ReadLimits",
    *,
    phrases: bool = False,
    tokenizer: str | None = None,
) -> "TextOptions":
    """Build the library's options from those of the command line.

    Parameters
    ----------
    stop_words, min_df, max_df, max_features, ngram_min, ngram_max, token_pattern, keep_case, strip_accents
        As the options of the same names.
    limits : ReadLimits
        Of a file of stop words.
    phrases, tokenizer
        As the options of the same names.

    Returns
    -------
    TextOptions

    Raises
    ------
    InputError
        If a value cannot be.
    """
    from stickbreak.corpus import TextOptions

    if ngram_min > ngram_max:
        raise InputError(
            f"--ngram-min is {ngram_min} but --ngram-max is {ngram_max}; give --ngram-max {ngram_min} or more"
        )
    return TextOptions(
        stop_words=_stop_words(stop_words, limits),
        min_df=_number_or_share("--min-df", min_df),
        max_df=_number_or_share("--max-df", max_df),
        max_features=max_features,
        ngram_range=(ngram_min, ngram_max),
        token_pattern=token_pattern,
        lowercase=not keep_case,
        strip_accents=strip_accents,
        phrases=phrases,
        tokenizer=named_tokenizer(tokenizer),
    )


def named_tokenizer(name: str | None) -> Any:
    """Import the function that --tokenizer names, which may be in a file of the current folder."""
    if name is None:
        return None
    from stickbreak.corpus.tokenizers import tokenizer_of

    sys.path.insert(0, os.getcwd())
    try:
        return tokenizer_of(name)
    except InputError as error:
        raise InputError(f"--{error}") from error
    finally:
        sys.path.remove(os.getcwd())


def kept_fields(keep: str | None) -> str | list[str] | None:
    """Read all, or names with commas between them."""
    return keep if keep is None or keep == "all" else [name.strip() for name in keep.split(",")]


def _number_or_share(option: str, text: str) -> int | float:
    """Read 5 as a number of documents, 0.05 as a share of them."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{option} is {text!r}; give a number of documents (5) or a share of them (0.05)") from None


def _stop_words(text: str, limits: "ReadLimits") -> str | tuple[str, ...] | None:
    """Read LANGUAGE, none, FILE, or some of them with + between them, the file last."""
    if text in ("english", "none"):
        return None if text == "none" else text
    from stickbreak.corpus import languages, stop_words_of

    named, rest, known = [], text, languages()
    while rest:
        first, _, others = rest.partition("+")
        if first not in known:
            break
        named.append(first)
        rest = others
    if len(named) == 1 and not rest:
        return named[0]
    words = set(_words_of(Path(rest), limits)) if rest or not named else set()
    return tuple(sorted(words.union(*map(stop_words_of, named))))


def _words_of(file: Path, limits: "ReadLimits") -> tuple[str, ...]:
    from stickbreak.corpus.reading.lines import decoded_lines

    if not file.exists():
        raise ReadError(
            f"--stop-words: {file} cannot be read (it does not exist); give a language (english, german, ...), none or "
            "an existing file of words"
        )
    try:
        return tuple(word for line in decoded_lines(file, limits=limits) for word in line.split())
    except ReadError as error:
        raise ReadError(f"--stop-words: {error}") from error
