"""Warnings of the library, as the command line tells them: one line on standard error, without a line of source."""

import logging
import warnings
from typing import Any

from stickbreak.cli.output import say

__all__ = ["tell_notice", "tell_notices"]


class _Notices(logging.Handler):
    """Tells what the library logs as a warning."""

    def emit(self, record: logging.LogRecord) -> None:
        tell_notice(record.getMessage())


def tell_notices() -> None:
    """Tell from now on, for the rest of this process, each warning and each line of the log at WARNING in one line."""

    def tell(message: Warning | str, *where: Any, **how: Any) -> None:
        tell_notice(str(message))

    warnings.showwarning = tell
    notices = _Notices(logging.WARNING)
    logging.getLogger("stickbreak").addHandler(notices)


def tell_notice(text: str) -> None:
    """Tell in one line what a user should know, also one who asked for no messages.

    Parameters
    ----------
    text : str
    """
    say("Note: " + " ".join(text.split()))
