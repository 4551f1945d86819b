"""One function that reads a collection in any format, and those that give texts and columns back."""

from __future__ import annotations

import logging
import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.corpus import Corpus, copies_left_out
from stickbreak.corpus.folder import open_corpus
from stickbreak.corpus.metadata import Gatherer, Portion
from stickbreak.corpus.reading.blocks import Block, arrow_texts, names_of
from stickbreak.corpus.reading.counts import (
    given_words,
    read_ldac,
    read_matrix_market,
    read_npz,
    read_svmlight,
    read_uci,
    vocabulary_for,
)
from stickbreak.corpus.reading.decoding import Dirt
from stickbreak.corpus.reading.fields import ALL, found_in
from stickbreak.corpus.reading.files import DEFAULT_LIMITS, ReadLimits
from stickbreak.corpus.reading.formats import detect_format
from stickbreak.corpus.reading.parquet import open_parquet, read_table
from stickbreak.corpus.reading.source import TABLE_BESIDE, ReadSettings, TextSource
from stickbreak.corpus.reading.tables import USUAL_DELIMITERS, Table, numbers_in
from stickbreak.corpus.text_settings import TextOptions, checked_options
from stickbreak.exceptions import InputError, InvalidCorpus, NoDocuments, ReadError
from stickbreak.storage.places import PathLike
from stickbreak.storage.urls import Location, UrlPath

_LOG = logging.getLogger("stickbreak")


_MATRICES: dict[str, Callable[[Path, ReadLimits], Any]] = {
    "uci": read_uci,
    "mtx": read_matrix_market,
    "npz": read_npz,
}


def read(
    path: PathLike | UrlPath,
    *,
    format: str | None = None,
    text_field: str | None = None,
    name_field: str | None = None,
    vocabulary: Sequence[str] | PathLike | None = None,
    text: TextOptions | None = None,
    keep: Sequence[str] | str | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    header: bool | None = None,
    bad_rows: str = "fail",
    encoding_errors: str = "strict",
    copies: str = "keep",
    chunk_size: int = 10_000,
    limits: ReadLimits | None = None,
) -> Corpus:
    r"""Read a collection of documents.

    Parameters
    ----------
    path : str or PathLike
        What to read, or the URL of texts or a corpus folder (s3://, gs://, any that pyarrow or fsspec read). Texts:
        JSON (lines or an array), CSV or TSV, Parquet, a text file with one document per line, a folder of text files
        or of such tables. Counts: UCI bag of words, LDA-C, SVMlight, Matrix Market, SciPy .npz, CSV or TSV with a
        column for each word, a corpus folder. Files may be packed (gzip, bz2, xz, zstd, a zip archive of one file). "-"
        is standard input.
    format : str, optional
        One of `stickbreak.corpus.FORMATS`. By default it is recognised from the name and the content.
    text_field : str, optional
        Field or column of the text, or of lists of words; "post.body" is the field body of the object in post. The
        default is "text", or else the only one that holds strings, or strings of several words.
    name_field : str, optional
        Field or column of the documents' names. The default is "id", "name" or "title"; without these the
        documents are numbered.
    vocabulary : sequence of str or path, optional
        For counts: the words of the columns. The default is a file with one of the usual names next to the
        counts (vocab.NAME.txt, NAME.vocab, NAME.tokens, vocab.txt, ...); without one the words are numbered. For
        texts: count exactly these words, without pruning.
    text : TextOptions, optional
        How text becomes counts.
    keep : sequence of str or "all", optional
        Fields or columns whose values become `Corpus.metadata`; "all": all but the text and the name. Dates as in ISO
        8601 (2026-11-23, 2026-11, 2026-11-23T12:00Z) are recognised. Of a corpus folder: the columns to take, by
        default all.
    encoding : str
        Encoding of text and vocabulary files. UTF-16 and UTF-32 are recognised by their byte order mark.
    delimiter : str, optional
        For CSV and TSV: the character between two fields, or "tab". By default comma, semicolon, tab or bar is
        recognised from the first rows.
    header : bool, optional
        Whether the first row of a CSV or TSV file names the columns; without it they are called "0", "1", ... By
        default the row tells: a number or a text of several words is no name.
    bad_rows : {"fail", "skip"}
        What is done with rows and lines that cannot be read. "skip" leaves them out, and logs how many and where.
    encoding_errors : {"strict", "replace"}
        What is done with bytes that are not of the encoding. "replace" puts a sign in their place, and logs how many
        lines have them, and where.
    copies : {"keep", "drop"}
        What is done with documents that have the words of an earlier one, as often. "drop" leaves them out, and
        logs how many. min_df, max_df and max_features are asked of the documents that are left.
    chunk_size : int
        Number of documents held in memory at once if a file is read in chunks (Parquet).
    limits : ReadLimits, optional
        Limits of the length of a document, of the unpacked bytes of a compressed file, and of the documents or words
        that a header may declare.

    Returns
    -------
    Corpus
        Memory-mapped if `path` is a corpus folder.

    Raises
    ------
    ReadError
        If the input cannot be read as requested. The message names path and line.
    InvalidCorpus
        If the content cannot be a corpus.
    InputError
        If an argument is unknown, or `path` is not a path. For texts in memory use `count_texts`, for counts
        `Corpus.from_counts`.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "breakfast.jsonl"
    >>> _ = path.write_text('{"id": "monday", "text": "bread and butter"}\n"bread"\n')
    >>> corpus = read(path)
    >>> corpus.document_names, corpus.words
    (('monday', '1'), ('bread', 'butter'))
    """
    settings = ReadSettings(
        format, text_field, name_field, keep, encoding, delimiter, header, bad_rows, encoding_errors, chunk_size, limits
    )
    return read_with_rows(path, settings, text, vocabulary, copies)[0]


