"""`GaussianDPMixture`: a DP mixture of Gaussians, for vectors without groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax
from sklearn.utils.validation import check_is_fitted

from stickbreak.corpus import Corpus, GroupedVectors
from stickbreak.corpus.arguments import WrongInput
from stickbreak.exceptions import InputError
from stickbreak.fitting.sklearn_bases import DensityMixin
from stickbreak.likelihoods import VectorLikelihood
from stickbreak.model.input_documents import checked_table
from stickbreak.numerics.arrays import Float
from stickbreak.storage.places import PathLike
from stickbreak.variational.vector_model import VectorModel
from stickbreak.variational.vectors import DPMixture, Vectors


class GaussianDPMixture(DensityMixin, VectorModel):
    """Components of real vectors and their number, by memoized or stochastic variational inference for a DP mixture.

    The model, docs/math (N3): v_k ~ Beta(1, gamma); a vector has component k with probability v_k prod_{l<k} (1 - v_l)
    and is drawn from a Gaussian whose parameters have a conjugate prior. Exact coordinate steps update q(v_k) and
    q(phi_k), batch by batch (Hughes and Sudderth 2013), with moves that merge, delete and sort components. The
    objective is exact and never falls after the first pass. No responsibility is stored from pass to pass. The
    stochastic schedule (Hoffman et al. 2013) stores no statistics of the batches; after each batch it moves q a step
    towards what this batch asks for.

    Parameters
    ----------
    n_components : int, default=100
        Number of components to start with. There are never more than vectors. Moves remove those that the data do not
        need.
    likelihood : {"zero_mean", "full", "diagonal"} or VectorLikelihood, default="full"
        Which Gaussians the components are. "zero_mean": mean zero and any covariance; "full": any mean and covariance;
        "diagonal": independent coordinates. Their priors are set from the data. You can also give a likelihood with a
        prior of your own.
    gamma : float, default=1.0
        Concentration of the Dirichlet process.
    init : {"seeding"}, array-like of shape (K, dim) or fitted model, default="seeding"
        Where the components start. "seeding": from seeds, most drawn evenly and some as in k-means++. You can also give
        seeds, or a model of the same likelihood, whose components are taken.
    moves : sequence of {"merge", "delete", "birth", "reorder"}, default=("merge", "delete", "reorder")
        Moves that are tried after each pass, each kept only if the whole objective rises. They begin at the fourth
        pass. "birth" adds components found in the vectors that the present ones explain worst, and takes as long as
        about ten passes. The stochastic schedule tries only "reorder".
    delete_vectors : int or None, default=50000
        Deletes are tried for the smallest components that together have at most this many vectors. All vectors with
        a responsibility other than zero count. None: for every component.
    schedule : {"memoized", "stochastic"}, default="memoized"
        How `fit` goes through the batches. "memoized": with exact statistics of every batch, and an objective that
        never falls; "stochastic": by a step after each batch, without stored statistics.
    learning_decay : float, default=0.5
        Step t of a stochastic fit has the size (t + learning_offset) ** -learning_decay. This also holds for
        `partial_fit`.
    learning_offset : float, default=1.0
        A larger offset makes the first steps smaller.
    total_documents : int or None, default=None
        Number of vectors in the whole stream, for `partial_fit`. None: those seen so far.
    n_laps : int, default=100
        Maximum number of passes over the data. A pass ("lap" in names) visits every vector once.
    tolerance : float, default=1e-5
        Stop when a pass raises the objective by less than this, in nats per vector. A pass that changes a component
        does not stop the fit.
    n_batches : int or None, default=None
        Number of batches in a pass. None: one for every 50,000 vectors.
    batches_at_once : int, default=1
        Number of batches that are visited at the same components, before these follow. More than one can be visited by
        several threads or workers at a time. In the stochastic schedule a step is towards what all of them ask for.
    scratch : path-like or None, default=None
        A folder for what is kept of each batch from pass to pass. The numbers are the same. None: memory, or the
        scratch folder of the cluster that is in use.
    dtype : {"float64", "float32"}, default="float64"
        Precision of the vectors and of the products over them. The prior mean is subtracted from the vectors first, and
        sums are always float64. In float32 a pass takes about half the time, and the objective rises only up to
        rounding. Vectors whose spread is lost in its rounding are refused.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers. The same seed gives the same result for any `n_jobs`.
    n_jobs : int or None, default=None
        Number of threads. None means 1, and -1 means all cores.
    verbose : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    n_components_ : int
        Number of components K.
    weights_ : ndarray of shape (K,)
        Expected weights of the components.
    means_ : ndarray of shape (K, dim)
        Means of the components.
    covariances_, precisions_ : ndarray of shape (K, dim, dim)
        Inverses of the expected precisions of the components, and the inverses of these.
    n_steps_ : int
        Number of batches visited by the fit, or of its stochastic steps, plus steps taken by `partial_fit`.
    n_documents_seen_ : int
        Number of vectors of the fit, or of the stream so far.
    moves_ : list of dict
        The accepted moves of the memoized schedule, in their order: "pass", "move", "gain" (rise of the objective in
        nats) and "n_topics" (components after the move). "topics" is empty. No moves after a stream.
    objective_ : float
        The objective (ELBO) in nats per vector, with all its constants.
    trace_ : dict of ndarray
        One entry for each pass: "objective", "n_components", "seconds" and what the moves did.
    statistics_, counts_ : ndarray of shape (rows, K) and (K,)
        Expected statistics of the components, from which `posterior_` follows.
    rho_, omega_ : ndarray of shape (K,)
        Beta factors of the sticks: v_k ~ Beta(rho_k omega_k, (1 - rho_k) omega_k).
    likelihood_ : VectorLikelihood
        The likelihood with its prior.
    gamma_ : float
        The concentration.
    learned_ : list of str
        Names of the hyperparameters that were learned in the fit: none, because gamma and the prior are given.
    n_laps_, converged_, stop_reason_, start_seconds_
        Number of passes done, whether the fit converged, why it ended, and the seconds that the start took.

    Notes
    -----
    A vector does not have weights of its own. There is therefore no `expected_weights`, no `transform`, and no
    `get_feature_names_out` or `set_output`; `predict_proba` returns the probabilities of the components given a vector.
    There is no `components_`: a component is not a row of numbers that could be normalised, but a posterior, which
    `means_` and `covariances_` summarise.

    References
    ----------
    M. C. Hughes, E. B. Sudderth. Memoized Online Variational Inference for Dirichlet Process Mixture Models. NIPS 2013.
    M. D. Hoffman, D. M. Blei, C. Wang, J. Paisley. Stochastic Variational Inference. JMLR 14, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from stickbreak import GaussianDPMixture
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-4, 1, (100, 2)), rng.normal(4, 1, (100, 2))])
    >>> GaussianDPMixture(n_components=10, random_state=0).fit(X).n_components_
    2
    """

    _moves_of_documents: ClassVar[bool] = False

    def __init__(
        self,
        *,
        n_components: int = 100,
        likelihood: str | VectorLikelihood = "full",
        gamma: float = 1.0,
        init: Any = "seeding",
        moves: Sequence[str] = ("merge", "delete", "reorder"),
        delete_vectors: int | None = 50_000,
        schedule: str = "memoized",
        learning_decay: float = 0.5,
        learning_offset: float = 1.0,
        total_documents: int | None = None,
        n_laps: int = 100,
        tolerance: float = 1e-5,
        n_batches: int | None = None,
        batches_at_once: int = 1,
        scratch: PathLike | None = None,
        dtype: str = "float64",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.likelihood = likelihood
        self.gamma = gamma
        self.init = init
        self.moves = moves
        self.delete_vectors = delete_vectors
        self.schedule = schedule
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.total_documents = total_documents
        self.n_laps = n_laps
        self.tolerance = tolerance
        self.n_batches = n_batches
        self.batches_at_once = batches_at_once
        self.scratch = scratch
        self.dtype = dtype
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _documents(self, X: Any, *, reset: bool = False) -> Vectors:
        return Vectors(self._table(X, ensure_min_samples=2, reset=reset), None)

    def _minibatch(self, X: Any, *, first: bool) -> Vectors:
        return Vectors(self._table(X, ensure_min_samples=2 if first else 0, reset=first), None)

    def _model(self, *, fitted: bool = False) -> DPMixture:
        return DPMixture(self.likelihood_.from_origin(), self.gamma_ if fitted else float(self.gamma))

    def _table(self, X: Any, **options: Any) -> NDArray:
        """Return vectors as a table of real numbers."""

        def sentence(wrong: WrongInput) -> str:
            return wrong.of_vectors("an array of numbers, a row for each vector")

        dtype = (np.float64, np.float32)
        return np.asarray(checked_table(self, _ungrouped(X), sentence, InputError, dtype=dtype, **options))

    def _joint(self, X: Any) -> tuple[int, Iterator[tuple[slice, Float]]]:
        """Return how many vectors there are, and log p(x, component) of some at a time."""
        check_is_fitted(self)
        values = self._table(X, ensure_min_samples=0, reset=False)
        log_weights = np.log(self.weights_)
        return len(values), ((rows, log_p + log_weights) for rows, log_p in self.component_log(values))

    def score_samples(self, X: Any) -> Float:
        """Return log p(x) of each vector in nats, with the parameters integrated out, (N,)."""
        n, parts = self._joint(X)
        out = np.empty(n)
        for rows, joint in parts:
            out[rows] = logsumexp(joint, axis=1)
        return out

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean of `score_samples`.

        Raises
        ------
        InputError
            If there is no vector.
        """
        scores = self.score_samples(X)
        if not scores.size:
            raise InputError("X holds no vector, so there is nothing to score; give at least one.")
        return float(scores.mean())

    def predict_proba(self, X: Any) -> Float:
        """Return the probability of each component given each vector, (N, K)."""
        n, parts = self._joint(X)
        out = np.empty((n, self.n_components_))
        for rows, joint in parts:
            out[rows] = softmax(joint, axis=1)
        return out

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the most probable component of each vector, (N,)."""
        n, parts = self._joint(X)
        out = np.empty(n, np.int64)
        for rows, joint in parts:
            out[rows] = joint.argmax(axis=1)
        return out

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> NDArray[np.int64]:
        """Fit the model and return the most probable component of each vector, (N,)."""
        return self.fit(X, y, **kwargs).predict(X)

    def sample(
        self, n_samples: int = 1, *, random_state: int | np.random.RandomState | None = None
    ) -> tuple[Float, NDArray[np.int64]]:
        """Draw vectors from the fitted mixture, grouped by component.

        Parameters
        ----------
        n_samples : int, default=1
            Number of vectors.
        random_state : int, RandomState or None, default=None

        Returns
        -------
        X : ndarray of shape (n_samples, dim)
        components : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._draw(n_samples, self.weights_, random_state)


def _ungrouped(X: Any) -> Any:
    """Return X, which must not be groups: a mixture knows none."""
    if isinstance(X, Corpus):
        raise InputError("X is a Corpus of counts, not vectors; give an array of numbers.")
    if isinstance(X, GroupedVectors):
        raise InputError(
            "X is GroupedVectors, but a mixture does not use groups; give its `.values`, or use GaussianHDP."
        )
    if isinstance(X, int | list | tuple):
        try:
            np.asarray(X, dtype=np.float64)
        except OverflowError:
            raise InputError("X holds a number that is too large; give vectors of finite numbers.") from None
        except (TypeError, ValueError):
            return X  # scikit-learn says what is wrong
    return X
