"""Document completion: how well topic weights from one half of a document predict the other half; noted scores."""

import math
from dataclasses import asdict, dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError

_CHUNK_ELEMENTS = 1 << 21  # doubles per gathered (tokens x topics) block: 16 MiB, twice
_SUM_TOLERANCE = 1e-6
_TRUTH: type = bool  # to Python a number


@dataclass(frozen=True, slots=True)
class Completion:
    """Score of a document completion.

    Attributes
    ----------
    active : float
        Held-out log-likelihood in nats per token, with the weights of the active topics renormalised (the default
        convention, comparable with models of a fixed number of topics).
    with_inactive : float
        Held-out log-likelihood in nats per token, with all K + 1 weights. The inactive topics have the prior mean as
        their word distribution.
    n_tokens : float
        Number of held-out tokens scored.
    n_documents : int
        Number of documents with tokens in both halves; only these are scored.
    """

    active: float
    with_inactive: float
    n_tokens: float
    n_documents: int

    @classmethod
    def of_sums(cls, active: float, with_inactive: float, n_tokens: float, n_documents: int) -> Self:
        """Return the score for the log probabilities of all tokens together.

        Raises
        ------
        InputError
            If there are no tokens.
        """
        if n_tokens == 0:
            raise InputError("none of the held-out words is among the `seen` words; mark more words as seen.")
        return cls(active / n_tokens, with_inactive / n_tokens, n_tokens, n_documents)

    @property
    def perplexity(self) -> float:
        """Perplexity per token, ``exp(-active)`` (docs/math (D6))."""
        return math.exp(-self.active) if self.active > -700 else math.inf


@dataclass(frozen=True, slots=True)
class HeldOutScore:
    """Score of a model on what its fit has not seen.

    Attributes
    ----------
    score : Completion or float
        In nats per token, or per vector.
    unigram : float or None
        What word frequencies alone score on the same words; None where it is not known, or there are no words.
    """

    score: Completion | float
    unigram: float | None = None

    def __post_init__(self) -> None:
        """Raise a ValueError for anything but a score."""
        score = self.score
        numbers: list[Any] = [score]
        sizes: list[Any] = []
        if isinstance(score, Completion):
            numbers, sizes = [score.active, score.with_inactive], [score.n_tokens, score.n_documents]
        if not (all(map(_is_number, numbers + sizes)) and all(size > 0 for size in sizes)):
            raise ValueError(f"a held-out score is {score!r:.90}, not a finite number of nats or a Completion of such")
        if not (self.unigram is None or _is_number(self.unigram)):
            raise ValueError(f"a score of word frequencies is {self.unigram!r:.40}, not a finite number of nats")

    @property
    def completion(self) -> Completion | None:
        """All that is known of a document completion; None where only its score is known, or it is of vectors."""
        return self.score if isinstance(self.score, Completion) else None

    @property
    def value(self) -> float:
        """The score in nats."""
        return self.score.active if isinstance(self.score, Completion) else float(self.score)

    def packed(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        score = self.score
        values = asdict(score) if isinstance(score, Completion) else {"score": score}
        plain = {name: int(value) if isinstance(value, Integral) else float(value) for name, value in values.items()}
        return {**plain, "unigram": None if self.unigram is None else float(self.unigram)}

    @classmethod
    def unpacked(cls, values: Any) -> Self:
        """Return what `packed` returned; a ValueError or TypeError for what it cannot have."""
        score = {name: value for name, value in values.items() if name != "unigram"}
        return cls(score["score"] if score.keys() == {"score"} else Completion(**score), values["unigram"])


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, _TRUTH) and math.isfinite(value)
    except OverflowError:  # a whole number that no float is near to
        return False


def scored_documents(observed: Corpus, held_out: Corpus) -> NDArray[np.int64]:
    """Return the rows of the documents that have tokens in both of their halves.

    Parameters
    ----------
    observed, held_out : Corpus
        The two halves of the same documents.

    Raises
    ------
    InputError
        If they are halves of other documents, or no document has tokens in both.
    """
    if observed.n_documents != held_out.n_documents:
        raise InputError(
            f"the observed half has {observed.n_documents} documents and the held-out half "
            f"{held_out.n_documents}; give the two halves of the same documents, as Corpus.halves returns them."
        )
    rows = np.flatnonzero((observed.document_lengths > 0) & (held_out.document_lengths > 0))
    if rows.size == 0:
        raise InputError(
            "no document has tokens in both halves, so there is nothing to complete; "
            "give documents of two words or more."
        )
    return rows


def seen_mask(seen: ArrayLike, n_words: int) -> NDArray[np.bool_]:
    """Return which words are scored.

    Raises
    ------
    InputError
        If there is not one boolean for each word.
    """
    mask = np.asarray(seen, dtype=bool)
    if mask.shape != (n_words,):
        raise InputError(f"seen has shape {mask.shape}, but there are {n_words} words; give one boolean for each word.")
    return mask


