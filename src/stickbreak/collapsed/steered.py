"""Seeds, labels of documents and updates: how a reader steers the topics of `CollapsedHDP`."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stickbreak.collapsed.fitted import FittedCollapsed
from stickbreak.collapsed.laps import CollapsedLaps
from stickbreak.collapsed.state import MOST_TOPICS
from stickbreak.collapsed.steering import UNSTEERED, Steering, expected
from stickbreak.collapsed.updating import continued
from stickbreak.corpus import Corpus
from stickbreak.corpus.alignment import in_columns, only_numbered
from stickbreak.exceptions import InputError
from stickbreak.fitting.all_or_nothing import all_or_nothing
from stickbreak.fitting.checkpoint import seed_of_fit
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.laps import Callback
from stickbreak.fitting.requirements import check_room_beside, check_tokens
from stickbreak.fitting.run import at_work
from stickbreak.model.document_labels import given_labels
from stickbreak.model.topic_model import TopicEstimator
from stickbreak.storage.checksums import checksum
from stickbreak.storage.places import PathLike


class SteeredCollapsed(FittedCollapsed):
    """The side of `CollapsedHDP` that is steered: by words of topics, and by labels of documents."""

    max_topics: int | None

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
            TopicEstimator._finish(self, laps, run, {"random_state": self._seed}, documents)  # not of seeds
        self._kept, self.n_documents_seen_ = None, n_before + documents.n_documents
        return self

    @abstractmethod
    def _laps_of_update(self, documents: Corpus, steering: Steering, executor: Engine) -> CollapsedLaps:
        """Put the algorithm together with new documents."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_start_of_seeds("random")

    def _check_documents(self, documents: Corpus) -> None:
        super()._check_documents(documents)
        self._check_words_of_eta(documents.n_words)

    def _steering(self, documents: Corpus) -> Steering:
        """Return what seeds and labels say of a fit to documents."""
        if not self._n_steered:
            return UNSTEERED
        pseudo = self._behind_labels(self._word_prior(documents.words), documents.n_words).pseudo
        assert pseudo is not None
        return expected(pseudo, self._rows_of_labels)

    def _check_room(self, documents: Corpus) -> int:
        """Return how many topics seeds and labels have; refuse more than there may be."""
        n_kept = self._n_steered
        if n_kept >= MOST_TOPICS:
            raise InputError(
                f"seeds and labels have {n_kept:,} topics, but there may be {MOST_TOPICS - 1:,} at most; is each label "
                "the name of one document?"
            )
        check_room_beside(self.max_topics or MOST_TOPICS, self.n_topics, n_kept)
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
        return continued(self._topics, documents.n_words, len(names), self._rows_of_labels)

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