def read_with_rows(
    path: Any,
    settings: ReadSettings,
    text: TextOptions | None = None,
    vocabulary: Sequence[str] | PathLike | None = None,
    copies: object = "keep",
) -> tuple[Corpus, np.ndarray | None]:
    """Read as `read` does; where copies are left out, return the rows of the other documents, too."""
    if copies not in ("keep", "drop"):
        raise InputError(f"copies is {copies!r:.40}; give 'keep' or 'drop'")
    source, options = TextSource.checked(path, "read", settings), checked_options(text)
    chooses = source.holds_texts and vocabulary is None
    if source.holds_texts:
        words = given_words(vocabulary, settings.encoding, settings.limits)
        corpus = _counted(source, options, words, prune=copies == "keep")
    elif source.kind == "corpus":
        corpus = _kept_columns(open_corpus(source.path, settings.limits), source)
        if vocabulary is not None:
            corpus = Corpus.from_counts(corpus, given_words(vocabulary, settings.encoding, settings.limits))
    else:
        corpus = _read_counts(source, vocabulary)
    if copies == "keep":
        return corpus, None
    n_documents, rows = len(corpus), corpus.first_of_copies()
    corpus = corpus[rows]
    if chooses:  # by the documents that are left, of which more may be alike in the words that are kept
        corpus = _pruned(corpus, source)
        others = corpus.first_of_copies()
        corpus, rows = corpus[others], rows[others]
    if len(corpus) < n_documents:
        sentence = copies_left_out(n_documents - len(corpus), n_documents)
        corpus = replace(corpus, left_out=(*corpus.left_out, sentence))
        _LOG.warning("%s: %s", source.path, sentence)
    return corpus, rows


