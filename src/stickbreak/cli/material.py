"""What a command works on, words or vectors: how it is read, and what can be told of it and of its models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from stickbreak.cli.output import MOST_LEAVES, Line
from stickbreak.exceptions import InputError
from stickbreak.storage.urls import Location

if TYPE_CHECKING:
    from stickbreak.cli.documents import InputSettings
    from stickbreak.cli.weights import WeightTable
    from stickbreak.path.topic_path import TopicPath

Callback = Callable[[dict[str, Any]], None]

__all__ = ["Callback", "Material", "Score", "Told"]


@dataclass(frozen=True, slots=True)
class Told:
    """Something found out about a model: lines for a person, values for `print_json`."""

    lines: tuple[str, ...]
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Score:
    """A held-out score of a fit.

    Attributes
    ----------
    sentence : str
        For a reader who knows no units.
    lines : tuple of (str, str)
        For experts: labels and texts.
    values : dict
        For `print_json`.
    note : str or None
        What is wrong with it, and what to do.
    """

    sentence: str
    lines: tuple[tuple[str, str], ...]
    values: dict[str, Any]
    note: str | None = None


class Material(ABC):
    """What was read: documents, or vectors. Each method of `stickbreak fit` names its kind."""

    topic: ClassVar[str]  # what a model of it finds
    row: ClassVar[str]  # what gets weights of topics
    unit: ClassVar[str]  # what its objective counts by
    columns: ClassVar[tuple[str, ...]]  # of the table of topics
    expert_columns: ClassVar[tuple[str, ...]]  # of the one with all numbers
    all_columns: ClassVar[str | None]  # what keeps all columns of a file that are beside its documents

    @classmethod
    @abstractmethod
    def read(cls, path: Location, settings: InputSettings, method: str) -> Self:
        """Read what is to be fitted.

        Raises
        ------
        InputError
            If it cannot be read, an option means nothing to it, or the method cannot be fitted to it.
        """

    @classmethod
    @abstractmethod
    def read_for(cls, path: Location, folder: Path, model: Any, given: InputSettings) -> Self:
        """Read what a fitted model is asked about, as its own data were read.

        Raises
        ------
        InputError
            If it cannot be read, an option means nothing to it, or the model cannot take it.
        """

    @classmethod
    @abstractmethod
    def nothing(cls, model: Any, given: InputSettings) -> Self:
        """Return nothing of what a model could be asked about: an empty file."""

    @staticmethod
    @abstractmethod
    def lines(model: Any, folder: Path, n: int, most: int = MOST_LEAVES) -> Sequence[Line]:
        """Describe the topics of a model, the largest first, by n words (or coordinates) each.

        Parameters
        ----------
        model : fitted model
        folder : Path
            Where it is saved: how its data were read lies beside it.
        n : int
        most : int
            Most topics of a tree, which may have millions.
        """

    @staticmethod
    @abstractmethod
    def n_topics(model: Any) -> int:
        """Return how many topics a model has."""

    @property
    @abstractmethod
    def data(self) -> Any:
        """What an estimator takes."""

    @property
    @abstractmethod
    def size(self) -> str:
        """How much it is, in words."""

    @property
    @abstractmethod
    def size_of_fit(self) -> str:
        """The same, of what the fit counts alone."""

    @property
    @abstractmethod
    def told(self) -> str:
        """How much it is, and what was left out as the model does not know it."""

    @abstractmethod
    def counts(self, fitted: Self | None = None) -> dict[str, Any]:
        """Return how much it is for `print_json`; of a fit with what was fitted."""

    @abstractmethod
    def split(self, held_out: float, seed: int) -> tuple[Self, Self]:
        """Hold out a share, or a number, of it."""

    @abstractmethod
    def remember(self, folder: Path) -> None:
        """Write how it was read into the folder of a model."""

    @abstractmethod
    def starting(self, model: Any) -> int | None:
        """Return the number of topics that a fit to it starts with; None where the fit finds it."""

    @abstractmethod
    def score(self, model: Any, seed: int, train: Self) -> None:
        """Note in a model its score on it, beside what is known without a model of `train`, which it was fitted to.

        Raises
        ------
        InputError
            If there is too little of it.
        """

    @staticmethod
    @abstractmethod
    def told_score(model: Any) -> Score | None:
        """Return the held-out score that was noted in a model; None without one."""

    @abstractmethod
    def evaluate(self, model: Any, seed: int, particles: int | None, resample: bool) -> Told:
        """Score a model on it, in all ways; `particles` and `resample` as the options of the command."""

    @property
    def dated(self) -> bool:
        """Whether there is one date for each document beside it, so that it can be asked over time."""
        return False

    @classmethod
    def joins(cls, model: Any) -> bool:
        """Return whether the topics of a model can be joined; components of vectors cannot."""
        return False

    def find_path(self, model: Any, callback: Callback | None = None) -> TopicPath | None:
        """Join the topics of a model fitted to it, down to one; None where they cannot be joined, as here."""
        return None

    @classmethod
    def reduced(cls, model: Any, number: int | str) -> Any:
        """Return a model with fewer topics: a number of them, or the one that this attribute of its path has."""
        raise InputError(f"the {cls.topic}s of a {type(model).__name__} cannot be joined: they are not counts of words")

    @abstractmethod
    def weights(self, model: Any) -> WeightTable:
        """Return the weights of the topics in it."""

    @abstractmethod
    def write_report(
        self,
        model: Any,
        path: Path,
        title: str | None = None,
        options: Mapping[str, Any] | None = None,
        callback: Callback | None = None,
    ) -> None:
        """Write the report on a model.

        Parameters
        ----------
        model : fitted model
        path : Path
        title : str, optional
        options : mapping, optional
            What documents are chosen and grouped by, as `build_report` takes it: dates, by, categories, date_format,
            since and until; and the other fits, `others`, in which its topics are looked for.
        callback : callable, optional
            Told how far it is.

        Raises
        ------
        InputError
            If there are no such columns.
        """
