"""What a model fitted by chains offers: weights of documents, topics, samples for ArviZ, chains that can go on."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting.checkpoint import check_learned, is_table, require, whole_number
from stickbreak.fitting.engine import engine
from stickbreak.fitting.hyperparameters import LEARNABLE
from stickbreak.fitting.laps import Callback
from stickbreak.fitting.requirements import check_whole
from stickbreak.model.document_labels import label_probabilities, predict_labels
from stickbreak.model.estimator import all_or_nothing, cached
from stickbreak.model.topic_estimator import TopicEstimator, on_workers
from stickbreak.model.word_prior import base_of
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import Eta
from stickbreak.numerics.ranges import SMALLEST, are_sums, are_tables
from stickbreak.path.joined_models import pooled
from stickbreak.prediction.document_weights import collapsed_weights
from stickbreak.sampling.laps import COLUMNS, GibbsLaps, best_chain, show_chain
from stickbreak.sampling.requirements import check_continuation

_NUMBERS = ("n_topics", "n_tables")
_STATISTICS = ("split_tried", "split_accepted", "merge_tried", "merge_accepted")


class FittedGibbs(TopicEstimator):
    """The side of `GibbsHDP` that needs no fit of its own: it reads the fitted attributes."""

    _fitted_arrays: ClassVar[tuple[str, ...]] = ("components_", "tables_")
    _fitted_values: ClassVar[tuple[str, ...]] = (
        *TopicEstimator._fitted_values,
        "label_names_",
        "label_curve_",
        "alpha_",
        "gamma_",
        "eta_",
        "chain_",
        "burn_in_",
        "n_chains_",
        "n_tokens_",
    )

    _learnable: ClassVar[tuple[str, ...]] = LEARNABLE
    _takes_labels = True
    objective_name: ClassVar[str] = "joint log-likelihood"

    components_: Float
    tables_: Float
    alpha_: float
    gamma_: float
    eta_: Eta
    chain_: int
    burn_in_: int
    n_chains_: int
    n_tokens_: int
    n_laps_: int
    max_topics: int | None
    learn: Sequence[str]
    n_jobs: int | None

    label_probabilities = label_probabilities
    predict_labels = predict_labels

    @on_workers
    def expected_weights(self, X: Any) -> Float:
        """Return the expected topic weights of documents with the inactive rest last.

        The topics stay fixed. The weights are (N_dk + alpha beta_k) / (N_d + alpha) at the fixed point of zero-order
        collapsed inference. The inactive rest is a topic that gives every word the same probability.

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
        with engine(self.n_jobs) as executor:
            return collapsed_weights(corpus, self._word_rows, self._prior(), executor)

    def _word_rows(self, words: NDArray[np.integer] | slice) -> Float:
        """Return the probabilities of words in the topics, that in the inactive rest last, (n, K + 1)."""
        active = (self.components_[:, words] / self._totals()).T
        return np.column_stack([active, self.rest_word_[words]])

    @cached
    def _totals(self) -> Float:
        """Return what each topic sums to, (K, 1)."""
        return np.asarray(self.components_.sum(axis=1, keepdims=True))

    def _prior(self) -> Float:
        """Return alpha times the expected corpus weights, the inactive rest last, (K + 1,)."""
        rest = self.gamma_ / (self.tables_.sum() + self.gamma_)
        return self.alpha_ * np.append(self.topic_weights_, rest)

    @property
    def topic_weights_(self) -> Float:
        """Expected corpus weights M_k / (M + gamma), (K,). They follow the tables, so they need not descend."""
        check_is_fitted(self)
        return self.tables_ / (self.tables_.sum() + self.gamma_)

    def _join_topics(self, to: Int) -> None:
        """Make topic k a part of topic to[k]: counts and tables add up."""
        counts, eta = self._expected_counts()
        self.components_, self.tables_ = pooled(counts, to) + eta, pooled(self.tables_, to)
        self._forget_labels()

    def to_arviz(self, *, thin: int = 1) -> Any:
        """Return the sweeps of all chains after burn-in, for ArviZ, which has R-hat, effective sample sizes and plots.

        The result holds quantities that do not depend on the labels of topics: the numbers of topics and tables, the
        joint log-likelihood, and the learned hyperparameters.

        R-hat needs several chains from different starts. Chains with the same kind of start may all stay near it, which
        R-hat cannot detect. Fit models with different `init`, and join their data along the dimension chain.

        Parameters
        ----------
        thin : int, default=1
            Number of sweeps from one returned sweep to the next. The model's parameter `thin` does not matter here.

        Returns
        -------
        arviz.InferenceData, from ArviZ 1.0 on xarray.DataTree
            Group "posterior" has "log_joint" (nats), "n_topics", "n_tables" and the learned hyperparameters. Group
            "sample_stats" has what the split-merge moves did. All have the dimensions chain and draw.

        Raises
        ------
        ImportError
            If ArviZ is not installed (`pip install 'stickbreak[arviz]'`).
        InputError
            If the fit ended before its burn-in was over, or `thin` is not a positive whole number.
        """
        check_is_fitted(self)
        check_whole("thin", thin, 1)
        return arviz_samples(
            self.trace_,
            burn_in=self.burn_in_,
            thin=int(thin),
            n_chains=self.n_chains_,
            n_tokens=self.n_tokens_,
            learned=self.learned_,
        )

    @all_or_nothing
    def continue_fit(
        self, X: Any, *, n_laps: int, callback: Callback | None = None, burn_in: int | None = None
    ) -> Self:
        """Continue the chains of this model, which may have been saved and loaded.

        The result equals that of one fit with all the sweeps and the same burn-in.

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)
            The documents of the fit.
        n_laps : int
            Number of further sweeps.
        callback : callable, optional
            As in `fit`.
        burn_in : int, optional
            Number of sweeps before the first sample, counted from the beginning of the chains: at least as many as are
            done (`n_laps_`). The samples of these are then forgotten (for the topics, the choice of the chain and
            `to_arviz`). None keeps the former burn-in.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If the documents or parameters are not those of the fit, the model has forgotten its state, `n_laps` is
            not a positive whole number, or `burn_in` is less than the sweeps done or leaves no sample.
        """
        check_is_fitted(self)
        check_continuation(n_laps, burn_in, done=self.n_laps_, burn_in_before=self.burn_in_)
        change = None if burn_in is None else lambda laps: laps.change_burn_in(int(burn_in))
        return self._go_on(X, n_laps, callback, change)

    def _take(self, laps: GibbsLaps, documents: Corpus) -> None:
        columns, burn_in = self._trace.columns, laps.sampling.burn_in
        self.n_chains_ = len(laps.chains)
        self.chain_ = best_chain(columns, self.n_chains_, burn_in)
        show_chain(columns, self.chain_)
        sample = laps.estimate(self.chain_)
        now = sample.concentrations
        sizes, n_kept = np.asarray(sample.counts.sum(axis=1)).ravel(), self._n_kept
        order = np.append(np.arange(n_kept), n_kept + np.argsort(-sizes[n_kept:], kind="stable"))
        self.alpha_, self.gamma_ = float(now.alpha), float(now.gamma)
        self.eta_ = base_of(self.eta) if np.ndim(self.eta) == 1 else float(np.mean(now.eta))
        self.components_ = sample.counts[order].toarray()
        self.components_ += self.eta_
        self.tables_ = sample.tables[order]
        self.n_tokens_ = laps.n_tokens
        self.objective_ = sample.log_joint / self.n_tokens_
        self.burn_in_ = burn_in
        if self.max_topics is not None and columns["n_topics"][-1] >= self.max_topics:
            self.stop_reason_ += f" The number of topics reached max_topics={self.max_topics}: more may predict better."
        if self.n_laps_ <= burn_in:
            self.stop_reason_ += (
                f" No sample yet: burn-in takes {burn_in} sweeps. The topics are those of the last sweep."
            )

    def _check_fitted_state(self) -> None:
        """Refuse a loaded state that no fit can have left."""
        super()._check_fitted_state()
        K = self.components_.shape[0]
        tables = self.tables_
        if not is_table(tables, K) or not are_tables(tables) or (tables <= 0).any():
            raise ValueError(f"tables_ does not hold a positive number for each of {K} topics")
        if not (self.components_ >= SMALLEST).all() or not are_sums(self.components_):
            raise ValueError("components_ holds a number that is not positive, or too large")
        check_learned(self, LEARNABLE)
        for name in ("chain_", "n_chains_", "burn_in_", "n_tokens_"):
            whole_number(name, getattr(self, name))
        require(self.n_chains_ <= len(self.trace_), f"its trace is not that of {self.n_chains_} chains")
        chains = range(self.n_chains_) if self.n_chains_ > 1 else ()
        missing = {*COLUMNS, *(f"{name}_{c}" for name in COLUMNS for c in chains)} - self.trace_.keys()
        if missing:
            raise ValueError(f"its trace lacks the column {min(missing)}")
        require(self.chain_ < self.n_chains_, "the chain that was kept cannot be")