def read_texts(path: PathLike | UrlPath, rows: Iterable[int], **settings: Any) -> list[str]:
    """Read the texts of some documents again, for the snippets of a report.

    Parameters
    ----------
    path : str or PathLike
        Texts, as `read` reads them.
    rows : iterable of int
        Rows of the corpus that `read` returns, in any order.
    **settings
        How they are read: format, text_field, encoding, delimiter, header, bad_rows, encoding_errors, chunk_size and
        limits, as in `read`.

    Returns
    -------
    list of str
        The texts, in the order of `rows`.

    Raises
    ------
    InputError
        If the input holds counts and no texts, or does not have such a row.
    ReadError
        As in `read`.
    """
    source = TextSource.checked(path, "read_texts", ReadSettings(**settings))
    wanted = _checked_rows(rows)
    if not source.holds_texts:
        raise InputError(
            f"{source.path} is of format {source.kind!r}, which holds counts and no texts; name the text file"
        )
    found: dict[int, str] = {}
    missing = set(wanted)
    begin = 0
    for block in source.blocks(source.settings.dirt()) if wanted else ():
        for row in sorted(row for row in missing if begin <= row < begin + len(block)):
            text = block.texts[row - begin].as_py()
            found[row] = text if isinstance(text, str) else " ".join(text)
            missing.discard(row)
        begin += len(block)
        if not missing:
            break
    if missing:
        raise InputError(f"{source.path} has no document {min(missing)}; rows count from 0")
    return [found[row] for row in wanted]


def read_columns(path: PathLike | UrlPath, n: int, **settings: Any) -> Any:
    """Read the columns beside the first texts of a collection, to see what there is."""
    source = TextSource.checked(path, "read_columns", ReadSettings(keep=ALL, chunk_size=n, **settings))
    gatherer = Gatherer(())
    for block in source.blocks(source.settings.dirt()) if source.holds_texts else ():
        some = block.slice(0, n)
        gatherer.add(some.kept, len(some), written=some.written)
        n -= len(some)
        if n <= 0:
            break
    return gatherer.typed()


def _checked_rows(rows: Iterable[int]) -> list[int]:
    try:
        wanted: list[Any] = list(rows)
    except TypeError:
        raise InputError(f"rows is {rows!r:.40}; give a list of row numbers") from None
    for row in wanted:
        if isinstance(row, bool) or not isinstance(row, Integral):
            raise InputError(f"rows holds {row!r:.40}; give row numbers, counted from 0")
    return [int(row) for row in wanted]


def _kept_columns(corpus: Corpus, source: TextSource) -> Corpus:
    """Return a corpus with the columns that are asked for; all, if nothing is."""
    keep = source.settings.asked.keep
    if keep in ((), ALL):
        return corpus
    there = () if corpus.metadata is None else tuple(corpus.metadata.column_names)
    lacking = [name for name in keep if name not in there]
    if corpus.metadata is None or not there:
        raise ReadError(
            f"{source.path} has no columns, but {keep[0]!r:.40} is asked for; count the texts again with --keep NAMES "
            f"(in Python: keep), or {TABLE_BESIDE}"
        )
    if lacking:
        raise ReadError(f"{source.path} has no column {lacking[0]!r}; name another one: {', '.join(map(repr, there))}")
    return replace(corpus, metadata=corpus.metadata.select(list(keep)))


def _counted(
    source: TextSource,
    options: TextOptions,
    words: Sequence[str] | None,
    *,
    prune: bool = True,
    blocks: Iterable[Block] | None = None,
) -> Corpus:
    """Count the texts of a source, or some blocks of it, and keep names and what else is asked for."""
    keep, path, dirt = source.settings.asked.keep, source.path, source.settings.dirt()
    rest = iter(source.blocks(dirt) if blocks is None else blocks)
    first = next(rest, None)
    if first is None:
        raise NoDocuments(f"{path} holds no documents; a corpus needs at least one")
    portion = Portion(first, rest, keep)
    from stickbreak.corpus.text import corpus_of_blocks  # only now: a file that cannot be read is refused without Numba

    with _naming(path):
        corpus = corpus_of_blocks(iter(portion), options, vocabulary=words, prune=prune)
    dirt.tell()
    known = names_of(portion.names)
    named = None if known is None else tuple(known.to_pylist())
    metadata = portion.gatherer.typed() if keep else None
    return replace(corpus, metadata=metadata, names=named, left_out=dirt.sentences())


