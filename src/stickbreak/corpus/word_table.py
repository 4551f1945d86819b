"""Counting the words of texts, block by block, in a table of all words met so far."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.csr import assemble_csr
from stickbreak.corpus.kernels.words import DIGIT, LETTER, MARK, count_block, rehash
from stickbreak.corpus.reading.blocks import blocks_of_texts
from stickbreak.corpus.words import character_runs

_BLOCK = 1 << 16  # bytes of text that are counted at once
_N_CHARACTERS = 0x110000
_SHORTEST = 3  # characters of a word, and so at least as many bytes

_Entries = tuple[np.ndarray, np.ndarray, np.ndarray]  # words, counts, and where the entries of each document end


class WordTable:
    """Words as `unicode_words` finds them, with their counts."""

    def __init__(
        self, ignored: Iterable[str], *, lowercase: bool, prepare: Callable[[str], str], always: bool = False
    ) -> None:
        self._lowercase, self._prepare, self._always = lowercase and not always, prepare, always
        self._seed = np.uint64(secrets.randbits(64))  # no text can be made to fill one slot
        self._slots = np.zeros(1 << 10, np.int32)
        self._hashes, self._starts = np.empty(0, np.uint64), np.zeros(1, np.int64)
        self._arena = np.empty(0, np.uint8)
        self._document_of = self._place_of = np.empty(0, np.int64)
        self._n_words = self._n_ignored = self._n_documents = 0
        self.counts(block.texts for block in blocks_of_texts(ignored))
        self._n_ignored = self._n_words

    @property
    def words(self) -> Any:
        """The words, an array of Arrow, in the order of their columns: that of their first occurrence."""
        import pyarrow as pa

        starts = self._starts[self._n_ignored : self._n_words + 1].copy()
        content = self._arena[starts[0] : starts[-1]].copy()
        starts -= starts[0]
        buffers = [None, pa.py_buffer(starts), pa.py_buffer(content)]
        return pa.Array.from_buffers(pa.large_string(), starts.size - 1, buffers)

    def counts(self, texts: Iterable[Any]) -> sp.csr_matrix:
        """Count texts; none is held after it was taken."""
        entries: list[_Entries] = []
        for some in texts:
            content, ends, plain = self._prepared(some)
            cuts = np.searchsorted(ends, np.arange(_BLOCK, content.size, _BLOCK), side="right")
            for first, last in pairwise(sorted({0, *cuts.tolist(), ends.size})):
                begin = int(ends[first - 1]) if first else 0
                own = content[begin : int(ends[last - 1])]
                entries.append(self._count(own, ends[first:last] - begin, ascii_only=bool(plain[first:last].all())))
        return self._matrix(entries)

    def _prepared(self, texts: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the bytes of texts, made ready to be counted, where each ends, and whether it is all ASCII."""
        import pyarrow.compute as pc

        plain = np.asarray(pc.string_is_ascii(texts)) & (not self._always)
        _, offsets, values = texts.buffers()
        starts = np.frombuffer(offsets, np.int64, len(texts) + 1, 8 * texts.offset)
        begin, end = int(starts[0]), int(starts[-1])
        content = bytes(memoryview(values)[begin:end]) if end > begin else b""
        starts = starts - begin
        if self._lowercase:
            content = content.lower()  # of bytes: only what is ASCII
        if plain.all():
            return np.frombuffer(content, np.uint8), starts[1:], plain
        rows = np.flatnonzero(~plain)
        spans = list(zip(starts[rows].tolist(), starts[rows + 1].tolist(), strict=True))
        prepared = self._composed([content[begin:end] for begin, end in spans])
        lengths = np.diff(starts)
        lengths[rows] = [len(text) for text in prepared]
        parts: list[bytes] = []
        for at, (begin, _), text in zip([0, *(end for _, end in spans)], spans, prepared, strict=False):
            parts += content[at:begin], text
        whole = b"".join([*parts, content[spans[-1][1] :]])
        return np.frombuffer(whole, np.uint8), np.cumsum(lengths), plain

    def _composed(self, texts: list[bytes]) -> list[bytes]:
        """Prepare texts, all in one string, which is quicker than one by one."""
        prepared = self._prepare(b"\0".join(texts).decode()).encode("utf-8", "replace").split(b"\0")
        if len(prepared) == len(texts):
            return prepared
        return [self._prepare(text.decode()).encode("utf-8", "replace") for text in texts]  # one holds a zero byte

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
        nothing = np.empty(0, np.int32)
        indices = np.concatenate([nothing, *(words - self._n_ignored for words, _, _ in blocks)])
        data = np.concatenate([nothing, *(counts for _, counts, _ in blocks)])
        columns = indices.astype(dtype, copy=False)
        return assemble_csr(data, columns, indptr.astype(dtype, copy=False), self._n_words - self._n_ignored)


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
