"""Seeds: words that name a topic before the fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stickbreak.exceptions import InputError
from stickbreak.fitting.loop import logger
from stickbreak.model.labels import is_label

Seeds = Mapping[str, Sequence[str]]
_SHOWN = 10  # unknown words that a warning names


def check_seeds(seeds: Any) -> None:
    """Refuse what cannot be seeds, whatever the documents.

    Parameters
    ----------
    seeds : mapping of str to sequence of str
        Names of topics, and their words.

    Raises
    ------
    InputError
    """
    if not isinstance(seeds, Mapping) or not seeds:
        raise InputError(
            f"seeds is {seeds!r:.60}; give words by the name of a topic, {{'space': ['orbit', 'launch']}}."
        )
    for name, words in seeds.items():
        if not isinstance(name, str) or not is_label(name) or name != name.strip():
            raise InputError(f"seeds has the name {name!r:.60}; give names of one line, without spaces at the ends.")
        plain = isinstance(words, list | tuple) and all(isinstance(word, str) for word in words)
        if not plain or not words:
            raise InputError(f"seeds[{name!r:.60}] is {words!r:.60}; give a list of words.")


def plain_seeds(seeds: Any) -> Any:
    """Return seeds as a dict of lists: other mappings cannot be cloned, pickled or saved; anything else as it is."""
    return dict(seeds) if isinstance(seeds, Mapping) and type(seeds) is not dict else seeds


def columns_of_seeds(seeds: Seeds, vocabulary: Sequence[str]) -> tuple[dict[str, list[int]], list[str]]:
    """Return the numbers of the known words of each seed, and the words that are unknown.

    A word that is unknown as it is given is taken in lower case.
    """
    number = {word: w for w, word in enumerate(vocabulary)}
    as_counted = {word: word if word in number else word.lower() for words in seeds.values() for word in words}
    known = {word: number[counted] for word, counted in as_counted.items() if counted in number}
    found = {name: sorted({known[word] for word in words if word in known}) for name, words in seeds.items()}
    return found, [word for word in as_counted if word not in known]


def known_words(seeds: Seeds, vocabulary: Sequence[str]) -> dict[str, list[int]]:
    """Return the numbers of the words of each seed; warn of words that the documents do not have.

    A word that is unknown as it is given is taken in lower case.

    Parameters
    ----------
    seeds : mapping of str to sequence of str
    vocabulary : sequence of str

    Raises
    ------
    InputError
        If no word of a seed is known.
    """
    found, unknown = columns_of_seeds(seeds, vocabulary)
    for name, own in found.items():
        if not own:
            raise InputError(
                f"seeds[{name!r}]: none of its words ({_listed(seeds[name])}) is in the vocabulary of the documents; "
                "give words as they are counted, or leave this seed out."
            )
    if unknown:
        logger.warning(
            "%d word%s of the seeds %s not in the vocabulary and left out: %s",
            len(unknown), "s" * (len(unknown) != 1), "are" if len(unknown) != 1 else "is", _listed(unknown),
        )  # fmt: skip
    return found


def _listed(words: Sequence[str]) -> str:
    """Return some words in a row."""
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return ", ".join(map(repr, words[:_SHOWN])) + more
