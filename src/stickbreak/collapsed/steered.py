"""Seeds, labels of documents and updates: how a reader steers the topics of `CollapsedHDP`."""

from __future__ import annotations

import zlib
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stickbreak.collapsed.fitted import FittedCollapsed
from stickbreak.collapsed.given_labels import GivenLabels, given_labels
from stickbreak.collapsed.label_curve import documents_for_curve, fitted_curve, probabilities
from stickbreak.collapsed.laps import CollapsedLaps
from stickbreak.collapsed.state import MOST_TOPICS
from stickbreak.collapsed.steering import UNSTEERED, DocumentLabels, Steering, expected, in_order
from stickbreak.collapsed.updating import continued
from stickbreak.corpus import Corpus
from stickbreak.corpus.alignment import in_columns, only_numbered
from stickbreak.corpus.text_columns import is_frame
from stickbreak.exceptions import InputError, ModelFormatError
from stickbreak.fitting.all_or_nothing import all_or_nothing
from stickbreak.fitting.checkpoint import seed_of_fit
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.laps import Callback
from stickbreak.fitting.requirements import check_tokens
from stickbreak.fitting.run import Identity, at_work
from stickbreak.model.estimator import KeptState
from stickbreak.model.topic_priors import TopicPriors
from stickbreak.numerics.arrays import Float
from stickbreak.storage.checksums import checksum
from stickbreak.storage.places import PathLike

if TYPE_CHECKING:
    import pandas as pd

LIKELY = 0.5  # probability of a label that is predicted


