"""What a fitted hybrid offers: weights of documents, topics, and a state that can be saved and go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting.checkpoint import saved_seed
from stickbreak.fitting.laps import Packed
from stickbreak.hybrid.laps import packed, unpacked
from stickbreak.hybrid.minibatches import Room
from stickbreak.hybrid.state import HybridState, Priors
from stickbreak.hybrid.word_topics import WordTopics
from stickbreak.model.expected_counts import ExpectedCounts
from stickbreak.model.kept_state import KeptState
from stickbreak.model.prepared import once
from stickbreak.model.topic_priors import TopicPriors
from stickbreak.numerics.arrays import Float, Int
from stickbreak.path.pooled import pooled
from stickbreak.prediction.words import NamedColumns, check_same_words, no_documents


class FittedHybrid(TopicPriors, ExpectedCounts):
    """The side of `HybridHDP` that needs no fit of its own: it reads the fitted attributes."""

    objective_name: ClassVar[str] = "predictive log-likelihood"
    _changed_by_steps: ClassVar[tuple[str, ...]] = (*ExpectedCounts._changed_by_steps, "_state")

    learning_offset_: float
    grow_vocabulary: bool
    _state: HybridState
    _seed: int
    _columns: NamedColumns | None = None  # of `vocabulary_`, made when it is asked for
    _room: Room | None = None  # of the last step of a stream, for the next

    def __getstate__(self) -> Any:
        return {name: value for name, value in super().__getstate__().items() if name != "_room"}

    def _shown(self) -> Int:
        return self._state.alive()

    def _kept_tables(self) -> Float:
        return self._state.tables

    def _shown_counts(self) -> Float:
        return self._state.pairs.dense(self._state.alive())

    def _counts_of(self, words: NDArray[np.integer] | slice) -> Float:
        return self._state.pairs.of_words(words, self._state.alive())

    def _corpus(self, X: Any, *, reset: bool = False) -> Corpus:
        """Check documents and make them a Corpus over the words of the model."""
        X = self._counted(X, reset=reset)
        if not reset and self.grow_vocabulary and (isinstance(X, Corpus) or hasattr(X, "columns")):
            empty = not isinstance(X, Corpus) and not len(X)
            return no_documents(self.vocabulary_) if empty else self._columns_as_they_are().known(Corpus.from_counts(X))
        return super()._corpus(X, reset=reset)

    def _joining(self, X: Any) -> Corpus:
        """Check a minibatch and make it a Corpus over the words of the model, and new ones if they may join."""
        self._check_whole()
        if self.grow_vocabulary:
            return self._named_columns().joined(Corpus.from_counts(self._counted_with_new(X)))
        if isinstance(X, Corpus):
            check_same_words(self, X, otherwise=", or set grow_vocabulary=True")
        return self._corpus(X)

    def _undoing(self) -> Callable[[], None]:
        """Take back new words and new room; after a step that has begun to write the model refuses to go on."""
        undo_others, state = super()._undoing(), self.__dict__.get("_state")
        if state is None:
            return undo_others
        pairs, n_words, tokens, tables, n_steps = (
            state.pairs, state.n_words, state.tokens, state.tables, state.n_steps
        )  # fmt: skip

        def undo() -> None:
            undo_others()
            if state.n_steps != n_steps:
                state.whole = False
            if self._columns is not None and self._columns.words is not self.vocabulary_:
                del self._columns
            if state.whole:
                state.pairs, state.tokens, state.tables = pairs, tokens, tables
                pairs.shrink(n_words)

        return undo

    def _check_whole(self) -> None:
        """Refuse to go on with, or to save, what a step has left half done."""
        if not self._state.whole:
            raise InputError(
                "a step of this model failed while it changed the counts, so the model is incomplete; "
                "load a saved copy, or fit again."
            )

    def _learn_words(self, minibatch: Corpus) -> None:
        """Let new words of a minibatch join, without tokens."""
        if minibatch.n_words == self.n_features_in_:
            return
        columns = self._named_columns()
        columns.add(minibatch.words)
        self._state.pairs.grow(minibatch.n_words)
        self.vocabulary_, self.n_features_in_ = columns.words, minibatch.n_words
        if hasattr(self, "feature_names_in_"):
            self.feature_names_in_ = np.array(columns.words, dtype=object)

    def _named_columns(self) -> NamedColumns:
        """Return where the words of the model stand."""
        if self._columns is None or self._columns.words is not self.vocabulary_:
            self._columns = NamedColumns(self.vocabulary_)
        return self._columns

    @once
    def _columns_as_they_are(self) -> NamedColumns:
        """Return where the words stand, for documents that change nothing of the model."""
        known = self._columns
        return known if known is not None and known.words is self.vocabulary_ else NamedColumns(self.vocabulary_)

    def _join_topics(self, to: Int) -> None:
        """Make topic k a part of topic to[k], in the columns of the largest; the other columns are free."""
        self._check_whole()
        state, shown = self._state, self._state.alive()
        column = shown[: int(to.max()) + 1]
        parts = []
        for table in (state.pairs.dense(np.arange(state.n_topics)), state.tokens, state.tables):
            sums, of_all = pooled(table[shown], to), table.copy()
            of_all[shown] = 0.0
            of_all[column] = sums
            parts.append(of_all)
        pairs = WordTopics.from_dense(parts[0].T)
        # a joined topic has no prior of its own
        self._state = replace(state, pairs=pairs, tokens=parts[1], tables=parts[2], known=None)

    def _topic_tokens(self) -> Float:
        return self._state.tokens[self._state.alive()]

    def _seen_tokens(self) -> Float:
        tokens, known = self._topic_tokens(), self._state.known
        if known is not None:
            tokens = tokens.copy()
            tokens[: known.n_topics] = np.maximum(tokens[: known.n_topics] - known.tokens, 0.0)
        return tokens

    @property
    def _n_kept(self) -> int:
        return self._state.n_kept

    def _take_state(self, state: HybridState, priors: Priors, seed: int) -> None:
        """Copy a state into the fitted attributes."""
        self._state, self._seed, self.n_steps_ = state, seed, state.n_steps
        self.alpha_, self.gamma_, self.eta_ = priors.alpha, priors.gamma, priors.eta

    def _kept_state(self) -> Packed:
        self._check_whole()
        arrays, values = packed(self._state)
        identity = None if self._kept is None else self._kept.identity
        return arrays, {**values, "seed": self._seed, "identity": identity}

    def _restore_kept(self, arrays: dict[str, NDArray], values: dict[str, Any]) -> None:
        self._state = unpacked(arrays, values, self.n_features_in_)
        self._seed, self.n_steps_ = saved_seed(values["seed"]), self._state.n_steps
        identity = values["identity"]
        self._kept = (
            None
            if identity is None
            else KeptState({name: array.copy() for name, array in arrays.items()}, values, identity)
        )
