"""The topics of two models, matched by the tokens that they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.model.input_documents import counted_for
from stickbreak.numerics.arrays import Float, Int
from stickbreak.prediction.words import check_same_words
from stickbreak.questions.words import best_topics

if TYPE_CHECKING:
    import pandas as pd

_MOST = 0.5  # a topic comes from another, or goes into it, with at least this part of its tokens
_SAME = 0.5  # similarity from which on two topics are the same
_PIECE = 0.1  # of a topic: smaller parts split nothing

Rows = list[tuple[int, int, float, str, tuple[int, ...]]]


@dataclass(frozen=True, slots=True)
class Alignment:
    """How the topics of two models correspond.

    Attributes
    ----------
    table : DataFrame
        A row for each topic of the first model, then one for each topic of the second that none was matched with:
        topic_a, label_a, topic_b, label_b, share_a, share_b (of the tokens of each model), similarity (tokens of both
        over tokens of either, from 0 to 1), what (same, split, joined, part, changed, gone or new) and parts: the
        topics of the second model that a topic was split into, those of the first that were joined, the topic of
        the other model that a part belongs to, or the one that has most of what is gone, new or changed, if any has
        some. A missing topic is -1.
    shared : ndarray of shape (K, L)
        Share of all tokens that are in a topic of the first model and in one of the second.
    agreement : float
        Share of all tokens that are in topics which were matched, from 0 to 1.
    """

    table: pd.DataFrame
    shared: Float
    agreement: float


def align(a: Any, b: Any, X: Any = None) -> Alignment:
    """Match the topics of two models, one to one, so that as many tokens as possible are in matched topics.

    With documents, each token goes to its likeliest topic in either model (docs/math (Q8)). Without, two topics share
    Σ_w min(s_k φ_kw, s_l φ_lw) at most, with s their shares of the tokens. That is taken for the topics that are
    matched; all others share what these leave. The match is the best of all, found by the Hungarian method. The table
    says what became of each topic, where "most" is at least a half. The first that holds:

    - *split*: several topics of the second model have most of their tokens from it, and each a tenth of it or more;
    - *joined*: most of its tokens, and of other topics', are in one topic, each a tenth of that one or more;
    - *same*: the similarity of it and its match is at least a half;
    - *part*: most of its tokens are in one topic of the other model, and are less than a tenth of that;
    - *changed*: one topic of the other model has most of its tokens, or its match has most of its own from it;
    - *gone*, *new*: neither. The similarity is below a third.

    Parameters
    ----------
    a, b : fitted models of words
        Of any families. Of a tree the 100 largest leaves are compared.
    X : Corpus, counts or texts, optional
        Documents to compare them on. Models of different words take texts or a Corpus with a vocabulary.

    Returns
    -------
    Alignment

    Raises
    ------
    InputError
        If the models have no word in common, or the documents do not fit them.

    Examples
    --------
    >>> import stickbreak
    >>> corpus, truth = stickbreak.corpus.toy_bars(n_documents=100, seed=0)
    >>> model = stickbreak.TopicModel(n_laps=3, random_state=0).fit(corpus)
    >>> set(align(model, model, corpus).table["what"])
    {'same'}
    """
    import pandas as pd

    of_a, of_b = a.labelled_topics(), b.labelled_topics()
    if X is None:
        shared, sizes_a, sizes_b = _by_words(a, of_a.numbers, b, of_b.numbers)
    else:
        shared, sizes_a, sizes_b = _by_tokens(a, of_a.numbers, b, of_b.numbers, X)
    rows, columns = linear_sum_assignment(shared, maximize=True)
    real = shared[rows, columns] > 0
    match = dict(zip(rows[real].tolist(), columns[real].tolist(), strict=True))
    found = _described(shared, (sizes_a, sizes_b), (of_a.numbers, of_b.numbers), match)
    table = pd.DataFrame(found, columns=["topic_a", "topic_b", "similarity", "what", "parts"])
    for side, asked, sizes in (("a", of_a, sizes_a), ("b", of_b, sizes_b)):
        place = table[f"topic_{side}"].to_numpy()
        table[f"topic_{side}"] = np.where(place < 0, -1, asked.numbers[place])
        table[f"label_{side}"] = ["" if i < 0 else asked.labels[i] for i in place]
        table[f"share_{side}"] = np.where(place < 0, 0.0, sizes[place])
    order = ["topic_a", "label_a", "topic_b", "label_b", "share_a", "share_b", "similarity", "what", "parts"]
    return Alignment(table[order], shared, float(shared[rows[real], columns[real]].sum()))


def _by_words(a: Any, of_a: Int, b: Any, of_b: Int) -> tuple[Float, Float, Float]:
    """Return what topics share by their words, and the sizes of the topics among the words of both models."""
    place = {word: w for w, word in enumerate(b.vocabulary_)}
    in_a = np.array([w for w, word in enumerate(a.vocabulary_) if word in place], np.int64)
    if not in_a.size:
        raise InputError("the two models have no word in common; compare models of the same kind of texts.")
    in_b = np.array([place[a.vocabulary_[w]] for w in in_a], np.int64)
    of_words_a, of_words_b = _token_shares(a, of_a, in_a), _token_shares(b, of_b, in_b)
    sizes = of_words_a.sum(axis=1), of_words_b.sum(axis=1)
    overlap = _overlap(of_words_a, of_words_b)
    rows, columns = linear_sum_assignment(overlap, maximize=True)
    taken = np.minimum(of_words_a[rows], of_words_b[columns])
    of_words_a[rows] -= taken
    of_words_b[columns] -= taken
    shared = _overlap(of_words_a, of_words_b)
    shared[rows, columns] = overlap[rows, columns]
    return shared, *sizes


def _overlap(of_words_a: Float, of_words_b: Float) -> Float:
    """Return Σ_w min(a_kw, b_lw), (K, L)."""
    return np.stack([np.minimum(row, of_words_b).sum(axis=1) for row in of_words_a])


def _token_shares(model: Any, numbers: Int, words: Int) -> Float:
    """Return s_k φ_kw at some words; all together are one."""
    found = model.word_distributions(numbers)[:, words]
    known = model.shown_topics(1, most=max(numbers.size, 1))
    share = dict(zip(known.numbers.tolist(), known.shares.tolist(), strict=True))
    found = found * np.array([share[k] for k in numbers.tolist()])[:, None]
    total: float = found.sum()
    return np.asarray(found / total) if total > 0 else found


def _by_tokens(a: Any, of_a: Int, b: Any, of_b: Int, X: Any) -> tuple[Float, Float, Float]:
    """Return what topics share by the most probable topics of tokens, and the sizes of the topics."""
    sides = [_assigned(model, numbers, counted_for(model, X)) for model, numbers in ((a, of_a), (b, of_b))]
    (key_a, topic_a, count), (key_b, topic_b, _) = sides
    if tuple(a.vocabulary_) != tuple(b.vocabulary_):
        place = {word: w for w, word in enumerate(b.vocabulary_)}
        W, V = len(a.vocabulary_), len(b.vocabulary_)
        renamed = np.array([place.get(word, -1) for word in a.vocabulary_], np.int64)[key_a % W]
        known = renamed >= 0
        key_a, topic_a, count = (key_a // W * V + renamed)[known], topic_a[known], count[known]
    _, at_a, at_b = np.intersect1d(key_a, key_b, assume_unique=True, return_indices=True)
    if not at_a.size:
        raise InputError("X has no word that both models know; give documents of the same kind of texts.")
    rows, columns, weights = topic_a[at_a], topic_b[at_b], count[at_a].astype(np.float64)
    weights /= weights.sum()
    kept = (rows >= 0) & (columns >= 0)  # of a tree leaves that are not compared
    where = (rows[kept], columns[kept])
    shared = sparse.coo_matrix((weights[kept], where), shape=(of_a.size, of_b.size)).toarray()
    return shared, _sizes(rows, weights, of_a.size), _sizes(columns, weights, of_b.size)


def _sizes(topics: Int, weights: Float, n: int) -> Float:
    """Return how much weight each of n topics has; -1 is none of them."""
    known = topics >= 0
    return np.asarray(np.bincount(topics[known], weights[known], minlength=n), dtype=np.float64)


def _assigned(model: Any, numbers: Int, corpus: Corpus) -> tuple[Int, Int, Float]:
    """Return d W + w of each stored count, the place of its most probable topic in `numbers`, or -1, and the count."""
    check_same_words(model, corpus)
    entry, topic, _ = (np.concatenate(column) for column in zip(*best_topics(model, corpus, 1), strict=True))
    counts, place = corpus.counts, np.full(model.n_columns_, -1, np.int64)
    place[numbers] = np.arange(numbers.size)
    document = np.repeat(np.arange(len(corpus)), np.diff(counts.indptr))[entry]
    key = document.astype(np.int64) * corpus.n_words + counts.indices[entry]
    return key, place[topic], counts.data[entry]


def _described(shared: Float, sizes: tuple[Float, Float], numbers: tuple[Int, Int], match: dict[int, int]) -> Rows:
    """Say of each topic what became of it: places of the two topics, -1 for none, similarity, what, parts."""
    (size_a, size_b), (of_a, of_b) = sizes, numbers
    into = (shared > 0) & (shared >= _MOST * size_a[:, None])  # most of k goes into j
    out_of = (shared > 0) & (shared >= _MOST * size_b)  # most of j comes from k
    pieces = out_of & (shared >= _PIECE * size_a[:, None])
    sources = into & (shared >= _PIECE * size_b)
    rows: Rows = []
    for k in range(len(shared)):
        j, goes = match.get(k, -1), np.flatnonzero(into[k])
        to = int(goes[0]) if goes.size else -1
        similarity = shared[k, j] / (size_a[k] + size_b[j] - shared[k, j]) if j >= 0 else 0.0
        if pieces[k].sum() > 1:
            what, parts = "split", of_b[pieces[k]]
        elif to >= 0 and sources[k, to] and sources[:, to].sum() > 1:
            what, parts = "joined", of_a[sources[:, to]]
        elif similarity >= _SAME:
            what, parts = "same", of_b[:0]
        elif to >= 0 and not sources[k, to]:
            what, parts = "part", of_b[[to]]
        else:
            what = "changed" if to >= 0 or (j >= 0 and out_of[k, j]) else "gone"
            parts = _nearest(shared[k], of_b)
        rows.append((k, j, float(similarity), what, tuple(parts.tolist())))
    for j in sorted(set(range(shared.shape[1])) - set(match.values())):
        origin = np.flatnonzero(out_of[:, j])
        if not origin.size:
            what, parts = "new", _nearest(shared[:, j], of_a)
        elif pieces[origin[0], j] and pieces[origin[0]].sum() > 1:
            what, parts = "split", of_b[pieces[origin[0]]]
        else:
            what, parts = "part", of_a[origin[:1]]
        rows.append((-1, j, 0.0, what, tuple(parts.tolist())))
    return rows


def _nearest(shared: Float, numbers: Int) -> Int:
    """Return the number of the topic that shares most tokens, in an array; none where nothing is shared."""
    return numbers[[int(shared.argmax())]] if shared.max(initial=0.0) > 0 else numbers[:0]
