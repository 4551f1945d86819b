"""Documents as the commands read them: for a fit, or as those of the fit of a model were read."""

from __future__ import annotations

import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from stickbreak.cli.options import ALL_CORES
from stickbreak.cli.output import MOST_LEAVES, several
from stickbreak.cli.scores import Score, Told, completion_score, scores_of_words
from stickbreak.cli.settings import limits_of, named_tokenizer
from stickbreak.cli.tables import WeightTable, document_weights
from stickbreak.exceptions import InputError, ModelFormatError, ReadError, StickbreakError
from stickbreak.storage.urls import Location, UrlPath

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from stickbreak.corpus import Corpus, TextOptions
    from stickbreak.corpus.reading.source import TextSource
    from stickbreak.path.topic_path import TopicPath

__all__ = [
    "Documents",
    "DocumentsAndVectors",
    "check_input",
    "kept_settings",
    "known_settings",
    "labels_of",
    "read_arguments",
    "refuse_settings",
    "suffix_of",
]

Texts = Callable[[Sequence[int]], list[str]]
Callback = Callable[[dict[str, Any]], None]

FOR_VECTORS = {"group_field": "--group-field", "patch_size": "--patch-size", "n_patches": "--patches"}
_OF_ONE_CALL = {"document_bytes", "unpacked_bytes", "declared_size", "tokenizer", "vocabulary", "copies"}
"""A model does not remember limits and code, as it may come from a stranger, and words are its own."""
_OF_A_SUFFIX = {"format", "delimiter", "header"}
"""What a model remembers for files with the same ending alone."""
_VECTOR_FILES = (".npy", ".parquet", ".csv", ".tsv")  # what --vectors takes for a file, not for the name of a column
_MANY = 1 / 3  # of the words of documents, that a model does not know: rare words are always left out
_FIRST = 100  # documents whose columns say what there is


def check_input(path: Location) -> None:
    """Refuse what is not there, before anything heavy is imported, and a pipe, which can be read only once."""
    if isinstance(path, UrlPath):
        return
    from stickbreak.corpus.reading.files import reading

    with reading(path):
        mode = path.stat().st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        raise ReadError(f"{path} is a pipe, but documents are read more than once; write them to a file first")


def suffix_of(path: Location) -> str:
    """Return the ending of the name of an input, such as ".csv"."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def refuse_settings(reading: Mapping[str, Any], options: Mapping[str, str], wanted: str, kind: str) -> None:
    """Refuse options that mean nothing to what a model is of."""
    for name, option in options.items():
        if reading.get(name) is not None:
            raise InputError(f"{option} is for {wanted}, but this is a model of {kind}; leave it out")


def kept_settings(reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a model remembers of how the file of its fit was read: of vectors their column, but no file."""
    kept = {name: value for name, value in reading.items() if name not in _OF_ONE_CALL}
    if is_vector_file(kept.get("vectors", "")):
        del kept["vectors"]
    return kept


