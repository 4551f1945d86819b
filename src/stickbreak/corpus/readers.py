"""One function that reads a collection in any format, and one that gives texts back for a report."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import scipy.sparse as sp

from stickbreak.corpus.corpus import Corpus
from stickbreak.corpus.files import decoded_lines
from stickbreak.corpus.folder import open_corpus
from stickbreak.corpus.formats import detect_format
from stickbreak.corpus.ldac import read_ldac
from stickbreak.corpus.matrix_market import read_matrix_market
from stickbreak.corpus.npz import read_npz
from stickbreak.corpus.text import TextOptions, count_texts
from stickbreak.corpus.text_sources import (
    Records,
    csv_records,
    folder_records,
    jsonl_records,
    line_records,
    parquet_records,
)
from stickbreak.corpus.uci import read_uci
from stickbreak.corpus.vocabularies import read_vocabulary, vocabulary_for
from stickbreak.exceptions import InputError, InvalidCorpus, ReadError

__all__ = ["read", "read_texts"]

PathLike = str | os.PathLike[str]

_MATRICES: dict[str, Callable[[Path], sp.csr_matrix]] = {
    "uci": read_uci,
    "mtx": read_matrix_market,
    "npz": read_npz,
}


def read(
    path: PathLike,
    *,
    format: str | None = None,
    text_field: str | None = None,
    name_field: str | None = None,
    vocabulary: Sequence[str] | PathLike | None = None,
    text: TextOptions | None = None,
    encoding: str = "utf-8",
    chunk_size: int = 10_000,
) -> Corpus:
    r"""Read a collection of documents.

    Parameters
    ----------
    path : str or PathLike
        What to read. Texts: JSON lines, CSV or TSV, Parquet, a text file of one document a line, a folder of
        text files. Counts: UCI bag of words, LDA-C, Matrix Market, SciPy .npz, a corpus folder. Files may be
        gzipped.
    format : {"jsonl", "csv", "tsv", "parquet", "lines", "folder", "uci", "ldac", "mtx", "npz", "corpus"}, optional
        The format; found from the name and the content if not given.
    text_field : str, optional
        Field or column of the text; else "text", else the only one that holds strings.
    name_field : str, optional
        Field or column of the documents' names; else "id", "name" or "title" if there is one, else documents
        are numbered.
    vocabulary : sequence of str or path, optional
        For counts, the words of the columns; if not given, a file with one of the usual names beside the
        counts (vocab.NAME.txt, NAME.vocab, NAME.tokens, vocab.txt, ...), else the words are numbered. For
        texts, count exactly these words, without pruning.
    text : TextOptions, optional
        How text becomes counts.
    encoding : str
        Of text and vocabulary files.
    chunk_size : int
        Documents held in memory at once where a file is read in chunks (Parquet); other text is read one
        document at a time.

    Returns
    -------
    Corpus
        Memory-mapped if `path` is a corpus folder.

    Raises
    ------
    ReadError
        When the input cannot be read as asked; path and line are named.
    InvalidCorpus
        When what was read cannot be a corpus.
    InputError
        When an argument is unknown.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "breakfast.jsonl"
    >>> _ = path.write_text('{"id": "monday", "text": "bread and butter"}\n"bread"\n')
    >>> corpus = read(path)
    >>> corpus.document_names, corpus.words
    (('monday', '1'), ('bread', 'butter'))
    """
    source = Path(path)
    if chunk_size < 1:
        raise InputError(f"chunk_size is {chunk_size!r}; give a number of documents from 1 upwards")
    kind = detect_format(source, format)
    if kind == "corpus":
        corpus = open_corpus(source)
        return corpus if vocabulary is None else Corpus.from_counts(corpus, _words(vocabulary, encoding))
    if kind in _MATRICES or kind == "ldac":
        return _read_counts(source, kind, vocabulary, encoding)
    words = None if vocabulary is None else _words(vocabulary, encoding)
    return _count_records(
        _records(source, kind, text_field, name_field, encoding, chunk_size),
        text or TextOptions(),
        words,
        source,
    )


def read_texts(
    path: PathLike,
    rows: Iterable[int],
    *,
    format: str | None = None,
    text_field: str | None = None,
    encoding: str = "utf-8",
    chunk_size: int = 10_000,
) -> list[str]:
    """Read again the texts of some documents, for the snippets of a report.

    Parameters
    ----------
    path : str or PathLike
        Texts, as `read` reads them.
    rows : iterable of int
        Rows of the corpus that `read` gives, in any order.
    format, text_field, encoding, chunk_size
        As for `read`.

    Returns
    -------
    list of str
        In the order of `rows`.

    Raises
    ------
    InputError
        When the input holds counts and no texts, or has no such row.
    ReadError
        As `read`.
    """
    source, wanted = Path(path), list(rows)
    kind = detect_format(source, format)
    if kind in _MATRICES or kind in ("ldac", "corpus"):
        raise InputError(f"{source} is of format {kind!r}, which holds counts and no texts; name the text file")
    found: dict[int, str] = {}
    missing = set(wanted)
    for row, (_, text) in enumerate(_records(source, kind, text_field, None, encoding, chunk_size)):
        if not missing:
            break
        if row in missing:
            found[row] = text
            missing.discard(row)
    if missing:
        raise InputError(f"{source} has no document {min(missing)}; rows count from 0")
    return [found[row] for row in wanted]


def _words(vocabulary: Sequence[str] | PathLike, encoding: str) -> Sequence[str]:
    if isinstance(vocabulary, (str, os.PathLike)):
        return read_vocabulary(Path(vocabulary), encoding)
    return vocabulary


def _records(
    path: Path, kind: str, text_field: str | None, name_field: str | None, encoding: str, chunk_size: int
) -> Records:
    """Open a collection of texts in the format `kind`."""
    if kind == "jsonl":
        return jsonl_records(path, text_field, name_field, encoding)
    if kind in ("csv", "tsv"):
        return csv_records(path, text_field, name_field, encoding, "," if kind == "csv" else "\t")
    if kind == "parquet":
        return parquet_records(path, text_field, name_field, chunk_size)
    return folder_records(path, encoding) if kind == "folder" else line_records(path, encoding)


def _count_records(records: Records, options: TextOptions, words: Sequence[str] | None, path: Path) -> Corpus:
    """Count the texts as they come, keeping their names."""
    names: list[str | None] = []

    def texts() -> Iterator[str]:
        for name, text in records:
            names.append(name)
            yield text
        if not names:
            raise ReadError(f"{path} holds no documents; a corpus needs at least one")

    try:
        corpus = count_texts(texts(), options, vocabulary=words)
    except InvalidCorpus as error:
        raise InvalidCorpus(f"{path}: {error}") from error
    if all(name is None for name in names):
        return corpus
    named = tuple(str(row) if name is None else name for row, name in enumerate(names))
    return Corpus.from_counts(corpus, names=named)


def _read_counts(path: Path, kind: str, given: Sequence[str] | PathLike | None, encoding: str) -> Corpus:
    """Read a file of counts with the words that belong to it, if there are any."""
    words, source = vocabulary_for(path, given, encoding)
    if kind == "ldac":
        counts = read_ldac(path, None if words is None else len(words), source)
    else:
        counts = _MATRICES[kind](path)
    names = _titles(path, counts.shape[0], encoding) if kind == "ldac" else None
    try:
        return Corpus.from_counts(counts, words, names)
    except InvalidCorpus as error:
        beside = f" (with {source})" if words is not None else ""
        raise InvalidCorpus(f"{path}{beside}: {error}") from error


def _titles(path: Path, n_documents: int, encoding: str) -> tuple[str, ...] | None:
    """Take the names from NAME.titles beside NAME.ldac, if that has a line for each document."""
    titles = path.with_name(path.name.removesuffix(".gz")).with_suffix(".titles")
    if not titles.is_file():
        return None
    names = tuple(line.rstrip("\r\n") for line in decoded_lines(titles, encoding))
    return names if len(names) == n_documents else None
