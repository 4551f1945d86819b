"""A corpus written out token by token: what samplers work on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stickbreak.corpus.corpus import Corpus
from stickbreak.corpus.csr import row_of_entry
from stickbreak.exceptions import InvalidCorpus
from stickbreak.numerics.arrays import Int, Int32
from stickbreak.numerics.streams import stream

_AT_ONCE = 1 << 20  # counts that are looked at: those of a folder may be more than memory holds


def refuse_fractions(corpus: Corpus) -> None:
    """Refuse counts that are not whole numbers."""
    given = corpus.counts.data
    if corpus.is_integer:
        return
    for first in range(0, given.size, _AT_ONCE):
        broken = np.flatnonzero(np.rint(part := given[first : first + _AT_ONCE]) != part)
        if not broken.size:
            continue
        at = first + int(broken[0])
        raise InvalidCorpus(
            f"row {row_of_entry(corpus.counts, at)} of the counts holds {given[at]:.6g}, but a sampler assigns each "
            "token to a topic; give whole numbers of tokens (raw counts, not tf-idf), or take VariationalHDP "
            "(--method variational), which takes weights."
        )


def whole_counts(corpus: Corpus) -> Int:
    """Return how many tokens each stored count of a corpus stands for."""
    refuse_fractions(corpus)
    return corpus.counts.data.astype(np.int64)


def rounded(corpus: Corpus, seed: int) -> Corpus:
    """Return a corpus of whole counts: a fraction becomes one token with its probability, or none."""
    if corpus.is_integer:
        return corpus
    whole = corpus.counts.copy()
    whole.data = np.floor(corpus.counts.data + stream(seed, "fractions of counts").random(whole.nnz))
    whole.eliminate_zeros()
    return Corpus(whole, corpus.vocabulary)


def written_out(corpus: Corpus) -> tuple[Int, Int32]:
    """Return where each document begins, (D + 1,), and the word of each token, (N,)."""
    counts, whole = corpus.counts, whole_counts(corpus)
    word = np.repeat(counts.indices, whole).astype(np.int32)
    return np.concatenate(([0], np.cumsum(whole)))[counts.indptr].astype(np.int64), word


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a corpus, document by document; equal words of a document stand together."""

    start: Int  # (D + 1,)  document d has the tokens start[d] .. start[d + 1] - 1
    word: Int32  # (N,)
    n_words: int
    by_word: Int32 | Int  # (N,)  the tokens in the order of their words
    word_start: Int  # (W + 1,)  word w has the tokens by_word[word_start[w]] ..
    n_given: int = 0  # documents at the end whose tokens keep their topics: number 0, 1, ..

    @classmethod
    def from_corpus(cls, corpus: Corpus, n_given: int = 0) -> Tokens:
        """Write the counts of a corpus out, token by token; the last `n_given` documents keep their topics."""
        start, word = written_out(corpus)
        word_start = np.concatenate(([0], np.cumsum(np.bincount(word, minlength=corpus.n_words)))).astype(np.int64)
        short = word.astype(np.uint16) if corpus.n_words <= 1 << 16 else word  # sorted by their digits
        by_word = np.argsort(short, kind="stable")
        if word.size < 2**31:
            by_word = by_word.astype(np.int32)
        return cls(start, word, corpus.n_words, by_word, word_start, n_given)

    @property
    def n_documents(self) -> int:
        """Number of documents D."""
        return self.start.size - 1

    @property
    def n_tokens(self) -> int:
        """Number of tokens N that change their topics."""
        return int(self.sampled[-1])

    @property
    def lengths(self) -> Int:
        """Tokens of each document n_j, (D,)."""
        return np.diff(self.start)

    @property
    def n_sampled(self) -> int:
        """Number of documents, the first ones, whose tokens change their topics."""
        return self.n_documents - self.n_given

    @property
    def sampled(self) -> Int:
        """Where these begin, and the last of them ends, (n_sampled + 1,)."""
        return self.start[: self.n_sampled + 1]

    @property
    def given_topics(self) -> Int32:
        """Topics of the tokens of the other documents."""
        return np.repeat(np.arange(self.n_given, dtype=np.int32), self.lengths[self.n_sampled :])
