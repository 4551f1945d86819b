"""A progress bar of a fit, on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from stickbreak.exceptions import InputError

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["Bars", "FitProgress", "StageProgress", "explained", "lap_text", "progress_bar"]

_STAGES = {
    "init": "start",
    "count": "counting, jobs",
    "write": "writing, parts",
    "join": "joins",
    "name": "names",
    "judge": "lists",
    "report": "documents",
    "draw": "draws, sweeps",
    "effects": "effects, passes",
}


class Bars:
    """Progress bars with the field "state", on standard error; a context manager.

    Parameters
    ----------
    show : bool
        Whether to show anything.
    """

    def __init__(self, show: bool) -> None:
        self._shown = show
        self._progress: Progress | None = None

    def __enter__(self) -> Self:
        if self._shown:
            self._progress = _bars()
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()


class StageProgress(Bars):
    """Shows how far the stages of a job are; its `update` is a callback of all that has stages.

    Parameters
    ----------
    show : bool
        Whether to show anything.
    """

    def __init__(self, show: bool) -> None:
        super().__init__(show)
        self._stages: dict[str, TaskID] = {}

    def update(self, event: Mapping[str, Any]) -> None:
        """Show one event.

        Parameters
        ----------
        event : mapping
            "stage", "done" and "total".
        """
        if self._progress is None:
            return
        stage = event["stage"]
        if stage not in self._stages:
            self._stages[stage] = self._progress.add_task(_STAGES[stage], total=event["total"], state="")
        self._progress.update(self._stages[stage], completed=event["done"])


class FitProgress(StageProgress):
    """Shows the laps of a fit as they end; its `update` is the callback of `fit`.

    Parameters
    ----------
    show : bool
        Whether to show anything.
    """

    def __init__(self, show: bool) -> None:
        super().__init__(show)
        self.first_n_topics: int | None = None
        self._laps: TaskID | None = None

    def update(self, event: Mapping[str, Any]) -> None:
        """Show one event of a fit.

        Parameters
        ----------
        event : mapping
            For the start, and for what follows the passes: "stage", "done", "total". For a pass: "lap" (its number),
            "n_laps", "objective" (nats per token, or per "unit"), "n_topics", and the numbers of moves "..._tried" and
            "..._accepted".
        """
        if "stage" in event:
            super().update(event)
            return
        if self.first_n_topics is None:
            self.first_n_topics = int(event["n_topics"])
        if self._progress is None:
            return
        if self._laps is None:
            self._progress.console.print(explained(_unit(event)), highlight=False, markup=False)
            self._laps = self._progress.add_task("passes", total=event.get("n_laps"), state="")
        self._progress.update(self._laps, completed=event["lap"], state=lap_text(event))


def _bars() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[state]}", markup=False),
        TimeElapsedColumn(),
        console=Console(stderr=True),
    )


def lap_text(event: Mapping[str, Any]) -> str:
    """Describe a pass in a few words.

    Parameters
    ----------
    event : mapping
        As `FitProgress.update` takes it.

    Returns
    -------
    str

    Examples
    --------
    >>> lap_text({"objective": -7.25, "n_topics": 93, "merge_accepted": 7, "restarts_accepted": 3})
    '-7.2500 nats per token, 93 topics, merge 7'
    """
    moves = [
        f"{name.removesuffix('_accepted')} {accepted:g}"
        for name, accepted in event.items()
        if name.endswith("_accepted") and accepted and name not in ("restarts_accepted", "reorder_accepted")
    ]
    unit = _unit(event)
    parts = "components" if unit == "vector" else "topics"
    return ", ".join([f"{event['objective']:.4f} nats per {unit}, {event['n_topics']} {parts}", *moves])


def explained(unit: str) -> str:
    """Say what nats per token, or per vector, are.

    Parameters
    ----------
    unit : {"token", "vector"}

    Examples
    --------
    >>> explained("token")
    'nats per token: the mean natural logarithm of the probability of a word; 0.1 higher is 1.105 times as likely'
    """
    of = "probability of a word" if unit == "token" else "density of a vector"
    return f"nats per {unit}: the mean natural logarithm of the {of}; 0.1 higher is 1.105 times as likely"


def _unit(event: Mapping[str, Any]) -> str:
    return "vector" if event.get("unit") == "vector" else "token"


@contextmanager
def progress_bar(
    show: bool, callback: Callable[[dict[str, Any]], None] | None
) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Yield a callback that shows every event (if `show`) and hands it on to `callback`.

    Raises
    ------
    InputError
        If `callback` cannot be called.
    """
    if callback is not None and not callable(callback):
        raise InputError(f"callback is {callback!r}; give a function that takes a dict, or None.")
    with FitProgress(show) as bar:

        def report(event: dict[str, Any]) -> None:
            bar.update(event)
            if callback is not None:
                callback(event)

        yield report
