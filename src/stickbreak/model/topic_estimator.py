"""The face that every family of topic models of words shares: fit, weights of documents, scores, questions, saving."""

from __future__ import annotations

import copy
import zlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, ClassVar, Literal, Self, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from stickbreak import questions
from stickbreak.corpus import Corpus, TextOptions
from stickbreak.corpus.arguments import WrongInput
from stickbreak.corpus.csr import row_blocks
from stickbreak.corpus.sources import Source, Stored
from stickbreak.corpus.text_columns import as_frame
from stickbreak.corpus.validation import checked_sparse, columns_of_no_counts
from stickbreak.exceptions import InputError, InvalidCorpus, ModelFormatError
from stickbreak.fitting.checkpoint import FREE, check_end, identity_of, identity_of_corpus, require, whole_number
from stickbreak.fitting.checks import adapted_topics, check_start, check_tokens
from stickbreak.fitting.engine import threads_and_workers, workers_now
from stickbreak.fitting.loop import Callback, Laps, Trace, logger
from stickbreak.fitting.run import Identity, Run
from stickbreak.fitting.sklearn_bases import ClassNamePrefixFeaturesOutMixin, TransformerMixin, available_if
from stickbreak.model.document_labels import (
    DocumentLabels,
    GivenLabels,
    column_named,
    documents_for_curve,
    fitted_curve,
    given_labels,
    label_weights,
)
from stickbreak.model.estimator import Estimator, KeptState, all_or_nothing, cached
from stickbreak.model.input_documents import checked_table, count_for_fit, counted
from stickbreak.model.labels import checked_labels, group_labels, label, labels_kept, refuse_alike
from stickbreak.model.pictures import TopicPictures, topics_as_html
from stickbreak.model.saved_values import names_in
from stickbreak.model.seeds import (
    Seeds,
    WordPrior,
    base_of,
    check_eta,
    check_seeds,
    columns_of_seeds,
    in_order,
    known_words,
    outcome_of_seeds,
    plain_seeds,
    pseudo_of,
)
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.pseudo_counts import Eta, prior_mean
from stickbreak.path import joining_topics
from stickbreak.path.topic_path import TopicPath
from stickbreak.prediction.document_weights import (
    LEAST,
    WordRows,
    checked_dtype,
    checked_least,
    table_of_weights,
    weights_and_rest,
)
from stickbreak.prediction.left_to_right import LeftToRight, PredictiveRule, TopicRule, score_sequences
from stickbreak.prediction.topics import FlatTopics, shares_of
from stickbreak.prediction.words import check_same_words, no_documents, relevant_words, words_to_show
from stickbreak.questions.labels import labelled_topics
from stickbreak.storage.checksums import checksum
from stickbreak.storage.places import PathLike

Rows = TypeVar("Rows")
JOB_COUNTS = 1 << 18  # stored counts of a job of workers
_MANY_COPIES = 0.05  # of the documents, from which on they are told
_LABELLED = "a TopicModel or a GibbsHDP(representation='partially-collapsed')"


def on_workers(method: Callable[[Any, Any], Rows]) -> Callable[[Any, Any], Rows]:
    """Let the workers in use call a method of a fitted model, which returns a row for each document.

    The row of a document must not depend on the other documents. Without workers the method is called as it is.
    """

    @wraps(method)
    def call(self: Any, X: Any) -> Any:
        check_is_fitted(self)
        workers = workers_now()
        if workers is None:
            return method(self, X)
        corpus = self._corpus(X)
        blocks = list(row_blocks(corpus.counts, JOB_COUNTS))
        if not blocks:
            return method(self, X)
        source = Stored(workers.place(corpus))
        parts = workers.run(_rows, [source.part(rows) for rows in blocks], (method.__name__, _bare(self)))
        return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)

    return call


