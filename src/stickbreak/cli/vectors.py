"""Real vectors, in groups or each for itself, as the commands read and tell them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from stickbreak.cli.documents import InputSettings
from stickbreak.cli.material import Callback, Material, Score, Told
from stickbreak.cli.output import MOST_LEAVES, Line
from stickbreak.cli.vector_input import VectorSettings
from stickbreak.cli.weights import WeightTable
from stickbreak.exceptions import InputError
from stickbreak.storage.urls import Location, UrlPath

if TYPE_CHECKING:
    from stickbreak.corpus import GroupedVectors
    from stickbreak.variational.vectors.shown import ShownComponent

__all__ = ["ComponentLine", "Groups", "SingleVectors"]

_DIRECTIONS = 3  # of a component, in the table
_PATCH_SIZE, _MOST_PATCHES = 8, 1000  # of images


@dataclass(frozen=True, slots=True)
class ComponentLine:
    """A component as it is printed: weight, shares of its directions, and the coordinates that tell it from others."""

    shown: ShownComponent
    coordinates: tuple[str, ...]
    telling: tuple[int, ...]

    @property
    def id(self) -> int:
        """Its row in the model."""
        return self.shown.number

    @property
    def size(self) -> float:
        """Its expected weight."""
        return self.shown.weight

    @property
    def cells(self) -> tuple[str, ...]:
        """Spread of a coordinate (root mean square), shares of the directions, means of coordinates."""
        spread = float((self.shown.spread**2).mean() ** 0.5)
        directions = " ".join(f"{share:.0%}" for share in self.shown.shares)
        means = [f"{self.coordinates[j]} {self.shown.mean[j]:.3g} ± {self.shown.spread[j]:.2g}" for j in self.telling]
        return f"{spread:.4g}", directions, ", ".join(means)

    @property
    def expert_cells(self) -> tuple[str, ...]:
        """The same: it has no other number."""
        return self.cells

    def as_json(self) -> dict[str, Any]:
        """Return the component for `print_json`."""
        return {
            "id": self.id,
            "weight": self.size,
            "n_vectors": self.shown.count,
            "mean": self.shown.mean.tolist(),
            "spread": self.shown.spread.tolist(),
            "variance_shares": self.shown.shares.tolist(),
            "telling": [self.coordinates[j] for j in self.telling],
        }


@dataclass(frozen=True, slots=True)
class Groups(Material):
    """Vectors in groups."""

    topic: ClassVar[str] = "component"
    row: ClassVar[str] = "group"
    unit: ClassVar[str] = "vector"
    columns: ClassVar[tuple[str, ...]] = ("component", "weight", "spread", "directions", "mean")
    expert_columns: ClassVar[tuple[str, ...]] = columns
    all_columns: ClassVar[str | None] = None

    needs_groups: ClassVar[bool] = True

    vectors: GroupedVectors
    settings: VectorSettings

    @classmethod
    def read(cls, path: Location, settings: InputSettings, method: str) -> Self:
        """Read what is to be fitted."""
        return cls._read(path, settings, VectorSettings(), f"--method {method}")

    @classmethod
    def read_for(cls, path: Location, folder: Path, model: Any, given: InputSettings) -> Self:
        """Read what a fitted model is asked about."""
        found = cls._read(path, given, VectorSettings.remembered(folder), f"a {type(model).__name__}")
        if found.vectors.dim != model.n_features_in_:
            raise InputError(
                f"{path} has vectors of {found.vectors.dim} numbers, but the model's have {model.n_features_in_}; "
                "give vectors of the same kind"
            )
        return found

    @classmethod
    def _read(cls, path: Location, given: InputSettings, known: VectorSettings, asking: str) -> Self:
        from stickbreak.corpus import read_vectors
        from stickbreak.corpus.reading.vector_sources import TABLES, detect_vector_format

        given.check_of_vectors()
        if isinstance(path, UrlPath):
            raise InputError(f"{path} is a URL, but vectors are read from disks only; fetch the file first")
        given = given.completed(known.file, path, lambda format, _: detect_vector_format(path, format))
        tables = detect_vector_format(path, given.format) in TABLES
        size = known.patches.size if known.patches is not None else _PATCH_SIZE
        n_patches = given.n_patches or known.n_patches or _MOST_PATCHES
        table = read_vectors(
            path,
            format=given.format,
            group_field=given.group_field or (known.group_field if tables and cls.needs_groups else None),
            columns=known.columns if tables else None,
            encoding=given.known_encoding,
            delimiter=given.delimiter,
            patch_size=given.patch_size or size,
            n_patches=n_patches,
            limits=given.limits,
        )
        if cls.needs_groups and not table.grouped:
            raise InputError(
                f"{path} has no groups, but {asking} needs them; name their column (--group-field), give a folder of "
                "vectors, or use --method gaussian-mixture"
            )
        group_field = given.group_field or known.group_field
        return cls(table.vectors, VectorSettings.of(table, group_field, n_patches, given.of_file(path)))

    @classmethod
    def nothing(cls, model: Any, given: InputSettings) -> Self:
        """Return no vectors, of the length of those of a model."""
        from stickbreak.corpus import GroupedVectors

        empty = GroupedVectors.from_arrays([[]], dim=model.n_features_in_)[:0]
        return cls(empty, VectorSettings())

    @staticmethod
    def lines(model: Any, folder: Path, n: int, most: int = MOST_LEAVES) -> Sequence[Line]:
        """Describe the components of a model by the coordinates that tell them from the others."""
        shown = model.shown_components(_DIRECTIONS)
        coordinates = VectorSettings.remembered(folder).coordinates(model.n_features_in_)
        centre = sum(component.weight * component.mean for component in shown)
        return [ComponentLine(component, coordinates, tuple(component.telling(n, centre))) for component in shown]

    @staticmethod
    def n_topics(model: Any) -> int:
        """Return how many components a model has."""
        return int(model.n_components_)

    @property
    def data(self) -> Any:
        """The groups."""
        return self.vectors

    @property
    def size(self) -> str:
        """Groups, vectors and their length."""
        return f"{self.vectors.n_groups:,} groups, {self.vectors.n_vectors:,} vectors of {self.vectors.dim} numbers"

    @property
    def size_of_fit(self) -> str:
        """Groups and vectors."""
        return f"{self.vectors.n_groups:,} groups of {self.vectors.n_vectors:,} vectors"

    @property
    def told(self) -> str:
        """The same as `size`."""
        return self.size

    def counts(self, fitted: Self | None = None) -> dict[str, Any]:
        """Return groups, vectors and their length."""
        vectors = self.vectors
        more = {} if fitted is None else {"n_vectors_fitted": fitted.vectors.n_vectors}
        return {"n_groups": vectors.n_groups, "n_vectors": vectors.n_vectors, "dim": vectors.dim, **more}

    def split(self, held_out: float, seed: int) -> tuple[Self, Self]:
        """Hold out some of the groups."""
        train, held = self.vectors.split(held_out, seed=seed)
        return replace(self, vectors=train), replace(self, vectors=held)

    def remember(self, folder: Path) -> None:
        """Write how they were read into the folder of a model."""
        self.settings.remember(folder)

    def starting(self, model: Any) -> int:
        """Return the number of components that a fit to them starts with."""
        return min(int(model.n_components), self.vectors.n_vectors)

    def score(self, model: Any, seed: int, train: Self) -> None:
        """Score the second halves of the groups."""
        model.note_held_out(model.score(self.data))

    @classmethod
    def told_score(cls, model: Any) -> Score | None:
        """Tell how probable vectors are that were held out."""
        if model.held_out_ is None:
            return None
        value = model.held_out_.value
        sentence = f"Held-out log density: {value:.4f} nats per vector; higher is better."
        return Score(sentence, (("held-out", cls._scored(value)),), {"nats_per_vector": value})

    @staticmethod
    def _scored(value: float) -> str:
        of = "log density of half of each group, given the other half"
        return f"{value:.4f} nats per vector ({of}; higher is better)"

    def evaluate(self, model: Any, seed: int, particles: int | None, resample: bool) -> Told:
        """Score a model on them."""
        if particles is not None:
            raise InputError("--left-to-right is for words, but this is a model of vectors; leave it out")
        if seed:
            raise InputError(f"--seed is {seed}, but groups of vectors are always halved the same way; leave it out")
        value = model.score(self.data)
        lines = (f"vectors    {self.size}", f"score      {self._scored(value)}")
        return Told(lines, {**self.counts(), "held_out": value, "unit": "nats per vector"})

    def weights(self, model: Any) -> WeightTable:
        """Return the weights of the components in the groups."""
        groups, names = self.vectors, self.vectors.group_names
        return WeightTable(
            "group",
            _columns(model),
            groups.n_groups,
            lambda rows: names[rows],
            lambda rows: model.transform(groups[rows]),
        )

    def write_report(
        self,
        model: Any,
        path: Path,
        title: str | None = None,
        options: Mapping[str, Any] | None = None,
        callback: Callback | None = None,
    ) -> None:
        """Write the report on a model of vectors, which have neither dates nor classes."""
        if options:
            raise InputError(
                "--dates, --by, --classes, --date-format, --since, --until and --other are for words, but this is a "
                "model of vectors; leave them out"
            )
        from stickbreak.report import build_component_report, write_report

        data = build_component_report(
            model,
            self.vectors,
            title=title,
            coordinates=self.settings.coordinates(self.vectors.dim),
            patches=self.settings.patches,
        )
        write_report(data, path)


class SingleVectors(Groups):
    """Vectors each for itself: groups that an input may have are passed over."""

    __slots__ = ()

    needs_groups: ClassVar[bool] = False
    row: ClassVar[str] = "vector"

    @property
    def data(self) -> Any:
        """The vectors."""
        return self.vectors.values

    def counts(self, fitted: Self | None = None) -> dict[str, Any]:
        """Return vectors and their length."""
        found = Groups.counts(self, fitted)
        del found["n_groups"]
        return found

    @property
    def size(self) -> str:
        """Vectors and their length."""
        return f"{self.vectors.n_vectors:,} vectors of {self.vectors.dim} numbers"

    @property
    def size_of_fit(self) -> str:
        """Vectors."""
        return f"{self.vectors.n_vectors:,} vectors"

    def split(self, held_out: float, seed: int) -> tuple[Self, Self]:
        """Hold out some of the vectors."""
        from stickbreak.corpus import GroupedVectors
        from stickbreak.corpus.selection import held_out_rows

        held = held_out_rows(self.vectors.n_vectors, held_out, seed, "vector")
        train, rest = (GroupedVectors.from_values(self.vectors.values[rows]) for rows in (~held, held))
        return replace(self, vectors=train), replace(self, vectors=rest)

    @staticmethod
    def _scored(value: float) -> str:
        return f"{value:.4f} nats per vector (mean log density; higher is better)"

    def weights(self, model: Any) -> WeightTable:
        """Return the responsibilities of the components for the vectors."""
        values = self.vectors.values
        return WeightTable(
            "vector",
            _columns(model),
            len(values),
            lambda rows: [str(n) for n in range(rows.start, rows.stop)],
            lambda rows: model.predict_proba(values[rows]),
        )


def _columns(model: Any) -> tuple[str, ...]:
    return tuple(f"component_{k}" for k in range(model.n_components_))
