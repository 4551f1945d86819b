"""What a fitted model of grouped vectors offers: weights of groups, held-out scores, components of vectors, samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax
from sklearn.utils.validation import check_is_fitted

from stickbreak.corpus import GroupedVectors
from stickbreak.corpus.mistakes import obvious_mistake
from stickbreak.exceptions import InputError
from stickbreak.fitting.bases import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from stickbreak.fitting.engine import engine
from stickbreak.fitting.executor import one_blas_thread
from stickbreak.numerics.arrays import Float
from stickbreak.variational.hdp import HDP
from stickbreak.variational.local_step import LocalSettings
from stickbreak.variational.vectors.batch import VectorBatch
from stickbreak.variational.vectors.estimator import VectorFit

VECTORS_AT_ONCE = 50_000  # whose weights are inferred together, or those of one larger group


class FittedGaussianHDP(ClassNamePrefixFeaturesOutMixin, TransformerMixin, VectorFit):
    """The side of `GaussianHDP` that needs no fit of its own: it reads the fitted attributes."""

    _fitted_values: ClassVar[tuple[str, ...]] = (*VectorFit._fitted_values, "alpha_")
    _moves_of_documents: ClassVar[bool] = True
    _learnable: ClassVar[tuple[str, ...]] = ("alpha", "gamma", "scale")
    grouped: ClassVar[bool] = True

    alpha_: float
    bound: str
    local_tolerance: float
    local_sweeps: int

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
        with engine(self.n_jobs) as executor, one_blas_thread():
            for rows in _blocks(groups.offsets):
                part = groups[rows]
                batch = VectorBatch(self.likelihood_, part.values, part.offsets, whole=True)
                visit = model.local_step(batch, parameters, None, settings, executor)
                theta[rows, :-1] += visit.documents.dense(parameters.n_topics)
        return theta / theta.sum(axis=1, keepdims=True)

    def transform(self, X: Any) -> Float:
        """Return the expected component weights of groups, (G, K); rows sum to one.

        An empty group has the weights of the corpus.

        Parameters
        ----------
        X : GroupedVectors or sequence of array-like of shape (N_g, dim)
        """
        return self.active_weights(X)

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
        """Return the held-out log-likelihood in nats per vector (larger is better).              math.md (N7)

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
        mistake = obvious_mistake(X)
        if mistake is not None:
            raise InputError(mistake.of_vectors("GroupedVectors or a list of arrays, one for each group of vectors."))
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
