"""Documents by the thousand: their texts together as bytes, for kernels that count them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stickbreak.corpus.reading.records import Records
from stickbreak.corpus.stored import json_line

__all__ = ["TextBlock", "blocks_of"]

_BYTES = 1 << 20  # of a block, about


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Consecutive documents.

    Attributes
    ----------
    content : bytes
        Their texts one after another, in UTF-8; halves of surrogate pairs as "surrogatepass" writes them.
    ends : ndarray of int64 of shape (D,)
        Where each text ends.
    plain : ndarray of bool of shape (D,)
        Whether a text is all ASCII.
    names : bytes
        A JSON string on a line for each document, an empty line for one without a name.
    n_named : int
        Documents that have a name.
    kept : sequence of mapping, or dict of pyarrow.DictionaryArray
        The values that are kept, of each document or of each column; the latter as `Gatherer.add_columns` takes them.
    """

    content: bytes
    ends: np.ndarray
    plain: np.ndarray
    names: bytes
    n_named: int
    kept: Sequence[Mapping[str, object]] | dict[str, Any]

    def texts(self) -> Iterator[str]:
        """Give the texts one by one."""
        begin = 0
        for end in self.ends.tolist():
            yield self.content[begin:end].decode("utf-8", "surrogatepass")
            begin = end


def blocks_of(records: Records) -> Iterator[TextBlock]:
    """Put documents together, about a mebibyte of them.

    Parameters
    ----------
    records : iterator of records

    Yields
    ------
    TextBlock
    """
    texts: list[bytes] = []
    names: list[bytes] = []
    plain: list[bool] = []
    kept: list[Mapping[str, object]] = []
    size = 0
    for name, text, values in records:
        content = text.encode("utf-8", "surrogatepass")
        texts.append(content)
        plain.append(text.isascii())
        names.append(b"\n" if name is None else json_line(name))
        kept.append(values)
        size += len(content) + 1
        if size >= _BYTES:
            yield _block(texts, plain, names, kept)
            texts, names, plain, kept, size = [], [], [], [], 0
    if texts:
        yield _block(texts, plain, names, kept)


def _block(texts: list[bytes], plain: list[bool], names: list[bytes], kept: list[Mapping[str, object]]) -> TextBlock:
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    n_named = len(names) - names.count(b"\n")
    return TextBlock(b"".join(texts), ends, np.array(plain), b"".join(names), n_named, kept)
