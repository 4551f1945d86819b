"""Real vectors, in groups or each for itself, as the commands read and tell them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from stickbreak.cli.documents import kept_settings, known_settings, refuse_settings, suffix_of
from stickbreak.cli.output import MOST_LEAVES, several
from stickbreak.cli.scores import Score, Told
from stickbreak.cli.settings import limits_of
from stickbreak.cli.tables import WeightTable
from stickbreak.exceptions import InputError, ModelFormatError
from stickbreak.storage.urls import Location, UrlPath

if TYPE_CHECKING:
    from stickbreak.corpus import GroupedVectors, PatchShape

__all__ = ["SingleVectors", "Vectors"]

FOR_WORDS = {
    "text_field": "--text", "name_field": "--name-field", "vocabulary": "--vocabulary", "tokenizer": "--tokenizer",
    "header": "--header or --no-header", "bad_rows": "--bad-rows", "encoding_errors": "--encoding-errors",
    "dates": "--dates", "date_format": "--date-format", "metadata": "--metadata", "keep": "--keep",
    "vectors": "--vectors",
}  # fmt: skip
_DIRECTIONS = 3  # of a component, in the table
_PATCH_SIZE, _MOST_PATCHES = 8, 1000  # of images


@dataclass(frozen=True, slots=True)
class Vectors:
    """Vectors in groups."""

    topic: ClassVar[str] = "component"
    row: ClassVar[str] = "group"
    unit: ClassVar[str] = "vector"
    needs_groups: ClassVar[bool] = True
    dated: ClassVar[bool] = False

    vectors: GroupedVectors
    record: dict[str, Any]  # how the vectors of the fit were read: what a model remembers
    patches: PatchShape | None = None  # what the vectors are, if they are patches of images

    @classmethod
    def read(cls, path: Location, reading: Mapping[str, Any], *, asking: str) -> Self:
        """Read what is to be fitted."""
        vectors, columns, patches = cls._read(path, reading, asking)
        record = {"settings": kept_settings(reading), "suffix": suffix_of(path), "columns": columns}
        return cls(vectors, record, patches)

    @classmethod
    def read_for(
        cls, path: Location, model: Any, reading: Mapping[str, Any], *, keep: Any = None, metadata: Any = None
    ) -> Self:
        """Read what a fitted model is asked about; vectors have no columns to keep."""
        from stickbreak.corpus.reading.vectors import TABLES, detect_vector_format

        beside = {} if metadata is None else {"metadata": metadata}
        settings, record = known_settings(model, path, {**reading, **beside}), dict(model._reading or {})
        if isinstance(path, UrlPath):
            raise InputError(f"{path} is a URL, but vectors are read from disks only; fetch the file first")
        if detect_vector_format(path, settings.get("format")) in TABLES:
            settings["columns"] = _columns_of(record)
        if "columns" not in settings or not cls.needs_groups:
            settings["group_field"] = reading.get("group_field")
        vectors, _, patches = cls._read(path, settings, f"a {type(model).__name__}")
        if vectors.dim != model.n_features_in_:
            raise InputError(
                f"{path} has vectors of {vectors.dim} numbers, but the model's have {model.n_features_in_}; "
                "give vectors of the same kind"
            )
        return cls(vectors, record, patches)

    @classmethod
    def _read(cls, path: Location, reading: Mapping[str, Any], asking: str) -> tuple[Any, list[str] | None, Any]:
        """Return vectors, the names of their coordinates, and the patches that they are."""
        from stickbreak.corpus import read_vectors

        refuse_settings(reading, FOR_WORDS, "words", "vectors")
        if isinstance(path, UrlPath):
            raise InputError(f"{path} is a URL, but vectors are read from disks only; fetch the file first")
        names = ("format", "encoding", "delimiter", "patch_size", "n_patches", "group_field", "columns")
        arguments: dict[str, Any] = {"patch_size": _PATCH_SIZE, "n_patches": _MOST_PATCHES}
        arguments |= {name: reading[name] for name in names if reading.get(name) is not None}
        table = read_vectors(path, **arguments, limits=limits_of(reading))
        if cls.needs_groups and not table.grouped:
            raise InputError(
                f"{path} has no groups, but {asking} needs them; name their column (--group-field), give a folder of "
                "vectors, or use --method gaussian-mixture"
            )
        return table.vectors, None if table.columns is None else list(table.columns), table.patches

    @classmethod
    def nothing(cls, model: Any) -> Self:
        """Return no vectors, of the length of those of a model."""
        from stickbreak.corpus import GroupedVectors

        return cls(GroupedVectors.from_arrays([[]], dim=model.n_features_in_)[:0], {})

    @property
    def data(self) -> Any:
        """What an estimator takes."""
        return self.vectors

    def memory_of_fit(self) -> dict[str, Any]:
        """Return what a model fitted to these vectors remembers of them."""
        return self.record

    @staticmethod
    def topics(model: Any, n: int, most: int = MOST_LEAVES) -> list[dict[str, Any]]:
        """Describe the components of a model, as JSON has them, by the coordinates that tell them from the others."""
        shown = model.shown_components(_DIRECTIONS)
        names = _coordinates(model._reading, model.n_features_in_)
        centre = sum(component.weight * component.mean for component in shown)
        return [
            {
                "id": component.number,
                "weight": component.weight,
                "n_vectors": component.count,
                "mean": component.mean.tolist(),
                "spread": component.spread.tolist(),
                "variance_shares": component.shares.tolist(),
                "telling": [
                    {"coordinate": names[j], "mean": float(component.mean[j]), "spread": float(component.spread[j])}
                    for j in component.telling(n, centre)
                ],
            }
            for component in shown
        ]

    @staticmethod
    def cells(topic: Mapping[str, Any], *, verbose: bool = False) -> dict[str, str]:
        """Return what a table has of a component: its spread is the root mean square of those of the coordinates."""
        spread = (sum(of**2 for of in topic["spread"]) / len(topic["spread"])) ** 0.5
        means = (f"{one['coordinate']} {one['mean']:.3g} ± {one['spread']:.2g}" for one in topic["telling"])
        return {
            "component": str(topic["id"]),
            "weight": f"{topic['weight']:.2%}",
            "spread": f"{spread:.4g}",
            "directions": " ".join(f"{share:.0%}" for share in topic["variance_shares"]),
            "mean": ", ".join(means),
        }

    @staticmethod
    def n_topics(model: Any) -> int:
        """Return how many components a model has."""
        return int(model.n_components_)

    @property
    def size(self) -> str:
        """Groups, vectors and their length."""
        return f"{several(self.vectors.n_groups, 'group')}, {_of_numbers(self.vectors)}"

    @property
    def size_of_fit(self) -> str:
        """Groups and vectors."""
        return f"{several(self.vectors.n_groups, 'group')} of {several(self.vectors.n_vectors, 'vector')}"

    @property
    def summary(self) -> str:
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
        how = "log density of half of each group, given the other half"
        return f"{value:.4f} nats per vector ({how}; higher is better)"

    def evaluate(self, model: Any, seed: int, particles: int | None) -> Told:
        """Score a model on them."""
        if particles is not None:
            raise InputError("--left-to-right is for words, but this is a model of vectors; leave it out")
        if seed:
            raise InputError(
                f"--random-state is {seed}, but groups of vectors are always halved the same way; leave it out"
            )
        value = model.score(self.data)
        lines = (f"vectors    {self.size}", f"score      {self._scored(value)}")
        return Told(lines, {**self.counts(), "held_out": value, "unit": "nats per vector"})

    def find_path(self, model: Any, callback: Callable[[dict[str, Any]], None] | None = None) -> None:
        """Components are not joined."""

    def weights(self, model: Any) -> WeightTable:
        """Return the weights of the components in the groups."""
        groups = self.vectors
        columns = _weight_columns(model)
        return WeightTable("group", groups.group_names, columns, lambda rows: model.transform(groups[rows]))

    def write_report(
        self,
        model: Any,
        path: Path,
        title: str | None = None,
        callback: Callable[[dict[str, Any]], None] | None = None,
        **options: Any,
    ) -> None:
        """Write the report on a model of vectors, which have neither dates nor classes."""
        if options:
            raise InputError(
                "--dates, --by, --classes, --date-format, --since, --until and --other are for words, but this is a "
                "model of vectors; leave them out"
            )
        from stickbreak.report import build_component_report, write_report

        coordinates = _coordinates(self.record, self.vectors.dim)
        data = build_component_report(model, self.vectors, title=title, coordinates=coordinates, patches=self.patches)
        write_report(data, path)


class SingleVectors(Vectors):
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
        found = Vectors.counts(self, fitted)
        del found["n_groups"]
        return found

    @property
    def size(self) -> str:
        """Vectors and their length."""
        return _of_numbers(self.vectors)

    @property
    def size_of_fit(self) -> str:
        """Vectors."""
        return several(self.vectors.n_vectors, "vector")

    def split(self, held_out: float, seed: int) -> tuple[Self, Self]:
        """Hold out some of the vectors."""
        from stickbreak.corpus import GroupedVectors
        from stickbreak.corpus.splits import held_out_rows

        held = held_out_rows(self.vectors.n_vectors, held_out, seed, "vector")
        train, rest = (GroupedVectors.from_values(self.vectors.values[rows]) for rows in (~held, held))
        return replace(self, vectors=train), replace(self, vectors=rest)

    @staticmethod
    def _scored(value: float) -> str:
        return f"{value:.4f} nats per vector (mean log density; higher is better)"

    def weights(self, model: Any) -> WeightTable:
        """Return the responsibilities of the components for the vectors."""
        values = self.vectors.values
        names = [str(n) for n in range(len(values))]
        return WeightTable("vector", names, _weight_columns(model), lambda rows: model.predict_proba(values[rows]))


def _weight_columns(model: Any) -> tuple[str, ...]:
    return tuple(f"component_{k}" for k in range(model.n_components_))


def _columns_of(record: Mapping[str, Any] | None) -> tuple[str, ...] | None:
    """Return the names of the columns of the fit; None where it had none."""
    names = (record or {}).get("columns")
    if names is None:
        return None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ModelFormatError("the columns that this model remembers are damaged; fit it again")
    return tuple(names)


def _coordinates(record: Mapping[str, Any] | None, dim: int) -> tuple[str, ...]:
    """Return the names of the coordinates of vectors."""
    names = _columns_of(record)
    return names if names is not None and len(names) == dim else tuple(f"x{j}" for j in range(dim))


def _of_numbers(vectors: GroupedVectors) -> str:
    """Say how many vectors there are, and of how many numbers."""
    return f"{several(vectors.n_vectors, 'vector')} of {several(vectors.dim, 'number')}"
