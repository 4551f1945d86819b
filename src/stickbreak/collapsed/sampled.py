"""Passes in which each count has one topic, drawn from its probabilities, and their mean (math.md (C13)).

Short documents say little about each token, and expected shares spread. Draws do not, and their mean smooths topics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.collapsed.aside import halved
from stickbreak.collapsed.cvb0 import SMALLEST_SHARE, add_up, corpus_weights, updated
from stickbreak.collapsed.kernels import merges as held_kernels
from stickbreak.collapsed.shards import ONE_DRAW, Aside, Shard, Shares
from stickbreak.collapsed.state import SMALLEST_BETA, SUM_TOLERANCE, CollapsedState, Priors
from stickbreak.fitting.checkpoint import is_table, require, whole_number
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.laps import Packed
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.keys import key_of
from stickbreak.numerics.pseudo_counts import Eta, total_of
from stickbreak.numerics.ranges import are_sums, is_concentration

KINDS = ("auto", "expected", "sampled")
BURN_IN = 8  # passes that are left out of a mean, after the passes change or tokens join
LATE = 2  # how much a mean prefers late passes, as topics go on to form: pass s weighs s ** LATE
TRIAL = 30  # passes until the two kinds are compared
PASSES = 120  # sampled passes at the least, once they are chosen: their mean predicts better the more there are
SWEEPS = 20  # over documents that are completed, topics held fixed
AT_ONCE = 1 << 16  # numbers of a table: what is made of them stays in the cache
SLACK = 2.0  # standard errors that sampled passes may be worse


@dataclass(slots=True)
class Mean:
    """Weighted sums of counts and tables over passes; pass s weighs s ** LATE."""

    S: Float  # (W, K)
    tables: Float  # (K,)
    n: int = 0  # passes

    @classmethod
    def none(cls, state: CollapsedState) -> Self:
        """Return the mean of no pass yet."""
        return cls(np.zeros_like(state.S), np.zeros_like(state.tables))

    def add(self, state: CollapsedState) -> None:
        """Add a pass."""
        self.n += 1
        weight = float(self.n**LATE)
        rows = max(1, AT_ONCE // self.S.shape[1])
        for first in range(0, self.S.shape[0], rows):
            self.S[first : first + rows] += weight * state.S[first : first + rows]
        self.tables += weight * state.tables

    @property
    def weight(self) -> float:
        """All passes weigh this; one, if there are none."""
        return float(sum(s**LATE for s in range(1, self.n + 1))) or 1.0

    def counts(self) -> Float:
        """Return the mean counts, (W, K)."""
        return self.S / self.weight

    def corpus_weights(self, gamma: float) -> Float:
        """Return the corpus weights of the mean tables, (K,)."""
        return corpus_weights(self.tables / self.weight, gamma)

    def put_into(self, state: CollapsedState) -> None:
        """Give a state the mean counts and tables."""
        if self.n:
            state.S[:], state.tables = self.counts(), self.tables / self.weight
            state.N, state.summed = state.S.sum(axis=0), False


@dataclass(slots=True)
class Expected:
    """Where passes stand: those with expected shares, while others are tried; the documents keep the shares."""

    beta: Float
    tables: Float
    priors: Priors

    @classmethod
    def of(cls, state: CollapsedState, priors: Priors) -> Self:
        """Return where a state stands."""
        return cls(state.beta.copy(), state.tables.copy(), priors)

    def put_into(self, state: CollapsedState, engine: Engine) -> None:
        """Go back there, and let the documents keep the present shares."""
        state.documents.exchange()
        state.beta, state.tables = self.beta.copy(), self.tables.copy()
        add_up(state, engine)


class Ending:
    """The passes after the moves, with expected shares or sampled; the documents set apart decide which.

    Parameters
    ----------
    wanted : {"auto", "expected", "sampled"}
    judged : int, default=0
        Of sampled passes without a trial: as many of the first leave out the documents set apart, which say alpha.
    """

    def __init__(self, wanted: str, judged: int = 0) -> None:
        self.kind, self.passes = wanted, 0  # passes of this kind; "auto": of the trial
        self.judged = judged
        self.mean: Mean | None = None
        self.expected: Expected | None = None  # while there is a trial
        self.tried: Mean | None = None  # topics of the kind that a trial led to, until the last passes begin

    @property
    def undecided(self) -> bool:
        """Whether the two are still to be compared."""
        return self.kind == "auto"

    @property
    def keeps_apart(self) -> bool:
        """Whether the documents set apart have no part in the next pass."""
        return self.undecided or self.passes < self.judged

    @property
    def sampled(self) -> bool:
        """Whether the last passes are sampled, and there has been one."""
        return self.kind == "sampled" and self.mean is not None

    def smallest(self, smallest: float) -> float:
        """Return the smallest share that the next pass keeps."""
        return smallest if self.kind == "expected" else ONE_DRAW

    def early(self, window: int) -> bool:
        """Return whether the fit cannot end yet, which looks back on two windows of passes."""
        return self.undecided or (self.kind == "sampled" and self.passes <= PASSES - 2 * window + 1)

    def before(self, state: CollapsedState, priors: Priors, seed: int, engine: Engine) -> Priors:
        """Prepare the next pass; return its priors."""
        if self.undecided and (state.beta.size == 1 or not state.documents.aside.apart):
            self.kind = "expected"  # of one topic both are the same
        if self.undecided and self.expected is None:
            state.documents.remember()
            self.expected, self.mean = Expected.of(state, priors), Mean.none(state)
        elif self.undecided and self.passes == TRIAL:
            priors = self._decide(state, priors, seed, engine)
        return priors

    def join(self, state: CollapsedState, engine: Engine) -> None:
        """Let all tokens take part, once the kind of the passes is chosen."""
        if not self.keeps_apart:
            rejoin(state, engine)
            self.tried = None
        if self.kind == "sampled" and (self.mean is None or 0 < self.passes == self.judged):
            self.mean = Mean.none(state)

    def _decide(self, state: CollapsedState, priors: Priors, seed: int, engine: Engine) -> Priors:
        """Choose the kind of the last passes."""
        assert self.mean is not None
        assert self.expected is not None
        drawn = Expected.of(state, priors)
        if as_good(state, priors, self.mean, self.expected, seed, engine):
            self.kind, self.tried = "sampled", self.mean
            drawn.put_into(state, engine)
        else:
            self.kind, self.tried, priors = "expected", Mean(state.S, state.tables, 1), self.expected.priors
        state.documents.forget()
        self.passes, self.mean, self.expected = 0, None, None
        return priors

    def after(self, state: CollapsedState) -> None:
        """Count a pass, and add it to the mean."""
        self.passes += 1
        since = self.passes - self.judged if self.passes > self.judged else self.passes
        if self.mean is not None and since > BURN_IN:
            self.mean.add(state)

    def leave(self, state: CollapsedState, priors: Priors, engine: Engine) -> Priors:
        """Go back to expected shares where a trial has not come to its end; return their priors."""
        if self.expected is None:
            return priors
        self.expected.put_into(state, engine)
        return self.expected.priors

    def average(self, state: CollapsedState) -> None:
        """Give a state the mean of the sampled passes, where they are the last ones."""
        if self.kind == "sampled" and self.mean is not None:
            self.mean.put_into(state)

    def packed(self) -> Packed:
        """Return what later passes depend on, as arrays and plain values."""
        arrays: dict[str, NDArray] = {}
        values: dict[str, Any] = {
            "final_passes": self.kind,
            "final_passes_done": self.passes,
            "final_passes_judged": self.judged,
        }
        if self.mean is not None:
            sums = sparse.csr_array(self.mean.S)
            values["averaged"] = self.mean.n
            arrays["mean.tables"] = self.mean.tables.copy()
            arrays |= {f"mean.{name}": getattr(sums, name) for name in ("data", "indices", "indptr")}
        if self.expected is not None:
            before = self.expected
            arrays |= {"expected.beta": before.beta, "expected.tables": before.tables}
            values["expected"] = before.priors.packed()
        return arrays, values

    def restore(
        self, state: CollapsedState, arrays: Mapping[str, NDArray], values: Mapping[str, Any], given: Priors
    ) -> None:
        """Take up what `packed` returned; `given` are the priors of the fit.

        Raises
        ------
        KeyError, ValueError
            If it cannot be of this state.
        """
        kind = values["final_passes"]
        require(kind in KINDS, "the kind of its last passes is unknown")
        self.kind, self.passes = str(kind), whole_number("final_passes_done", values["final_passes_done"])
        self.judged = whole_number("final_passes_judged", values["final_passes_judged"])
        if "averaged" in values:
            data, indices, indptr = (arrays[f"mean.{name}"] for name in ("data", "indices", "indptr"))
            sums = checked_rows(data, indices, indptr, (state.S.shape[0], state.S.shape[1]))
            tables = arrays["mean.tables"]
            require(is_table(tables, state.beta.size) and are_sums(tables), "the tables of its mean are damaged")
            self.mean = Mean(sums, tables.copy(), whole_number("averaged", values["averaged"]))
        if "expected" in values:
            own = {name.removeprefix("expected."): a for name, a in arrays.items() if name.startswith("expected.")}
            beta, tables = checked_weights(own, state.beta.size)
            self.expected = Expected(beta, tables, priors_from(values["expected"], given))
            require("kept.0" in arrays, "the shares of before its trial are not there")
        under_way, trial = self.passes > 0, self.undecided
        require(not trial or self.passes <= TRIAL, "its trial of sampled passes is too long")
        require((self.mean is not None) == (under_way and kind != "expected"), "the mean of its passes does not fit")
        require((self.expected is not None) == (under_way and trial), "the shares of before its trial do not fit")


def priors_from(values: Mapping[str, Any], given: Priors) -> Priors:
    """Return stored hyperparameters; a ValueError for what cannot be. Eta by word is that of the fit."""
    stored = {name: float(values[name]) for name in given.packed()}
    require(all(map(is_concentration, stored.values())), "a prior is out of its range")
    return replace(given, **stored)


def checked_weights(arrays: Mapping[str, NDArray], n_topics: int) -> tuple[Float, Float]:
    """Return copies of stored corpus weights and tables; a ValueError for what cannot be."""
    beta, tables = arrays["beta"], arrays["tables"]
    require(is_table(beta, n_topics) and bool((beta >= SMALLEST_BETA).all()), "its corpus weights are not positive")
    sound = float(beta.sum()) <= 1.0 + n_topics * SMALLEST_BETA + SUM_TOLERANCE
    require(sound, "its corpus weights sum to more than one")
    require(is_table(tables, n_topics) and are_sums(tables), "its tables are negative or too large")
    return beta.copy(), tables.copy()


def checked_rows(data: NDArray, indices: NDArray, indptr: NDArray, shape: tuple[int, int]) -> Float:
    """Return stored sums as a table (W, K); a ValueError for what cannot be."""
    W, K = shape
    whole = indices.dtype.kind == "i" and indptr.dtype.kind == "i" and indptr.shape == (W + 1,)
    require(whole and is_table(data, indices.size) and are_sums(data), "the counts of its mean are damaged")
    ordered = indptr[0] == 0 and indptr[-1] == indices.size and bool((indptr[1:] >= indptr[:-1]).all())
    inside = not indices.size or (indices.min() >= 0 and indices.max() < K)
    require(ordered and inside, "the counts of its mean do not fit its topics")
    return np.asarray(sparse.csr_array((data, indices, indptr), shape=shape).toarray(), dtype=np.float64)


def rejoin(state: CollapsedState, engine: Engine) -> None:
    """Put all that was left aside among the other tokens."""
    if state.documents.aside != Aside():
        state.set_aside(Aside(), engine)


def documents_apart(state: CollapsedState, seed: int, engine: Engine) -> list[Shard]:
    """Return the documents that are set apart and no others, half of the tokens of each held out."""
    return state.documents.walk(engine, halved, seed).listed


def as_good(state: CollapsedState, priors: Priors, mean: Mean, expected: Expected, seed: int, engine: Engine) -> bool:
    """Return whether the mean of sampled passes predicts new documents as well as expected shares do.  math.md (C13)

    The documents that are set apart are completed by both. Sampled passes may be worse by two standard errors: the
    mean over all that are still to come is better than that of the trial, and where they are worse, it is by little.

    Parameters
    ----------
    state : CollapsedState
        After sampled passes; those with expected shares afterwards.
    priors : Priors
        Of the sampled passes.
    mean : Mean
    expected : Expected
    seed : int
    engine : Engine
    """
    documents = documents_apart(state, seed, engine)
    sampled = scores(documents, mean.counts(), mean.corpus_weights(priors.gamma), priors, seed, engine)
    expected.put_into(state, engine)
    other = scores(documents, state.S, state.beta, expected.priors, seed, engine)
    difference = sampled - other
    return bool(difference.sum() > -SLACK * np.sqrt((difference**2).sum()))


def scores(documents: Sequence[Shard], S: Float, beta: Float, priors: Priors, seed: int, engine: Engine) -> Float:
    """Return the log probability of the tokens held out of each document, its weights inferred with S fixed, (D',)."""
    N, prior = S.sum(axis=0), priors.alpha * beta

    def run(shard: Shard) -> Float:
        return held_scores(shard, completed(shard, S, N, prior, priors, seed).shares, S, N, prior, priors.eta)

    return np.concatenate([*engine.map(run, list(documents)), np.zeros(0)])


def held_scores(documents: Shard, shares: Shares, S: Float, N: Float, prior: Float, eta: Eta) -> Float:
    """Return the log probability of the tokens held out of each document with the shares of its other tokens, (D',)."""
    out = np.zeros(documents.indptr.size - 1)
    given = documents.indptr, documents.word, documents.count, documents.held
    lists = shares.start, shares.topic, shares.share
    tables = S, N, prior, eta, float(total_of(eta, S.shape[0]))
    held_kernels.document_scores(*given, *lists, *tables, out)
    return out


def completed(shard: Shard, S: Float, N: Float, prior: Float, priors: Priors, seed: int) -> Shard:
    """Return documents with the shares that some sweeps find for their tokens, with S fixed."""
    now = Shard(shard.first, shard.indptr, shard.word, shard.count, shard.shares)
    for sweep in range(SWEEPS):
        key = key_of(seed, sweep, "collapsed comparison")
        now.shares, _, _ = updated(now, S, N, prior, priors, S.shape[0], SMALLEST_SHARE, key, counted=False)
    return now
