"""Documents and their words, as the commands read and tell them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from stickbreak.cli.documents import Documents, InputSettings, read_for_model
from stickbreak.cli.material import Material, Score, Told
from stickbreak.cli.output import MOST_LEAVES, Line, describe_topics
from stickbreak.cli.weights import WeightTable, document_weights
from stickbreak.cli.word_scores import held_out_score, told_scores
from stickbreak.exceptions import InputError, StickbreakError
from stickbreak.storage.urls import Location

if TYPE_CHECKING:
    from stickbreak.corpus import Corpus
    from stickbreak.path.topic_path import TopicPath

__all__ = ["Words"]

_MANY = 1 / 3  # of the words of documents, that a model does not know: rare words are always left out
_FIRST = 100  # documents whose columns say what there is
_OF_FILES = ("format", "text_field", "name_field", "delimiter", "limits")
Texts = Callable[[Sequence[int]], list[str]] | Sequence[str]


@dataclass(frozen=True, slots=True)
class Words(Material):
    """Documents as counts of words."""

    topic: ClassVar[str] = "topic"
    row: ClassVar[str] = "document"
    unit: ClassVar[str] = "token"
    columns: ClassVar[tuple[str, ...]] = ("topic", "share", "words")
    expert_columns: ClassVar[tuple[str, ...]] = ("topic", "share", "corpus weight", "words")
    all_columns: ClassVar[str | None] = "all"

    documents: Documents
    settings: InputSettings
    path: Location | None = None

    @classmethod
    def of(
        cls, corpus: Corpus, settings: InputSettings, texts: Texts | None = None, path: Location | None = None
    ) -> Self:
        """Return documents that were read already.

        Parameters
        ----------
        corpus : Corpus
        settings : InputSettings
            How they were read.
        texts : callable, sequence of str or None
            Their texts, for the report.
        path : Location or None
            What they were read from; None where they were made.
        """
        return cls(Documents(corpus, 0, texts, None, settings.dates, settings.date_format), settings, path)

    @classmethod
    def read(cls, path: Location, settings: InputSettings, method: str) -> Self:
        """Read what is to be fitted."""
        from stickbreak.questions.columns import days_of

        settings.check_of_words()
        corpus = settings.read(path)
        if settings.dates is not None:
            days_of(corpus, settings.dates, settings.date_format)  # refuses dates that the report could not read
        return cls.of(corpus, settings, settings.texts(path), path)

    @classmethod
    def read_for(cls, path: Location, folder: Path, model: Any, given: InputSettings) -> Self:
        """Read what a fitted model is asked about."""
        given.check_of_words()
        return cls(read_for_model(path, folder, model, given), given)

    @classmethod
    def nothing(cls, model: Any, given: InputSettings) -> Self:
        """Return no documents, in the words of a model."""
        return cls.of(_no_documents(model), given)

    @staticmethod
    def lines(model: Any, folder: Path, n: int, most: int = MOST_LEAVES) -> Sequence[Line]:
        """Describe the topics of a model by their words."""
        return describe_topics(model, n, most)

    @staticmethod
    def n_topics(model: Any) -> int:
        """Return how many topics a model has."""
        return int(model.n_topics_)

    @property
    def data(self) -> Corpus:
        """The corpus."""
        return self.documents.corpus

    @property
    def size(self) -> str:
        """Documents, words and tokens."""
        corpus = self.data
        return f"{corpus.n_documents:,} documents, {corpus.n_tokens:,} words, {corpus.n_words:,} of them different"

    @property
    def size_of_fit(self) -> str:
        """Documents."""
        return f"{self.data.n_documents:,} documents"

    @property
    def told(self) -> str:
        """Documents, and the words that the model does not know."""
        told = f"{self.data.n_documents:,} documents; {self.documents.outside_sentence()}"
        n_unknown = int((self.data.document_lengths == 0).sum())
        if not n_unknown:
            return told
        have = "document has" if n_unknown == 1 else "documents have"
        return f"{told}; {n_unknown:,} {have} no word of the model, and so no weights"

    @property
    def told_briefly(self) -> str:
        """Documents, and the words that the model does not know where these are many."""
        told = f"{self.data.n_documents:,} documents"
        n_outside = self.documents.n_outside or 0
        many = n_outside > 0 and n_outside >= _MANY * (n_outside + self.data.n_tokens)
        return f"{told}; {self.documents.outside_sentence()}" if many else told

    def counts(self, fitted: Self | None = None) -> dict[str, Any]:
        """Return documents, words and tokens."""
        corpus = self.data
        if fitted is None:
            outside = self.documents.n_outside
            return {
                "n_documents": corpus.n_documents,
                "n_tokens": corpus.n_tokens,
                "n_tokens_outside_vocabulary": outside,
            }
        return {
            "n_documents": corpus.n_documents,
            "n_documents_fitted": fitted.data.n_documents,
            "n_words": corpus.n_words,
            "n_tokens": corpus.n_tokens,
        }

    def split(self, held_out: float, seed: int) -> tuple[Self, Self]:
        """Hold out some of the documents."""
        train, held = self.data.split(held_out, seed=seed)
        return (
            replace(self, documents=replace(self.documents, corpus=train)),
            replace(self, documents=replace(self.documents, corpus=held)),
        )

    def remember(self, folder: Path) -> None:
        """Write how they were read into the folder of a model."""
        import numpy as np

        self.settings.remember(folder, self.path, np.asarray(self.data.counts.sum(axis=0)).ravel().tolist())

    def starting(self, model: Any) -> int | None:
        """Return the number of topics that a fit to them starts with; None where the fit finds it."""
        return int(model.starting_topics(self.data))

    def score(self, model: Any, seed: int, train: Self) -> None:
        """Complete the halves of the documents, beside the frequencies of words in the documents of the fit."""
        from stickbreak.evaluation import document_completion, unigram_completion

        halves = self.data.halves(seed=seed)
        model.note_held_out(document_completion(model, *halves), unigram=unigram_completion(train.data, *halves))

    @staticmethod
    def told_score(model: Any) -> Score | None:
        """Tell how well it guesses words of documents that were held out."""
        return None if model.held_out_ is None else held_out_score(model.held_out_)

    def evaluate(self, model: Any, seed: int, particles: int | None, resample: bool) -> Told:
        """Score a model by completion, coherence, and perhaps from left to right."""
        from stickbreak.corpus import Corpus
        from stickbreak.evaluation import evaluate, unigram_completion

        scores = evaluate(model, self.data, seed=seed, n_particles=particles, resample=resample)
        counts, unigram = self.documents.fit_counts, None
        if counts is not None:
            unigram = unigram_completion(Corpus.from_counts([counts]), *self.data.halves(seed=seed))
        return told_scores(scores, self.documents, unigram, particles, resample)

    @property
    def dated(self) -> bool:
        """Whether a column of dates was named, or the input has one, kept or not."""
        if self.documents.dates is not None:
            return True
        from stickbreak.corpus.reading.readers import read_columns
        from stickbreak.questions.columns import columns_of_dates

        found = columns_of_dates(self.data.metadata)
        if not found and self.path is not None:
            given = {name: getattr(self.settings, name) for name in _OF_FILES}
            try:
                found = columns_of_dates(
                    read_columns(self.path, _FIRST, encoding=self.settings.known_encoding, **given)
                )
            except StickbreakError:  # what was read a while ago
                return False
        return len(found) == 1

    @classmethod
    def joins(cls, model: Any) -> bool:
        """Return whether the topics of a model can be joined."""
        return bool(model.joins_topics)

    def find_path(self, model: Any) -> TopicPath | None:
        """Join the topics pair by pair; None for too small a collection or too many topics."""
        try:
            found: TopicPath = model.find_path(self.data)
            return found
        except InputError:
            return None

    @classmethod
    def reduced(cls, model: Any, number: int | str) -> Any:
        """Return the model at one point of its path."""
        return model.reduced(getattr(model.path_, number) if isinstance(number, str) else number)

    def weights(self, model: Any) -> WeightTable:
        """Return the weights of the topics in the documents."""
        return document_weights(model, self.data)

    def write_report(
        self,
        model: Any,
        path: Path,
        title: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Write the report on a model of words."""
        from stickbreak.report import build_report, write_report

        given = dict(options or {})
        others = given.pop("others", None)
        given["dates"], given["date_format"] = self.documents.dating(given.get("dates"), given.get("date_format"))
        if others:
            from stickbreak.comparison import found_again

            given["stability"] = found_again(model, others)
        data = build_report(
            model,
            self.data,
            title=title,
            texts=self.documents.texts,
            **given,
        )
        write_report(data, path)


def _no_documents(model: Any) -> Corpus:
    from stickbreak.prediction.words import no_documents

    return no_documents(model.vocabulary_)
