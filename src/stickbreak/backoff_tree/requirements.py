"""What a tree asks of its documents and parameters, checked before any work is done."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from numbers import Real
from typing import Any, Protocol

import numpy as np

from stickbreak.backoff_tree.course import CourseSettings
from stickbreak.backoff_tree.learning import LEARNABLE
from stickbreak.backoff_tree.shape import TreeShape, shape_of
from stickbreak.backoff_tree.state import Float
from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.inference.requirements import check_names, check_tokens, check_whole


class Parameters(Protocol):
    """The parameters that are checked here."""

    n_topics: int
    branching: str | Sequence[int]
    alpha: Any
    eta: Any
    learn: Sequence[str]
    learn_every: int
    n_sweeps: int
    stages: Sequence[int]
    stage_sweeps: int
    updates: str


def check_parameters(given: Parameters, corpus: Corpus) -> None:
    """Refuse what no fit could make sense of.

    Raises
    ------
    InvalidCorpus, InputError
    """
    check_tokens(corpus)
    course = course_settings(given)
    if len(course.stages) * course.stage_sweeps >= given.n_sweeps:
        raise InputError(
            f"{len(course.stages)} stages of {course.stage_sweeps} sweeps leave none of n_sweeps={given.n_sweeps} for "
            "the whole tree; give more sweeps or fewer stages."
        )


def course_settings(given: Parameters) -> CourseSettings:
    """Return what the parameters of a fit stand for.

    Raises
    ------
    InputError
    """
    check_names("learn", given.learn, LEARNABLE)
    shape = shape_of(given.branching, int(given.n_topics))
    return CourseSettings(
        shape,
        discounts("alpha", given.alpha, shape),
        discounts("eta", given.eta, shape),
        _stages(given.stages, shape),
        int(given.stage_sweeps),
        tuple(given.learn),
        int(given.learn_every),
        given.updates == "serial",
    )


def discounts(name: str, given: Any, shape: TreeShape) -> Float:
    """Return a discount for each level from a sum, or from one discount each.

    Raises
    ------
    InputError
        If they do not fit the tree, are not positive, or do not sum to less than 1.
    """
    if isinstance(given, Real):
        delta = np.full(shape.depth, float(given) / shape.depth)
    else:
        delta = np.asarray(given, dtype=np.float64)
        if delta.shape != (shape.depth,):
            raise InputError(f"{name} is {given!r}; give their sum, or one discount for each of {shape.depth} levels.")
    if not (delta > 0).all() or not delta.sum() < 1:
        raise InputError(f"{name} is {given!r}; give positive discounts that sum to less than 1.")
    return delta


def _stages(given: Sequence[int], shape: TreeShape) -> tuple[int, ...]:
    """Return the levels of the coarser trees, refuse others than ever more of them."""
    levels = tuple(check_whole("stages", n, 1) for n in given)
    if any(b <= a for a, b in pairwise((*levels, shape.depth))):
        raise InputError(
            f"stages is {tuple(given)!r}; give ever more levels, fewer than the {shape.depth} of the tree "
            f"{shape.branching}."
        )
    return levels
