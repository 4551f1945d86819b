"""Measurements in a process of their own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any


def apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function returns in a fresh process, whose memory holds nothing of earlier runs."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()
