"""The samples of all chains for ArviZ, so that R-hat and effective sample size come from the library people use."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.exceptions import InputError
from stickbreak.sampling.ensemble import Sampling

_POSTERIOR = ("n_topics", "n_tables", "alpha", "gamma", "eta")
_STATISTICS = ("split_tried", "split_accepted", "merge_tried", "merge_accepted")


def arviz_samples(trace: Mapping[str, NDArray], sampling: Sampling, *, n_chains: int, n_tokens: int) -> Any:
    """Return the samples in a trace: an `arviz.InferenceData`, from ArviZ 1.0 on an `xarray.DataTree`."""
    try:
        import arviz
    except ImportError:
        raise ImportError(
            "to_arviz needs ArviZ, which is not installed; install it: pip install 'stickbreak[arviz]'."
        ) from None
    laps = trace["lap"]
    if laps.size <= sampling.burn_in:
        raise InputError(
            f"the fit did {laps.size} sweeps and its burn-in has {sampling.burn_in}, so there is no sample; go on "
            "with continue_fit."
        )
    rows = sampling.sampled(laps)
    samples = {name: _draws(trace, name, n_chains)[:, rows] for name in ("objective", *_POSTERIOR, *_STATISTICS)}
    groups = {
        "posterior": {
            "log_joint": samples["objective"] * n_tokens,
            **{name: samples[name] for name in _POSTERIOR},
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