def completion_log_likelihood(
    weights: ArrayLike,
    topic_word: ArrayLike,
    held_out: Any,
    *,
    rest_word: ArrayLike | None = None,
    seen: ArrayLike | None = None,
    observed: Any = None,
    strength: float = math.inf,
) -> tuple[float, float]:
    """Sum the log probability of held-out tokens under given topic weights of their documents.

    ``sum_d sum_w n_dw log sum_k pi_dk phi_kw`` (docs/math (D6); Hughes et al. 2015, Eq. 22), over the stored entries
    of `held_out` only: no documents x words array is ever formed. A document without held-out tokens adds
    nothing.

    Parameters
    ----------
    weights : array-like of shape (n_documents, n_topics) or (n_documents, n_topics + 1)
        Topic weights of each document; rows sum to one. The extra column, if there is one, is the weight of all
        inactive topics and needs `rest_word`.
    topic_word : array-like of shape (n_topics, n_words)
        Word distributions of the topics; rows sum to one.
    held_out : scipy sparse matrix or array of shape (n_documents, n_words)
        Held-out tokens, as counts or non-negative weights.
    rest_word : array-like of shape (n_words,), optional
        Word distribution of the inactive topics (their prior mean).
    seen : array-like of bool, of shape (n_words,), optional
        Words to score. The tokens of other words are left out, for example words that never occurred in training.
    observed : scipy sparse matrix or array of shape (n_documents, n_words), optional
        The other halves, whose words come again. Needed with `strength`.
    strength : float, default=inf
        How many tokens of its document the topics are worth (docs/math (L26)); infinite without bursts.

    Returns
    -------
    log_likelihood : float
        Sum of log probabilities, in nats; ``-inf`` if some held-out word has probability zero.
    n_tokens : float
        Number (or total weight) of the tokens scored.

    Raises
    ------
    InputError
        If the shapes do not fit or the rows of `weights` do not sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> total, n_tokens = completion_log_likelihood(
    ...     [[0.5, 0.5]], [[0.9, 0.1], [0.1, 0.9]], sparse.csr_matrix([[2, 0]])
    ... )
    >>> round(total / n_tokens, 4) == round(float(np.log(0.5)), 4)
    True
    """
    pi = np.asarray(weights, dtype=np.float64)
    phi = np.asarray(topic_word, dtype=np.float64)
    if rest_word is not None:
        rest = np.asarray(rest_word, dtype=np.float64)
        if rest.shape != phi.shape[1:]:
            raise InputError(
                f"rest_word has shape {rest.shape}, but topic_word has shape {phi.shape}; give one "
                "probability for each word."
            )
        phi = np.vstack([phi, rest])
    counts = sparse.csr_matrix(held_out)
    _check_shapes(pi, phi, counts, has_rest=rest_word is not None)

    rows, columns, tokens = _held_out_entries(counts, seen)
    bursts = math.isfinite(strength)
    if bursts:
        before = sparse.csr_array(observed)
        of_word, of_document = before[rows, columns], np.asarray(before.sum(axis=1)).ravel()[rows]
    word_topic = np.ascontiguousarray(phi.T)
    chunk = max(1, _CHUNK_ELEMENTS // phi.shape[0])
    total = 0.0
    for start in range(0, tokens.size, chunk):
        part = slice(start, start + chunk)
        # p(w | d) = sum_k pi_dk phi_kw, docs/math (D6)
        predictive = np.einsum("ik,ik->i", pi[rows[part]], word_topic[columns[part]])
        if bursts:  # docs/math (L26)
            predictive = (of_word[part] + strength * predictive) / (of_document[part] + strength)
        with np.errstate(divide="ignore"):
            total += float(tokens[part] @ np.log(predictive))
    return total, float(tokens.sum())


def _held_out_entries(
    counts: sparse.csr_matrix, seen: ArrayLike | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return document, word and number of tokens of each held-out entry that is to be scored."""
    rows = np.repeat(np.arange(counts.shape[0], dtype=np.int64), np.diff(counts.indptr))
    columns = counts.indices.astype(np.int64)
    tokens = counts.data.astype(np.float64)
    keep = tokens > 0  # an explicit zero would turn log 0 into NaN
    if seen is not None:
        keep &= seen_mask(seen, counts.shape[1])[columns]
    return rows[keep], columns[keep], tokens[keep]


def _check_shapes(
    pi: NDArray[np.float64], phi: NDArray[np.float64], counts: sparse.csr_matrix, *, has_rest: bool
) -> None:
    """Refuse weights, topics and counts that do not belong together."""
    if pi.ndim != 2 or phi.ndim != 2:
        raise InputError(
            f"weights and topic_word have {pi.ndim} and {phi.ndim} dimensions; give tables of two dimensions."
        )
    if pi.shape[1] != phi.shape[0]:
        hint = " (rest_word adds one)" if has_rest else "; a column of inactive mass needs rest_word"
        raise InputError(f"weights have {pi.shape[1]} columns, but there are {phi.shape[0]} topics{hint}.")
    if counts.shape != (pi.shape[0], phi.shape[1]):
        raise InputError(
            f"held_out has shape {counts.shape}, but the weights and topics are of {pi.shape[0]} documents "
            f"and {phi.shape[1]} words; give the second halves of the same documents."
        )
    error = np.abs(pi.sum(axis=1) - 1.0)
    if error.size and not error.max() <= _SUM_TOLERANCE:  # "not <=" also catches NaN
        row = int(np.argmax(np.where(np.isnan(error), np.inf, error)))
        raise InputError(
            f"the topic weights of document {row} sum to {pi[row].sum():.6g}, not to one; normalise them first."
        )