def arviz_samples(
    trace: Mapping[str, NDArray], *, burn_in: int, thin: int, n_chains: int, n_tokens: int, learned: Collection[str]
) -> Any:
    """Return the samples in a trace: an `arviz.InferenceData`, from ArviZ 1.0 on an `xarray.DataTree`.

    Parameters
    ----------
    trace : dict of ndarray
    burn_in : int
        Sweeps that are left out.
    thin : int
        Number of sweeps from one returned sweep to the next.
    n_chains : int
    n_tokens : int
    learned : collection of {"alpha", "gamma", "eta"}
        Hyperparameters that are unknowns of the posterior.
    """
    try:
        import arviz
    except ImportError:
        raise ImportError(
            "to_arviz needs ArviZ, which is not installed; install it by pip install 'stickbreak[arviz]'."
        ) from None
    done = trace["lap"].size
    if done <= burn_in:
        raise InputError(
            f"the fit did {done} sweeps and its burn-in takes {burn_in}, so there is no sample; call continue_fit."
        )
    unknowns = (*_NUMBERS, *(name for name in LEARNABLE if name in learned))
    samples = {name: _draws(trace, name, n_chains)[:, burn_in::thin] for name in ("objective", *unknowns, *_STATISTICS)}
    groups = {
        "posterior": {
            "log_joint": samples["objective"] * n_tokens,
            **{name: samples[name] for name in unknowns},
        },
        "sample_stats": {name: samples[name] for name in _STATISTICS},
    }
    gather: Any = arviz.from_dict
    if "posterior" in inspect.signature(gather).parameters:  # before ArviZ 1.0
        return gather(**groups)
    return gather(groups)


def _draws(trace: Mapping[str, NDArray], name: str, n_chains: int) -> NDArray:
    """Return a column of the trace for all chains, (chains, sweeps)."""
    return np.stack([trace[name if n_chains == 1 else f"{name}_{c}"] for c in range(n_chains)])
