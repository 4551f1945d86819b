"""What every reader of texts gives: documents by the thousand, in columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

_BYTES = 1 << 20  # of a block, about
_ROWS = 1 << 14


class Written(str):
    """A value as it is written in a table, whatever it stands for: a number, a date, a text."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive documents."""

    texts: Any  # of large strings without nulls, or of lists of them: words
    names: Any = None  # None: no document has a name; an empty one, or null, is none
    kept: dict[str, Any] = field(default_factory=dict)  # columns of values that are kept
    written: bool = False  # whether those are as a table has them: text that may stand for a number

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def is_cut(self) -> bool:
        """Whether texts are lists of words."""
        import pyarrow as pa

        return bool(pa.types.is_large_list(self.texts.type))

    @property
    def is_empty(self) -> bool:
        """Whether no document has a word or a letter."""
        import pyarrow.compute as pc

        lengths = pc.list_value_length(self.texts) if self.is_cut else pc.binary_length(self.texts)
        return not (pc.max(lengths).as_py() or 0)

    def slice(self, begin: int, end: int) -> Block:
        """Return some of the documents."""
        names = None if self.names is None else self.names[begin:end]
        kept = {name: values[begin:end] for name, values in self.kept.items()}
        return Block(self.texts[begin:end], names, kept, self.written)


def arrow_texts(texts: Sequence[Any]) -> Any:
    """Return texts, or lists of words, as Arrow holds them; halves of surrogate pairs become question marks."""
    import pyarrow as pa

    cut = bool(texts) and isinstance(texts[0], list)
    kind = pa.large_list(pa.large_string()) if cut else pa.large_string()
    try:
        return pa.array(texts, kind)
    except UnicodeEncodeError:
        whole = [[_whole(word) for word in text] for text in texts] if cut else [_whole(text) for text in texts]
        return pa.array(whole, kind)


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def named(values: Any) -> Any:
    """Return names, of any type, as Arrow's large strings; null for none; None where none has a name."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(values, pa.Array):
        values = arrow_texts([None if value is None else str(value) for value in values])
    names = values.cast(pa.large_string())
    names = pc.if_else(pc.equal(names, ""), pa.scalar(None, names.type), names)
    return None if names.null_count == len(names) else names


def names_of(parts: Sequence[tuple[Any, int]], first: int = 0) -> Any:
    """Return the names of consecutive documents, those without one by their numbers; None where none has a name."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if all(names is None for names, _ in parts):
        return None
    kind = pa.large_string()
    whole = pa.concat_arrays([pa.nulls(n, kind) if names is None else names for names, n in parts])
    if not whole.null_count:
        return whole
    numbers = pa.array(range(first, first + len(whole))).cast(kind)
    return pc.coalesce(whole, numbers)


def blocks_of_texts(texts: Iterable[Any]) -> Iterator[Block]:
    """Put texts, or lists of words, together, about a mebibyte of them."""
    some: list[Any] = []
    size = 0
    cut = False
    for text in texts:
        if some and isinstance(text, list) != cut:
            yield Block(arrow_texts(some))
            some, size = [], 0
        cut = isinstance(text, list)
        some.append(text)
        size += len(text)
        if size >= _BYTES or len(some) >= _ROWS:
            yield Block(arrow_texts(some))
            some, size = [], 0
    if some:
        yield Block(arrow_texts(some))
