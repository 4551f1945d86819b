"""Seeds: words that name a topic before the fit, what became of these topics in it, and the prior that they make.

docs/math (L17)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from stickbreak.exceptions import InputError
from stickbreak.fitting.loop import logger
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.pseudo_counts import Eta, total_of
from stickbreak.numerics.ranges import LARGEST, SMALLEST
from stickbreak.prediction.topics import FlatTopics
from stickbreak.prediction.words import relevant_words
from stickbreak.questions.labels import is_label

Seeds = Mapping[str, Sequence[str]]
LEAST = 1 / 6  # of the tokens of its most frequent words, as many as its seeds, that the seeds of a topic have
_SHOWN = 10  # words, or topics, that a sentence names
_WORDS = 3  # of a topic, that a sentence names


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
    return _shortened([repr(word) for word in words])


def _shortened(texts: Sequence[str]) -> str:
    """Return some texts in a row."""
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more


def outcome_of_seeds(
    topics: FlatTopics,
    seeds: Mapping[str, Sequence[int]],
    numbers: Sequence[int],
    seed_tokens: float,
    n_tokens: float,
    eta: Eta,
) -> str:
    """Say which seeded topics are not what their seeds say; empty where all are.                   docs/math (L17)

    The words of a topic moved on where few of its tokens in the documents are its seeds. It holds little but its seeds
    where it has fewer tokens in the documents than pseudo-tokens.

    Parameters
    ----------
    seeds : mapping of str to sequence of int
        Words of each seed, by their columns.
    numbers : sequence of int
        The topic of each seed.
    seed_tokens, n_tokens : float
        Pseudo-tokens of each topic; tokens of the documents of the fit that topics count.
    eta : float or ndarray of shape (W,)
        Pseudo-count of a word that is in no seed.
    """
    moved, bare = [], []
    for k, (name, words) in zip(numbers, seeds.items(), strict=True):
        tokens = float(topics.topic_shares_[k]) * n_tokens
        if tokens < seed_tokens:
            bare.append(f"{k} ({name})")
        elif moved_on(topics.word_distributions([k])[0], words, seed_tokens, tokens, eta):
            moved.append(f"{k} ({name}: now {', '.join(_others(topics, k, words))})")
    found = []
    if moved:
        found.append(
            f"Topics whose words moved on from their seeds: {_shortened(moved)}. Give them more seeds, other ones, or "
            "somewhat more seed_tokens (--set seed_tokens=...)."
        )
    if bare:
        found.append(
            f"Seeded topics that hold little but their seeds: {_shortened(bare)}. Give fewer seed_tokens "
            "(--set seed_tokens=...), or words that more documents have."
        )
    return " ".join(found)


def moved_on(phi: Float, words: Sequence[int], seed_tokens: float, tokens: float, eta: Eta) -> bool:
    """Return whether a topic with word distribution `phi` (W,) has few of its seeds, `words`, in the documents."""
    seen = phi * (tokens + seed_tokens + float(total_of(eta, phi.size))) - eta
    seen[list(words)] -= seed_tokens / len(words)
    seen = np.maximum(seen, 0.0)
    return bool(seen[list(words)].sum() < LEAST * np.sort(seen)[-len(words) :].sum())


def _others(topics: FlatTopics, k: int, words: Sequence[int]) -> list[str]:
    """Return the most relevant words of a topic that are not its seeds."""
    (row,) = relevant_words(topics, np.array([k]), _WORDS + len(words))
    return [str(topics.vocabulary_[w]) for w in row if w not in set(words)][:_WORDS]


@dataclass(frozen=True, slots=True)
class WordPrior:
    """phi_k ~ Dir(base + pseudo_k); a topic beyond the columns of `pseudo` has the base alone.        docs/math (L17)

    The topics with pseudo-counts come first and keep their numbers.
    """

    base: Eta  # a number, or (W,)
    pseudo: sparse.csr_array | None = None  # (W, n_kept)

    @property
    def n_kept(self) -> int:
        """Number of topics with pseudo-counts of their own."""
        return 0 if self.pseudo is None else int(self.pseudo.shape[1])


def base_of(eta: Any) -> Eta:
    """Return eta of the topics that have no prior of their own: of a table (K, W) its smallest number."""
    array = np.asarray(eta, dtype=np.float64)
    return array.copy() if array.ndim == 1 else float(array.min())


def pseudo_of(words: Sequence[Sequence[int]], n_words: int, tokens: float) -> sparse.csr_array:
    """Return the pseudo-counts of topics with these words, (W, K): `tokens` for each, shared by its words."""
    topic = np.repeat(np.arange(len(words)), [len(row) for row in words])
    place = np.array([w for row in words for w in row], dtype=np.int64), topic
    each = np.array([tokens / len(row) for row in words for _ in row])
    return sparse.csr_array((each, place), shape=(n_words, len(words)))


def in_order(pseudo: sparse.csr_array | None, columns: list[int], n_words: int) -> sparse.csr_array:
    """Return pseudo-counts with the columns in another order; an empty one for -1."""
    if pseudo is None:
        return sparse.csr_array((n_words, len(columns)))
    wide = sparse.csc_array(sparse.hstack([pseudo, sparse.csr_array((n_words, 1))]))
    return sparse.csr_array(wide[:, columns])


def check_eta(eta: Any) -> None:
    """Refuse what cannot be an eta, whatever the documents.

    Raises
    ------
    InputError
    """
    shape = "a number, one for each word (W,), or a row for each of the first topics (K, W)"
    try:
        array = np.asarray(eta, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"eta is {eta!r:.60}, not an array of numbers; give {shape}.") from None
    if array.ndim > 2 or not array.size:
        raise InputError(f"eta is an array of shape {array.shape}; give {shape}.")
    if not bool(((array >= SMALLEST) & (array <= LARGEST)).all()):  # false for NaN
        raise InputError(
            f"eta holds a number outside of {SMALLEST:g} to {LARGEST:g}; give pseudo-counts in this range."
        )