class SteeredCollapsed(TopicPriors, FittedCollapsed):
    """The side of `CollapsedHDP` that is steered: by words of topics, and by labels of documents."""

    max_topics: int | None
    _given_labels: Any = None  # of a fit that is about to begin, as they were given ...
    _document_labels: GivenLabels | None = None  # ... and as numbers, until it has ended

    def _take_labels(self, X: Any, labels: Any) -> None:
        self._given_labels, self._document_labels = self._column_of(X, labels), None

    @staticmethod
    def _column_of(X: Any, labels: Any) -> Any:
        """Return the column of a data frame that a name stands for; anything else as it is."""
        if not isinstance(labels, str) or not is_frame(X):
            return labels
        try:
            column = X[labels]
        except KeyError as error:
            raise InputError(f"labels is {labels!r}, which X does not have; name a column, or give a list.") from error
        return column.to_pylist() if hasattr(column, "to_pylist") else column

    @all_or_nothing
    def update(
        self,
        X: Any,
        y: Any = None,
        *,
        labels: Any = None,
        callback: Callback | None = None,
        checkpoint: PathLike | None = None,
        resume: bool = False,
    ) -> Self:
        """Go on with new documents: topics keep their numbers and labels, and new topics come after them.

        What the topics know of the documents of before stays as it is, as counts (math.md (C21)). The new documents add
        to it. Where a part of what they add to a topic predicts better as a topic of its own, it becomes one.
        Afterwards `trace_` is that of the new documents, and the model cannot `continue_fit`.

        Parameters
        ----------
        X : texts, data frame, Corpus, sparse matrix or array of shape (D, W)
            New documents alone. Words that the model does not know join its words if X is texts or names its words.
        y : ignored
        labels : str or sequence of length D, optional
            As in `fit`, of the labels that the model knows.
        callback : callable, optional
            As in `fit`.
        checkpoint : path-like, optional
            As in `fit`; `resume` needs the model of before, not one that was updated.
        resume : bool, default=False
            As in `fit`.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If the labels are not those of the model, or the checkpoint belongs to another update.
        InvalidCorpus
            If the documents hold no token.
        """
        check_is_fitted(self)
        documents = self._with_new_words(X)
        check_tokens(documents)
        steering = self._continued(documents, self._column_of(X, labels))
        n_before, seed = self.n_documents_seen_, seed_of_fit(self._seed, checkpoint, resume=resume)
        assert steering.past is not None
        assert steering.tables is not None
        identity = self._identity(documents, seed) | {"topics": checksum(steering.past, steering.tables)}
        with at_work(self, callback) as (report, executor):
            laps = self._laps_of_update(documents, steering, executor)
            run = self._run(laps, report, identity, self.n_laps, checkpoint=checkpoint, resume=resume)
            self.start_seconds_ = run.start_seconds
            self._take_words(documents)
            self._finish(laps, run, {"random_state": self._seed}, documents)
        self._kept, self.n_documents_seen_ = None, n_before + documents.n_documents
        return self

    @abstractmethod
    def _laps_of_update(self, documents: Corpus, steering: Steering, executor: Engine) -> CollapsedLaps:
        """Put the algorithm together with new documents."""

    def label_probabilities(self, X: Any) -> pd.DataFrame:
        """Return how probable each label of the fit is for each document.

        A logistic curve of the expected weight of the label's topic, the same for all labels, learned from the labelled
        documents of the fit (math.md (C20)). A document can have several labels, so rows need not sum to one.

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)

        Returns
        -------
        DataFrame of shape (D, n_labels)
            A column for each label, a row for each document, by its name.

        Raises
        ------
        InputError
            If the model was fitted without labels.
        """
        import pandas as pd

        check_is_fitted(self)
        if not self.label_names_:
            raise InputError("this model has no labels to predict; fit one with labels (--labels COLUMN).")
        corpus = self._corpus(X)
        found = probabilities(self._label_weights(corpus), self.label_curve_)
        return pd.DataFrame(found, pd.Index(corpus.names_in_tables, name="document"), self.label_names_)

    def predict_labels(self, X: Any) -> list[list[str]]:
        """Return the labels of each document that are more probable than not, the most probable first; at least one.

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)

        Raises
        ------
        InputError
            If the model was fitted without labels.
        """
        table = self.label_probabilities(X)
        found, order = table.to_numpy(), np.argsort(-table.to_numpy(), axis=1, kind="stable")
        n_likely = np.maximum((found >= LIKELY).sum(axis=1), 1)
        return [[self.label_names_[k] for k in row[:n]] for row, n in zip(order, n_likely, strict=True)]

    def _label_weights(self, corpus: Corpus) -> Float:
        """Return the expected weights of the topics of labels in documents, all labels allowed, (D, n_labels)."""
        return self.expected_weights(corpus)[:, : len(self.label_names_)]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_start_of_seeds("random")

    def _check_documents(self, documents: Corpus) -> None:
        given, self._given_labels = self._given_labels, None
        if given is not None:
            if not isinstance(self.init, str):
                raise InputError("labels and init both say where topics start; give one of them.")
            self._document_labels = given_labels(documents, given)
        super()._check_documents(documents)
        self._check_words_of_eta(documents.n_words)

    def _names_steered(self) -> tuple[str, ...]:
        """Return the names of the topics that keep their numbers: labels, then seeds of another name."""
        labels = () if self._document_labels is None else self._document_labels.names
        return (*labels, *(name for name in self._seed_names() if name not in labels))

    @property
    def _n_steered(self) -> int:
        """Number of topics of labels, seeds and rows of eta."""
        return len(self._names_steered()) + (self._n_seeded if self.seeds is None else 0)

    def _steering(self, documents: Corpus) -> Steering:
        """Return what seeds and labels say of a fit to documents."""
        if not self._n_steered:
            return UNSTEERED
        pseudo = self._word_prior(documents.words).pseudo
        if self._document_labels is None:
            assert pseudo is not None
            return expected(pseudo)
        column = {name: k for k, name in enumerate(self._seed_names())}
        columns = [column.get(name, -1) for name in self._names_steered()]
        if self.seeds is None:
            columns += range(self._n_seeded)
        return expected(in_order(pseudo, columns, documents.n_words), self._document_labels.documents)

    def _check_room(self, documents: Corpus) -> int:
        """Return how many topics seeds and labels have; refuse more than there may be."""
        n_kept = self._n_steered
        if n_kept >= MOST_TOPICS:
            raise InputError(
                f"seeds and labels have {n_kept:,} topics, but there may be {MOST_TOPICS - 1:,} at most; is each label "
                "the name of one document?"
            )
        if n_kept and self.n_topics is not None and n_kept + self.n_topics > (self.max_topics or MOST_TOPICS):
            raise InputError(
                f"the fit starts with {n_kept} topics of seeds and labels and n_topics={self.n_topics} others, but "
                f"max_topics is {self.max_topics or MOST_TOPICS}; give a larger max_topics, or fewer n_topics."
            )
        if n_kept and self.max_topics is not None and n_kept >= self.max_topics:
            raise InputError(
                f"max_topics is {self.max_topics}, but seeds and labels have {n_kept} topics, and there is one more at "
                "least; give a larger max_topics, or None."
            )
        return n_kept

    def _continued(self, documents: Corpus, labels: Any) -> Steering:
        """Return what the topics, and the labels of new documents, say of an update."""
        self._document_labels, names = None, self.label_names_
        if labels is not None:
            if not names:
                raise InputError(
                    "labels are given, but the model was fitted without; fit it with labels, or leave them out."
                )
            self._document_labels = given_labels(documents, labels, names)
        of_documents = None if self._document_labels is None else self._document_labels.documents
        return continued(self._topics, documents.n_words, len(names), of_documents)

    def _take_names(self, documents: Corpus) -> None:
        super()._take_names(documents)
        self._labels = dict(enumerate(self._names_steered())) or None
        self.label_names_ = [] if self._document_labels is None else list(self._document_labels.names)
        self.label_curve_ = []

    def _take_curve(self, documents: Corpus, seed: int) -> None:
        """Learn how probable labels are from the labelled documents of a fit."""
        labelled, self._document_labels = self._document_labels, None
        if labelled is not None:
            rows = documents_for_curve(labelled.documents, seed)
            has, _ = labelled.documents.sample(rows).weights(0, rows.size)
            self.label_curve_ = fitted_curve(self._label_weights(documents[rows]), has)

    def _identity(self, documents: Corpus, seed: int) -> Identity:
        found = super()._identity(documents, seed)
        if self._document_labels is not None:
            labels = self._document_labels.documents
            found["labels"] = [
                checksum(labels.start, labels.topic),
                zlib.crc32("\n".join(self._document_labels.names).encode()),
            ]
        return found

    def _kept_for(self, documents: Corpus) -> KeptState:
        """Return what is kept of the fit; its labels join, which `continue_fit` is not given."""
        self._document_labels = None
        kept = super()._kept_for(documents)
        if self.label_names_:
            names, n = tuple(self.label_names_), documents.n_documents
            try:
                arrays = kept.arrays["labels.start"], kept.arrays["labels.topic"]
                self._document_labels = GivenLabels(names, DocumentLabels.restored(*arrays, len(names), n))
            except (KeyError, ValueError) as error:
                raise ModelFormatError(f"the state of this model is damaged ({error}); fit it again.") from None
        return kept

    def _with_new_words(self, X: Any) -> Corpus:
        """Return documents in the words of the model and in new ones, which come last.

        Words are found by name where both sides have names. Texts are counted as those of the fit were.
        """
        X = self._counted_with_new(X)
        named = isinstance(X, Corpus) and not only_numbered(X, self.vocabulary_)
        if not named:
            return self._corpus(X)
        words = (*self.vocabulary_, *sorted(set(X.words) - set(self.vocabulary_)))
        place = {word: w for w, word in enumerate(words)}
        return in_columns(X, np.array([place[word] for word in X.words]), words)

    def _take_words(self, documents: Corpus) -> None:
        """Take the words of documents, those of the model first, for those of the model."""
        if documents.n_words > self.n_features_in_:
            self.vocabulary_, self.n_features_in_ = documents.words, documents.n_words
            if hasattr(self, "feature_names_in_"):
                self.feature_names_in_ = np.array(documents.words, dtype=object)