def _bare(model: Any) -> Any:
    """Return a copy of a fitted model that predicts as it does, without the state of its fit and where that began."""
    bare = copy.copy(model)
    bare.forget_state()
    bare.init = bare.n_jobs = None
    return bare


def _rows(shared: tuple[str, Any], documents: Source) -> Any:
    """Return the rows of the documents of a job."""
    name, model = shared
    return getattr(model, name)(documents.load())


class TopicEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator, FlatTopics):
    """Base of the estimators of words: D documents, W words, K topics.

    The topics of most families are expected counts of words: such a family has `components_` (with eta) and
    `topic_weights_`, and implements `_document_prior` and `_join_topics`. Others implement `topic_word_`,
    `topic_shares_`, `expected_weights` and `_predictive_rule` in their own way. All implement what `Estimator` asks of
    a fit.
    """

    _stream_only: ClassVar[tuple[str, ...]] = ()  # parameters that only `partial_fit` uses
    _free: ClassVar[tuple[str, ...]] = ()  # parameters that a fit that goes on may change, beyond those of all
    _eta_is_of_words: ClassVar[bool] = True  # whether eta may have a number for each word, or a row for each topic
    _takes_labels: ClassVar[bool] = False  # whether documents of a fit may have labels
    default_topics: ClassVar[int] = 100  # where `n_topics` is None

    n_topics: int | None
    eta: Any = None
    init: Any = None
    seeds: Seeds | None = None
    seed_tokens: float = 100.0
    vocabulary_: tuple[str, ...]
    n_features_in_: int
    components_: Float  # (K, W)  expected tokens of each word in each topic, plus eta
    eta_: Eta
    label_names_: list[str]
    label_curve_: list[float]
    _path: TopicPath | None = None
    _document_prior: Callable[[], Float]  # a of the topics, that of the inactive rest last, (K + 1,)
    _pseudo: sparse.csr_array | None = None  # (W, n)  pseudo-counts of the first n topics of the fit
    _fitted_seeds: tuple[str, ...] = ()  # names of the seeds of the fit
    _given_labels: Any = None  # of a fit that is about to begin, as they were given ...
    _document_labels: GivenLabels | None = None  # ... and as numbers, until it has ended

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as in scikit-learn; seeds of any kind of mapping become a dict.

        Returns
        -------
        self
        """
        if "seeds" in params:
            params["seeds"] = plain_seeds(params["seeds"])
        return super().set_params(**params)

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
            Labels of the documents, for `TopicModel` and the partially collapsed `GibbsHDP`: a column beside them or
            of the data frame, or a text or list of texts for each (None, "" and [] are none). They say which
            topics a document has (docs/math (L10), (G16)).
        text : str or int, optional
            The column of the texts, where X is a data frame. Later the model takes this column of any data frame.
        options : TextOptions, optional
            How texts become counts. Default: `TextOptions()`, which is for English.
        callback : callable, optional
            Called with a dict after each sweep of the start ({"stage": "init", "done", "total"}), after each pass
            (its row of `trace_`, with the limit as "n_laps"), and with `prevalence` after each pass that draws its
            effects ({"stage": "effects", "done", "total"}).
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
        if labels is not None and not self._takes_labels:
            raise InputError(f"{type(self).__name__} takes no labels; fit {_LABELLED}, or leave them out.")
        X = as_frame(X)
        self._given_labels, self._document_labels = column_named(X, labels), None
        self.text_column_ = None if text is None else str(text)
        if text is not None or options is not None:
            X = self._counted_for_fit(X, text, options)
        return self._fit(X, callback, checkpoint, resume=resume)

    def _counted_for_fit(self, X: Any, text: Hashable | None, options: TextOptions | None) -> Corpus:
        """Count the texts that a fit is given with a column of a data frame, or options, of their own."""
        return count_for_fit(X, text, options)

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
            adapted_topics(default, Corpus.from_counts(counted(self, X, reset=True))) if self._finds_topics else default
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

    # Weights of documents, and scores.

    @available_if(lambda model: hasattr(model, "_document_prior"))
    @on_workers
    def expected_weights(self, X: Any) -> Float:
        """Return the expected topic weights of documents with the inactive rest last.

        The topics are fixed. The weights are (N_dk + a_k) / (N_d + sum of a) at the fixed point of zero-order collapsed
        inference, where a_k is the concentration of topic k in a document. The rest takes no tokens.

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)

        Returns
        -------
        ndarray of shape (D, K + 1)
            Rows sum to one.
        """
        check_is_fitted(self)
        corpus = self._corpus(X)
        with threads_and_workers(self.n_jobs) as engine:
            topics, prior = self._words_in_topics(), self._prior_of_documents(corpus)
            return weights_and_rest(corpus, topics, prior, engine, strength=self._strength)

    def _prior_of_documents(self, corpus: Corpus) -> Float:
        """Return `_document_prior`, or that of each document, (D, K + 1)."""
        return self._document_prior()

    def _words_in_topics(self) -> Float | WordRows:
        """Return the word distributions of the topics, (K, W), or what returns them for some words, (n, K)."""
        return self.topic_word_

    def active_weights(self, X: Any) -> Any:
        """Return what `transform` does, as an array whatever scikit-learn's `set_output` says, (D, K)."""
        weights = self.expected_weights(X)[:, :-1]
        return weights / weights.sum(axis=1, keepdims=True)

    @overload
    def transform(
        self, X: Any, *, sparse: Literal[False] = ..., dtype: Literal["float64"] = ..., least: float = ...
    ) -> NDArray[np.float64]: ...

    @overload
    def transform(self, X: Any, *, sparse: bool = ..., dtype: Any = ..., least: float = ...) -> Any: ...

    def transform(self, X: Any, *, sparse: bool = False, dtype: Any = "float64", least: float = LEAST) -> Any:
        """Return the expected topic weights of documents.

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)
            Counts over the words of the fitted model.
        sparse : bool, default=False
            Return a sparse table of the weights from `least` upwards, made block by block. Rows then sum to what these
            weights have, and are not renormalised.
        dtype : {"float64", "float32"}, default="float64"
        least : float, default=0.001
            The least weight that a sparse table holds.

        Returns
        -------
        ndarray or scipy.sparse.csr_array of shape (D, K)
            Weights of the active topics, renormalised so that rows sum to one. An empty document gets the weights of
            the corpus.
        """
        dtype, least = checked_dtype(dtype), checked_least(least)
        if not sparse and dtype == np.float64:
            return self.active_weights(X)
        documents = self._bare_documents(self._corpus(X))
        return table_of_weights(
            self.active_weights, documents, self.n_columns_, sparse=sparse, dtype=dtype, least=least
        )

    def score(self, X: Any, y: Any = None) -> float:
        """Return the held-out log-likelihood by document completion, in nats per token (larger is better).

        The tokens of every document are split at random (with a fixed seed) into two halves. The topic weights come
        from the first half, and the second half is scored: sum_d log p(x''_d | pi_d, phi) / sum_d |x''_d|, with pi
        renormalised over the active topics (docs/math (D6); Hughes et al. 2015, Eq. 22).

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
        """Estimate the probability of documents, each token given those before it (Wallach et al. 2009). docs/math (D4)

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
        with threads_and_workers(self.n_jobs) as engine:
            return score_sequences(self._predictive_rule(), corpus, n_particles, resample, random_state, engine)

    def _predictive_rule(self) -> PredictiveRule:
        """Return how the topic of a token follows from those before it in its document, and what topics emit."""
        return TopicRule(np.vstack([self.topic_word_, self.rest_word_]), self._document_prior(), self._strength)

    # The topics of a fitted model.

    @property
    def n_topics_(self) -> int:
        """Number of topics K of the fitted model."""
        check_is_fitted(self)
        return int(self.topic_word_.shape[0])

    @property
    def _n_features_out(self) -> int:
        return self.n_columns_

    @property
    def trace_(self) -> dict[str, NDArray]:
        """Arrays of equal length with one entry for each pass. They are made again at each access."""
        check_is_fitted(self)
        return self._trace.arrays()

    @property
    def topic_word_(self) -> Float:
        """Expected word distributions, (K, W)."""
        check_is_fitted(self)
        topics = self.components_
        return topics / topics.sum(axis=1, keepdims=True)

    @property
    def rest_word_(self) -> Float:
        """Word distribution of the inactive topics: the prior mean, uniform unless eta differs by word, (W,)."""
        check_is_fitted(self)
        return prior_mean(getattr(self, "eta_", 0.0), self.n_features_in_)

    @property
    def topic_shares_(self) -> Float:
        """Share of the expected tokens that each topic has, (K,)."""
        check_is_fitted(self)
        return shares_of(self._seen_tokens())

    @cached
    def word_shares(self) -> Float:
        """Return the share of each word in the tokens of the fit, (W,)."""
        return super().word_shares()

    def _expected_counts(self) -> tuple[Float, Eta]:
        """Return the expected tokens of each word in each topic, (K, W), and eta."""
        return np.maximum(self.components_ - self.eta_, 0.0), self.eta_

    def _topic_tokens(self) -> Float:
        """Return the expected tokens of each topic with its pseudo-counts, (K,): a joined model is in their order."""
        return self._expected_counts()[0].sum(axis=1)

    def _seen_tokens(self) -> Float:
        """Return the expected tokens of each topic, without pseudo-counts, (K,)."""
        tokens = self._topic_tokens()
        if self._pseudo is not None:
            tokens[: self._n_kept] -= self._pseudo.sum(axis=0)
        return np.maximum(tokens, 0.0)

    def top_words(self, n: int = 10, vocabulary: Sequence[str] | None = None) -> list[list[str]]:
        """Return the `n` most relevant words of each topic, the order of all tables and of the report.  docs/math (Q5)

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

    # Questions, labels, joins: functions of a model, whose first parameter is the model.

    labelled_topics = labelled_topics
    topics_table = questions.topics_table
    topics_over_time = questions.topics_over_time
    topic_trends = questions.topic_trends
    topics_by = questions.topics_by
    effects = questions.effects
    words_over_time = questions.words_over_time
    words_by = questions.words_by
    documents_of = questions.documents_of
    topics_of = questions.topics_of
    word_topics = questions.word_topics
    words_of = questions.words_of
    search = questions.search
    similar_documents = questions.similar_documents
    label = label
    find_path = joining_topics.find_path
    described_path = joining_topics.described_path
    reduced = joining_topics.reduced
    joined = joining_topics.joined

    @property
    def joins_topics(self) -> bool:
        """Whether the topics are expected counts of tokens, and so can be joined."""
        return hasattr(self, "_join_topics")

    @property
    def path_(self) -> TopicPath:
        """The joins of the topics down to one, with scores: what `find_path` returned."""
        return joining_topics.path_of(self)

    @property
    def hierarchy_(self) -> Float:
        """The path in the form of SciPy's hierarchical clustering, (K - 1, 4): see `TopicPath.linkage`."""
        return self.path_.linkage()

    @property
    def labels_(self) -> dict[int, str]:
        """The labels that were given, by the number of the topic."""
        check_is_fitted(self)
        return dict(self._labels or {})

    @property
    def group_labels_(self) -> dict[int, str]:
        """The labels of groups of the path: group K + i is what join i makes, as in `hierarchy_`."""
        check_is_fitted(self)
        return group_labels(self)

    @property
    def plot(self) -> TopicPictures:
        """Pictures: ``plot.topics()``, ``over_time(X)``, ``map()``, ``hierarchy()``, ``trace()``."""
        return TopicPictures(self)

    @property
    def _repr_html_(self) -> Callable[[], str]:
        table, estimator = topics_as_html(self), cast(Any, super())
        return estimator._repr_html_ if table is None else lambda: table

    def _repr_mimebundle_(self, **options: Any) -> Any:
        table, estimator = topics_as_html(self), cast(Any, super())
        if table is None:
            return estimator._repr_mimebundle_(**options)
        return {"text/plain": repr(self), "text/html": table}

    # What is known of topics before a fit: labels of documents, then seeds of another name, or rows of eta. These
    # topics come first and keep their numbers. A fit counts pseudo-counts of their words as if tokens had been seen.

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.seeds is not None:
            check_seeds(self.seeds)
            self.seeds = plain_seeds(self.seeds)
        if self.eta is None or not self._eta_is_of_words:
            return
        check_eta(self.eta)
        if np.ndim(self.eta) > 0 and "eta" in (getattr(self, "learn", None) or ()):  # some families learn nothing
            raise InputError("learn names 'eta', but eta is an array, which is not learned; leave it out of learn.")
        if self.seeds is not None and np.ndim(self.eta) == 2:
            raise InputError("seeds and eta of shape (K, W) both say what the first topics are; give one of them.")

    def _check_start_of_seeds(self, *able: str) -> None:
        """Refuse another start than those that begin with seeds."""
        known = "seeds" if self.seeds is not None else "eta of shape (K, W)"
        if self._n_seeded and not (isinstance(self.init, str) and self.init in able):
            raise InputError(f"{known} and init both say where topics start; leave init out.")

    def _check_labelled_fit(self) -> None:
        """Refuse parameters under which documents cannot have labels."""
        if not isinstance(self.init, str):
            raise InputError("labels and init both say where topics start; give one of them.")

    @property
    def _n_seeded(self) -> int:
        """Number of topics of seeds, or of rows of eta."""
        if self.seeds is not None:
            return len(self.seeds)
        return len(self.eta) if np.ndim(self.eta) == 2 else 0

    @property
    def _n_steered(self) -> int:
        """Number of topics of labels, seeds and rows of eta."""
        return len(self._names_steered()) + (self._n_seeded if self.seeds is None else 0)

    def _names_steered(self) -> tuple[str, ...]:
        """Return the names of the topics that keep their numbers: labels, then seeds of another name."""
        labels = () if self._document_labels is None else self._document_labels.names
        return (*labels, *(name for name in self.seeds or () if name not in labels))

    @property
    def _rows_of_labels(self) -> DocumentLabels | None:
        """The labels of the documents of a fit as numbers, until it has ended."""
        return None if self._document_labels is None else self._document_labels.documents

    @property
    def _n_kept(self) -> int:
        """How many of the first topics have pseudo-counts, and so keep their numbers."""
        return 0 if self._pseudo is None else int(self._pseudo.shape[1])

    def _keeps_number(self, k: int) -> bool:
        """Whether a topic keeps its number, and so its label, whatever a call changes."""
        return k < self._n_kept

    def _seed_numbers(self) -> Sequence[int]:
        """Return the number of the topic of each seed of the fit."""
        labels = getattr(self, "label_names_", [])
        names = [*labels, *(name for name in self._fitted_seeds if name not in labels)]
        return [names.index(name) for name in self._fitted_seeds]

    @property
    def seed_topics_(self) -> dict[str, int]:
        """The number of the topic of each seed, whatever the topics are called by now; empty after a join of topics."""
        check_is_fitted(self)
        seeds = zip(self._fitted_seeds, self._seed_numbers(), strict=False)
        return {name: k for name, k in seeds if self._keeps_number(k)}

    def _check_words_of_eta(self, n_words: int) -> None:
        """Refuse an eta for another number of words."""
        if np.ndim(self.eta) and np.shape(self.eta)[-1] != n_words:
            raise InputError(
                f"eta is an array of shape {np.shape(self.eta)}, but the documents have {n_words} words; give a number "
                "for each word of the vocabulary."
            )

    def _word_prior(self, words: Sequence[str]) -> WordPrior:
        """Return the prior of the words of each topic, for documents with these words."""
        base = base_of(self.eta)
        if self.seeds is not None:
            known = list(known_words(self.seeds, words).values())
            return WordPrior(base, pseudo_of(known, len(words), float(self.seed_tokens)))
        if np.ndim(self.eta) < 2:
            return WordPrior(base)
        rows: NDArray[np.float64] = np.asarray(self.eta, dtype=np.float64) - base
        return WordPrior(base, sparse.csr_array(rows.T))

    def _behind_labels(self, prior: WordPrior, n_words: int) -> WordPrior:
        """Return the prior of the words of topics with a topic for each label before those of seeds or rows of eta."""
        if self._document_labels is None:
            return prior
        column = {name: k for k, name in enumerate(self.seeds or ())}
        columns = [column.get(name, -1) for name in self._names_steered()]
        if self.seeds is None:
            columns += range(self._n_seeded)
        return WordPrior(prior.base, in_order(prior.pseudo, columns, n_words))

    def _take_curve(self, documents: Corpus, seed: int) -> None:
        """Learn how probable labels are from the labelled documents of a fit."""
        labelled, self._document_labels = self._document_labels, None
        if labelled is not None:
            rows = documents_for_curve(labelled.documents, seed)
            has, _ = labelled.documents.sample(rows).weights(0, rows.size)
            self.label_curve_ = fitted_curve(label_weights(self, documents[rows]), has)

    def _forget_labels(self) -> None:
        """Note that the topics are no longer those of labels and seeds: they were joined."""
        self._pseudo = None
        if self._takes_labels:
            self.label_names_, self.label_curve_ = [], []

    # A fit: what `Estimator` asks.

    def _documents(self, X: Any, *, reset: bool = False) -> Corpus:
        return self._corpus(X, reset=reset)

    def _check_documents(self, documents: Corpus) -> None:
        given, self._given_labels = self._given_labels, None
        if given is not None:
            self._check_labelled_fit()
            self._document_labels = given_labels(documents, given)
        check_tokens(documents)
        if documents.text_options is None and sparse.issparse(documents.counts):  # an estimate has none
            for column in columns_of_no_counts(documents.counts):
                logger.warning(
                    "column %.40r holds most of all counts, as ids, years, prices and times do; leave it out if it is "
                    "no count of a word", documents.words[column],
                )  # fmt: skip
        n_copies = int((documents.copy_of() != np.arange(documents.n_documents)).sum())
        if n_copies > _MANY_COPIES * documents.n_documents:
            logger.warning(
                "%d of %d documents have the words of an earlier one: copies can become topics of their own, and "
                "held-out scores are too good; keep one of each with --set copies=drop (corpus.without_copies())",
                n_copies, documents.n_documents,
            )  # fmt: skip

    def _take_names(self, documents: Corpus) -> None:
        self.vocabulary_, self.text_options_ = documents.words, documents.text_options
        self.left_out_ = documents.left_out
        if self._takes_labels:
            self.label_names_ = [] if self._document_labels is None else list(self._document_labels.names)
            self.label_curve_ = []
        self._fitted_seeds = tuple(self.seeds or ())
        names = dict(zip(self._seed_numbers(), self._fitted_seeds, strict=True))
        self._labels = dict(enumerate(getattr(self, "label_names_", []))) | names or None

    def _finish(self, laps: Laps, run: Run, identity: Identity, documents: Any) -> None:
        super()._finish(laps, run, identity, documents)
        if self.seeds is None:
            return
        seeds, _ = columns_of_seeds(self.seeds, documents.words)
        n_tokens = self._n_tokens_in_topics(documents)
        values = float(self.seed_tokens), n_tokens, self._eta_of_no_seed(documents.n_words)
        outcome = outcome_of_seeds(self, seeds, self._seed_numbers(), *values)
        if outcome:
            logger.warning("%s", outcome)
            self.stop_reason_ += f" {outcome}"

    def _n_tokens_in_topics(self, documents: Corpus) -> float:
        """Return the tokens of the documents of the fit that its topics count."""
        return float(documents.n_tokens)

    def _eta_of_no_seed(self, n_words: int) -> Eta:
        """Return the pseudo-count of a word that is in no seed; 0 in families that have none."""
        eta = np.asarray(getattr(self, "eta_", self.get_params(deep=False).get("eta", 0.0)), dtype=np.float64)
        if eta.shape == (n_words,):
            return eta
        of_children = eta.ravel()[min(1, eta.size - 1)]  # one for each level of a tree
        return float(eta.min() if eta.ndim == 2 else of_children)

    def _record(self, trace: Trace) -> None:
        super()._record(trace)
        self._path = None  # of the topics before

    @contextmanager
    def _unchanged_by_errors(self) -> Iterator[None]:
        """Also let labels stay with the topics that keep their number, where a call changes topics."""
        labels = self._labels
        before = self.word_distributions(list(labels)) if labels else None
        with super()._unchanged_by_errors():
            yield
            if labels and before is not None and self._labels is labels:
                self._labels = labels_kept(self, labels, before)

    def _settled(self, documents: Corpus) -> dict[str, Any]:
        """Return parameters that are left to the documents, as these settle them."""
        return {"n_topics": self.starting_topics(documents)}

    def _identity(self, documents: Corpus, seed: int) -> Identity:
        settled = {**self._settled(documents), **self._plain_init()}
        identity = identity_of(self, identity_of_corpus(documents), seed, free=(*FREE, *self._free), **settled)
        if self._document_labels is not None:
            labels, names = self._document_labels.documents, self._document_labels.names
            identity["labels"] = [checksum(labels.start, labels.topic), zlib.crc32("\n".join(names).encode())]
        return identity

    def _kept_for(self, documents: Corpus) -> KeptState:
        """Return what is kept of the fit; its labels join, which `continue_fit` is not given."""
        self._document_labels = None
        kept = super()._kept_for(documents)
        if self._takes_labels and self.label_names_:
            names, n = tuple(self.label_names_), documents.n_documents
            try:
                arrays = kept.arrays["labels.start"], kept.arrays["labels.topic"]
                self._document_labels = GivenLabels(names, DocumentLabels.restored(*arrays, len(names), n))
            except (KeyError, ValueError) as error:
                raise ModelFormatError(f"the state of this model is damaged ({error}); fit it again.") from None
        return kept

    def _corpus(self, X: Any, *, reset: bool = False) -> Corpus:
        """Check documents and make them a Corpus over the words of the model."""
        if not reset:
            check_is_fitted(self)
        X = counted(self, as_frame(X), reset=reset)
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
        checked = checked_table(self, X, WrongInput.of_counts, InvalidCorpus, dtype=None, **options)
        if getattr(checked, "dtype", np.dtype(float)).kind not in "biuf":
            checked = checked_table(self, X, WrongInput.of_counts, InvalidCorpus, dtype=np.float64, **options)
        words = getattr(self, "feature_names_in_", None)
        return Corpus.from_counts(checked, vocabulary=words) if checked.shape[0] else no_documents(self.vocabulary_)

    # Saving and loading.

    def _plain_init(self) -> dict[str, Any]:
        """Return what stands for a fitted model as `init` in a file; nothing for anything else."""
        init = self.get_params(deep=False).get("init")
        return {"init": init.token_shares()} if isinstance(init, TopicEstimator) else {}

    def _saved_parameters(self) -> dict[str, Any]:
        return {**super()._saved_parameters(), **self._plain_init()}

    def _description(self, arrays: dict[str, NDArray]) -> dict[str, Any]:
        described: dict[str, Any] = {"vocabulary": list(self.vocabulary_), "n_features": self.n_features_in_}
        if self.text_options_ is not None:
            described["texts"] = {"options": self.text_options_.as_plain(), "column": self.text_column_}
        if self.left_out_:
            described["left_out"] = list(self.left_out_)
        if self._labels:
            described["labels"] = {str(k): label for k, label in self._labels.items()}
        if self._path is not None:
            path, described["path"] = self._path.packed()
            arrays |= {f"path.{name}": array for name, array in path.items()}
        described["seeds"] = list(self._fitted_seeds)
        if self._pseudo is not None:
            described["n_seeded"] = int(self._pseudo.shape[1])
            arrays |= {f"pseudo.{name}": getattr(self._pseudo, name) for name in ("data", "indices", "indptr")}
        return described

    @classmethod
    def _from_description(cls, parameters: dict[str, Any], arrays: dict[str, NDArray], meta: dict[str, Any]) -> Self:
        model = cls(**parameters)
        model.n_features_in_ = whole_number("n_features", meta["n_features"])
        model.vocabulary_ = tuple(names_in(meta["vocabulary"], model.n_features_in_, "words"))
        if "texts" in meta:
            column = meta["texts"]["column"]
            require(column is None or isinstance(column, str), f"the column of its texts is {column!r:.40}")
            model.text_options_, model.text_column_ = TextOptions.from_plain(meta["texts"]["options"]), column
        model.left_out_ = tuple(names_in(meta.get("left_out", []), len(meta.get("left_out", [])), "sentences"))
        model._labels = {int(k): label for k, label in meta.get("labels", {}).items()}
        if "path" in meta:
            path = {name.removeprefix("path."): array for name, array in arrays.items() if name.startswith("path.")}
            model._path = TopicPath.unpacked(path, meta["path"])
        model._fitted_seeds = tuple(names_in(meta["seeds"], len(meta["seeds"]), "seeds"))
        if "n_seeded" in meta:
            parts = tuple(arrays[f"pseudo.{name}"] for name in ("data", "indices", "indptr"))
            model._pseudo = sparse.csr_array(parts, shape=(model.n_features_in_, int(meta["n_seeded"])))
            model._pseudo.check_format(full_check=True)
            require(bool((model._pseudo.data > 0).all() and np.isfinite(model._pseudo.data).all()), "a seed is damaged")
        return model

    def _stored_topics(self) -> tuple[Float, int]:
        """Return the table of the topics as it is saved, and how many columns it must have."""
        topics = self.components_ if hasattr(self, "components_") else self.topic_word_
        return topics, self.n_features_in_

    def _check_fitted_state(self) -> None:
        topics, n_columns = self._stored_topics()
        if topics.ndim != 2 or not topics.size or topics.dtype != np.float64 or not np.isfinite(topics).all():
            raise ValueError("its topics are not a table of finite numbers")
        if topics.shape[1] != n_columns:
            raise ValueError(f"it has topics over {topics.shape[1]} words, but {n_columns} features")
        self._check_end_and_labels()
        if self._path is not None and self._path.scores.size != self.n_topics_:
            raise ValueError(f"its path is of {self._path.scores.size} topics, but it has {self.n_topics_}")

    def _check_end_and_labels(self) -> None:
        """Refuse parameters, an end of a fit and labels of a loaded model that no fit can have left; a ValueError."""
        check_end(self)
        self._check_parameters()
        try:
            checked_labels(self, self._labels or {})
            refuse_alike(self._labels or {})
        except InputError as error:
            raise ValueError(f"its labels cannot be: {error}") from None
        if self._takes_labels:
            names_in(self.label_names_, len(self.label_names_), "labels of documents")
            curve = self.label_curve_
            require(len(curve) == 2 * bool(self.label_names_), "the curve of its labels is not there")
            require(bool(np.isfinite(np.array(curve, dtype=np.float64)).all()), "the curve of its labels is not finite")
