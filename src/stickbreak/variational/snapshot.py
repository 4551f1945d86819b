"""Snapshots of memoized inference: after a lap, everything that the next laps depend on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.fitting.checkpoint import is_table, require, whole_number
from stickbreak.fitting.laps import Packed
from stickbreak.numerics.ranges import are_sticks, are_sums, is_concentration
from stickbreak.variational.documents import SUMS_TOLERANCE, Documents, check_rows, check_sums
from stickbreak.variational.keeping import SIZE, Keeping, summary_of, vector_arrays, vectors_of
from stickbreak.variational.model import AcceptedMove, Inference, Model
from stickbreak.variational.moves import MOVES, Move
from stickbreak.variational.sparse_rows import topic_type
from stickbreak.variational.state import PER_TOPIC, GlobalParameters, StoredSummary, Summary


def snapshot(state: Inference, moves: Sequence[Move]) -> Packed:
    """Return where memoized inference stands between two laps, as arrays and plain values."""
    arrays: dict[str, NDArray] = {
        "rho": state.parameters.rho,
        "omega": state.parameters.omega,
        "topic_ids": state.topic_ids,
    }
    arrays |= {**_named("totals", vector_arrays(state.totals)), "totals.S": state.totals.S}
    for b in range(len(state.batches)):
        of_documents = {x: array for x, array in state.documents.arrays(b).items() if x != SIZE}
        arrays |= _named(f"batch{b}", {**state.batches.arrays(b), **of_documents})
    values = {
        "n_batches": len(state.batches),
        "next_id": state.next_id,
        "fresh_share": state.fresh_share,
        "restart_share": state.restart_share,
        "accepted": [list(change) for change in state.accepted],
        "hyperparameters": state.model.hyperparameters,
        "moves": {move.name: move.snapshot() for move in moves},
    }
    return arrays, values


def restored(
    arrays: Mapping[str, NDArray],
    values: Mapping[str, Any],
    model: Model,
    moves: Sequence[Move],
    shape: tuple[int, int],
    keeping: Keeping,
) -> Inference:
    """Put the state of a snapshot together again; the arrays are copied.

    Parameters
    ----------
    arrays, values
        What `snapshot` returned.
    model : Model
        With the hyperparameters to begin with.
    moves : sequence of Move
        They take up what they remembered.
    shape : tuple of int
        Documents D, and rows of a table of statistics (words W).
    keeping : Keeping
        Where what is kept of the batches is put.

    Raises
    ------
    KeyError, TypeError, ValueError
        If its parts do not fit together.
    """
    n_batches = whole_number("n_batches", values["n_batches"])
    require(1 <= n_batches <= shape[0], "its number of batches cannot be")
    totals = _totals(arrays)
    parameters = GlobalParameters(totals.S, totals.N, arrays["rho"].copy(), arrays["omega"].copy())
    state = Inference(
        model.with_hyperparameters(_hyperparameters(values["hyperparameters"], model)),
        parameters,
        totals,
        keeping.of_summaries().remade(summary_of(_Copies(arrays, f"batch{b}.")) for b in range(n_batches)),
        keeping.of_documents(model.documents).remade(_documents(arrays, b, model) for b in range(n_batches)),
        arrays["topic_ids"].copy(),
        totals.N,
        0.0,
        next_id=whole_number("next_id", values["next_id"]),
        fresh_share=float(values["fresh_share"]),
        restart_share=float(values["restart_share"]),
        accepted=[_accepted(change, shape[1]) for change in values["accepted"]],
    )
    _check_state(state, *shape)
    for move in moves:
        move.restore(values["moves"][move.name])
    state.refresh(state.model)  # tau, L_data and the objective follow from the totals
    return state


def _accepted(given: Any, n_words: int) -> AcceptedMove:
    """Return an accepted move; refuse one whose words are not there."""
    change = AcceptedMove(*given)
    require(change.move in MOVES and float(change.gain) == change.gain, "an accepted move of it cannot be")
    for number in (change.lap, change.n_topics, *(w for topic in change.words for w in topic)):
        whole_number("a number of an accepted move", number)
    known = all(w < n_words for topic in change.words for w in topic)
    require(known, "an accepted move of it has words that are not there")
    return change


def _check_state(state: Inference, D: int, W: int) -> None:
    """Refuse arrays that do not fit together, before anything is indexed by them."""
    rho, omega, ids = state.parameters.rho, state.parameters.omega, state.topic_ids
    K, n_batches = rho.size, len(state.batches)
    require(K >= 1 and is_table(rho, K) and is_table(omega, K), "its sticks are not finite numbers")
    require(are_sticks(rho, omega), "its sticks are out of range")
    require(K >= state.model.n_kept, "topics that are kept are not there")
    require(ids.shape == (K,) and ids.dtype == np.int64 and np.unique(ids).size == K, "its topic_ids do not fit")
    for share in (state.fresh_share, state.restart_share):
        require(0.0 <= share <= 1.0, "its shares of fresh starts and restarts are out of range")
    _check_vectors(state.totals, "totals", D, K)
    require(is_table(state.totals.S, W, K), f"totals.S is not a finite table of {W} words and {K} topics")
    for b, (summary, documents) in enumerate(zip(state.batches, state.documents, strict=True)):
        size = D // n_batches + (b < D % n_batches)  # as make_batches cuts them
        _check_vectors(summary.vectors, f"batch{b}", size, K)
        _check_words(summary, f"batch{b}", W, K)
        documents.check(f"batch{b}", size, summary.vectors.N)
    _check_totals(state)


def _check_totals(state: Inference) -> None:
    """Refuse totals that are not the sums of the batches."""
    totals, known = state.totals, state.model.known(*state.totals.S.shape)
    S, N = known.S, known.N
    for summary in state.batches:
        summary.S.add_to(S, summary.words)
        N += summary.vectors.N
    for name, found, sums in (("S", totals.S, S), ("N", totals.N, N)):
        check_sums(found, sums, f"totals.{name} is not that of its batches")


def _check_vectors(summary: Summary, name: str, n_documents: int, K: int) -> None:
    require(summary.n_documents == n_documents, f"{name} is not of {n_documents} documents")
    for x in PER_TOPIC:
        array = getattr(summary, x)
        require(is_table(array, K + (x in "TGQ")), f"{name}.{x} does not fit {K} topics")
        # what is left of a topic that has lost its tokens may be below zero by rounding
        fine = are_sums(array, signed=True) and (x != "N" or not array.size or array.min() >= -SUMS_TOLERANCE)
        require(fine, f"{name}.{x} holds a number out of its range")
    require(are_sums(summary.Q0, signed=True), f"{name}.scalars are out of their range")


def _check_words(summary: StoredSummary, name: str, W: int, K: int) -> None:
    words, S = summary.words, summary.S
    ascending = words.ndim == 1 and words.dtype.kind == "i" and bool((words[1:] > words[:-1]).all())
    require(ascending and (not words.size or (words[0] >= 0 and words[-1] < W)), f"{name}.words cannot be")
    require(S.topic.ndim == 1 and S.topic.dtype == topic_type(K), f"{name}.S_topic does not fit {K} topics")
    require(is_table(S.value, S.topic.size), f"{name}.S_value is not a finite number for each of its topics")
    check_rows(S.indptr, S.topic, f"{name}.S_", words.size, K)


def _hyperparameters(values: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """Return the hyperparameters of a checkpoint; of one that is a table the likelihood is the judge."""
    found = {
        name: values[name] if np.ndim(given) else float(values[name]) for name, given in model.hyperparameters.items()
    }
    inside = all(is_concentration(value) for value in found.values() if np.ndim(value) == 0)
    require(inside, "its hyperparameters are not all positive and in their range")
    return found


def _named(name: str, arrays: Mapping[str, NDArray]) -> dict[str, NDArray]:
    """Return arrays with the name of what they are of before theirs."""
    return {f"{name}.{x}": array for x, array in arrays.items()}


class _Copies(Mapping[str, NDArray]):
    """Copies of the arrays whose names begin as said; what is not there is told by its whole name."""

    def __init__(self, arrays: Mapping[str, NDArray], begin: str = "") -> None:
        self._arrays, self._begin = arrays, begin

    def __getitem__(self, name: str) -> NDArray:
        return self._arrays[f"{self._begin}{name}"].copy()

    def __iter__(self) -> Iterator[str]:
        return (name.removeprefix(self._begin) for name in self._arrays if name.startswith(self._begin))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _documents(arrays: Mapping[str, NDArray], b: int, model: Model) -> Documents:
    n_documents = int(arrays[f"batch{b}.scalars"][0])
    return model.documents.from_arrays(_Copies(arrays), f"batch{b}", n_documents)


def _totals(arrays: Mapping[str, NDArray]) -> Summary:
    return replace(vectors_of(_Copies(arrays, "totals.")), words=None, S=arrays["totals.S"].copy())
