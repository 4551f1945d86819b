"""`GaussianHDP`: groups of real vectors that share components, each group with weights of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax
from sklearn.utils.validation import check_is_fitted

from stickbreak.corpus import GroupedVectors
from stickbreak.corpus.arguments import wrong_input
from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_names
from stickbreak.fitting.constraints import CONCENTRATION, POSITIVES, one_of, whole
from stickbreak.fitting.engine import one_blas_thread, threads_and_workers
from stickbreak.fitting.sklearn_bases import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from stickbreak.likelihoods import VectorLikelihood
from stickbreak.numerics.arrays import Float
from stickbreak.prediction.document_weights import LEAST, checked_dtype, checked_least, table_of_weights
from stickbreak.storage.places import PathLike
from stickbreak.variational.checks import check_learned, check_stick_rule
from stickbreak.variational.global_step import STICK_RULES
from stickbreak.variational.hdp import HDP
from stickbreak.variational.local_step import LocalSettings
from stickbreak.variational.model import Model
from stickbreak.variational.objective import BOUNDS, SURROGATE
from stickbreak.variational.state import GlobalParameters
from stickbreak.variational.stochastic import StepRule
from stickbreak.variational.vector_model import VectorModel
from stickbreak.variational.vectors import VectorBatch, Vectors

VECTORS_AT_ONCE = 50_000  # whose weights are inferred together, or those of one larger group


class GaussianHDP(ClassNamePrefixFeaturesOutMixin, TransformerMixin, VectorModel):
    """Components of grouped vectors and their number, by memoized or stochastic variational inference for the HDP.

    Model (docs/math, the model, (E1)): u_k ~ Beta(1, gamma), beta_k = u_k prod_{l<k} (1 - u_l); group g has weights
    pi_g ~ Dir(alpha beta). A vector of the group has component k with probability pi_gk, and is drawn from a Gaussian
    whose parameters have a conjugate prior. The model is that of `VariationalHDP` with vectors in place of words (for
    example image patches in images), with the same objective and schedules, and its moves but for the refinement.

    Parameters
    ----------
    n_components : int, default=100
        Number of components to start with. There are never more than vectors. Moves remove those that the data do not
        need.
    likelihood : {"zero_mean", "full", "diagonal"} or VectorLikelihood, default="zero_mean"
        Which Gaussians the components are. "zero_mean": mean zero and any covariance; "full": any mean and covariance;
        "diagonal": independent coordinates. Their priors are set from the data. You can also give a likelihood with a
        prior of your own.
    alpha : float, default=0.5
        Concentration of the component weights of a group.
    gamma : float, default=10.0
        Concentration of the component weights of the corpus.
    learn : sequence of {"alpha", "gamma", "scale"}, default=()
        Hyperparameters that are learned from the data. After each pass they are set to the maximum of the objective,
        beginning with the given values. "scale" is that of the Gaussian priors. Only the memoized schedule can learn.
    bound : {"surrogate", "quadratic", "point"}, default="surrogate"
        Which lower bound of the expected log normaliser of the weights the objective has. See `VariationalHDP`.
    init : {"seeding"}, array-like of shape (K, dim) or fitted model, default="seeding"
        Where the components start. "seeding": from seeds, most drawn evenly and some as in k-means++. You can also give
        seeds, or a model of the same likelihood, whose components are taken.
    moves : sequence of {"merge", "delete", "birth", "reorder"}, default=("merge", "delete", "reorder")
        Moves that are tried after each pass, each kept only if the whole objective rises. They begin at the fourth
        pass. "birth" adds components found in the vectors that the present ones explain worst, and takes as long as
        about ten passes. The stochastic schedule tries only "reorder".
    delete_vectors : int or None, default=50000
        Deletes are tried for the smallest components that together have at most this many vectors. All vectors of the
        groups of a component count. None: for every component.
    schedule : {"memoized", "stochastic"}, default="memoized"
        How `fit` goes through the batches. "memoized": with exact statistics of every batch, and an objective that
        never falls; "stochastic": by a step after each batch, without stored statistics.
    learning_decay : float, default=0.5
        Step t of a stochastic fit has the size (t + learning_offset) ** -learning_decay. This also holds for
        `partial_fit`.
    learning_offset : float, default=1.0
        A larger offset makes the first steps smaller.
    total_documents : int or None, default=None
        Number of groups in the whole stream, for `partial_fit`. None: those seen so far.
    stick_rule : {"interpolate", "natural"}, default="interpolate"
        How stochastic steps move the corpus weights. See `VariationalHDP`.
    n_laps : int, default=50
        Maximum number of passes over the data. A pass ("lap" in names) visits every vector once.
    tolerance : float, default=1e-5
        Stop when a pass raises the objective by less than this, in nats per vector. A pass that changes a component
        does not stop the fit.
    n_batches : int or None, default=None
        Number of batches in a pass. None: one for every 50,000 vectors. A group is never cut, so the largest group
        needs memory for one number for each of its vectors and components.
    batches_at_once : int, default=1
        Number of batches that are visited at the same components, before these follow. More than one can be visited by
        several threads or workers at a time. In the stochastic schedule a step is towards what all of them ask for.
    scratch : path-like or None, default=None
        A folder for what is kept of each batch from pass to pass. The numbers are the same. None: memory, or the
        scratch folder of the cluster that is in use.
    local_tolerance : float, default=1e-4
        A local step stops when no expected count changes by more. A local step is that of one group, and the counts are
        its N_gk.
    local_sweeps : int, default=100
        Maximum number of sweeps in a local step.
    restarts : int, default=5
        Number of components, the smallest first, that each group is tried without after its local step.
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
        Expected corpus weights of the components.
    means_ : ndarray of shape (K, dim)
        Means of the components.
    covariances_, precisions_ : ndarray of shape (K, dim, dim)
        Inverses of the expected precisions of the components, and the inverses of these.
    n_steps_ : int
        Number of batches visited by the fit, or of its stochastic steps, plus steps taken by `partial_fit`.
    n_documents_seen_ : int
        Number of groups of the fit, or of the stream so far.
    moves_ : list of dict
        The accepted moves of the memoized schedule, in their order: "pass", "move", "gain" (rise of the objective in
        nats) and "n_topics" (components after the move). "topics" is empty. No moves after a stream.
    objective_ : float
        The objective (ELBO) in nats per vector, with all its constants.
    trace_ : dict of ndarray
        One entry for each pass: "objective", "n_components", "seconds", what the moves did, and what was learned.
    statistics_, counts_ : ndarray of shape (rows, K) and (K,)
        Expected statistics of the components, from which `posterior_` follows.
    rho_, omega_ : ndarray of shape (K,)
        Beta factors of the sticks: u_k ~ Beta(rho_k omega_k, (1 - rho_k) omega_k).
    likelihood_ : VectorLikelihood
        The likelihood with its prior.
    alpha_, gamma_, scale_ : float
        The hyperparameters at the end, learned or given. The scale is that of the prior of `likelihood_`.
    learned_ : list of str
        Names of the hyperparameters that were learned in the fit.
    n_laps_, converged_, stop_reason_, start_seconds_
        Number of passes done, whether the fit converged, why it ended, and the seconds that the start took.

    Notes
    -----
    The output features are the components. `transform` returns the weights of groups, `get_feature_names_out` names its
    columns, and `set_output` turns the result into a data frame. There is no `components_`: a component is not a row of
    numbers that could be normalised, but a posterior, which `means_` and `covariances_` summarise.

    References
    ----------
    M. C. Hughes, D. I. Kim, E. B. Sudderth. Reliable and Scalable Variational Inference for the Hierarchical
    Dirichlet Process. AISTATS 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from stickbreak import GaussianHDP
    >>> rng = np.random.default_rng(0)
    >>> groups = [rng.normal(rng.choice([-5, 5], (30, 1), p=[p, 1 - p]), 1, (30, 2)) for p in rng.uniform(size=12)]
    >>> model = GaussianHDP(n_components=8, likelihood="full", random_state=0).fit(groups)
    >>> model.transform(groups).shape
    (12, 2)
    """

    _fitted_values: ClassVar[tuple[str, ...]] = (*VectorModel._fitted_values, "alpha_")
    _moves_of_documents: ClassVar[bool] = True
    _learnable: ClassVar[tuple[str, ...]] = ("alpha", "gamma", "scale")
    grouped: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **VectorModel._parameter_constraints,
        "alpha": CONCENTRATION,
        "learn": [list, tuple],
        "bound": [one_of(BOUNDS)],
        "stick_rule": [one_of(STICK_RULES)],
        "local_tolerance": [*POSITIVES],
        "local_sweeps": [whole(1)],
        "restarts": [whole(0)],
    }

    alpha_: float

    def __init__(
        self,
        *,
        n_components: int = 100,
        likelihood: str | VectorLikelihood = "zero_mean",
        alpha: float = 0.5,
        gamma: float = 10.0,
        learn: Sequence[str] = (),
        bound: str = SURROGATE,
        init: Any = "seeding",
        moves: Sequence[str] = ("merge", "delete", "reorder"),
        delete_vectors: int | None = 50_000,
        schedule: str = "memoized",
        learning_decay: float = 0.5,
        learning_offset: float = 1.0,
        stick_rule: str = "interpolate",
        total_documents: int | None = None,
        n_laps: int = 50,
        tolerance: float = 1e-5,
        n_batches: int | None = None,
        batches_at_once: int = 1,
        scratch: PathLike | None = None,
        local_tolerance: float = 1e-4,
        local_sweeps: int = 100,
        restarts: int = 5,
        dtype: str = "float64",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.likelihood = likelihood
        self.alpha = alpha
        self.gamma = gamma
        self.learn = learn
        self.bound = bound
        self.init = init
        self.moves = moves
        self.delete_vectors = delete_vectors
        self.schedule = schedule
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.stick_rule = stick_rule
        self.total_documents = total_documents
        self.n_laps = n_laps
        self.tolerance = tolerance
        self.n_batches = n_batches
        self.batches_at_once = batches_at_once
        self.scratch = scratch
        self.local_tolerance = local_tolerance
        self.local_sweeps = local_sweeps
        self.restarts = restarts
        self.dtype = dtype
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_names("learn", self.learn, self._learnable)
        check_learned(self.learn, memoized=self.schedule == "memoized")
        check_stick_rule(self.stick_rule, self.bound)

    def _documents(self, X: Any, *, reset: bool = False) -> Vectors:
        if not reset:
            groups = self._checked(X)
        else:
            groups = as_groups(X)
            self.n_features_in_ = groups.dim
        return Vectors(groups.values, groups.offsets)

    def _check_minibatch(self, minibatch: Vectors, *, first: bool) -> None:
        super()._check_minibatch(minibatch, first=first)
        if first:
            check_learned(self.learn, memoized=False)

    def _to_learn(self) -> tuple[str, ...]:
        return tuple(self.learn)

    def _take_parameters(self, parameters: GlobalParameters, model: Model) -> None:
        super()._take_parameters(parameters, model)
        assert isinstance(model, HDP)
        self.alpha_ = float(model.alpha)

    def _model(self, *, fitted: bool = False) -> HDP:
        alpha, gamma = (self.alpha_, self.gamma_) if fitted else (float(self.alpha), float(self.gamma))
        return HDP(self.likelihood_.from_origin(), alpha, gamma, self.bound)

    def _settings(self) -> LocalSettings:
        return LocalSettings(float(self.local_tolerance), self.local_sweeps, restarts=self.restarts)

    def _rule(self) -> StepRule:
        return replace(super()._rule(), sticks=self.stick_rule)

    @property
    def scale_(self) -> float:
        """Scale of the prior of the likelihood, if it has one: learned or given."""
        check_is_fitted(self)
        values = self.likelihood_.hyperparameters
        if "scale" not in values:
            raise AttributeError(f"a {type(self.likelihood_).__name__} has no scale; see its `hyperparameters`.")
        return float(values["scale"])

    def _checked(self, X: Any) -> GroupedVectors:
        """Return groups of vectors of the dimension of the fit."""
        check_is_fitted(self)
        groups = as_groups(X, dim=self.n_features_in_)
        if groups.dim != self.n_features_in_:
            raise InputError(
                f"the vectors have {groups.dim} dimensions, but those of the fit had {self.n_features_in_}; give "
                "vectors of the same kind."
            )
        return groups

    def expected_weights(self, X: Any) -> Float:
        """Return the expected component weights of groups with the inactive rest last, (G, K + 1).

        Parameters
        ----------
        X : GroupedVectors or sequence of array-like of shape (N_g, dim)
        """
        groups = self._checked(X)
        model = HDP(self.likelihood_, self.alpha_, self.gamma_, self.bound)
        settings, parameters = LocalSettings(float(self.local_tolerance), self.local_sweeps), self._parameters()
        prior = self.alpha_ * parameters.expected_beta
        theta = np.tile(prior, (groups.n_groups, 1))
        with threads_and_workers(self.n_jobs) as engine, one_blas_thread():
            for rows in _blocks(groups.offsets):
                part = groups[rows]
                batch = VectorBatch(self.likelihood_, part.values, part.offsets, whole=True)
                result = model.local_step(batch, parameters, None, settings, engine)
                theta[rows, :-1] += result.documents.dense(parameters.n_topics)
        return theta / theta.sum(axis=1, keepdims=True)

    def transform(self, X: Any, *, sparse: bool = False, dtype: Any = "float64", least: float = LEAST) -> Any:
        """Return the expected component weights of groups, (G, K); rows sum to one.

        An empty group has the weights of the corpus.

        Parameters
        ----------
        X : GroupedVectors or sequence of array-like of shape (N_g, dim)
        sparse : bool, default=False
            Return a sparse table of the weights from `least` upwards, made block by block. Rows then sum to what these
            weights have, and are not renormalised.
        dtype : {"float64", "float32"}, default="float64"
        least : float, default=0.001
            The least weight that a sparse table holds.

        Returns
        -------
        ndarray or scipy.sparse.csr_array of shape (G, K)
        """
        dtype, least = checked_dtype(dtype), checked_least(least)
        if not sparse and dtype == np.float64:
            return self.active_weights(X)
        return table_of_weights(
            self.active_weights, self._checked(X), self.n_components_, sparse=sparse, dtype=dtype, least=least
        )

    def active_weights(self, X: Any) -> Float:
        """Return what `transform` does, as an array whatever scikit-learn's `set_output` says, (G, K)."""
        weights = self.expected_weights(X)[:, :-1]
        return weights / weights.sum(axis=1, keepdims=True)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _joint(self, groups: GroupedVectors, weights: Float) -> Iterator[tuple[slice, Float]]:
        """Yield log p(x, component | weights of its group) of some vectors at a time."""
        log_weights = np.log(np.maximum(weights, np.finfo(float).tiny))
        group = np.repeat(np.arange(groups.n_groups), np.diff(groups.offsets))
        for rows, log_p in self.component_log(groups.values):
            yield rows, log_p + log_weights[group[rows]]

    def score(self, X: Any, y: Any = None) -> float:
        """Return the held-out log-likelihood in nats per vector (larger is better).              docs/math (N7)

        The vectors of every group are split at random (with a fixed seed) into two halves. The weights of the group
        come from the first half, and the second half is scored: sum log sum_k w_gk p(x | k) / n, with w renormalised
        over the components.

        Parameters
        ----------
        X : GroupedVectors or sequence of array-like of shape (N_g, dim)
            Groups that the model was not fitted on.
        y : ignored

        Raises
        ------
        InputError
            If no group has two vectors.
        """
        observed, held_out = self._checked(X).halves(seed=0)
        if held_out.n_vectors == 0:
            raise InputError("no group has two vectors, so none can be held out; give larger groups.")
        weights = self.active_weights(observed)
        total = sum(float(logsumexp(joint, axis=1).sum()) for _, joint in self._joint(held_out, weights))
        return total / held_out.n_vectors

    def predict_proba(self, X: Any) -> Float:
        """Return the probability of each component given each vector and its group, (N, K).

        Parameters
        ----------
        X : GroupedVectors or sequence of array-like of shape (N_g, dim)
        """
        groups = self._checked(X)
        out = np.empty((groups.n_vectors, self.n_components_))
        for rows, joint in self._joint(groups, self.active_weights(groups)):
            out[rows] = softmax(joint, axis=1)
        return out

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the most probable component of each vector, (N,)."""
        groups = self._checked(X)
        out = np.empty(groups.n_vectors, np.int64)
        for rows, joint in self._joint(groups, self.active_weights(groups)):
            out[rows] = joint.argmax(axis=1)
        return out

    def sample(
        self,
        n_samples: int = 1,
        *,
        weights: Any = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> tuple[Float, NDArray[np.int64]]:
        """Draw vectors from the components, grouped by component.

        Parameters
        ----------
        n_samples : int, default=1
            Number of vectors.
        weights : array-like of shape (K,), optional
            Component weights, such as a row of `transform`. The default is the weights of the corpus.
        random_state : int, RandomState or None, default=None

        Returns
        -------
        X : ndarray of shape (n_samples, dim)
        components : ndarray of shape (n_samples,)
        """
        try:
            given = self.weights_ if weights is None else np.asarray(weights, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"weights is {weights!r}; give {self.n_components_} non-negative weights.") from None
        if given.shape != (self.n_components_,) or not np.isfinite(given).all() or (given < 0).any() or not given.any():
            raise InputError(
                f"weights has shape {given.shape}; give {self.n_components_} finite weights, not negative or all zero."
            )
        return self._draw(n_samples, given / given.sum(), random_state)


def as_groups(X: Any, dim: int | None = None) -> GroupedVectors:
    """Make X groups of vectors; all may be empty where their dimension is known."""
    if isinstance(X, GroupedVectors):
        if dim is None and not X.n_vectors:
            raise InputError("all groups are empty; give at least one vector.")
        return X
    if hasattr(X, "columns") or hasattr(X, "column_names"):
        raise InputError(f"X is a {type(X).__name__}; turn it into groups with GroupedVectors.from_table.")
    if isinstance(X, Sequence) and not X and dim is not None:
        return GroupedVectors(np.zeros((0, dim)), np.zeros(1, np.int64))
    if not isinstance(X, Iterator):  # a generator of arrays is as good as a list
        wrong = wrong_input(X)
        if wrong is not None:
            raise InputError(wrong.of_vectors("GroupedVectors or a list of arrays, one for each group of vectors."))
    if not isinstance(X, Iterable):
        raise InputError(
            f"X is a {type(X).__name__}; give GroupedVectors or a list of arrays, one for each group of vectors."
        )
    if isinstance(X, np.ndarray) and X.dtype != object and X.ndim < 3:
        raise InputError("X is one table, without groups; give GroupedVectors or a list of arrays, one for each group.")
    return GroupedVectors.from_arrays(X, dim=dim)


def _blocks(offsets: NDArray[np.int64]) -> Iterator[slice]:
    """Cut groups into runs of about VECTORS_AT_ONCE vectors."""
    begin, n_groups = 0, offsets.size - 1
    while begin < n_groups:
        end = int(np.searchsorted(offsets, offsets[begin] + VECTORS_AT_ONCE, side="right")) - 1
        end = min(max(end, begin + 1), n_groups)
        yield slice(begin, end)
        begin = end
