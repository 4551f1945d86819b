"""Progress bars of a count, on standard error."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from stickbreak.fitting.progress import bars_on_stderr

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["CountProgress"]

_DESCRIPTIONS = {"count": "counting, jobs", "write": "writing, parts"}


class CountProgress:
    """Shows how much is counted; a context manager whose `update` is the callback of `count_files`.

    Parameters
    ----------
    show : bool
        Whether to show anything.
    """

    def __init__(self, show: bool) -> None:
        self._shown = show
        self._progress: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        if self._shown:
            self._progress = bars_on_stderr()
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def update(self, event: Mapping[str, Any]) -> None:
        """Show one event.

        Parameters
        ----------
        event : mapping
            "stage" ("count" or "write"), "done" and "total".
        """
        if self._progress is None:
            return
        stage = event["stage"]
        if stage not in self._tasks:
            self._tasks[stage] = self._progress.add_task(_DESCRIPTIONS[stage], total=event["total"], state="")
        self._progress.update(self._tasks[stage], completed=event["done"])
