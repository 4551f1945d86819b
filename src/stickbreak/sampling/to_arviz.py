"""The samples of all chains for ArviZ, so that R-hat and effective sample size come from the library people use."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.exceptions import InputError
from stickbreak.fitting.hyperparameters import LEARNABLE

_NUMBERS = ("n_topics", "n_tables")
_STATISTICS = ("split_tried", "split_accepted", "merge_tried", "merge_accepted")


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
