"""What a chain asks of its documents and parameters, checked before any work is done."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, Protocol

from stickbreak.exceptions import InputError
from stickbreak.fitting.hyperparameters import LEARNABLE
from stickbreak.fitting.requirements import check_names, check_whole
from stickbreak.initialization import STARTS, check_init
from stickbreak.numerics.ranges import LARGEST_PRIOR, SMALLEST_PRIOR

SEQUENTIAL, RANDOM = "sequential", "random"
BIRTHS = "births"
CHAIN_STARTS = (SEQUENTIAL, RANDOM, "single")


class Parameters(Protocol):
    """The parameters that are checked here."""

    learn: Sequence[str]
    representation: str
    root: str
    n_shards: int
    init: Any
    n_laps: int
    burn_in: int | None


def check_parameters(given: Parameters) -> None:
    """Refuse what no chain could make sense of, whatever its documents.

    Raises
    ------
    InputError
    """
    check_names("learn", given.learn, LEARNABLE)
    for name in LEARNABLE:
        _check_prior(f"{name}_prior", getattr(given, f"{name}_prior"))
    if given.root == "indicator" and given.representation != "indicator":
        raise InputError(
            f"root is 'indicator', but representation is {given.representation!r}, which has no indicators; "
            "set representation='indicator' or root='marginal'."
        )
    if given.n_shards > 1 and given.representation == "partially-collapsed":
        raise InputError(
            f"n_shards is {given.n_shards}, but representation 'partially-collapsed' samples documents in parallel "
            "without shards; set n_shards=1."
        )
    if given.burn_in is not None and given.burn_in >= given.n_laps:
        raise InputError(f"burn_in is {given.burn_in}, but n_laps is {given.n_laps}; give a burn_in below n_laps.")
    check_init(given.init, (BIRTHS, *CHAIN_STARTS, *STARTS))


def check_continuation(n_laps: int, burn_in: int | None, *, done: int, burn_in_before: int) -> None:
    """Refuse further sweeps that are none, and a burn-in that ends among the sweeps done or leaves no sample.

    Raises
    ------
    InputError
    """
    check_whole("n_laps", n_laps, 1)
    if burn_in is None:
        return
    check_whole("burn_in", burn_in, 0)
    if burn_in != burn_in_before and burn_in < done:
        raise InputError(
            f"burn_in is {burn_in}, but {done} sweeps are done, whose samples can only be dropped together; "
            f"give {done} or more."
        )
    if burn_in >= done + n_laps:
        raise InputError(
            f"burn_in is {burn_in}, but there will be {done + n_laps} sweeps in all; give more sweeps or "
            "a smaller burn_in."
        )


def _check_prior(name: str, prior: Sequence[Any]) -> None:
    """Refuse what is not a pair of a shape and a rate."""
    numbers = len(prior) == 2 and all(isinstance(x, Real) and not isinstance(x, bool) for x in prior)
    if not numbers or not all(SMALLEST_PRIOR <= x <= LARGEST_PRIOR for x in prior):
        raise InputError(
            f"{name} is {prior!r}; give the shape and the rate of a Gamma distribution, both from "
            f"{SMALLEST_PRIOR:g} to {LARGEST_PRIOR:g}."
        )
