"""How files of documents are read; remembered beside the model. How texts are counted, the model knows itself."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from stickbreak.cli.file_reading import FileReading
from stickbreak.cli.text_options import named_tokenizer
from stickbreak.exceptions import InputError, ModelFormatError
from stickbreak.storage.atomic import replace_file
from stickbreak.storage.plain_files import read_json
from stickbreak.storage.urls import Location

if TYPE_CHECKING:
    from stickbreak.corpus import Corpus, ReadLimits, TextOptions

__all__ = ["Documents", "InputSettings", "read_for_model", "read_limits"]

_FILE, _VERSION = "input.json", 1
_TEXT_FORMATS = frozenset(("jsonl", "csv", "tsv", "parquet", "lines", "folder"))


@dataclass(frozen=True, slots=True)
class InputSettings:
    """How documents are read.

    Attributes
    ----------
    format, text_field, name_field, encoding, delimiter : str or None
        As `stickbreak.corpus.read` takes them; no encoding: UTF-8.
    vocabulary : Path or None
        File of words.
    text : TextOptions or None
        How text becomes counts; None: the defaults.
    limits : ReadLimits or None
        Of this call; not remembered. None: the defaults.
    group_field : str or None
        Of vectors: the column of their groups.
    patch_size, n_patches : int or None
        Of images: side of a patch, and most patches of each.
    keep : "all", list of str or None
        Fields that are kept beside the counts.
    tokenizer : str or None
        For a fitted model: the function that cut the texts of its fit into words.
    dates, date_format : str or None
        Of a fit: the column of dates, and how they are written.
    """

    format: str | None = None
    text_field: str | None = None
    name_field: str | None = None
    encoding: str | None = None
    vocabulary: Path | None = None
    text: "TextOptions | None" = None
    delimiter: str | None = None
    limits: "ReadLimits | None" = None
    group_field: str | None = None
    patch_size: int | None = None
    n_patches: int | None = None
    keep: str | list[str] | None = None
    tokenizer: str | None = None
    dates: str | None = None
    date_format: str | None = None

    @property
    def known_encoding(self) -> str:
        """The encoding, also where none was asked for."""
        return self.encoding or "utf-8"

    def of_file(self, path: Location | None) -> FileReading:
        """Return what a model remembers of a file that was read with these settings.

        Parameters
        ----------
        path : Location or None
            None where the documents were made.
        """
        return FileReading.of(path, self.format, self.encoding, self.delimiter)

    def completed(self, known: FileReading, path: Location, detect: Callable[[str | None, str], str]) -> Self:
        """Let what a model remembers stand where the command line says nothing.

        Parameters
        ----------
        known : FileReading
            What it remembers.
        path : Location
            The new input.
        detect : callable
            Finds the format of the new input: format asked for, encoding -> format.
        """
        format, encoding = self.format or known.format_of(path), self.encoding or known.encoding
        settings = replace(self, format=format, encoding=encoding)
        if self.delimiter is not None or known.delimiter is None:
            return settings
        found = detect(format, settings.known_encoding)
        return replace(settings, delimiter=known.delimiter_of(path, found, settings.known_encoding))

    def check_of_words(self) -> None:
        """Refuse what means nothing to words.

        Raises
        ------
        InputError
            If an option of vectors was given.
        """
        given = {"--group-field": self.group_field, "--patch-size": self.patch_size, "--patches": self.n_patches}
        for option, value in given.items():
            if value is not None:
                raise InputError(f"{option} is for vectors, but this is a model of words; leave it out")

    def check_of_vectors(self) -> None:
        """Refuse what means nothing to vectors.

        Raises
        ------
        InputError
            If an option of words was given.
        """
        from stickbreak.corpus import TextOptions

        given = {
            "--text-field": self.text_field,
            "--name-field": self.name_field,
            "--vocabulary": self.vocabulary,
            "--keep": self.keep,
            "--tokenizer": self.tokenizer,
            "--dates": self.dates,
        }
        for option, value in given.items():
            if value is not None:
                raise InputError(f"{option} is for words, but this is a model of vectors; leave it out")
        if self.text not in (None, TextOptions(stop_words="english")):
            raise InputError(
                "the options that turn text into counts (--stop-words, --min-df, ...) are for words, but this is a "
                "model of vectors; leave them out"
            )

    def read(self, path: Location) -> "Corpus":
        """Read a collection.

        Parameters
        ----------
        path : Location
            File or folder.

        Returns
        -------
        Corpus

        Raises
        ------
        InputError
            As `stickbreak.corpus.read`.
        """
        from stickbreak.corpus import read

        return read(path, **self.of_reading)

    @property
    def of_reading(self) -> dict[str, Any]:
        """The arguments of `stickbreak.corpus.read` beside the path."""
        return {
            "format": self.format,
            "text_field": self.text_field,
            "name_field": self.name_field,
            "encoding": self.known_encoding,
            "vocabulary": self.vocabulary,
            "text": self.text,
            "keep": self.keep,
            "delimiter": self.delimiter,
            "limits": self.limits,
        }

    def texts(self, path: Location) -> Callable[[Sequence[int]], list[str]] | None:
        """Return the function that reads texts by their rows; None where the input holds counts.

        Parameters
        ----------
        path : Location
            File or folder.

        Returns
        -------
        callable or None
        """
        from stickbreak.corpus import read_texts

        if not self._holds_text(path):
            return None
        return lambda rows: read_texts(
            path,
            rows,
            format=self.format,
            text_field=self.text_field,
            encoding=self.known_encoding,
            delimiter=self.delimiter,
            limits=self.limits,
        )

    def _holds_text(self, path: Location) -> bool:
        from stickbreak.corpus.reading.formats import detect_format

        return detect_format(path, self.format, self.known_encoding) in _TEXT_FORMATS

    def remember(self, folder: Path, path: Location | None, counts: Sequence[float]) -> None:
        """Write the settings into the folder of a model.

        Parameters
        ----------
        folder : Path
            The folder.
        path : Location or None
            What was read; None where the documents were made.
        counts : sequence of float
            Tokens of each word in the documents of the fit.

        Raises
        ------
        WriteError
            If it cannot be written.
        """
        known: dict[str, Any] = {
            "version": _VERSION,
            **self.of_file(path).as_plain(),
            "text_field": self.text_field,
            "name_field": self.name_field,
            "dates": self.dates,
            "date_format": self.date_format,
            "fixed_vocabulary": self.vocabulary is not None,
            "word_counts": list(counts),
        }
        rows = (f" {json.dumps(name)}: {json.dumps(value)}" for name, value in known.items())  # counts in one line
        with replace_file(folder / _FILE) as temporary:
            temporary.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="ascii")


@dataclass(frozen=True, slots=True)
class Documents:
    """New documents in the words of a model.

    Attributes
    ----------
    corpus : Corpus
        The columns are the words of the model.
    n_outside : int or float or None
        Tokens of other words, which are left out; None where they were passed over uncounted.
    texts : callable, sequence of str or None
        Function from rows to texts, or the texts, if the input holds texts.
    fit_counts : tuple of float or None
        Tokens of each word in the documents of the fit; None where the model does not remember them.
    dates, date_format : str or None
        The column of dates of the fit, and how they are written.
    """

    corpus: "Corpus"
    n_outside: int | float | None
    texts: Callable[[Sequence[int]], list[str]] | Sequence[str] | None
    fit_counts: tuple[float, ...] | None = None
    dates: str | None = None
    date_format: str | None = None

    def dating(self, dates: Any, date_format: str | None) -> tuple[Any, str | None]:
        """Return the column of dates and how they are written: as asked, or else those of the fit."""
        metadata = self.corpus.metadata
        own = self.dates if metadata is not None and self.dates in metadata.column_names else None
        if own is None or dates not in (None, own):
            return dates, date_format
        return own, date_format or self.date_format

    def outside_sentence(self) -> str:
        """Say how the words outside the vocabulary were treated."""
        if self.n_outside is None:
            return "words that are not in the model's vocabulary are left out (their number is not known)"
        total = self.n_outside + self.corpus.n_tokens
        share = self.n_outside / total if total else 0.0
        what, verb = ("word", "is") if self.n_outside == 1 else ("words", "are")
        return f"{self.n_outside:,.0f} {what} ({share:.1%}) {verb} not in the model's vocabulary and {verb} left out"


def read_for_model(
    path: Location, folder: Path, model: Any, given: InputSettings, new_words: bool = False
) -> Documents:
    """Read new documents as the model's own were read, and count them in the words of the model.

    Parameters
    ----------
    path : Location
        File or folder.
    folder : Path
        Where the model is; how the files of its fit were read is remembered there.
    model : fitted model
        Any family. It knows how the texts of its fit were counted.
    given : InputSettings
        What the command line says; it goes before what is remembered. Its `text` is not read.
    new_words : bool, default=False
        Let words that the model does not know follow its own; of texts those in as many documents as a fit asks for.

    Returns
    -------
    Documents

    Raises
    ------
    InputError
        If the documents cannot be read or share no word with the model.
    """
    from stickbreak.corpus import TextOptions, align
    from stickbreak.corpus.reading.formats import detect_format

    remembered = _Remembered.of(folder, len(model.vocabulary_))
    settings = replace(
        given.completed(remembered.file, path, lambda *asked: detect_format(path, *asked)),
        text_field=given.text_field or remembered.text_field,
        name_field=given.name_field or remembered.name_field,
    )
    if not settings._holds_text(path):
        corpus = settings.read(path)
        corpus, n_outside = align(corpus, _with_new(model.vocabulary_, corpus) if new_words else model.vocabulary_)
        return Documents(corpus, n_outside, None, *remembered.of_fit)
    options = model.text_options_ or TextOptions()
    if given.tokenizer is not None:
        options = replace(options, tokenizer=named_tokenizer(given.tokenizer))
    texts, words = settings.texts(path), model.vocabulary_
    if remembered.fixed_vocabulary or options.ngram_range != (1, 1):
        from stickbreak.corpus import read

        if new_words and not remembered.fixed_vocabulary:
            own = replace(settings, vocabulary=None, text=replace(options, max_df=1.0)).read(path)
            words = _with_new(words, own)
        corpus = read(
            path,
            format=settings.format,
            text_field=settings.text_field,
            name_field=settings.name_field,
            encoding=settings.known_encoding,
            vocabulary=words,
            text=options,
            keep=settings.keep,
            delimiter=settings.delimiter,
            limits=settings.limits,
        )
        return Documents(corpus, None, texts, *remembered.of_fit)
    unpruned = replace(options, min_df=1, max_df=1.0, max_features=None)
    corpus = replace(settings, vocabulary=None, text=unpruned).read(path)
    if new_words:
        words = _with_new(words, corpus, options)
    corpus, n_outside = align(corpus, words)
    return Documents(corpus, n_outside, texts, *remembered.of_fit)


def _with_new(vocabulary: tuple[str, ...], corpus: "Corpus", options: "TextOptions | None" = None) -> tuple[str, ...]:
    """Return the words of a model, then those of documents that it does not know and that options keep, if named.

    A new subject may have words that most of its texts have, so max_df is not asked.
    """
    import numpy as np

    from stickbreak.corpus.alignment import only_numbered
    from stickbreak.corpus.pruning import document_limits

    if only_numbered(corpus, vocabulary):
        return vocabulary
    columns = np.arange(corpus.n_words)
    if options is not None:
        least, _ = document_limits(options, corpus.n_documents)
        columns = np.flatnonzero(np.bincount(corpus.counts.indices, minlength=columns.size) >= least)
        if options.max_features is not None:
            tokens = np.asarray(corpus.counts.sum(axis=0)).ravel()[columns]
            columns = columns[np.argsort(-tokens, kind="stable")[: options.max_features]]
    return (*vocabulary, *sorted({corpus.words[column] for column in columns} - set(vocabulary)))


def read_limits(document_bytes: int | None, unpacked_bytes: int | None, declared: int | None) -> "ReadLimits":
    """Return the limits that the options of the command line set; the others keep their defaults.

    Parameters
    ----------
    document_bytes, unpacked_bytes, declared : int or None
        As --max-document-bytes, --max-unpacked-bytes and --max-declared.

    Returns
    -------
    ReadLimits
    """
    from stickbreak.corpus import ReadLimits

    given = {"document_bytes": document_bytes, "unpacked_bytes": unpacked_bytes, "declared_size": declared}
    return ReadLimits(**{name: value for name, value in given.items() if value is not None})


@dataclass(frozen=True, slots=True)
class _Remembered:
    """What lies beside a model: how its texts were read, and whether its words were given."""

    file: FileReading
    text_field: str | None
    name_field: str | None
    fixed_vocabulary: bool
    word_counts: tuple[float, ...] | None
    dates: str | None = None
    date_format: str | None = None

    @property
    def of_fit(self) -> tuple[tuple[float, ...] | None, str | None, str | None]:
        """What `Documents` knows of the fit."""
        return self.word_counts, self.dates, self.date_format

    @classmethod
    def of(cls, folder: Path, n_words: int) -> Self:
        """Read the settings beside a model of n words; the defaults if there are none."""
        file = folder / _FILE
        try:
            known = read_json(file)
        except FileNotFoundError:
            return cls(FileReading(), None, None, False, None)
        except (OSError, ValueError) as error:
            raise ModelFormatError(f"{file} cannot be read ({error}); fit the model again") from error
        try:
            if known["version"] > _VERSION:
                raise ModelFormatError(f"{file} was written by a newer stickbreak; update stickbreak to read it")
            return cls(
                FileReading.from_plain(known),
                known["text_field"],
                known["name_field"],
                bool(known["fixed_vocabulary"]),
                _checked_counts(known["word_counts"], n_words),
                known["dates"],
                known["date_format"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFormatError(f"{file} is damaged ({error}); fit the model again") from error


def _checked_counts(counts: Any, n_words: int) -> tuple[float, ...] | None:
    """Return the counts of a model's words; None where its words have changed since, as those of a stream may."""
    found = tuple(float(count) for count in counts)
    if not all(0 <= count < math.inf for count in found):
        raise ValueError("its word_counts are not counts")
    return found if len(found) == n_words else None
