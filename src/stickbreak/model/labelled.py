"""Labels of documents: what a fit with labels notes, keeps and predicts, in every family that takes them."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stickbreak.corpus import Corpus
from stickbreak.corpus.text_columns import column_of, is_frame
from stickbreak.exceptions import InputError, ModelFormatError
from stickbreak.fitting.checkpoint import require
from stickbreak.fitting.run import Identity
from stickbreak.model.document_labels import DocumentLabels, GivenLabels, given_labels
from stickbreak.model.kept_state import KeptState
from stickbreak.model.label_curve import documents_for_curve, fitted_curve, probabilities
from stickbreak.model.parameters import names_in
from stickbreak.model.topic_priors import TopicPriors
from stickbreak.model.word_prior import WordPrior, in_order
from stickbreak.numerics.arrays import Float
from stickbreak.storage.checksums import checksum

if TYPE_CHECKING:
    import pandas as pd

LIKELY = 0.5  # probability of a label that is predicted


class LabelledDocuments(TopicPriors):
    """The side of a model that is fitted to documents with labels.

    Topics of labels come first, then those of seeds of another name, or of rows of eta. All of these keep their
    numbers.
    """

    _label_values: ClassVar[tuple[str, ...]] = ("label_names_", "label_curve_")  # saved

    label_names_: list[str]
    label_curve_: list[float]
    _given_labels: Any = None  # of a fit that is about to begin, as they were given ...
    _document_labels: GivenLabels | None = None  # ... and as numbers, until it has ended

    def _take_labels(self, X: Any, labels: Any) -> None:
        self._given_labels, self._document_labels = self._column_of(X, labels), None

    @staticmethod
    def _column_of(X: Any, labels: Any) -> Any:
        """Return the column of a data frame that a name stands for; anything else as it is."""
        if not isinstance(labels, str | Integral) or not is_frame(X):
            return labels
        column = column_of(X, labels)
        return column.to_pylist() if hasattr(column, "to_pylist") else column

    def label_probabilities(self, X: Any) -> pd.DataFrame:
        """Return how probable each label of the fit is for each document.

        A logistic curve of the expected weight of the label's topic, the same for all labels, learned from the labelled
        documents of the fit (math.md (L18)). A document can have several labels, so rows need not sum to one.

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

    def _check_documents(self, documents: Corpus) -> None:
        given, self._given_labels = self._given_labels, None
        if given is not None:
            self._check_labelled_fit()
            self._document_labels = given_labels(documents, given)
        super()._check_documents(documents)

    def _check_labelled_fit(self) -> None:
        """Refuse parameters under which documents cannot have labels."""
        if not isinstance(self.init, str):
            raise InputError("labels and init both say where topics start; give one of them.")

    def _names_steered(self) -> tuple[str, ...]:
        """Return the names of the topics that keep their numbers: labels, then seeds of another name."""
        labels = () if self._document_labels is None else self._document_labels.names
        return (*labels, *(name for name in self._seed_names() if name not in labels))

    def _seed_numbers(self) -> Sequence[int]:
        own = [name for name in self._fitted_seeds if name not in self.label_names_]
        names = [*self.label_names_, *own]
        return [names.index(name) for name in self._fitted_seeds]

    @property
    def _n_steered(self) -> int:
        """Number of topics of labels, seeds and rows of eta."""
        return len(self._names_steered()) + (self._n_seeded if self.seeds is None else 0)

    @property
    def _rows_of_labels(self) -> DocumentLabels | None:
        """The labels of the documents of a fit as numbers, until it has ended."""
        return None if self._document_labels is None else self._document_labels.documents

    def _behind_labels(self, prior: WordPrior, n_words: int) -> WordPrior:
        """Return the prior of the words of topics with a topic for each label before those of seeds or rows of eta."""
        if self._document_labels is None:
            return prior
        column = {name: k for k, name in enumerate(self._seed_names())}
        columns = [column.get(name, -1) for name in self._names_steered()]
        if self.seeds is None:
            columns += range(self._n_seeded)
        return WordPrior(prior.base, in_order(prior.pseudo, columns, n_words))

    def _take_names(self, documents: Any) -> None:
        self.label_names_ = [] if self._document_labels is None else list(self._document_labels.names)
        super()._take_names(documents)
        self._labels = dict(enumerate(self._names_steered())) or None
        self.label_curve_ = []

    def _take_curve(self, documents: Corpus, seed: int) -> None:
        """Learn how probable labels are from the labelled documents of a fit."""
        labelled, self._document_labels = self._document_labels, None
        if labelled is not None:
            rows = documents_for_curve(labelled.documents, seed)
            has, _ = labelled.documents.sample(rows).weights(0, rows.size)
            self.label_curve_ = fitted_curve(self._label_weights(documents[rows]), has)

    def _forget_labels(self) -> None:
        """Note that the topics are no longer those of labels: they were joined."""
        self.label_names_, self.label_curve_ = [], []

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

    def _check_fitted_state(self) -> None:
        """Refuse labels of a loaded model that no fit can have left."""
        super()._check_fitted_state()
        names_in(self.label_names_, len(self.label_names_), "labels of documents")
        curve = self.label_curve_
        require(len(curve) == 2 * bool(self.label_names_), "the curve of its labels is not there")
        require(bool(np.isfinite(np.array(curve, dtype=np.float64)).all()), "the curve of its labels is not finite")
