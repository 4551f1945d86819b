"""Counting the words of texts, block by block, in a table of all words met so far."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise
from unicodedata import normalize

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.csr import assemble_csr
from stickbreak.corpus.encoded_words import EncodedWords
from stickbreak.corpus.kernels.words import DIGIT, LETTER, MARK, count_block, rehash
from stickbreak.corpus.reading.text_blocks import TextBlock
from stickbreak.corpus.unicode_words import character_runs

__all__ = ["WordTable"]

_BLOCK = 1 << 16  # bytes of text that are counted at once
_N_CHARACTERS = 0x110000
_SHORTEST = 3  # characters of a word, and so at least as many bytes

_Entries = tuple[np.ndarray, np.ndarray, np.ndarray]  # words, counts, and where the entries of each document end


class WordTable:
    """Words as `unicode_words` finds them, with their counts.

    Parameters
    ----------
    ignored : iterable of str
        Words that are not counted.
    lowercase : bool
        Make a text lower case first that is all ASCII.
    prepare : callable
        What is done first with any other text, lower case included.
    """

    def __init__(self, ignored: Iterable[str], *, lowercase: bool, prepare: Callable[[str], str]) -> None:
        self._lowercase, self._prepare = lowercase, prepare
        self._seed = np.uint64(secrets.randbits(64))  # no text can be made to fill one slot
        self._slots = np.zeros(1 << 10, np.int32)
        self._hashes, self._starts = np.empty(0, np.uint64), np.zeros(1, np.int64)
        self._arena = np.empty(0, np.uint8)
        self._document_of = self._place_of = np.empty(0, np.int64)
        self._n_words = self._n_ignored = self._n_documents = 0
        self.counts(ignored)
        self._n_ignored = self._n_words

    @property
    def words(self) -> list[str]:
        """The words in the order of their columns: that of their first occurrence."""
        return self.encoded.listed()

    @property
    def encoded(self) -> EncodedWords:
        """The words in UTF-8, in the same order."""
        starts = self._starts[self._n_ignored : self._n_words + 1]
        return EncodedWords(self._arena[starts[0] : starts[-1]], starts - starts[0])

    def counts(self, texts: Iterable[str]) -> sp.csr_matrix:
        """Count texts; none is held after it was taken.

        Parameters
        ----------
        texts : iterable of str
            Composed (NFC).

        Returns
        -------
        csr_matrix of int32 of shape (D, W)
            A column for each of the words so far. The columns of a row are in no order.
        """
        blocks: list[_Entries] = []
        parts: list[bytes] = []
        ends: list[int] = []
        size = 0
        ascii_only = True
        for text in texts:
            if text.isascii():
                content = text.encode("ascii")
                content = content.lower() if self._lowercase else content
            else:
                content, ascii_only = self._prepare(text).encode("utf-8", "surrogatepass"), False
            parts.append(content)
            size += len(content)
            ends.append(size)
            if size >= _BLOCK:
                blocks.append(self._count(*_joined(parts, ends), ascii_only=ascii_only))
                parts, ends, size, ascii_only = [], [], 0, True
        blocks.append(self._count(*_joined(parts, ends), ascii_only=ascii_only))
        return self._matrix(blocks)

    def counts_of_blocks(self, blocks: Iterable[TextBlock]) -> sp.csr_matrix:
        """Count texts that come many at once; they need not be composed.

        Parameters
        ----------
        blocks : iterable of TextBlock

        Returns
        -------
        csr_matrix of int32 of shape (D, W)
            As `counts` returns it.
        """
        entries: list[_Entries] = []
        for block in blocks:
            content, ends = self._prepared(block)
            cuts = np.searchsorted(ends, np.arange(_BLOCK, len(content), _BLOCK), side="right")
            for first, last in pairwise(sorted({0, *cuts.tolist(), ends.size})):
                begin = int(ends[first - 1]) if first else 0
                some = np.frombuffer(content, np.uint8)[begin : int(ends[last - 1])]
                ascii_only = bool(block.plain[first:last].all())
                entries.append(self._count(some, ends[first:last] - begin, ascii_only=ascii_only))
        return self._matrix(entries)

    def _prepared(self, block: TextBlock) -> tuple[bytes, np.ndarray]:
        """Compose the texts of a block and make them lower case, as far as that is wanted."""
        content = block.content.lower() if self._lowercase else block.content  # of bytes: only what is ASCII
        if block.plain.all():
            return content, block.ends
        rows = np.flatnonzero(~block.plain)
        lengths = np.diff(block.ends, prepend=0)
        ends = block.ends[rows].tolist()
        spans = list(zip((block.ends[rows] - lengths[rows]).tolist(), ends, strict=True))
        prepared = self._composed([block.content[begin:end] for begin, end in spans])
        lengths[rows] = [len(text) for text in prepared]
        parts: list[bytes] = []
        for at, (begin, _), text in zip([0, *ends], spans, prepared, strict=False):
            parts += content[at:begin], text
        return b"".join([*parts, content[ends[-1] :]]), np.cumsum(lengths)

    def _composed(self, texts: list[bytes]) -> list[bytes]:
        """Compose texts and prepare them, all in one string, which is quicker than one by one."""
        given = b"\0".join(texts).decode("utf-8", "surrogatepass").split("\0")
        together = "\0".join([normalize("NFC", text) for text in given])
        prepared = self._prepare(together).encode("utf-8", "surrogatepass").split(b"\0")
        if len(prepared) == len(texts):
            return prepared
        alone = (normalize("NFC", text.decode("utf-8", "surrogatepass")) for text in texts)  # one holds a zero byte
        return [self._prepare(text).encode("utf-8", "surrogatepass") for text in alone]

    def _count(self, content: np.ndarray, ends: np.ndarray, *, ascii_only: bool) -> _Entries:
        self._make_room(content.size)
        found = count_block(
            content,
            ends,
            _kinds(ascii_only=ascii_only),
            self._seed,
            self._slots,
            self._hashes,
            self._starts,
            self._arena,
            self._n_words,
            self._n_ignored,
            self._document_of,
            self._place_of,
            self._n_documents,
        )
        self._n_words, n_entries, words, counts, entries_end = found
        self._n_documents += ends.size
        return words[:n_entries].copy(), counts[:n_entries].copy(), entries_end  # of arrays with room for more

    def _make_room(self, n_bytes: int) -> None:
        """Let the table grow to hold all words that a text of this size can bring."""
        most = self._n_words + n_bytes // _SHORTEST + 1
        if self._hashes.size < most:
            size = max(most, 2 * self._hashes.size)
            self._hashes, self._starts = _longer(self._hashes, size), _longer(self._starts, size + 1)
            self._document_of, self._place_of = _longer(self._document_of, size), _longer(self._place_of, size)
        used = int(self._starts[self._n_words])
        if self._arena.size < used + n_bytes:
            self._arena = _longer(self._arena, max(used + n_bytes, 2 * self._arena.size))
        if self._slots.size < 2 * most:
            self._slots = np.zeros(1 << (2 * most - 1).bit_length(), np.int32)
            rehash(self._slots, self._hashes, self._n_words)

    def _matrix(self, blocks: list[_Entries]) -> sp.csr_matrix:
        ends = [np.zeros(1, np.int64)]
        for _, _, end in blocks:
            ends.append(end + ends[-1][-1])
        indptr = np.concatenate(ends)
        dtype = np.int32 if indptr[-1] < 2**31 else np.int64
        indices = np.concatenate([words - self._n_ignored for words, _, _ in blocks]).astype(dtype, copy=False)
        data = np.concatenate([counts for _, counts, _ in blocks])
        return assemble_csr(data, indices, indptr.astype(dtype, copy=False), self._n_words - self._n_ignored)


def _joined(parts: list[bytes], ends: list[int]) -> tuple[np.ndarray, np.ndarray]:
    return np.frombuffer(b"".join(parts), np.uint8), np.array(ends, np.int64)


def _longer(array: np.ndarray, size: int) -> np.ndarray:
    longer = np.empty(size, array.dtype)
    longer[: array.size] = array
    return longer


@cache
def _kinds(*, ascii_only: bool) -> np.ndarray:
    """Return the kind of each character, by its code point."""
    kinds = np.zeros(128 if ascii_only else _N_CHARACTERS, np.uint8)
    for kind, runs in zip((LETTER, MARK, DIGIT), character_runs(kinds.size), strict=True):
        for begin, end in runs:
            kinds[begin:end] = kind
    return kinds
