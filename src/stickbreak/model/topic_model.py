"""The face that every family of topic models shares (rule 5 of the design): what a fitted model can be asked."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from stickbreak.corpus import Corpus, TextOptions
from stickbreak.corpus.mistakes import Mistake
from stickbreak.corpus.validation import checked_sparse
from stickbreak.exceptions import InvalidCorpus
from stickbreak.fitting.all_or_nothing import all_or_nothing
from stickbreak.fitting.bases import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from stickbreak.fitting.checkpoint import FREE, check_end, identity_of, identity_of_corpus, whole_number
from stickbreak.fitting.engine import engine
from stickbreak.fitting.laps import Callback
from stickbreak.fitting.loop import Trace, logger
from stickbreak.fitting.requirements import adapted_topics, check_start, check_tokens
from stickbreak.fitting.run import Identity
from stickbreak.model.parameters import names_in
from stickbreak.model.prepared import Prepared
from stickbreak.model.questions import Questions
from stickbreak.model.steering import SteeredTopics
from stickbreak.model.tables import checked_table
from stickbreak.model.texts import TakesTexts, count_for_fit
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.pseudo_counts import prior_mean
from stickbreak.path.topic_path import TopicPath
from stickbreak.prediction.left_to_right import LeftToRight, PredictiveRule, score_sequences
from stickbreak.prediction.relevance import relevant_words
from stickbreak.prediction.words import check_same_words, no_documents, words_to_show
from stickbreak.storage.places import PathLike


class TopicEstimator(Prepared, TakesTexts, SteeredTopics, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Questions):
    """Base of the estimators: D documents, W words, K topics.

    A family implements `topic_word_`, `topic_weights_`, `expected_weights` and `_predictive_rule`, and what `Estimator`
    asks of its fit. What else can be asked of topics comes from `FlatTopics`, `JoinedTopics`, `LabelledTopics`,
    `ShownInNotebooks`, `SteeredTopics` and `Questions`.
    """

    _stream_only: ClassVar[tuple[str, ...]] = ()  # parameters that only `partial_fit` uses
    _free: ClassVar[tuple[str, ...]] = ()  # parameters that a fit that goes on may change, beyond those of all
    default_topics: ClassVar[int] = 100  # where `n_topics` is None

    n_topics: int | None
    vocabulary_: tuple[str, ...]
    n_features_in_: int

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    @abstractmethod
    def _predictive_rule(self) -> PredictiveRule:
        """Return how the topic of a token follows from those before it in its document, and what topics emit."""

    @property
    def n_topics_(self) -> int:
        """Number of topics K of the fitted model."""
        check_is_fitted(self)
        return int(self.topic_word_.shape[0])

    @property
    def trace_(self) -> dict[str, NDArray]:
        """Arrays of equal length with one entry for each pass. They are made again at each access."""
        check_is_fitted(self)
        return self._trace.arrays()

    @property
    def _n_features_out(self) -> int:
        return self.n_columns_

    @property
    def rest_word_(self) -> Float:
        """Word distribution of the inactive topics: the prior mean, uniform unless eta differs by word, (W,)."""
        check_is_fitted(self)
        return prior_mean(getattr(self, "eta_", 0.0), self.n_features_in_)

    @property
    def _finds_topics(self) -> bool:
        """Whether a fit finds `n_topics` topics in its documents, which then must hold as many tokens."""
        return True

    def starting_topics(self, X: Any) -> int:
        """Return the number of topics that a fit to these documents starts with.

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)

        Returns
        -------
        int
            `n_topics`. If that is None: the default, or a quarter of the tokens of a small collection.
        """
        return self._starting_topics(X, stream=False)

    def _starting_topics(self, X: Any, *, stream: bool) -> int:
        """Return the number of topics that a fit, or a stream with this first minibatch, starts with."""
        if self.n_topics is not None:
            return int(self.n_topics)
        default = self._default_topics(stream=stream)
        return (
            adapted_topics(default, Corpus.from_counts(self._counted(X, reset=True))) if self._finds_topics else default
        )

    def _default_topics(self, *, stream: bool) -> int:
        """Return what stands for `n_topics` of None."""
        return self.default_topics

    def _settled_topics(self, corpus: Corpus, *, stream: bool = False) -> int:
        """Return `starting_topics`; refuse more than tokens where they are given, and say so where they are fewer.

        Of a first minibatch (`stream`) it says besides that later ones add no topics.
        """
        n_topics, default = self._starting_topics(corpus, stream=stream), self._default_topics(stream=stream)
        if self.n_topics is not None and self._finds_topics:
            check_start(corpus, n_topics)
        elif self.n_topics is None and n_topics < default:
            plural, topics = "s" * (corpus.n_tokens != 1), f"{n_topics} topic{'s' * (n_topics != 1)}"
            advice = (
                "later minibatches add no topics; give a larger first minibatch, or set n_topics"
                if stream
                else "n_topics (--topics) sets another number"
            )
            logger.warning(
                "the documents hold only %.12g token%s: the fit starts with %s instead of %d; %s",
                corpus.n_tokens, plural, topics, default, advice,
            )  # fmt: skip
        return n_topics

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        labels: Any = None,
        text: Hashable | None = None,
        options: TextOptions | None = None,
        callback: Callback | None = None,
        checkpoint: PathLike | None = None,
        resume: bool = False,
    ) -> Self:
        """Learn from documents, pass by pass.

        Ctrl-C ends the fit after the current pass (the first one, if the start is still running) and leaves a usable
        model. A second Ctrl-C interrupts at once. Callback and checkpoint also come after each pass. A call that fails
        or is interrupted leaves the model as it was.

        Parameters
        ----------
        X : texts, data frame, Corpus, sparse matrix or array of shape (D, W)
            Texts are a list or array of strings, or a column of pandas, polars or Arrow. They are counted with
            `options`, which the model remembers: it takes texts wherever it takes counts, and counts them in the same
            way. Counts may be given instead. Samplers need whole numbers; other methods also take non-negative weights.
        y : ignored
        labels : str or sequence of length D, optional
            Labels of the documents, for `TopicModel` and `GibbsHDP(representation="direct")`: a column beside
            them or of the data frame, or a text or list of texts for each (None, "" and [] are none). They say which
            topics a document has (math.md (L10), (G16)).
        text : str or int, optional
            The column of the texts, where X is a data frame. Later the model takes this column of any data frame.
        options : TextOptions, optional
            How texts become counts. Default: `TextOptions()`, which is for English.
        callback : callable, optional
            Called with a dict after each sweep of the start ({"stage": "init", "done", "total"}) and after each pass
            (its row of `trace_`, with the limit as "n_laps").
        checkpoint : path-like, optional
            A folder to which the state of the fit is written after every pass, in place of the one before.
        resume : bool, default=False
            Continue from `checkpoint` if it exists. The result equals that of an uninterrupted fit. `n_laps` may be
            larger than before.

        Returns
        -------
        self

        Raises
        ------
        InvalidCorpus
            If the counts are negative, not finite, or hold no token at all, or no word of the texts is left.
        InputError
            If a parameter or labels do not suit the documents or method, or the checkpoint belongs to another fit.
        """
        self._take_labels(X, labels)
        self.text_column_ = None
        if text is not None or options is not None:
            X = count_for_fit(X, text, options)
            self.text_column_ = None if text is None else str(text)
        return super().fit(X, y, callback=callback, checkpoint=checkpoint, resume=resume)

    def transform(self, X: Any) -> Float:
        """Return the expected topic weights of documents.

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)
            Counts over the words of the fitted model.

        Returns
        -------
        ndarray of shape (D, K)
            Weights of the active topics, renormalised so that rows sum to one. An empty document gets the weights of
            the corpus.
        """
        return self.active_weights(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the held-out log-likelihood by document completion, in nats per token (larger is better).

        The tokens of every document are split at random (with a fixed seed) into two halves. The topic weights come
        from the first half, and the second half is scored: sum_d log p(x''_d | pi_d, phi) / sum_d |x''_d|, with pi
        renormalised over the active topics (math.md (D6); Hughes et al. 2015, Eq. 22).

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)
            Documents that the model was not fitted on.
        y : ignored

        Raises
        ------
        InputError
            If no document has two tokens.
        """
        check_is_fitted(self)
        return self.complete(*self._corpus(X).halves(seed=0)).active

    def left_to_right(
        self,
        X: Any,
        *,
        n_particles: int = 20,
        resample: bool = True,
        random_state: int | np.random.RandomState | None = 0,
    ) -> LeftToRight:
        """Estimate the probability of documents, each token given those before it (Wallach et al. 2009). math.md (D4)

        The topics stay fixed. The inactive rest is one more topic, with the prior mean over words; a tree has no such
        rest. All words are scored, as in `score`: words that the fit never saw have the probability that the prior, or
        the tree, leaves to them.

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)
            Counts of words, as whole numbers, in documents that the model was not fitted on.
        n_particles : int, default=20
            Number of samples of the topics of each document.
        resample : bool, default=True
            Whether the topics of all earlier tokens are drawn again before a token is predicted. The work then grows
            with the square of the length of a document. Without, it grows in proportion to the length, but more
            particles are needed. For a tree only the estimate without is unbiased, because its conditionals do not
            belong to one joint distribution.
        random_state : int, RandomState or None, default=0
            Seed of the word order in each document and of the samples. Both depend only on the words of the document:
            they are the same for any model, any `n_jobs` and any position of the document.

        Returns
        -------
        LeftToRight
            Nats per token, by the printed and by the unbiased estimate, with perplexities and the log probability of
            each document (0 for an empty one).

        Raises
        ------
        InputError
            If counts are not whole numbers, no document has a token, or `n_particles` is not a positive whole number.
        """
        check_is_fitted(self)
        corpus = self._corpus(X)
        with engine(self.n_jobs) as executor:
            return score_sequences(self._predictive_rule(), corpus, n_particles, resample, random_state, executor)

    def top_words(self, n: int = 10, vocabulary: Sequence[str] | None = None) -> list[list[str]]:
        """Return the `n` most relevant words of each topic, the order of all tables and of the report.    math.md (Q5)

        `top_word_indices` has the most probable ones.

        Parameters
        ----------
        n : int, default=10
            Number of words.
        vocabulary : sequence of str, optional
            Names of the columns, if the fit did not know them (in a pipeline after a CountVectorizer:
            `vectorizer.get_feature_names_out()`).
        """
        check_is_fitted(self)
        words = words_to_show(n, vocabulary, self.vocabulary_)
        return [[str(words[w]) for w in row] for row in relevant_words(self, np.arange(self.n_topics_), n)]

    def _documents(self, X: Any, *, reset: bool = False) -> Corpus:
        return self._corpus(X, reset=reset)

    def _check_documents(self, documents: Corpus) -> None:
        check_tokens(documents)

    def _take_names(self, documents: Corpus) -> None:
        super()._take_names(documents)
        self.vocabulary_, self.text_options_ = documents.words, documents.text_options

    def _settled(self, documents: Corpus) -> dict[str, Any]:
        """Return parameters that are left to the documents, as these settle them."""
        return {"n_topics": self.starting_topics(documents)}

    def _identity(self, documents: Corpus, seed: int) -> Identity:
        settled = {**self._settled(documents), **self._plain_init()}
        return identity_of(self, identity_of_corpus(documents), seed, free=(*FREE, *self._free), **settled)

    def _plain_init(self) -> dict[str, Any]:
        """Return what stands for a fitted model as `init` in a file; nothing for anything else."""
        init = self.get_params(deep=False).get("init")
        return {"init": init.token_shares()} if isinstance(init, TopicEstimator) else {}

    def _saved_parameters(self) -> dict[str, Any]:
        return {**super()._saved_parameters(), **self._plain_init()}

    def _description(self, arrays: dict[str, NDArray]) -> dict[str, Any]:
        named = {"vocabulary": list(self.vocabulary_), "n_features": self.n_features_in_, **self._described_texts()}
        if self._labels:
            named["labels"] = {str(k): label for k, label in self._labels.items()}
        if self._path is None:
            return named
        path, values = self._path.packed()
        arrays |= {f"path.{name}": array for name, array in path.items()}
        return {**named, "path": values}

    @classmethod
    def _from_description(cls, parameters: dict[str, Any], arrays: dict[str, NDArray], meta: dict[str, Any]) -> Self:
        model = cls(**parameters)
        model.n_features_in_ = whole_number("n_features", meta["n_features"])
        model.vocabulary_ = tuple(names_in(meta["vocabulary"], model.n_features_in_, "words"))
        model._restore_texts(meta)
        model._labels = {int(k): label for k, label in meta.get("labels", {}).items()}
        if "path" in meta:
            path = {name.removeprefix("path."): array for name, array in arrays.items() if name.startswith("path.")}
            model._path = TopicPath.unpacked(path, meta["path"])
        return model

    def _stored_topics(self) -> tuple[Float, int]:
        """Return the table of the topics as it is saved, and how many columns it must have."""
        topics = self.components_ if hasattr(self, "components_") else self.topic_word_
        return topics, self.n_features_in_

    def _check_fitted_state(self) -> None:
        """Refuse a loaded state whose parts do not fit together; families add what they know of theirs.

        Raises
        ------
        ValueError
            If an array, a word list or a parameter cannot be of a fitted model; the text says which.
        """
        topics, n_columns = self._stored_topics()
        if topics.ndim != 2 or not topics.size or topics.dtype != np.float64 or not np.isfinite(topics).all():
            raise ValueError("its topics are not a table of finite numbers")
        if topics.shape[1] != n_columns:
            raise ValueError(f"it has topics over {topics.shape[1]} words, but {n_columns} features")
        check_end(self)
        self._check_parameters()
        self._check_labels()
        if self._path is not None and self._path.scores.size != self.n_topics_:
            raise ValueError(f"its path is of {self._path.scores.size} topics, but it has {self.n_topics_}")

    def _record(self, trace: Trace) -> None:
        super()._record(trace)
        self._path = None  # of the topics before

    def _corpus(self, X: Any, *, reset: bool = False) -> Corpus:
        """Check documents and make them a Corpus over the words of the model."""
        X = self._counted(X, reset=reset)
        if isinstance(X, Corpus):
            if reset:
                self.n_features_in_ = X.n_words
                if hasattr(self, "feature_names_in_"):
                    del self.feature_names_in_
            else:
                check_same_words(self, X)
            return X
        X = checked_sparse(X)
        options = {
            "accept_sparse": "csr",
            "ensure_all_finite": False,
            "reset": reset,
            "ensure_min_samples": int(reset),  # a fitted model describes no documents, too
        }
        checked = checked_table(self, X, Mistake.of_counts, InvalidCorpus, dtype=None, **options)
        if getattr(checked, "dtype", np.dtype(float)).kind not in "biuf":
            checked = checked_table(self, X, Mistake.of_counts, InvalidCorpus, dtype=np.float64, **options)
        words = getattr(self, "feature_names_in_", None)
        return Corpus.from_counts(checked, vocabulary=words) if checked.shape[0] else no_documents(self.vocabulary_)
