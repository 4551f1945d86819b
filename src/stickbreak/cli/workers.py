"""The workers of a command."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from stickbreak.cli.stored import parameters_of_estimator
from stickbreak.exceptions import InputError


def check_workers(estimator: str, workers: int | None, address: str | None, scratch: Path | None) -> dict[str, Path]:
    """Return the parameters of an estimator that follow from where it is to be fitted.

    Raises
    ------
    InputError
        If its fits do not use what is given.
    """
    given = {"--workers": workers, "--cluster": address, "--scratch": scratch}
    named = [option for option, value in given.items() if value is not None]
    if "scratch" in parameters_of_estimator(estimator):
        return {} if scratch is None else {"scratch": scratch}
    if named == ["--scratch"]:
        raise InputError(
            "--scratch needs --method variational, tree or a model of vectors, or --cluster: "
            "other methods fit in memory"
        )
    return {}


def workers_of(
    workers: int | None, address: str | None, scratch: Path | None, *, scratch_alone: bool = False
) -> AbstractContextManager[Any]:
    """Return the workers that a command was given, for the time of its work; none of them: this process alone.

    Parameters
    ----------
    workers, address, scratch
        What --workers, --cluster and --scratch were given.
    scratch_alone : bool, default=False
        Whether a scratch folder is of use without a cluster.

    Raises
    ------
    InputError
        If options contradict each other, or lack one another.
    """
    _check_one(workers, address)
    if address is not None and scratch is None:
        raise InputError("--cluster needs --scratch: a folder that all machines of the cluster see")
    if address is None and scratch is not None and not scratch_alone:
        raise InputError("--scratch is for the workers of a cluster; give its address with --cluster")
    return _given(workers, address, scratch)


def workers_alone(workers: int | None, address: str | None) -> AbstractContextManager[Any]:
    """Return the workers of a command that copies no documents for them.

    Raises
    ------
    InputError
        If both are given.
    """
    _check_one(workers, address)
    return _given(workers, address, None)


def _check_one(workers: int | None, address: str | None) -> None:
    if workers is not None and address is not None:
        raise InputError("--workers starts processes here and --cluster uses those of a cluster; give one of them")


def _given(workers: int | None, address: str | None, scratch: Path | None) -> AbstractContextManager[Any]:
    where = workers if address is None else address
    if where is None:
        return nullcontext()
    from stickbreak.fitting.cluster import cluster

    return cluster(where, scratch=scratch)
