"""What fitted models of real vectors share: components and their weights, densities, samples, a state to be saved."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from stickbreak.fitting.checkpoint import check_end, check_learned, check_moves, whole_number
from stickbreak.fitting.requirements import check_many, check_whole
from stickbreak.likelihoods import DiagonalGaussian, Gaussian, VectorLikelihood, ZeroMeanGaussian
from stickbreak.likelihoods.quadratic import whole
from stickbreak.model.pictures import Pictures
from stickbreak.model.saved_values import described_likelihoods, likelihood_from
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.ranges import LARGEST_STATISTIC, are_sticks, are_sums
from stickbreak.numerics.streams import source_of
from stickbreak.variational.state import GlobalParameters, expected_beta
from stickbreak.variational.streaming import StreamingVariational
from stickbreak.variational.vectors.shown import ShownComponent, shown_components

LIKELIHOODS: dict[str, type[VectorLikelihood]] = {
    "zero_mean": ZeroMeanGaussian,
    "full": Gaussian,
    "diagonal": DiagonalGaussian,
}
BLOCK = 8192  # vectors whose densities are computed together


class VectorModel(StreamingVariational):
    """Base of the estimators of real vectors: K components of dimension dim."""

    _fitted_arrays: ClassVar[tuple[str, ...]] = ("statistics_", "counts_", "rho_", "omega_")
    _fitted_values: ClassVar[tuple[str, ...]] = (
        *StreamingVariational._fitted_values,
        "gamma_",
        "n_features_in_",
        "n_steps_",
        "n_documents_seen_",
        "moves_",
    )
    unit: ClassVar[str] = "vector"
    grouped: ClassVar[bool] = False  # whether vectors come in groups, with weights of their own

    statistics_: Float
    counts_: Float
    rho_: Float
    omega_: Float
    gamma_: float
    n_features_in_: int
    likelihood: str | VectorLikelihood
    likelihood_: VectorLikelihood

    @property
    def plot(self) -> Pictures:
        """Pictures: ``plot.trace()``."""
        return Pictures(self)

    @property
    def n_components_(self) -> int:
        """Number of components K of the fitted model."""
        check_is_fitted(self)
        return int(self.rho_.size)

    @property
    def weights_(self) -> Float:
        """Expected weights of the components, (K,). The unused rest is left out, so they sum to one."""
        check_is_fitted(self)
        weights = expected_beta(self.rho_)[:-1]
        return weights / weights.sum()

    @property
    def posterior_(self) -> Any:
        """q(phi) of the components, as the likelihood has it."""
        check_is_fitted(self)
        return self.likelihood_.posterior(self.statistics_, self.counts_)

    @property
    def means_(self) -> Float:
        """Means of the components, (K, dim)."""
        return self.likelihood_.mean(self.posterior_)

    @property
    def covariances_(self) -> Float:
        """Covariances of the components, (K, dim, dim): the inverses of the expected precisions."""
        return self.likelihood_.covariance(self.posterior_)

    @property
    def precisions_(self) -> Float:
        """Inverses of `covariances_`, (K, dim, dim)."""
        return np.asarray(np.linalg.inv(self.covariances_), dtype=np.float64)

    @property
    def trace_(self) -> dict[str, NDArray]:
        """Arrays of equal length with one entry for each pass. They are made again at each access."""
        check_is_fitted(self)
        return {name.replace("n_topics", "n_components"): column for name, column in self._trace.arrays().items()}

    @abstractmethod
    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the most probable component of each vector, (N,)."""

    def component_log(self, values: NDArray) -> Iterator[tuple[slice, Float]]:
        """Yield log p(x | component), with the parameters integrated out, block by block: (rows, (n, K)).

        Parameters
        ----------
        values : ndarray of shape (N, dim)
        """
        posterior = self.posterior_
        for begin in range(0, len(values), BLOCK):
            rows = slice(begin, begin + BLOCK)
            part = np.asarray(values[rows])
            yield rows, self.likelihood_.predictive_log(posterior, whole(part))[: len(part)]

    def _draw(
        self, n: int, weights: Float, random_state: int | np.random.RandomState | None
    ) -> tuple[Float, NDArray[np.int64]]:
        """Draw n vectors and their components, those of a component together."""
        check_many("n_samples", n, 24.0 * self.n_features_in_)
        rng = np.random.default_rng(source_of(random_state).randint(np.iinfo(np.int32).max))
        sizes, posterior = rng.multinomial(n, weights), self.posterior_
        drawn = [self.likelihood_.sample(posterior, k, int(size), rng) for k, size in enumerate(sizes) if size]
        return np.concatenate(drawn), np.repeat(np.arange(sizes.size), sizes)

    def _parameters(self) -> GlobalParameters:
        """Return the global parameters of the fitted model; the arrays are copies."""
        return GlobalParameters(self.statistics_.copy(), self.counts_.copy(), self.rho_.copy(), self.omega_.copy())

    def _saved_parameters(self) -> dict[str, Any]:
        """Return the parameters; a likelihood that was given as an object is described apart."""
        given = super()._saved_parameters()
        if isinstance(given["init"], VectorModel):
            given["init"] = "seeding"
        if not isinstance(given["likelihood"], str):
            given["likelihood"] = None
        return given

    def _agrees(self, name: str, kept: Any, now: Any) -> bool:
        """Whether a fit can go on: its start is over."""
        return name == "init" or super()._agrees(name, kept, now)

    def _description(self, arrays: dict[str, NDArray]) -> dict[str, Any]:
        return described_likelihoods(self.likelihood, self.likelihood_, LIKELIHOODS, arrays)

    @classmethod
    def _from_description(cls, parameters: dict[str, Any], arrays: dict[str, NDArray], meta: dict[str, Any]) -> Self:
        likelihood: VectorLikelihood = likelihood_from(meta["likelihood"], LIKELIHOODS, arrays)
        if parameters["likelihood"] is None:
            parameters["likelihood"] = likelihood_from(meta["given"], LIKELIHOODS, arrays)
        model = cls(**parameters)
        model.likelihood_ = likelihood
        return model

    def _check_fitted_state(self) -> None:
        """Refuse a loaded state whose parts do not fit together.

        Raises
        ------
        ValueError
            If an array or a parameter cannot be of a fitted model; the text says which.
        """
        check_moves(self.moves_)
        K = self.rho_.size
        shapes = {"statistics_": (self.likelihood_.n_rows, K), "counts_": (K,), "rho_": (K,), "omega_": (K,)}
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.shape != shape or array.dtype != np.float64 or not np.isfinite(array).all():
                raise ValueError(f"{name} is not a finite table of shape {shape}")
        if np.abs(self.statistics_).max(initial=0.0) > LARGEST_STATISTIC:
            raise ValueError("statistics_ holds a number out of its range")
        if K == 0 or not are_sticks(self.rho_, self.omega_) or not are_sums(self.counts_):
            raise ValueError("rho_, omega_ or counts_ is out of range")
        if self.likelihood_.dim != self.n_features_in_:
            raise ValueError(f"its likelihood has {self.likelihood_.dim} dimensions, not {self.n_features_in_}")
        self.likelihood_.check_statistics(self.statistics_, self.counts_)
        check_end(self)
        check_learned(self, [name for name in ("alpha", "gamma") if f"{name}_" in self._fitted_values])
        for name in ("n_steps_", "n_documents_seen_"):
            whole_number(name, getattr(self, name))
        self._check_parameters()

    @property
    def tree_(self) -> None:
        """The root of the tree of the components: None, as they form none."""
        return None

    def shown_components(self, n_directions: int = 3) -> list[ShownComponent]:
        """Describe the components, the largest first: mean, spread, leading eigenvectors of the covariance.

        Parameters
        ----------
        n_directions : int, default=3
            Eigenvectors of each.

        Returns
        -------
        list of ShownComponent
        """
        check_is_fitted(self)
        check_whole("n_directions", n_directions, 0)
        return shown_components(self.likelihood_, self.statistics_, self.counts_, self.weights_, n_directions)
