"""Where the topics of tokens begin that seeds say something of (math.md (C18))."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.baselines.by_word import ByWord
from stickbreak.corpus import Corpus

AT_ONCE = 1 << 20  # tokens, of which there are a dozen numbers each


def with_seeds(
    corpus: Corpus, tokens: ByWord, pseudo: sparse.csr_array, n_topics: int, rng: np.random.Generator
) -> NDArray[np.uint16]:
    """Draw a topic for each token: a seed that has its word, else one whose words its document has, or a free one.

    math.md (C18)

    Parameters
    ----------
    corpus : Corpus
    tokens : ByWord
        Of this corpus.
    pseudo : csr_array of shape (W, n_kept)
        Pseudo-counts of the first topics.
    n_topics : int
        K; where all of them have pseudo-counts, any of them counts as free.
    rng : Generator

    Returns
    -------
    ndarray of shape (N,)
        Word by word.
    """
    n_kept = int(pseudo.shape[1])
    seeds = sparse.csr_array((np.ones(pseudo.nnz), pseudo.indices, pseudo.indptr), shape=pseudo.shape)
    of_documents = sparse.csr_array(corpus.counts @ seeds)  # tokens of the words of each seed, (D, n_kept)
    upto = np.concatenate([[0.0], np.cumsum(of_documents.data)])
    before, topics = upto[of_documents.indptr], np.append(of_documents.indices, 0)
    z = np.empty(tokens.n_tokens, np.uint16)
    for first in range(0, z.size, AT_ONCE):
        last = min(first + AT_ONCE, z.size)
        word = np.searchsorted(tokens.start, np.arange(first, last), side="right") - 1
        document = np.searchsorted(tokens.heads, tokens.where[first:last])
        free = rng.integers(n_kept if n_kept < n_topics else 0, n_topics, size=last - first)
        end = before[document + 1]
        u = before[document] + rng.random(last - first) * (end - before[document] + 1.0)
        near = np.where(u < end, topics[np.searchsorted(upto[1:], u, side="right")], free)
        n_seeds = np.diff(seeds.indptr)[word]
        place = seeds.indptr[word] + (rng.random(last - first) * n_seeds).astype(np.int64)
        z[first:last] = np.where(n_seeds > 0, np.append(seeds.indices, 0)[place], near)
    return z
