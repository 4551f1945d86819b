"""Progress bars of a count, on standard error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stickbreak.fitting.progress import Bars

if TYPE_CHECKING:
    from rich.progress import TaskID

__all__ = ["CountProgress"]

_DESCRIPTIONS = {"count": "counting, jobs", "write": "writing, parts"}


class CountProgress(Bars):
    """Shows how much is counted; its `update` is the callback of `count_files`.

    Parameters
    ----------
    show : bool
        Whether to show anything.
    """

    def __init__(self, show: bool) -> None:
        super().__init__(show)
        self._tasks: dict[str, TaskID] = {}

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
