"""What a fitted collapsed model offers: weights of documents, topics, and q(z) of the fit that can go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stickbreak.collapsed.state import Priors
from stickbreak.collapsed.streaming import Topics
from stickbreak.fitting.checkpoint import require, saved_seed
from stickbreak.fitting.hyperparameters import LEARNABLE
from stickbreak.fitting.requirements import check_names
from stickbreak.model.expected_counts import ExpectedCounts
from stickbreak.model.kept_state import KeptState
from stickbreak.model.labelled import LabelledDocuments
from stickbreak.numerics.arrays import Float, Int
from stickbreak.path.pooled import pooled


class FittedCollapsed(LabelledDocuments, ExpectedCounts):
    """The side of `CollapsedHDP` that needs no fit of its own: it reads the fitted attributes."""

    default_topics: ClassVar[int] = 200
    _fit_takes_steps: ClassVar[bool] = False
    objective_name: ClassVar[str] = "leave-one-out log-likelihood"
    _changed_by_steps: ClassVar[tuple[str, ...]] = (*ExpectedCounts._changed_by_steps, "_topics")

    _fitted_values: ClassVar[tuple[str, ...]] = (
        *ExpectedCounts._fitted_values,
        "final_passes_",
        *LabelledDocuments._label_values,
    )
    _late_values: ClassVar[dict[str, Any]] = {
        **ExpectedCounts._late_values,
        "final_passes_": "expected",
        **LabelledDocuments._label_values,
    }

    final_passes_: str
    _topics: Topics
    _seed: int

    def _shown(self) -> Int:
        return self._topics.shown()

    def _kept_tables(self) -> Float:
        return self._topics.tables

    def _shown_counts(self) -> Float:
        return self._topics.expected()

    def _counts_of(self, words: NDArray[np.integer] | slice) -> Float:
        return self._topics.of_words(words)

    @property
    def _n_kept(self) -> int:
        return self._topics.n_kept

    def _join_topics(self, to: Int) -> None:
        """Make topic k a part of topic to[k]; topics without half a token stay as they are, behind the others."""
        topics, shown = self._topics, self._topics.shown()
        kept, known = np.setdiff1d(np.arange(topics.N.size), shown), (topics.counts, topics.N)
        if topics.pseudo is not None:  # a joined topic has no seed of its own: pseudo-counts become counts
            known = topics.known()
            topics = replace(topics, scale=1.0)
        by_topic = (np.concatenate([pooled(of[shown], to), of[kept]]) for of in (known[0].T, known[1], topics.tables))
        counts, N, tables = by_topic
        free = replace(topics, n_kept=0, pseudo=None, overwritten=None)
        self._topics = replace(free, counts=np.ascontiguousarray(counts.T), N=N, tables=tables)
        self._forget_labels()

    def _topic_tokens(self) -> Float:
        topics = self._topics
        return (topics.N if topics.pseudo is None else topics.known()[1])[topics.shown()]

    def _seen_tokens(self) -> Float:
        return self._topics.N[self._topics.shown()]

    def _take_topics(self, topics: Topics, priors: Priors, seed: int) -> None:
        """Copy topics into the fitted attributes."""
        self._topics, self._seed, self.n_steps_ = topics, seed, topics.n_steps
        self.alpha_, self.gamma_, self.eta_ = priors.alpha, priors.gamma, priors.eta

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_names("learn", self.learn, LEARNABLE)

    def _undoing(self) -> Callable[[], None]:
        """Take back the rows that a step of `partial_fit` has overwritten."""
        undo_others, topics = super()._undoing(), self.__dict__.get("_topics")

        def undo() -> None:
            undo_others()
            if topics is not None:
                topics.take_back()

        return undo

    def _kept_state(self) -> tuple[dict[str, NDArray], dict[str, Any]]:
        arrays, values = self._topics.packed()
        values["seed"], kept = self._seed, self._kept
        if kept is None:
            return arrays, {"topics": values}
        shares = {f"fit.{name}": array for name, array in kept.arrays.items()}
        return {**arrays, **shares}, {"topics": values, "fit": kept.values, "identity": kept.identity}

    def _restore_kept(self, arrays: dict[str, NDArray], values: dict[str, Any]) -> None:
        self._topics = Topics.unpacked(arrays, values["topics"], self.n_features_in_)
        self.n_steps_ = self._topics.n_steps
        self._seed, self._kept = saved_seed(values["topics"]["seed"]), None
        if "fit" in values:
            shares = {name.removeprefix("fit."): a for name, a in arrays.items() if name.startswith("fit.")}
            self._kept = KeptState(shares, values["fit"], values["identity"])

    def _check_fitted_state(self) -> None:
        """Refuse a loaded state that no fit can have left."""
        super()._check_fitted_state()
        require(self.final_passes_ in ("expected", "sampled"), "the kind of its last passes is unknown")
        require(len(self.label_names_) <= self._topics.n_whole, "its labels have no topics")
