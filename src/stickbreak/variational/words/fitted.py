"""What a fitted HDP offers: weights of documents, topics, and a state that can be saved."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting.checkpoint import check_learned, check_moves, whole_number
from stickbreak.fitting.engine import engine
from stickbreak.fitting.hyperparameters import LEARNABLE
from stickbreak.fitting.run import Identity
from stickbreak.likelihoods import WordLikelihood
from stickbreak.model.chosen_likelihood import described_both, from_description, named
from stickbreak.model.expected_counts import CountedTopics
from stickbreak.model.spreading import spread
from stickbreak.model.topic_priors import TopicPriors
from stickbreak.model.word_prior import base_of
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import Eta
from stickbreak.numerics.ranges import are_sticks, are_sums
from stickbreak.path.pooled import pooled
from stickbreak.prediction.document_weights import weights_and_rest
from stickbreak.prediction.left_to_right import TopicRule
from stickbreak.prediction.topics import shares_of
from stickbreak.variational.global_step import sticks_of
from stickbreak.variational.hdp import HDP
from stickbreak.variational.local_step import LocalSettings, local_step
from stickbreak.variational.model import Model
from stickbreak.variational.state import GlobalParameters, expected_beta
from stickbreak.variational.stochastic import StepRule
from stickbreak.variational.streaming import StreamingVariational
from stickbreak.variational.words.observed import LIKELIHOODS, documents_at_once, observations, sees_cells

TRANSFORM_BLOCK = 4096  # documents whose local steps are held at once


class FittedHDP(TopicPriors, CountedTopics, StreamingVariational):
    """The side of `VariationalHDP` that needs no fit of its own: it reads the fitted attributes."""

    _fitted_arrays: ClassVar[tuple[str, ...]] = ("components_", "rho_", "omega_")
    _fitted_values: ClassVar[tuple[str, ...]] = (
        *TopicPriors._fitted_values,
        "alpha_",
        "gamma_",
        "eta_",
        "n_steps_",
        "n_documents_seen_",
        "moves_",
    )

    _learnable: ClassVar[tuple[str, ...]] = LEARNABLE

    alpha_: float
    gamma_: float
    eta_: Eta
    rho_: Float
    omega_: Float
    likelihood: str | WordLikelihood
    likelihood_: WordLikelihood
    components_: Float
    alpha: float
    gamma: float
    bound: str
    local_tolerance: float
    local_sweeps: int
    restarts: int
    learning_decay: float
    learning_offset: float
    stick_rule: str
    document_weights: str

    def _settings(self) -> LocalSettings:
        """Return when and how the local step of a fit stops."""
        return LocalSettings(float(self.local_tolerance), self.local_sweeps, restarts=self.restarts)

    def _rule(self) -> StepRule:
        """Return the sizes and the rule of stochastic steps."""
        return StepRule(float(self.learning_decay), float(self.learning_offset), self.stick_rule)

    def _model(self, *, fitted: bool = False) -> HDP:
        """Return the model with the hyperparameters to begin with, or with those that were learned."""
        alpha, gamma = (self.alpha_, self.gamma_) if fitted else (self.alpha, self.gamma)
        return HDP.of(self.likelihood_, alpha, gamma, self.bound, self._pseudo)

    def _settled(self, documents: Corpus) -> dict[str, Any]:
        return {**super()._settled(documents), "likelihood": named(self.likelihood)}

    def _identity(self, documents: Corpus, seed: int) -> Identity:
        """Return what a fit that goes on must agree with, the likelihood only where it is not that of all fits once."""
        identity = super()._identity(documents, seed)
        return {name: value for name, value in identity.items() if (name, value) != ("likelihood", "multinomial")}

    @spread
    def expected_weights(self, X: Any) -> Float:
        """Return the expected topic weights of documents with the inactive rest last.

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)

        Returns
        -------
        ndarray of shape (D, K + 1)
            E[pi_d] = theta_d / (alpha + N_d) with fixed topics. Rows sum to one. The inactive rest takes no tokens.
        """
        check_is_fitted(self)
        corpus = self._corpus(X)
        if self.document_weights == "collapsed":
            return self._collapsed_weights(corpus)
        parameters = self._parameters()
        settings = LocalSettings(float(self.local_tolerance), self.local_sweeps)
        weights = np.empty((corpus.n_documents, parameters.n_topics + 1))
        with engine(self.n_jobs) as executor:
            size = documents_at_once(self.likelihood_, corpus.n_words, TRANSFORM_BLOCK)
            for begin in range(0, corpus.n_documents, size):
                rows = slice(begin, begin + size)
                batch = observations(corpus[rows], self.likelihood_)
                visit = local_step(batch, parameters, self.alpha_, None, settings, executor)
                prior = self._prior()
                theta = np.zeros((visit.documents.n_documents, prior.size))
                theta[:, :-1] = visit.documents.dense(parameters.n_topics)
                theta += prior
                weights[rows] = theta / theta.sum(axis=1, keepdims=True)
        return weights

    def _collapsed_weights(self, corpus: Corpus) -> Float:
        """Return the weights with means in place of exp(E log .).                              math.md (D1)"""
        tolerance, max_sweeps = float(self.local_tolerance), self.local_sweeps
        with engine(self.n_jobs) as executor:
            return weights_and_rest(
                corpus, self.topic_word_, self._prior(), executor, tolerance=tolerance, max_sweeps=max_sweeps
            )

    @property
    def rest_word_(self) -> Float:
        """Word distribution of the inactive topics: the prior mean, (W,)."""
        check_is_fitted(self)
        return self.likelihood_.prior_words()

    def _predictive_rule(self) -> TopicRule:
        if sees_cells(self.likelihood_):
            raise InputError(
                f"left_to_right predicts tokens, but the likelihood {type(self.likelihood_).__name__} is of counts; "
                "use score, or fit with likelihood='multinomial'."
            )
        return super()._predictive_rule()

    def _prior(self) -> Float:
        """Return alpha E[beta], the inactive rest last, (K + 1,)."""
        return self.alpha_ * expected_beta(self.rho_)

    def _take_parameters(self, parameters: GlobalParameters, model: Model) -> None:
        self.components_ = np.ascontiguousarray(parameters.tau.T)
        self.rho_, self.omega_ = parameters.rho, parameters.omega
        values = model.hyperparameters
        self.alpha_, self.gamma_ = float(values["alpha"]), float(values["gamma"])
        self.eta_ = float(values["eta"]) if "eta" in values else base_of(self.eta)
        self.likelihood_ = self.likelihood_.with_hyperparameters(model.likelihood.hyperparameters)

    @property
    def topic_word_(self) -> Float:
        """Expected word distributions, (K, W)."""
        check_is_fitted(self)
        return self.likelihood_.word_distributions(self.components_.T).T

    @property
    def topic_weights_(self) -> Float:
        """Expected corpus weights E[beta_k], (K,)."""
        check_is_fitted(self)
        return expected_beta(self.rho_)[:-1]

    @property
    def topic_shares_(self) -> Float:
        """Share of the expected tokens that each topic has, (K,)."""
        check_is_fitted(self)
        if self._pseudo is not None:
            return shares_of(self._tokens_of(self.components_, self.eta_))
        return shares_of(self.likelihood_.tokens(self.components_.T))

    @property
    def joins_topics(self) -> bool:
        """Whether the topics are expected counts of tokens, and so can be joined; it depends on the likelihood."""
        return not sees_cells(self.likelihood_)

    def _join_topics(self, to: Int) -> None:
        """Make topic k a part of topic to[k]: counts and expected weights add up, omega is that of the largest."""
        omega = np.zeros(int(to.max()) + 1)
        np.maximum.at(omega, to[to >= 0], self.omega_[to >= 0])
        self.rho_, self.omega_ = sticks_of(pooled(self.topic_weights_, to), omega)
        counts, eta = self._expected_counts()
        self.components_, self._pseudo = pooled(counts, to) + eta, None  # a joined topic has no prior of its own

    def _parameters(self) -> GlobalParameters:
        """Return the global parameters of the fitted model."""
        tau = np.ascontiguousarray(self.components_.T)
        return GlobalParameters(tau, self.likelihood_.table_totals(tau), self.rho_, self.omega_)

    def _saved_parameters(self) -> dict[str, Any]:
        """Return the parameters; the fitted likelihood stands for one that was given as an object."""
        given = super()._saved_parameters()
        if not isinstance(given["likelihood"], str):
            given["likelihood"] = None
        return given

    def _description(self, arrays: dict[str, NDArray]) -> dict[str, Any]:
        chosen = described_both(self.likelihood, self.likelihood_, LIKELIHOODS, arrays)
        return {**super()._description(arrays), **chosen}

    @classmethod
    def _from_description(cls, parameters: dict[str, Any], arrays: dict[str, NDArray], meta: dict[str, Any]) -> Self:
        likelihood = from_description(meta["likelihood"], LIKELIHOODS, arrays)
        if parameters["likelihood"] is None:
            parameters["likelihood"] = from_description(meta["given"], LIKELIHOODS, arrays)
        model = super()._from_description(parameters, arrays, meta)
        model.likelihood_ = likelihood
        return model

    def _stored_topics(self) -> tuple[Float, int]:
        """Return the table of the topics as it is saved, and how many columns it must have."""
        return self.components_, self.likelihood_.n_rows

    def _check_fitted_state(self) -> None:
        """Refuse a loaded state that no fit can have left."""
        super()._check_fitted_state()
        check_moves(self.moves_)
        K = self.components_.shape[0]
        for name in ("rho_", "omega_"):
            sticks = getattr(self, name)
            if sticks.shape != (K,) or sticks.dtype != np.float64 or not np.isfinite(sticks).all():
                raise ValueError(f"{name} does not hold a finite number for each of {K} topics")
        if not (self.components_ >= self.likelihood_.least).all() or not are_sums(self.components_):
            raise ValueError("components_ holds a number that is too small, or too large")
        if self.likelihood_.n_words != self.n_features_in_:
            raise ValueError(f"its likelihood is of {self.likelihood_.n_words} words, but it has {self.n_features_in_}")
        if not are_sticks(self.rho_, self.omega_):
            raise ValueError("rho_ or omega_ is out of range")
        check_learned(self, LEARNABLE)
        if not np.array_equal(getattr(self.likelihood_, "eta", self.eta_), self.eta_):
            raise ValueError("its likelihood has another eta")
        for name in ("n_steps_", "n_documents_seen_"):
            whole_number(name, getattr(self, name))
