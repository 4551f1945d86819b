"""Which words of a topic rise and fall: in a period, or in a category, compared with the topic as a whole.

Words come in bursts, so the unit is the document: the null hypothesis exchanges the periods of documents that have
about equally many tokens of the topic. Which tokens are of the topic is uncertain, too: they are drawn. The tails are
saddlepoint approximations (Daniels 1954; Barndorff-Nielsen 1986), no larger than the bound of Chernoff (1952). They
follow the skewness of rare words, where a normal distribution would report noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from stickbreak.corpus import Corpus
from stickbreak.corpus.metadata import in_tables
from stickbreak.exceptions import InputError
from stickbreak.numerics.arrays import Float, Int
from stickbreak.prediction.topics import FlatTopics
from stickbreak.questions.by_category import MOST_CATEGORIES, adjusted
from stickbreak.questions.columns import categories_of, days_of, fitting_period, numbered, period_starts
from stickbreak.questions.labels import LabelledTopics, labelled_topics
from stickbreak.questions.weights import documents_with, warn_of_gaps
from stickbreak.questions.words import joint_of_documents

if TYPE_CHECKING:
    import pandas as pd

LEVEL_OF_WORDS = 0.05
MOST_PERIODS = 12  # where nobody says how long they are: words need more tokens than shares
_PRESENT, _LEAST_TOKENS = 0.05, 1.0  # of a document, that are of a topic where it counts as present
_LEAST_COUNT = 0.01  # expected tokens of a word that are kept
_LEAST_DOCUMENTS = 10  # among which a word is spread, where it is tested
_OF_STRATUM, _MOST_STRATA = 50, 10  # documents, on average; strata of a topic
_LEAST_VARIANCE = 1e-9  # below it nothing can differ but by rounding
_NEAR = 2.0  # standard deviations, within which the normal distribution is exact enough
_BIN = 1.25  # documents without a word are taken together whose tokens of the topic differ by less
_STEPS, _EXACT, _LARGEST = 60, 1e-6, 600.0
_PRIOR_DOCUMENTS = 2.0  # in which a word has its usual share: they shrink its lift


def words_over_time(
    model: FlatTopics,
    X: Any,
    dates: Any = None,
    by: str | None = None,
    *,
    topic: int | None = None,
    date_format: str | None = None,
    level: float = LEVEL_OF_WORDS,
) -> pd.DataFrame:
    """Return the words of each topic that are more, or less, frequent in a period than in the whole topic.

    docs/math (Q9). The topics stay fixed. A topic that merely grows has no such words.

    Parameters
    ----------
    X, dates, topic, date_format
        As in `topics_over_time`.
    by : {"day", "week", "month", "quarter", "year"}, optional
        The periods. The default is the shortest of which the dates span 12 at most, or else year.
    level : float, default=0.05
        The largest p of a row. Of the rows, this share at most is expected to be there by chance.

    Returns
    -------
    DataFrame
        A row for each topic, period and word whose share of the topic differs: topic, label, period (its first day),
        word, lift (by how many times its share is larger than usual, with two documents added in which it is usual),
        observed (tokens of the word in the topic in the period), expected (those it would have if nothing changed), p
        (adjusted for all words, topics and periods, after Benjamini and Hochberg). The words that rise most are first.
        `attrs` has by, and tests: how many pairs of word and period were tested.

    Raises
    ------
    InputError
        If there are no dates, they cannot be read or lie in one period, or level is not above 0 and at most 1.
    """
    asked, corpus = labelled_topics(model, topic), documents_with(model, X, dates)
    days = days_of(corpus, dates, date_format)
    warn_of_gaps(np.isnat(days), "date")
    by = fitting_period(days, MOST_PERIODS) if by is None else by
    group, periods = numbered(period_starts(days, by).astype("datetime64[s]"))
    if len(periods) < 2:
        same = np.unique(days[~np.isnat(days)]).size == 1
        unit, shorter = ("day", "") if same else (by, " by='day' (--by day), or")
        raise InputError(
            f"all dates lie in one {unit}, so no word can rise or fall; give{shorter} documents of more days."
        )
    table = _table(model, corpus, asked, group, ("period", periods), level)
    table.attrs["by"] = by
    return table


def words_by(
    model: FlatTopics, X: Any, category: Any, *, topic: int | None = None, level: float = LEVEL_OF_WORDS
) -> pd.DataFrame:
    """Return the words of each topic that are more, or less, frequent in a category than in the whole topic.

    docs/math (Q9)

    Parameters
    ----------
    X, category, topic
        As in `topics_by`.
    level : float, default=0.05
        As in `words_over_time`.

    Returns
    -------
    DataFrame
        As of `words_over_time`, with category in place of period.

    Raises
    ------
    InputError
        If there is no such column, it has one value or more than 1,000, or level is not above 0 and at most 1.
    """
    asked, corpus = labelled_topics(model, topic), documents_with(model, X, category)
    categories = categories_of(corpus, category, "category")
    warn_of_gaps(categories.isna().to_numpy(), "category")
    group, names = numbered(categories)
    if not 2 <= len(names) <= MOST_CATEGORIES:
        plural = "is 1 category" if len(names) == 1 else f"are {len(names):,} categories"
        raise InputError(f"there {plural}; give a column of 2 to {MOST_CATEGORIES:,} values.")
    return _table(model, corpus, asked, group, ("category", names), level)


def _table(
    model: FlatTopics, corpus: Corpus, asked: LabelledTopics, group: Int, groups: tuple[str, Any], level: float
) -> pd.DataFrame:
    """Return the words of topics that differ in groups of documents."""
    import pandas as pd

    if not 0 < level <= 1:
        raise InputError(f"level is {level!r}; give a number above 0, and at most 1, such as {LEVEL_OF_WORDS}.")
    name, names = groups
    found, n_tests = shifts(topic_tokens(model, corpus, asked.numbers), group, len(names), level)
    table = pd.DataFrame(
        {
            "topic": asked.numbers[found.topic],
            "label": np.array(asked.labels, dtype=object)[found.topic],
            name: np.asarray(names)[found.group],
            "word": in_tables([model.vocabulary_[w] for w in found.word]),
            "lift": found.lift,
            "observed": found.observed,
            "expected": found.expected,
            "p": found.p,
        }
    )
    table.attrs["tests"] = n_tests
    return table


@dataclass(frozen=True, slots=True)
class TopicTokens:
    """The expected tokens of a topic in the documents in which it is present.

    Attributes
    ----------
    tokens : ndarray of shape (D,)
        Of the topic in each document; 0 where it is not present.
    document, word : ndarray of int, of shape (n,)
    count : ndarray of shape (n,)
        Tokens of the word in the document.
    part : ndarray of shape (n,)
        Of them, that is of the topic.
    """

    tokens: Float
    document: Int
    word: Int
    count: Float
    part: Float

    def of_words(self, used: NDArray[np.bool_]) -> tuple[Int, TopicTokens]:
        """Return the words that are spread among enough of the used documents, and the same by places of these."""
        kept = used[self.document]
        words, w = np.unique(self.word[kept], return_inverse=True)
        d, x, r = self.document[kept], self.count[kept], self.part[kept]
        total, squares = np.bincount(w, x * r, words.size), np.bincount(w, (x * r) ** 2, words.size)
        enough = total**2 >= _LEAST_DOCUMENTS * squares  # effective documents (Kish 1965)
        rows = np.flatnonzero(enough[w])
        rows = rows[np.argsort(w[rows], kind="stable")]
        return words[enough], TopicTokens(self.tokens, d[rows], (np.cumsum(enough) - 1)[w[rows]], x[rows], r[rows])


def topic_tokens(topics: FlatTopics, corpus: Corpus, numbers: Int, weights: Any = None) -> list[TopicTokens]:
    """Return the expected tokens of topics, from one pass over the documents.                       docs/math (Q8)

    Parameters
    ----------
    topics : fitted model
    corpus : Corpus
    numbers : ndarray of int, of shape (n,)
        The topics.
    weights : ndarray of shape (D, K), optional
        The weights of all topics, if they are known already.
    """
    place = np.full(topics.n_columns_, -1)
    place[numbers] = np.arange(numbers.size)
    counts, tokens = corpus.counts, np.zeros((numbers.size, len(corpus)))
    none = np.zeros(0, np.int64)
    parts: list[tuple[Any, ...]] = [(none, none, none, np.zeros(0), np.zeros(0))]
    for d, (of_document, joint) in enumerate(joint_of_documents(topics, corpus, weights)):
        row = slice(int(counts.indptr[d]), int(counts.indptr[d + 1]))
        x, words = counts.data[row].astype(np.float64), counts.indices[row].astype(np.int64)
        r = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)  # (Q8)
        n = x @ r
        present = np.flatnonzero((place[of_document] >= 0) & (n >= max(_LEAST_TOKENS, _PRESENT * x.sum())))
        k, r = place[of_document[present]], r[:, present]
        tokens[k, d] = n[present]
        i, j = np.nonzero(r * x[:, None] > _LEAST_COUNT)
        parts.append((k[j], np.full(i.size, d), words[i], x[i], r[i, j]))
    topic, *columns = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.argsort(topic, kind="stable")
    cuts = np.searchsorted(topic[order], np.arange(numbers.size + 1))
    rows = [order[a:b] for a, b in pairwise(cuts)]
    return [TopicTokens(tokens[k], *(column[of_topic] for column in columns)) for k, of_topic in enumerate(rows)]


@dataclass(frozen=True, slots=True)
class Shifts:
    """Words of topics in groups of documents, m each: what differs from the topic as a whole, the largest lift first.

    Attributes
    ----------
    topic, group, word : ndarray of int, of shape (m,)
        `topic` is the place in what was given.
    lift, observed, expected, p : ndarray of shape (m,)
        Of a test p is adjusted for all tests.
    """

    topic: Int
    group: Int
    word: Int
    lift: Float
    observed: Float
    expected: Float
    p: Float


def shifts(topics: list[TopicTokens], group: Int, n_groups: int, level: float) -> tuple[Shifts, int]:
    """Return the words whose share of a topic differs in a group, and how many were tested.       docs/math (Q9)

    Parameters
    ----------
    topics : list of TopicTokens
    group : ndarray of int, of shape (D,)
        Number of the group of each document, or -1.
    n_groups : int
    level : float
        The largest adjusted p.
    """
    tested = [compared(one, group, n_groups) for one in topics]
    topic = np.repeat(np.arange(len(tested)), [one.p.size for one in tested])
    of_group, word, lift, observed, expected, p = (
        np.concatenate([getattr(one, name) for one in tested])
        for name in ("group", "word", "lift", "observed", "expected", "p")
    )
    p = adjusted(p)
    rows = np.flatnonzero(p <= level)
    rows = rows[np.lexsort((-lift[rows], of_group[rows], topic[rows]))]
    columns: tuple[Any, ...] = topic, of_group, word, lift, observed, expected, p
    return Shifts(*(column[rows] for column in columns)), int(p.size)


def compared(found: TopicTokens, group: Int, G: int) -> Shifts:
    """Test each word of a topic in each group; p is not adjusted.                                  docs/math (Q9)"""
    n = found.tokens
    stratum, S = _strata(n, (n > 0) & (group >= 0))
    words, spread = found.of_words(stratum >= 0)
    d, w, x, r = spread.document, spread.word, spread.count, spread.part
    used, h, c, W = np.flatnonzero(stratum >= 0), stratum[d], x * r, words.size
    m_h, n_h, n2_h = (np.bincount(stratum[used], values, S) for values in (None, n[used], n[used] ** 2))
    cell = stratum[used] * G + group[used]
    q = np.bincount(cell, minlength=S * G).reshape(S, G) / np.maximum(m_h, 1)[:, None]

    def sums(values: Float, other: Int, size: int) -> Float:
        return np.bincount(w * size + other, values, W * size).reshape(W, size).astype(np.float64)

    share = sums(c, h, S) / n_h
    observed, expected = sums(c, group[d], G), share @ np.bincount(cell, n[used], S * G).reshape(S, G)
    scatter = np.maximum(sums(c**2, h, S) - 2 * share * sums(c * n[d], h, S) + share**2 * n2_h, 0.0)
    variance = scatter @ (q * (1 - q)) + sums(c * (1 - r), h, S) @ q
    i, g = np.nonzero(variance > _LEAST_VARIANCE)
    observed, expected, variance = observed[i, g], expected[i, g], variance[i, g]
    z = (observed - expected) / np.sqrt(variance)
    p = 2 * stats.norm.sf(np.abs(z))
    first, of_bin = np.searchsorted(w, np.arange(W + 1)), _bins(n, stratum)
    B = int(of_bin.max(initial=-1)) + 1
    m_b, n_b = (np.bincount(of_bin[used], values, B) for values in (None, n[used]))
    stratum_of = np.zeros(B, np.int64)
    stratum_of[of_bin[used]] = stratum[used]
    for at in np.flatnonzero(np.abs(z) > _NEAR):
        word, row = i[at], slice(first[i[at]], first[i[at] + 1])
        lacking = m_b - np.bincount(of_bin[d[row]], minlength=B)  # documents without the word, by their tokens
        rest = (n_b - np.bincount(of_bin[d[row]], n[d[row]], B)) / np.maximum(lacking, 1)
        mean = np.append(share[word, h[row]] * n[d[row]], share[word, stratum_of] * rest)
        chance = q[np.append(h[row], stratum_of), g[at]]
        drawn_of, drawn_by = (np.append(values[row], np.zeros(B)) for values in (x, r))
        times = np.append(np.ones(row.stop - row.start), lacking)
        excess = float(observed[at] - expected[at])
        p[at] = min(1.0, 2 * tail(mean, drawn_of, drawn_by, chance, times, excess))
    of_documents = (_PRIOR_DOCUMENTS * np.bincount(w, c**2, W) / np.bincount(w, c, W))[i]
    lift = (observed + of_documents) / (expected + of_documents)
    return Shifts(np.zeros(i.size, np.int64), g, words[i], lift, observed, expected, p)


def _strata(n: Float, used: NDArray[np.bool_]) -> tuple[Int, int]:
    """Return the stratum of each document, -1 for one that is not used: in each the topic has as many tokens."""
    rows = np.flatnonzero(used)
    rows = rows[np.argsort(n[rows], kind="stable")]
    stratum, most = np.full(n.size, -1), int(np.clip(rows.size // _OF_STRATUM, 1, _MOST_STRATA))
    if rows.size:
        upto = np.cumsum(n[rows])
        wanted = np.minimum((upto - n[rows] / 2) * most / upto[-1], most - 1).astype(np.int64)
        stratum[rows] = np.unique(wanted, return_inverse=True)[1]
    return stratum, int(stratum.max(initial=0)) + 1


def _bins(n: Float, stratum: Int) -> Int:
    """Return the bin of each document of a stratum, -1 for others: documents of a bin have nearly as many tokens."""
    of_bin, rows = np.full(n.size, -1), np.flatnonzero(stratum >= 0)
    step = np.floor(np.log(n[rows]) / np.log(_BIN)).astype(np.int64)
    pairs = np.column_stack([stratum[rows], step])
    if rows.size:
        of_bin[rows] = np.unique(pairs, axis=0, return_inverse=True)[1].ravel()
    return of_bin


def tail(expected: Float, x: Float, r: Float, q: Float, times: Float, excess: float) -> float:
    """Return the probability that a sum exceeds its mean by `excess`, or falls below it by as much.   docs/math (Q9)

    Its parts are Binomial(x_i, r_i) - expected_i, each with chance q_i, or else 0; `times` says how many are alike.

    Parameters
    ----------
    expected, x, r, q, times : ndarray of shape (n,)
    excess : float
        Above zero: the upper tail; below: the lower tail.

    Examples
    --------
    >>> one, half = np.ones(1), np.full(1, 0.5)
    >>> round(tail(half, one, one, half, np.array([400.0]), 15.0), 5)  # 230 heads of 400, or more
    0.00133
    """
    sign = 1.0 if excess > 0 else -1.0

    def cumulants(t: float) -> tuple[float, float, float]:
        """Return K(t), K'(t), K''(t) of the sum, of which the sign is turned for the lower tail."""
        grown = r * np.exp(np.clip(sign * t, -_LARGEST, _LARGEST))
        part, base = grown / (1 - r + grown), 1 - r + grown
        chance = q * np.exp(np.minimum(x * np.log(base) - sign * t * expected, _LARGEST))
        there = chance / (1 - q + chance)
        first = sign * (x * part - expected)
        second = there * (x * part * (1 - part) + first**2) - (there * first) ** 2
        return float(times @ np.log(1 - q + chance)), float(times @ (there * first)), float(times @ second)

    _, mean, slope = cumulants(0.0)
    wanted, low, high = mean + abs(excess), 0.0, np.inf
    t = abs(excess) / slope
    for _ in range(_STEPS):  # Newton's method between bounds, for K'(t) = wanted
        K, found, slope = cumulants(t)
        if abs(found - wanted) <= _EXACT * abs(excess) or not slope > 0 or t > _LARGEST:
            break
        low, high = (t, high) if found < wanted else (low, t)
        step = t - (found - wanted) / slope
        t = step if low < step < high else 2 * t if high == np.inf else (low + high) / 2
    exponent = min(0.0, K - t * wanted)
    bound, root, u = float(np.exp(exponent)), float(np.sqrt(-2 * exponent)), t * float(np.sqrt(max(slope, 0.0)))
    return min(bound, float(stats.norm.sf(root + np.log(u / root) / root))) if root > 0 and u > 0 else bound
