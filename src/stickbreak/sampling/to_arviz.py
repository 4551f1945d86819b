"""The samples of all chains for ArviZ, so that R-hat and effective sample size come from the library people use."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.exceptions import InputError
from stickbreak.sampling.ensemble import Sampling

if TYPE_CHECKING:
    from stickbreak.sampling.fitted import FittedGibbs

_POSTERIOR = ("n_topics", "n_tables", "alpha", "gamma", "eta")
_STATISTICS = ("split_tried", "split_accepted", "merge_tried", "merge_accepted")


def arviz_samples(model: FittedGibbs, sampling: Sampling) -> Any:
    """Return the samples of a fitted model: an `arviz.InferenceData`, from ArviZ 1.0 on an `xarray.DataTree`."""
    try:
        import arviz
    except ImportError:
        raise ImportError(
            "to_arviz needs ArviZ, which is not installed; install it: pip install 'stickbreak[arviz]'."
        ) from None
    if model.n_laps_ <= sampling.burn_in:
        raise InputError(
            f"the fit did {model.n_laps_} sweeps and its burn-in has {sampling.burn_in}, so there is no sample; go on "
            "with continue_fit."
        )
    samples = {name: _draws(model, name, sampling) for name in ("objective", *_POSTERIOR, *_STATISTICS)}
    groups = {
        "posterior": {
            "log_joint": samples["objective"] * model.n_tokens_,
            **{name: samples[name] for name in _POSTERIOR},
        },
        "sample_stats": {name: samples[name] for name in _STATISTICS},
    }
    gather: Any = arviz.from_dict
    if "posterior" in inspect.signature(gather).parameters:  # before ArviZ 1.0
        return gather(**groups)
    return gather(groups)


def _draws(model: FittedGibbs, name: str, sampling: Sampling) -> NDArray:
    """Return the samples of a column of the trace, (chains, draws)."""
    trace, n = model.trace_, model.n_chains
    rows = sampling.sampled(np.asarray(trace["lap"]))
    return np.stack([trace[name if n == 1 else f"{name}_{c}"][rows] for c in range(n)])