def _pruned(corpus: Corpus, source: TextSource) -> Corpus:
    """Return documents in the words that options keep."""
    from stickbreak.corpus.text import pruned

    with _naming(source.path):
        counts, words = pruned(corpus.counts, arrow_texts(corpus.words), corpus.text_options or TextOptions())
    return replace(corpus, counts=counts, vocabulary=tuple(words))


@contextmanager
def _naming(what: object) -> Iterator[None]:
    """Say of which file something is that cannot be a corpus."""
    try:
        yield
    except InvalidCorpus as error:
        raise InvalidCorpus(f"{what}: {error}") from error


def _read_counts(source: TextSource, given: Sequence[str] | PathLike | None) -> Corpus:
    """Read a file of counts with the words that belong to it, if there are any."""
    path = source.path
    assert isinstance(path, Path)
    limits, metadata = source.settings.limits, None
    if source.kind == "counts":
        return _read_table(source)
    words, beside = vocabulary_for(path, given, source.settings.encoding, limits)
    if source.kind == "ldac":
        counts = read_ldac(path, None if words is None else len(words), beside, limits)
    elif source.kind == "svmlight":
        counts, labels = read_svmlight(path, None if words is None else len(words), limits)
        metadata = {"label": labels}
    else:  # a vocabulary has a line for each word, so it says how many there are
        most = max(limits.declared_size, len(words or ()))
        counts = _MATRICES[source.kind](path, replace(limits, declared_size=most))
    if not counts.shape[0]:
        raise NoDocuments(f"{path} holds no documents; a corpus needs at least one")
    with _naming(f"{path} (with {beside})" if words is not None else path):
        return _kept_columns(Corpus.from_counts(counts, words, None, metadata), source)


def _read_table(source: TextSource) -> Corpus:
    """Read a table of counts: a row for each document, a column for each word, perhaps one of names."""
    table, dirt, asked = source.table(), source.settings.dirt(), source.settings.asked.name
    named = table.name_column if asked is None else found_in(dict.fromkeys(table.columns), asked)
    if asked is not None and named is None:
        raise ReadError(f"{source.path} has no column {asked!r:.40}; name another with --name-field")
    words = [name for name in table.columns if name != named]
    if not words:
        raise ReadError(f"{source.path} has no column of counts; give one for each word")
    parts: list[Any] = []
    names: list[str] = []
    for chunk in table.chunks(table.columns, dirt):
        columns = [numbers_in(chunk[word], f"{source.path}, column {word!r:.40}", blank="0") for word in words]
        parts.append(sp.csr_matrix(np.column_stack(columns)))
        names += [] if named is None else chunk[named].to_pylist()
    if not parts:
        raise NoDocuments(f"{source.path} holds no documents; a corpus needs at least one")
    dirt.tell()
    with _naming(source.path):
        corpus = Corpus.from_counts(sp.vstack(parts, "csr"), words, None if named is None else names)
    return replace(corpus, left_out=dirt.sentences())


@dataclass(frozen=True, slots=True)
class Extent:
    """How much a collection holds, as far as a sample of it says."""

    n_documents: int
    n_words: int  # different ones
    n_tokens: float
    n_counts: int  # pairs of document and word
    longest: int  # tokens of a document


