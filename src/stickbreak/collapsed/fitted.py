"""What a fitted collapsed model offers: weights of documents, topics, and q(z) of the fit that can go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from stickbreak.collapsed.course import CollapsedCourse, alive
from stickbreak.collapsed.state import Float
from stickbreak.exceptions import InputError, ModelFormatError
from stickbreak.inference.document_weights import weights_and_rest
from stickbreak.inference.estimator import TopicModel
from stickbreak.inference.executor import ThreadExecutor
from stickbreak.inference.run import Identity, Run


@dataclass(frozen=True, slots=True)
class KeptShares:
    """q(z) of a fit after its last lap, as arrays and plain values."""

    arrays: dict[str, NDArray]
    values: dict[str, Any]
    identity: Identity

    def check_same(self, identity: Identity) -> None:
        """Refuse documents or parameters that are not those of the fit; words are compared with those of the model.

        Raises
        ------
        InputError
        """
        compared = {name: value for name, value in identity.items() if name != "vocabulary"}
        different = [name for name, value in compared.items() if self.identity.get(name) != value]
        if different:
            raise InputError(
                f"the shares of this model are of a fit with another {different[0]}; give the documents of the fit, "
                "and set its parameters."
            )

    def give_back(self, course: CollapsedCourse) -> None:
        """Put the shares where they stood.

        Raises
        ------
        ModelFormatError
            If they cannot be of this fit: the model was loaded from a damaged folder.
        """
        try:
            course.restore(self.arrays, self.values)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise ModelFormatError(f"the shares of this model are damaged ({error}); fit it anew.") from None


class FittedCollapsed(TopicModel):
    """The side of `CollapsedHDP` that needs no fit of its own: it reads the fitted attributes."""

    _fitted_arrays: ClassVar[tuple[str, ...]] = ("components_", "tables_")
    _fitted_values: ClassVar[tuple[str, ...]] = (
        "objective_",
        "n_laps_",
        "converged_",
        "stop_reason_",
        "start_seconds_",
        "alpha_",
        "gamma_",
        "eta_",
    )

    objective_name: ClassVar[str] = "leave-one-out log-likelihood"

    components_: Float
    tables_: Float
    alpha_: float
    gamma_: float
    eta_: float
    n_laps_: int
    n_jobs: int | None
    _kept_shares: KeptShares | None

    def expected_weights(self, X: Any) -> Float:
        """Return the expected topic weights of documents with the inactive rest last.

        The topics are fixed. The weights are (N_dk + alpha M_k / (M + gamma)) / (N_d + alpha) at the fixed point of
        zero-order collapsed inference over the topics that are shown; the rest takes no tokens.

        Parameters
        ----------
        X : Corpus, sparse matrix or array of shape (D, W)

        Returns
        -------
        ndarray of shape (D, K + 1)
            Rows sum to one.
        """
        check_is_fitted(self)
        with ThreadExecutor(self.n_jobs) as executor:
            return weights_and_rest(self._corpus(X), self.topic_word_, self.topic_weights_, self.alpha_, executor)

    @property
    def topic_word_(self) -> Float:
        """Expected word distributions, (K, W)."""
        check_is_fitted(self)
        return self.components_ / self.components_.sum(axis=1, keepdims=True)

    @property
    def topic_weights_(self) -> Float:
        """Expected corpus weights M_k / (M + gamma), (K,): by tables, so they need not descend."""
        check_is_fitted(self)
        return self.tables_ / (self.tables_.sum() + self.gamma_)

    def forget_shares(self) -> None:
        """Drop q(z) of the fit: the model keeps its topics and its trace, and cannot `continue_fit`.

        It takes, here and in a saved model, 2 bytes for each stored count and 6 for each topic that the count has a
        share of, four on average.
        """
        check_is_fitted(self)
        self._kept_shares = None

    def _take(self, course: CollapsedCourse, run: Run, identity: Identity) -> None:
        """Copy the result into the fitted attributes."""
        state, priors = course.finish(), course.priors
        shown = alive(state)
        self.alpha_, self.gamma_, self.eta_ = priors.alpha, priors.gamma, priors.eta
        self.components_ = np.ascontiguousarray(np.maximum(state.S[:, shown], 0.0).T) + self.eta_
        self.tables_ = np.maximum(state.tables[shown], np.finfo(np.float64).tiny)
        self._trace = run.trace
        self.n_laps_, self.objective_ = len(run.trace), float(run.trace.columns["objective"][-1])
        self.converged_, self.stop_reason_ = run.outcome
        self._kept_shares = KeptShares(*course.snapshot(), identity)

    def _kept_state(self) -> tuple[dict[str, NDArray], dict[str, Any]]:
        kept = self._kept_shares
        return ({}, {}) if kept is None else (kept.arrays, {"values": kept.values, "identity": kept.identity})

    def _restore_kept(self, arrays: dict[str, NDArray], values: dict[str, Any]) -> None:
        self._kept_shares = KeptShares(arrays, values["values"], values["identity"]) if values else None

    def _check_fitted_state(self) -> None:
        """Refuse a loaded state that no fit can have left."""
        super()._check_fitted_state()
        K, tables = self.components_.shape[0], self.tables_
        if tables.shape != (K,) or tables.dtype != np.float64 or not np.isfinite(tables).all() or (tables <= 0).any():
            raise ValueError(f"tables_ does not hold a positive number for each of {K} topics")
        if not (self.components_ > 0).all():
            raise ValueError("components_ holds a number that is not positive")
        for name in ("alpha_", "gamma_", "eta_"):
            value = getattr(self, name)
            if not isinstance(value, float) or not 0 < value < np.inf:
                raise ValueError(f"{name} is {value!r}, not a positive number")
        if not isinstance(self.n_laps_, int) or self.n_laps_ < 0 or not isinstance(self.objective_, float):
            raise ValueError("its laps or its objective are no numbers")
