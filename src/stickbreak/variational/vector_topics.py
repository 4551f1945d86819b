"""`VectorTopics`: topics of documents by their vectors, such as embeddings, with the words of their texts."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus, GroupedVectors, TextOptions, count_texts
from stickbreak.corpus.alignment import in_columns, only_numbered
from stickbreak.corpus.arguments import first_entry
from stickbreak.corpus.text_columns import columns_of, is_frame, names_a_column, texts_of
from stickbreak.exceptions import InputError
from stickbreak.fitting.constraints import whole
from stickbreak.fitting.loop import Callback
from stickbreak.model.estimator import all_or_nothing
from stickbreak.model.input_documents import count_for_fit
from stickbreak.model.topic_estimator import TopicEstimator
from stickbreak.numerics.arrays import Float
from stickbreak.prediction.words import document_blocks
from stickbreak.storage.places import PathLike
from stickbreak.variational.gaussian_hdp import GaussianHDP
from stickbreak.variational.gaussian_mixture import GaussianDPMixture

VECTOR_MODELS: dict[str, type[GaussianDPMixture] | type[GaussianHDP]] = {
    kind.__name__: kind for kind in (GaussianDPMixture, GaussianHDP)
}
_SAME = 1e-9  # a difference of vectors of length one that is rounding
ETA = 0.01  # pseudo-count of a word in a topic
_OF_VECTORS = "converged_", "stop_reason_", "start_seconds_", "moves_"  # of the fit to the vectors


class VectorTopics(TopicEstimator):
    """Topics of documents by their vectors, and how many there are; words come from the texts of the documents.

    The vectors are the user's, such as embeddings by a language model. Documents with one vector are fitted by a
    `GaussianDPMixture`, documents with several (of their sentences, say) by a `GaussianHDP`, with Gaussians of
    independent coordinates in the leading principal directions. The words of a topic are counted in its documents, by
    its weights in them: n_kw = sum_d theta_dk x_dw. All questions, reports and plots of topics then work, but for what
    predicts words.

    Parameters
    ----------
    n_topics : int, default=100
        Number of topics to start with. The fit merges and deletes those that the vectors do not need.
    n_dimensions : int, default=50
        Vectors are made of length one, and then given by this number of their principal coordinates.
    n_laps : int, default=100
        Maximum number of passes over the vectors.
    tolerance : float, default=1e-5
        Stop when a pass raises the objective by less than this, in nats per vector.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers. The same seed gives the same result for any `n_jobs`.
    n_jobs : int or None, default=None
        Number of threads. None means 1, and -1 means all cores.
    verbose : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    n_topics_ : int
        Number of topics K.
    components_ : ndarray of shape (K, W)
        Expected tokens of each word in each topic, plus 0.01.
    topic_word_ : ndarray of shape (K, W)
        The same as distributions of words.
    topic_weights_, topic_shares_ : ndarray of shape (K,)
        Expected weights of the topics, and their shares of the tokens.
    vector_model_ : GaussianDPMixture or GaussianHDP
        The fitted model of the vectors in their principal coordinates.
    mean_, directions_ : ndarray of shape (dim,) and (m, dim)
        What is subtracted from vectors of length one, and the directions onto which they are projected.
    vocabulary_ : tuple of str
        The W words.
    objective_, trace_, n_laps_, converged_, stop_reason_, start_seconds_, moves_
        Of the fit to the vectors, in nats per vector.

    Examples
    --------
    >>> import numpy as np
    >>> from stickbreak import VectorTopics
    >>> texts = ["bread and butter", "butter on bread", "ships at sea", "the sea and a ship"] * 25
    >>> rng = np.random.default_rng(0)
    >>> embeddings = np.repeat([[[1.0, 0.0]], [[0.0, 1.0]]], 2, axis=0).repeat(25, axis=1)
    >>> embeddings = embeddings.transpose(1, 0, 2).reshape(100, 2) + rng.normal(0, 0.05, (100, 2))
    >>> model = VectorTopics(random_state=0).fit(texts, vectors=embeddings)
    >>> sorted(sorted(words[:1]) for words in model.top_words(1))
    [['bread'], ['sea']]
    """

    _fitted_arrays: ClassVar[tuple[str, ...]] = ("components_", "mean_", "directions_")
    _fitted_values: ClassVar[tuple[str, ...]] = (*TopicEstimator._fitted_values, "vector_column_", "moves_")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TopicEstimator._parameter_constraints,
        "n_topics": [whole(1)],
        "n_dimensions": [whole(1)],
    }
    unit: ClassVar[str] = "vector"
    takes_vectors: ClassVar[bool] = True
    eta_: float = ETA

    n_topics: int
    vector_model_: GaussianDPMixture | GaussianHDP
    mean_: Float
    directions_: Float

    def __init__(
        self,
        *,
        n_topics: int = 100,
        n_dimensions: int = 50,
        n_laps: int = 100,
        tolerance: float = 1e-5,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_topics = n_topics
        self.n_dimensions = n_dimensions
        self.n_laps = n_laps
        self.tolerance = tolerance
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(  # type: ignore[override]  # it takes no labels
        self,
        X: Any,
        y: Any = None,
        *,
        vectors: Any = None,
        text: Hashable | None = None,
        options: TextOptions | None = None,
        callback: Callback | None = None,
        checkpoint: PathLike | None = None,
        resume: bool = False,
    ) -> Self:
        """Learn topics from the vectors of documents, and their words from the texts.

        Ctrl-C, callback, checkpoint and resume are as in `TopicModel.fit`.

        Parameters
        ----------
        X : texts, data frame or Corpus
            As in `TopicModel.fit`. A Corpus may bring its vectors (`Corpus.vectors`).
        y : ignored
        vectors : str or int, array-like of shape (D, dim) or sequence of such tables, optional
            A vector of each document, or a table of several; or the column of the data frame with them. Later the model
            takes this column of any data frame. Texts in a list are then given with their vectors as
            ``corpus.count_texts(texts, vectors=...)``.
        text : str or int, optional
            The column of the texts, where X is a data frame.
        options : TextOptions, optional
            How texts become counts. Default: `TextOptions()`, which is for English.
        callback : callable, optional
            Called with a dict after each pass.
        checkpoint : path-like, optional
            A folder to which the state of the fit is written after every pass, in place of the one before.
        resume : bool, default=False
            Continue from `checkpoint` if it exists.

        Returns
        -------
        self

        Raises
        ------
        InvalidCorpus
            If no word of the texts is left.
        InputError
            If there is not a vector of each document, or a parameter does not suit them.
        """
        column = str(vectors) if names_a_column(vectors) else None
        if column is not None and text is None and is_frame(X):
            raise InputError(
                "the column of the vectors is given, but not that of the texts; give "
                f"fit(X, text={_texts_beside(X)!r}, vectors={vectors!r})."
            )
        if isinstance(X, Corpus):
            if text is not None or options is not None:
                count_for_fit(X, text, options)  # refuses counts
            X = X if vectors is None else Corpus.from_counts(X, vectors=vectors)
        elif vectors is not None:
            X = count_texts(X, options or TextOptions(), text=text, vectors=vectors)
        self.vector_column_ = column
        self.text_column_ = None if text is None else str(text)
        documents = self._documents(X, reset=True)
        self._check_documents(documents)
        self._take_directions(documents)
        own = ("n_laps", "tolerance", "random_state", "n_jobs", "verbose")
        kind = GaussianHDP if isinstance(documents.vectors, GroupedVectors) else GaussianDPMixture
        model = kind(n_components=self.n_topics, likelihood="diagonal", **{name: getattr(self, name) for name in own})
        model.fit(self._projected(documents), callback=callback, checkpoint=checkpoint, resume=resume)
        model.forget_state()
        self.vector_model_, self._reading = model, None
        self._take_names(documents)
        for name in _OF_VECTORS:
            setattr(self, name, getattr(model, name))
        self._record(model._trace)
        self.components_ = self._words_by_weight(documents)
        return self

    def _take_directions(self, documents: Corpus) -> None:
        """Find the mean and the leading principal directions of vectors of length one."""
        values = _of_length_one(_values(documents))
        if not len(values) or np.ptp(values, axis=0).max() < _SAME:
            what = "the vectors of the documents all point the same way" if len(values) > 1 else "there is one vector"
            raise InputError(f"{what}, so they tell no topics apart; give documents whose vectors differ.")
        self.mean_ = values.mean(axis=0)
        covariance = (values - self.mean_).T @ (values - self.mean_) / len(values)
        variances, directions = np.linalg.eigh(covariance)
        rank = max(1, int((variances > 1e-9 * max(float(variances[-1]), 1e-300)).sum()))
        leading = directions[:, ::-1][:, : min(self.n_dimensions, rank)].T
        largest = leading[np.arange(len(leading)), np.abs(leading).argmax(axis=1)]
        self.directions_ = np.ascontiguousarray(leading * np.sign(largest)[:, None])

    def _projected(self, documents: Corpus) -> Any:
        """Return the principal coordinates of vectors, in groups where a document has several."""
        values, vectors = _of_length_one(_values(documents)), documents.vectors
        if values.shape[1] != self.mean_.size:
            raise InputError(
                f"the vectors have {values.shape[1]} numbers, but those of the fit had {self.mean_.size}; give vectors "
                "of the same kind."
            )
        values = (values - self.mean_) @ self.directions_.T
        return GroupedVectors(values, vectors.offsets) if isinstance(vectors, GroupedVectors) else values

    def _in_form_of_fit(self, X: Any) -> Any:
        """Return what the model of the vectors takes: principal coordinates of a vector, or of several, of each."""
        vectors, in_groups = self._projected(self._corpus(X)), isinstance(self.vector_model_, GaussianHDP)
        if isinstance(vectors, GroupedVectors) and not in_groups:
            raise InputError("this model was fitted to one vector of each document, but X has several; give one.")
        if in_groups and not isinstance(vectors, GroupedVectors):
            return GroupedVectors(vectors, np.arange(len(vectors) + 1))
        return vectors

    def _words_by_weight(self, documents: Corpus) -> Float:
        """Return n_kw = sum_d theta_dk x_dw, plus eta, (K, W)."""
        counts = np.zeros((self.vector_model_.n_components_, documents.n_words))
        for rows in document_blocks(len(documents), len(counts)):
            part = documents[rows]
            counts += np.asarray((part.counts.T @ self.expected_weights(part)[:, :-1]).T)
        return counts + self.eta_

    @property
    def topic_weights_(self) -> Float:
        """Expected weights of the topics, (K,)."""
        return self.vector_model_.weights_

    def expected_weights(self, X: Any) -> Float:
        """Return the expected topic weights of documents, from their vectors, with the inactive rest last.

        Parameters
        ----------
        X : Corpus with vectors, or data frame with the columns of the fit

        Returns
        -------
        ndarray of shape (D, K + 1)
            Rows sum to one. The rest is zero where documents have one vector.
        """
        model, vectors = self.vector_model_, self._in_form_of_fit(X)
        if isinstance(model, GaussianHDP):
            return model.expected_weights(vectors)
        return np.column_stack([model.predict_proba(vectors), np.zeros(len(vectors))])

    def map_vectors(self, X: Any) -> Float | None:
        """Return the principal coordinates of documents with one vector, made of length one, (D, m)."""
        vectors = self._projected(self._corpus(X))
        return None if isinstance(vectors, GroupedVectors) else _of_length_one(vectors)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the log density of the vectors of documents in nats per vector, as `vector_model_` scores them.

        Parameters
        ----------
        X : Corpus with vectors, or data frame with the columns of the fit
            Documents that the model was not fitted on.
        y : ignored
        """
        return self.vector_model_.score(self._in_form_of_fit(X))

    def continue_fit(self, X: Any, *, n_laps: int, callback: Callback | None = None) -> NoReturn:
        """Refuse to go on: the state of the fit is not kept."""
        raise InputError(
            "a VectorTopics keeps no state of its fit, so it cannot continue; fit again, with a larger n_laps."
        )

    def complete(self, observed: Any, held_out: Any, *, seen: Any = None) -> NoReturn:
        """Refuse to predict words: the vectors of documents know all of their texts."""
        raise InputError(
            "a VectorTopics does not predict words, as vectors are of whole texts; score(X) scores the vectors."
        )

    def _predictive_rule(self) -> NoReturn:
        self.complete(None, None)

    def _corpus(self, X: Any, *, reset: bool = False) -> Corpus:
        """Check documents, and that they have vectors; words that a fitted model does not know are left out."""
        if not reset and isinstance(X, Corpus) and hasattr(self, "vocabulary_"):
            X = self._in_own_words(X)
        corpus = super()._corpus(X, reset=reset)
        if corpus.vectors is None and not reset and not len(corpus):
            return replace(corpus, vectors=np.zeros((0, self.mean_.size)))
        if corpus.vectors is None:
            raise InputError(
                "the documents have no vectors; give stickbreak.corpus.count_texts(texts, vectors=...), or a data frame"
                " with the column of the vectors (on the command line: --vectors FILE.npy or COLUMN)."
            )
        return corpus

    def _in_own_words(self, corpus: Corpus) -> Corpus:
        """Match words by name; topics follow from the vectors, so no word need be known."""
        if only_numbered(corpus, self.vocabulary_) or corpus.vocabulary == self.vocabulary_:
            return corpus
        place = {word: column for column, word in enumerate(self.vocabulary_)}
        return in_columns(corpus, np.array([place.get(word, -1) for word in corpus.words]), self.vocabulary_)

    def _description(self, arrays: dict[str, NDArray]) -> dict[str, Any]:
        model_arrays, meta = self.vector_model_._packed()
        arrays |= {f"vectors.{name}": array for name, array in model_arrays.items()}
        kind = type(self.vector_model_).__name__
        return {**super()._description(arrays), "vector_model": {"kind": kind, **meta}}

    @classmethod
    def _from_description(cls, parameters: dict[str, Any], arrays: dict[str, NDArray], meta: dict[str, Any]) -> Self:
        model = super()._from_description(parameters, arrays, meta)
        of_vectors = {name.removeprefix("vectors."): a for name, a in arrays.items() if name.startswith("vectors.")}
        model.vector_model_ = VECTOR_MODELS[meta["vector_model"]["kind"]]._unpacked(of_vectors, meta["vector_model"])
        return model

    def _check_fitted_state(self) -> None:
        super()._check_fitted_state()
        K, m = self.vector_model_.n_components_, self.vector_model_.n_features_in_
        shapes = {
            "components_": (K, self.n_features_in_),
            "mean_": self.mean_.shape,
            "directions_": (m, self.mean_.size),
        }
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.shape != shape or array.dtype != np.float64 or not np.isfinite(array).all():
                raise ValueError(f"{name} is not a finite table of shape {shape}")
        if self.mean_.ndim != 1 or (self.components_ <= 0).any():
            raise ValueError("mean_ or components_ is out of range")
        if not isinstance(self.vector_column_, str | None):
            raise ValueError("vector_column_ is no name")


def _texts_beside(frame: Any) -> str:
    """Return the first column that holds texts, or how one may be named."""
    text = (name for name in columns_of(frame) if isinstance(first_entry(texts_of(frame, name)), str))
    return next(text, "text")


def _values(documents: Corpus) -> Float:
    """Return the vectors of documents, one below the other."""
    vectors = documents.vectors
    return np.asarray(vectors.values if isinstance(vectors, GroupedVectors) else vectors, dtype=np.float64)


def _of_length_one(values: Float) -> Float:
    """Return vectors divided by their lengths; a vector of zeros stays."""
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    return values / np.where(lengths > 0, lengths, 1.0)