def known_settings(model: Any, path: Location, reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a new input of a model is read: as asked, and else as that of its fit."""
    record = model._reading or {}
    try:
        alike = suffix_of(path) == record.get("suffix")
        known = {name: value for name, value in record.get("settings", {}).items() if alike or name not in _OF_A_SUFFIX}
    except (TypeError, AttributeError, ValueError) as error:
        raise ModelFormatError(
            f"how the documents of this model were read is damaged ({error}); fit it again"
        ) from None
    return {**known, **reading}


def read_arguments(reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `corpus.read` that say how a file is read, document by document."""
    limits = ("document_bytes", "unpacked_bytes", "declared_size")
    given = {name: value for name, value in reading.items() if name not in ("tokenizer", "copies", "vectors", *limits)}
    return {"encoding": "utf-8", **given, "limits": limits_of(reading)}


def _read(
    path: Location,
    reading: Mapping[str, Any],
    keep: Any,
    metadata: Location | None,
    text: TextOptions | None = None,
    vocabulary: Any = None,
) -> tuple[Corpus, Texts | None]:
    """Return documents, and the function that reads their texts by rows, if there are texts."""
    from stickbreak.corpus.reading.fields import NoSuchField
    from stickbreak.corpus.reading.readers import read_beside, read_texts, read_with_rows, with_columns

    vectors = reading.get("vectors")
    if vectors is not None and not is_vector_file(vectors) and keep != "all":
        keep = [*(keep or ()), vectors]
    if metadata is not None:
        table = read_beside(metadata, reading.get("encoding", "utf-8"), limits_of(reading))
        if isinstance(keep, list):
            keep = [name for name in keep if name not in table.column_names]
    try:
        source = _source(path, reading, keep)
        corpus, rows = read_with_rows(
            path, source.settings, text, vocabulary or reading.get("vocabulary"), reading.get("copies", "keep")
        )
    except NoSuchField as error:
        if error.field == vectors:
            raise _no_column(vectors) from None
        raise
    if metadata is not None:
        corpus = with_columns(corpus, table if rows is None else table.take(rows), metadata)
    if vectors is not None:
        corpus = _with_vectors(corpus, vectors, rows, reading)
    if not source.holds_texts:
        return corpus, None
    of_file = range(len(corpus)) if rows is None else rows.tolist()
    settings = {
        name: value for name, value in read_arguments(reading).items() if name not in ("vocabulary", "name_field")
    }
    return corpus, lambda asked: read_texts(path, [of_file[row] for row in asked], **settings)


def is_vector_file(vectors: str) -> bool:
    """Tell whether --vectors names a file, not a column."""
    return Path(vectors).suffix.lower() in _VECTOR_FILES


def _with_vectors(corpus: Corpus, vectors: str, rows: Any, reading: Mapping[str, Any]) -> Corpus:
    """Return documents with their vectors, which a file or a column beside them has; `rows` of the file are read."""
    from stickbreak.corpus import Corpus, read_vectors

    if is_vector_file(vectors):
        table = read_vectors(vectors, encoding=reading.get("encoding", "utf-8"), limits=limits_of(reading))
        values = table.vectors if table.grouped else table.vectors.values
        return Corpus.from_counts(corpus, vectors=values if rows is None else values[rows])
    metadata = corpus.metadata
    if metadata is None or vectors not in metadata.column_names:
        raise _no_column(vectors)
    others = metadata.drop_columns([vectors])
    bare = replace(corpus, metadata=others if others.num_columns else None)
    return Corpus.from_counts(bare, vectors=metadata[vectors])


def _no_column(vectors: str) -> InputError:
    """Say that --vectors names no column."""
    return InputError(f"--vectors is {vectors!r:.40}, which is no column of the documents; give one, or FILE.npy")


def _source(path: Location, reading: Mapping[str, Any], keep: Any = None) -> TextSource:
    """Return what is read, and how."""
    from stickbreak.corpus.reading.source import ReadSettings, TextSource

    settings = {name: value for name, value in read_arguments(reading).items() if name != "vocabulary"}
    return TextSource.checked(path, "read", ReadSettings(keep=keep, **settings))


@dataclass(frozen=True, slots=True)
class Documents:
    """Documents as counts of words."""

    topic: ClassVar[str] = "topic"
    row: ClassVar[str] = "document"
    unit: ClassVar[str] = "token"

    corpus: Corpus
    record: dict[str, Any] = field(default_factory=dict)
    n_outside: int | float | None = 0
    texts: Texts | None = None  # function from rows to texts, if the input holds texts
    path: Location | None = None  # what was read; None where the documents were made
    reading: dict[str, Any] = field(default_factory=dict)  # how it was read

    @classmethod
    def read(
        cls,
        path: Location,
        reading: Mapping[str, Any],
        *,
        text: TextOptions | None = None,
        keep: Any = None,
        metadata: Location | None = None,
        dates: str | None = None,
        date_format: str | None = None,
    ) -> Self:
        """Read what is to be fitted."""
        from stickbreak.questions.columns import days_of

        refuse_settings(reading, FOR_VECTORS, "vectors", "words")
        corpus, texts = _read(path, reading, keep, metadata, text)
        if dates is not None:
            days_of(corpus, dates, date_format)  # refuses dates that the report could not read
        record = {
            "settings": kept_settings(reading),
            "suffix": suffix_of(path),
            "fixed_vocabulary": reading.get("vocabulary") is not None,
            "dates": dates,
            "date_format": date_format,
            "without_copies": reading.get("copies") == "drop",
        }
        return cls(corpus, record, 0, texts, path, dict(reading))

    @classmethod
    def read_for(
        cls,
        path: Location,
        model: Any,
        reading: Mapping[str, Any],
        *,
        keep: Any = None,
        metadata: Location | None = None,
        new_words: bool = False,
    ) -> Self:
        """Read new documents as the model's own were read, and count them in the words of the model.

        With `new_words`, words that the model does not know follow its own; of texts those in as many documents as the
        fit asked for.
        """
        from stickbreak.corpus import TextOptions, align

        refuse_settings(reading, FOR_VECTORS, "vectors", "words")
        if reading.get("vectors") is not None and not model.takes_vectors:
            raise InputError("--vectors is for models of --method vectors, but this is a model of words; leave it out")
        keep = "all" if getattr(model, "prevalence", None) is not None else keep
        settings, record = known_settings(model, path, reading), dict(model._reading or {})
        words = model.vocabulary_
        if not _source(path, settings).holds_texts:
            corpus, _ = _read(path, settings, keep, metadata)
            corpus, n_outside = align(corpus, _with_new(words, corpus) if new_words else words)
            return cls(corpus, record, n_outside, None, path, settings)
        plain = {name: value for name, value in settings.items() if name != "vocabulary"}
        options = model.text_options_ or TextOptions()
        if settings.get("tokenizer") is not None:
            options = replace(options, tokenizer=named_tokenizer(settings["tokenizer"]))
        fixed = bool(record.get("fixed_vocabulary"))
        if fixed or options.ngram_range != (1, 1):
            if new_words and not fixed:
                words = _with_new(words, _read(path, plain, keep, metadata, replace(options, max_df=1.0))[0])
            corpus, texts = _read(path, plain, keep, metadata, options, words)
            return cls(corpus, record, None, texts, path, settings)
        unpruned = replace(options, min_df=1, max_df=1.0, max_features=None)
        corpus, texts = _read(path, plain, keep, metadata, unpruned)
        corpus, n_outside = align(corpus, _with_new(words, corpus, options) if new_words else words)
        return cls(corpus, record, n_outside, texts, path, settings)

    @classmethod
    def nothing(cls, model: Any) -> Self:
        """Return no documents, in the words of a model."""
        from stickbreak.prediction.words import no_documents

        return cls(no_documents(model.vocabulary_))

    @property
    def data(self) -> Corpus:
        """What an estimator takes."""
        return self.corpus

    def memory_of_fit(self) -> dict[str, Any]:
        """Return what a model fitted to these documents remembers of them."""
        import numpy as np

        return {**self.record, "word_counts": np.asarray(self.corpus.counts.sum(axis=0), dtype=np.float64).ravel()}

    @property
    def fit_counts(self) -> np.ndarray | None:
        """Tokens of each word in the documents of the fit; None where the model does not know them."""
        import numpy as np

        counts = self.record.get("word_counts")
        if counts is None:
            return None
        counts = np.asarray(counts)
        sound = (
            counts.dtype.kind == "f" and counts.ndim == 1 and bool(np.isfinite(counts).all()) and (counts >= 0).all()
        )
        if not sound:
            raise ModelFormatError("the counts of words of this model are damaged; fit it again")
        return counts if counts.size == self.corpus.n_words else None  # the words of a stream may have changed

    @staticmethod
    def topics(model: Any, n: int, most: int = MOST_LEAVES) -> list[dict[str, Any]]:
        """Describe topics by n words each, as JSON has them: those of seeds, then the largest; of a tree leaves."""
        shown, labels, of_seeds = model.shown_topics(n, most=most), model.labels_, set(model.seed_topics_.values())
        found = []
        for k, share, weight, words in zip(shown.numbers, shown.shares, shown.weights, shown.words, strict=True):
            label = {"label": labels[int(k)]} if int(k) in labels else {}
            named = [{"word": word, "probability": probability} for word, probability in words]
            found.append({"id": int(k), **label, "share": float(share), "corpus_weight": float(weight), "words": named})
        return sorted(found, key=lambda topic: (topic["id"] not in of_seeds, -topic["share"]))

    @staticmethod
    def cells(topic: Mapping[str, Any], *, verbose: bool = False) -> dict[str, str]:
        """Return what a table has of a topic: the label that was given stands before the words."""
        words = " ".join(word["word"] for word in topic["words"])
        weight = {"corpus weight": f"{topic['corpus_weight']:.2%}"} if verbose else {}
        label = f"{topic['label']}: " if "label" in topic else ""
        return {"topic": str(topic["id"]), "share": f"{topic['share']:.2%}", **weight, "words": label + words}

    @staticmethod
    def n_topics(model: Any) -> int:
        """Return how many topics a model has."""
        return int(model.n_topics_)

    @property
    def size(self) -> str:
        """Documents, words and tokens."""
        corpus = self.corpus
        n_empty = int((corpus.document_lengths == 0).sum())
        without = f" ({n_empty:,} without a word that counts)" if n_empty else ""
        words = f"{corpus.n_tokens:,} words, {corpus.n_words:,} of them different"
        return f"{corpus.n_documents:,} documents{without}, {words}"

    @property
    def size_of_fit(self) -> str:
        """Documents."""
        return several(self.corpus.n_documents, "document")

    @property
    def summary(self) -> str:
        """Documents, and the words that the model does not know."""
        told = f"{self.size_of_fit}{self._copies()}; {self.outside_sentence()}"
        n_unknown = int((self.corpus.document_lengths == 0).sum())
        if not n_unknown:
            return told
        have = "document has" if n_unknown == 1 else "documents have"
        return f"{told}; {n_unknown:,} {have} no word of the model, and so no weights"

    @property
    def short_summary(self) -> str:
        """Documents, and the words that the model does not know where these are many."""
        n_outside = self.n_outside or 0
        many = n_outside > 0 and n_outside >= _MANY * (n_outside + self.corpus.n_tokens)
        told = self.size_of_fit + self._copies()
        return f"{told}; {self.outside_sentence()}" if many else told

    def _copies(self) -> str:
        """Say how many copies are counted that the fit left out."""
        if not self.record.get("without_copies"):
            return ""
        n = self.corpus.n_documents - self.corpus.first_of_copies().size
        copies = "1 copy is" if n == 1 else f"{n:,} copies are"
        return f"; {copies} counted here, and the fit left copies out" if n else ""

    def outside_sentence(self) -> str:
        """Say how the words outside the vocabulary were treated."""
        if self.n_outside is None:
            return "words that are not in the model's vocabulary are left out (their number is not known)"
        total = self.n_outside + self.corpus.n_tokens
        share = self.n_outside / total if total else 0.0
        what, verb = ("word", "is") if self.n_outside == 1 else ("words", "are")
        return f"{self.n_outside:,.0f} {what} ({share:.1%}) {verb} not in the model's vocabulary and {verb} left out"

    def counts(self, fitted: Self | None = None) -> dict[str, Any]:
        """Return how much it is for JSON; of a fit with what was fitted."""
        n_documents, n_tokens = self.corpus.n_documents, self.corpus.n_tokens
        if fitted is None:
            outside = {"n_tokens_outside_vocabulary": self.n_outside}
            return {"n_documents": n_documents, "n_tokens": n_tokens, **outside}
        n_fitted, n_words = fitted.corpus.n_documents, self.corpus.n_words
        return {"n_documents": n_documents, "n_documents_fitted": n_fitted, "n_words": n_words, "n_tokens": n_tokens}

    def only(self, rows: np.ndarray) -> Self:
        """Return some of the documents; those without names keep their numbers."""
        names, texts = self.corpus.document_names, self.texts
        corpus = replace(self.corpus[rows], names=tuple(names[row] for row in rows))
        if texts is None:
            return replace(self, corpus=corpus)
        return replace(self, corpus=corpus, texts=lambda chosen: texts([int(rows[row]) for row in chosen]))

    def split(self, held_out: float, seed: int) -> tuple[Self, Self]:
        """Hold out some of the documents."""
        train, held = self.corpus.split(held_out, seed=seed)
        return replace(self, corpus=train), replace(self, corpus=held)

    def starting(self, model: Any) -> int | None:
        """Return the number of topics that a fit to them starts with."""
        return int(model.starting_topics(self.corpus))

    def score(self, model: Any, seed: int, train: Self) -> None:
        """Complete the halves of the documents, beside the frequencies of words in the documents of the fit."""
        from stickbreak.evaluation import document_completion, unigram_completion

        halves = self.corpus.halves(seed=seed)
        model.note_held_out(document_completion(model, *halves), unigram=unigram_completion(train.corpus, *halves))

    @staticmethod
    def told_score(model: Any) -> Score | None:
        """Tell how well it guesses words of documents that were held out."""
        return None if model.held_out_ is None else completion_score(model.held_out_)

    def evaluate(self, model: Any, seed: int, particles: int | None) -> Told:
        """Score a model by completion, coherence, and perhaps from left to right."""
        from stickbreak.corpus import Corpus
        from stickbreak.evaluation import evaluate, unigram_completion

        scores = evaluate(model, self.corpus, seed=seed, n_particles=particles)
        counts = self.fit_counts
        unigram = None
        if counts is not None:
            unigram = unigram_completion(Corpus.from_counts([counts]), *self.corpus.halves(seed=seed))
        told = f"{self.corpus.n_tokens:,}; {self.outside_sentence()}"
        known = {"n_tokens": self.corpus.n_tokens, "n_tokens_outside_vocabulary": self.n_outside}
        return scores_of_words(scores, told, known, unigram, particles)

    def dating(self, dates: Any, date_format: str | None) -> tuple[Any, str | None]:
        """Return the column of dates and how they are written: as asked, or else those of the fit."""
        metadata, own = self.corpus.metadata, self.record.get("dates")
        if metadata is None or own not in metadata.column_names or dates not in (None, own):
            return dates, date_format
        return own, date_format or self.record.get("date_format")

    @property
    def dated(self) -> bool:
        """Whether a column of dates was named, or the input has one, kept or not."""
        if self.record.get("dates") is not None:
            return True
        from stickbreak.corpus.reading.readers import read_columns
        from stickbreak.questions.columns import columns_of_dates

        found = columns_of_dates(self.corpus.metadata)
        if not found and self.path is not None:
            arguments = {name: value for name, value in read_arguments(self.reading).items() if name != "vocabulary"}
            try:
                found = columns_of_dates(read_columns(self.path, _FIRST, **arguments))
            except StickbreakError:  # what was read a while ago
                return False
        return len(found) == 1

    def find_path(self, model: Any, callback: Callback | None = None) -> TopicPath | None:
        """Join the topics pair by pair; None for too small a collection, too many topics, or those of a tree."""
        if not model.joins_topics:
            return None
        try:
            path: TopicPath = model.find_path(self.corpus, callback=callback)
        except InputError:
            return None
        return path

    def weights(self, model: Any) -> WeightTable:
        """Return the weights of the topics in the documents."""
        return document_weights(model, self.corpus)

    def write_report(
        self, model: Any, path: Path, title: str | None = None, callback: Callback | None = None, **options: Any
    ) -> None:
        """Write the report on a model; the options are those of `build_report`, and other fits."""
        from stickbreak.comparison import found_again
        from stickbreak.report import build_report, write_report

        others, n_fits = options.pop("others", None), options.pop("n_fits", None)
        if n_fits:
            options["stability"] = self._from_other_seeds(model, n_fits, callback)
        elif others:
            options["stability"] = found_again(model, others)
        options["dates"], options["date_format"] = self.dating(options.get("dates"), options.get("date_format"))
        data = build_report(model, self.corpus, title=title, texts=self.texts, callback=callback, **options)
        write_report(data, path)

    def write_map(self, model: Any, path: Path, title: str | None = None) -> None:
        """Write the map of the documents."""
        from stickbreak.report import build_map, write_report

        write_report(build_map(model, self.corpus, title=title, texts=self.texts), path)

    def _from_other_seeds(self, model: Any, n_fits: int, callback: Callback | None) -> pd.DataFrame:
        """Fit to these documents with other seeds, on all cores, and say how often the topics come again."""
        from stickbreak.comparison import found_again

        own = {name: value for name, value in model.get_params().items() if name in ("n_jobs", "scratch")}
        here = {"n_jobs": ALL_CORES, "scratch": None}
        model.set_params(**{name: here[name] for name in own})
        try:
            return found_again(model, n_fits, self.corpus, callback=callback)
        finally:
            model.set_params(**own)


class DocumentsAndVectors(Documents):
    """Documents as counts of words, with vectors from which their topics follow."""

    __slots__ = ()

    unit: ClassVar[str] = "vector"

    @classmethod
    def read(cls, path: Location, reading: Mapping[str, Any], **options: Any) -> Self:
        """Read what is to be fitted; its vectors are asked for before the texts are counted."""
        if reading.get("vectors") is None:
            raise InputError(
                "--method vectors needs a vector of each document; give --vectors with a file (FILE.npy) or a column"
            )
        return super().read(path, reading, **options)

    def evaluate(self, model: Any, seed: int, particles: int | None) -> Told:
        """Score a model by the density of the vectors; it predicts no words."""
        if particles is not None:
            raise InputError("--left-to-right is for words, but this is a model of vectors; leave it out")
        value = model.score(self.corpus)
        lines = (f"documents  {self.size_of_fit}", f"score      {value:.4f} nats per vector (higher is better)")
        return Told(lines, {**self.counts(), "held_out": value, "unit": "nats per vector"})


def _with_new(vocabulary: tuple[str, ...], corpus: Corpus, options: TextOptions | None = None) -> tuple[str, ...]:
    """Return the words of a model, then those of documents that it does not know and that options keep.

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


def labels_of(corpus: Any, column: str, separator: str | None) -> Any:
    """Return the labels of documents in a column, as a fit takes them."""
    if separator is None:
        return column
    from stickbreak.questions.columns import column_of, listed

    values = map(listed, column_of(corpus, column, "--labels"))
    return [value.split(separator) if isinstance(value, str) else value for value in values]
