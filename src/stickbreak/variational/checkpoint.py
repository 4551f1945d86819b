"""Checkpoints of memoized inference: after a lap, everything that the next laps depend on."""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak import persistence
from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError, ModelFormatError
from stickbreak.inference.loop import Trace
from stickbreak.variational.model import HDP, Inference
from stickbreak.variational.moves import Move
from stickbreak.variational.state import PER_TOPIC, DocumentTopics, GlobalParameters, Summary

KIND = "checkpoint"


def fingerprint(corpus: Corpus, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a checkpoint must agree with: the counts, and the parameters that change the numbers."""
    counts = corpus.counts
    checksum = 0
    for array in (counts.indptr, counts.indices, counts.data):
        checksum = zlib.crc32(np.ascontiguousarray(array).data, checksum)
    plain = {
        name: f"array {zlib.crc32(value.tobytes())}" if isinstance(value, np.ndarray) else value
        for name, value in parameters.items()
    }
    return {"shape": list(counts.shape), "counts": checksum, **plain}


def check_place(path: str | os.PathLike[str]) -> None:
    """Refuse a place where no checkpoint can be written, or where something else would be lost.

    Raises
    ------
    InputError
        If something else than a checkpoint is there.
    WriteError
        If the place cannot be written to.
    """
    persistence.check_target(path, overwrite=True)
    if Path(path).is_dir() and any(Path(path).iterdir()):
        kind = persistence.read_head(path)["kind"]
        if kind != KIND:
            raise InputError(f"{path} holds a {kind}, not a checkpoint; choose another place for the checkpoint.")


def write_checkpoint(
    path: str | os.PathLike[str],
    state: Inference,
    moves: Sequence[Move],
    trace: Trace,
    identity: dict[str, Any],
) -> None:
    """Replace the checkpoint at `path`, atomically."""
    arrays: dict[str, NDArray] = {
        "rho": state.parameters.rho,
        "omega": state.parameters.omega,
        "topic_ids": state.topic_ids,
    }
    arrays |= _summary_arrays("totals", state.totals)
    for b, (summary, documents) in enumerate(zip(state.batches, state.documents, strict=True)):
        arrays |= _summary_arrays(f"batch{b}", summary)
        arrays |= {
            f"batch{b}.indptr": documents.indptr,
            f"batch{b}.topic": documents.topic,
            f"batch{b}.n_dk": documents.n_dk,
        }
    meta = {
        "identity": identity,
        "n_batches": len(state.batches),
        "fresh_share": state.fresh_share,
        "trace": trace.columns,
        "moves": {move.name: move.snapshot() for move in moves},
    }
    persistence.write_folder(path, kind=KIND, arrays=arrays, meta=meta, overwrite=True)


def read_checkpoint(
    path: str | os.PathLike[str], model: HDP, moves: Sequence[Move], identity: dict[str, Any]
) -> tuple[Inference, Trace] | None:
    """Return where a fit stood, or None if there is no checkpoint at `path`.

    Raises
    ------
    InputError
        If the checkpoint is of other documents or settings.
    """
    if not Path(path).exists():
        return None
    arrays, meta = persistence.read_folder(path, kind=KIND)
    try:
        return _restored(path, arrays, meta, model, moves, identity)
    except KeyError as error:
        raise ModelFormatError(f"the checkpoint {path} lacks {error}; start the fit anew without it.") from None


def _restored(
    path: str | os.PathLike[str],
    arrays: Mapping[str, NDArray],
    meta: Mapping[str, Any],
    model: HDP,
    moves: Sequence[Move],
    identity: Mapping[str, Any],
) -> tuple[Inference, Trace]:
    """Put the state of a checkpoint together again."""
    different = [name for name, value in meta["identity"].items() if identity.get(name) != value]
    if different:
        raise InputError(
            f"the checkpoint {path} is of a fit with another {different[0]}; resume with the same input and settings, "
            "or choose another checkpoint."
        )
    n_batches = int(meta["n_batches"])
    for move in moves:
        move.restore(meta["moves"][move.name])
    totals = _summary("totals", arrays)
    parameters = GlobalParameters(totals.S, totals.N, arrays["rho"], arrays["omega"])
    state = Inference(
        parameters,
        totals,
        [_summary(f"batch{b}", arrays) for b in range(n_batches)],
        [DocumentTopics(*(arrays[f"batch{b}.{x}"] for x in ("indptr", "topic", "n_dk"))) for b in range(n_batches)],
        arrays["topic_ids"],
        totals.N,
        0.0,
        float(meta["fresh_share"]),
    )
    state.refresh(model)  # tau, L_data and the objective follow from the totals
    return state, Trace(meta["trace"])


def _summary_arrays(name: str, summary: Summary) -> dict[str, NDArray]:
    arrays = {f"{name}.{x}": getattr(summary, x) for x in ("S", *PER_TOPIC)}
    arrays[f"{name}.scalars"] = np.array([summary.n_documents, summary.Q0])
    if summary.words is not None:
        arrays[f"{name}.words"] = summary.words
    return arrays


def _summary(name: str, arrays: Mapping[str, NDArray]) -> Summary:
    n_documents, Q0 = arrays[f"{name}.scalars"]
    per_topic = {x: arrays[f"{name}.{x}"] for x in ("S", *PER_TOPIC)}
    return Summary(n_documents=int(n_documents), words=arrays.get(f"{name}.words"), Q0=float(Q0), **per_topic)