def read_sample(
    path: PathLike | UrlPath,
    n: int,
    *,
    vocabulary: Sequence[str] | PathLike | None = None,
    text: TextOptions | None = None,
    **settings: Any,
) -> tuple[Corpus, list[str] | None, Extent]:
    """Read a collection, and count some of its documents, drawn at random."""
    source = TextSource.checked(path, "read", ReadSettings(**settings))
    if not source.holds_texts:
        corpus, _ = read_with_rows(path, source.settings, text, vocabulary)
        rows = np.random.default_rng(0).permutation(corpus.n_documents)[:n]
        longest = int(np.max(corpus.document_lengths, initial=0))
        extent = Extent(corpus.n_documents, corpus.n_words, corpus.n_tokens, int(corpus.counts.nnz), longest)
        return corpus[np.sort(rows)], None, extent
    drawn, n_documents = _drawn(source.blocks(source.settings.dirt()), n)
    times, options = n_documents / max(len(drawn), 1), checked_options(text)
    words = given_words(vocabulary, source.settings.encoding, source.settings.limits)
    own = replace(options, min_df=_lowered(options.min_df, times), max_df=_lowered(options.max_df, times))
    corpus = _counted(source, own, words, blocks=drawn)
    n_words, least = corpus.n_words, options.min_df
    if words is None and isinstance(least, int) and times > least and corpus.n_documents > 1:
        # Words that are too rare for the sample: as many more as its second half has new ones (Heaps' law).
        half = np.unique(corpus[: corpus.n_documents // 2].counts.indices).size
        n_words = round(n_words * (times / least) ** math.log2(n_words / max(half, 1)))
        n_words = min(n_words, options.max_features or n_words)
    n_tokens, n_counts = round(corpus.n_tokens * times), round(corpus.counts.nnz * times)
    extent = Extent(n_documents, n_words, n_tokens, n_counts, int(np.max(corpus.document_lengths)))
    return corpus, [text if isinstance(text, str) else " ".join(text) for text in _texts(drawn)], extent


def _drawn(blocks: Iterable[Block], n: int) -> tuple[list[Block], int]:
    """Return some documents at random, in their order, and the number of all."""
    rng, drawn, row = random.Random(0), list[tuple[int, Block]](), 0
    for block in blocks:
        for place in range(len(block)):
            at = row if row < n else rng.randrange(row + 1)
            if row < n:
                drawn.append((row, block.slice(place, place + 1)))
            elif at < n:
                drawn[at] = row, block.slice(place, place + 1)
            row += 1
    return [one for _, one in sorted(drawn, key=lambda each: each[0])], row


def _texts(blocks: Iterable[Block]) -> list[Any]:
    return [text for block in blocks for text in block.texts.to_pylist()]


def _lowered(limit: int | float, times: float) -> int | float:
    """Return a number of documents for a sample; a share of them stays."""
    return max(1, round(limit / times)) if isinstance(limit, int) else limit


_A_TABLE = "give a table with a row for each document, as CSV or Parquet (.csv, .tsv, .parquet)"


def read_beside(path: Location, encoding: str = "utf-8", limits: ReadLimits | None = None) -> Any:
    """Read all columns of a CSV, TSV or Parquet file, as a pyarrow.Table; dates are recognised as in texts."""
    limits, kind = limits or DEFAULT_LIMITS, detect_format(path, None, encoding, advice=_A_TABLE)
    if kind == "parquet":
        with open_parquet(path, limits) as file:
            return read_table(file, path, limits)
    if kind not in USUAL_DELIMITERS:
        raise ReadError(f"{path} is of format {kind!r}; {_A_TABLE}")
    found = Table.open(path, encoding, None, USUAL_DELIMITERS[kind], limits, header=True)
    columns = found.columns
    if len(set(columns)) < len(columns):
        twice = next(name for name in columns if columns.count(name) > 1)
        raise ReadError(f"{path} has several columns {twice!r:.40}; give each a different name")
    gatherer = Gatherer(columns)
    for chunk in found.chunks(columns, Dirt()):
        gatherer.add(chunk, len(chunk[columns[0]]), written=True)
    return gatherer.typed()


def with_columns(corpus: Corpus, table: Any, path: Location) -> Corpus:
    """Return a corpus with the columns of a table beside its counts."""
    if table.num_rows != corpus.n_documents:
        raise InputError(
            f"{path} has {table.num_rows} rows for {corpus.n_documents} documents; give one row for each document, in "
            "their order"
        )
    if corpus.metadata is None:
        return Corpus.from_counts(corpus, metadata=table)
    columns = {name: corpus.metadata[name] for name in corpus.metadata.column_names}
    for name in table.column_names:
        if name in columns:
            raise InputError(f"the documents and {path} both have a column {name!r:.40}; rename one of them")
        columns[name] = table[name]
    return Corpus.from_counts(corpus, metadata=columns)
