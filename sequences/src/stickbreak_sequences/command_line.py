"""Sequences as the commands read and tell them: a table with a row for each step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from stickbreak.cli.documents import kept_settings, known_settings, refuse_settings, suffix_of
from stickbreak.cli.output import MOST_LEAVES
from stickbreak.cli.scores import Score, Told
from stickbreak.cli.tables import WeightTable
from stickbreak.cli.vectors import FOR_WORDS, Vectors
from stickbreak.exceptions import InputError, ReadError
from stickbreak.storage.urls import Location

if TYPE_CHECKING:
    from stickbreak_sequences.data import Sequences

OWN = ("text_field", "dates", "keep")  # options for words that sequences have, too
ELSEWHERE = {name: option for name, option in FOR_WORDS.items() if name not in OWN} | {
    "patch_size": "--patch-size",
    "n_patches": "--patches",
    "format": "--format",
}


class SequenceTable(Vectors):
    """Sequences of a table: ``--group-field`` names the column of sequences, ``--dates`` that of their order.

    ``--text`` names a column of symbols; without it, the other columns are the vectors, or those that ``--keep`` names.
    """

    __slots__ = ()

    topic: ClassVar[str] = "state"
    row: ClassVar[str] = "step"
    unit: ClassVar[str] = "step"

    vectors: Sequences  # type: ignore[assignment]

    @classmethod
    def read(cls, path: Location, reading: Mapping[str, Any], *, asking: str) -> Self:
        """Read what is to be fitted."""
        record = {"settings": kept_settings(reading), "suffix": suffix_of(path), "columns": None}
        return cls(_sequences(path, reading), record)  # type: ignore[arg-type]

    @classmethod
    def read_for(
        cls, path: Location, model: Any, reading: Mapping[str, Any], *, keep: Any = None, metadata: Any = None
    ) -> Self:
        """Read what a fitted model is asked about."""
        settings = known_settings(model, path, {**reading, **({} if metadata is None else {"metadata": metadata})})
        return cls(model._checked(_sequences(path, settings)), dict(model._reading or {}))

    @classmethod
    def nothing(cls, model: Any) -> Self:
        """Return no sequences."""
        raise InputError("there is no sequence; give a table with at least one step")

    @staticmethod
    def topics(model: Any, n: int, most: int = MOST_LEAVES) -> list[dict[str, Any]]:
        """Describe the states of a model, as JSON has them."""
        from stickbreak_sequences.pictures import shown_states

        return shown_states(model, n)

    @staticmethod
    def cells(topic: Mapping[str, Any], *, verbose: bool = False) -> dict[str, str]:
        """Return what a table has of a state."""
        told = {"state": str(topic["id"]), "share": f"{topic['weight']:.2%}", "stay": f"{topic['stay']:.1%}"}
        if "symbols" in topic:
            return {**told, "symbols": ", ".join(topic["symbols"])}
        pairs = zip(topic["mean"], topic["spread"], strict=True)
        return {**told, "mean": ", ".join(f"{mean:.3g} ± {spread:.2g}" for mean, spread in pairs)}

    @property
    def size(self) -> str:
        """Sequences and steps."""
        return f"{self.vectors.n_sequences:,} sequences, {self.vectors.n_steps:,} steps"

    @property
    def size_of_fit(self) -> str:
        """Sequences and steps."""
        return f"{self.vectors.n_sequences:,} sequences of {self.vectors.n_steps:,} steps"

    def counts(self, fitted: Self | None = None) -> dict[str, Any]:
        """Return sequences and steps."""
        more = {} if fitted is None else {"n_steps_fitted": fitted.vectors.n_steps}
        return {"n_sequences": self.vectors.n_sequences, "n_steps": self.vectors.n_steps, **more}

    def starting(self, model: Any) -> int:
        """Return the number of states that a fit to them starts with."""
        return min(int(model.n_states), self.vectors.n_steps)

    @classmethod
    def told_score(cls, model: Any) -> Score | None:
        """Tell how probable steps are that were held out."""
        if model.held_out_ is None:
            return None
        value = model.held_out_.value
        sentence = f"Held-out log-likelihood: {value:.4f} nats per step; higher is better."
        return Score(sentence, (("held-out", cls._scored(value)),), {"nats_per_step": value})

    @staticmethod
    def _scored(value: float) -> str:
        return f"{value:.4f} nats per step (log-likelihood; higher is better)"

    def evaluate(self, model: Any, seed: int, particles: int | None) -> Told:
        """Score a model on them."""
        if particles is not None or seed:
            raise InputError(
                "--left-to-right and --random-state are not for sequences, whose score is exact; leave out"
            )
        value = model.score(self.vectors)
        lines = (f"sequences  {self.size}", f"score      {self._scored(value)}")
        return Told(lines, {**self.counts(), "held_out": value, "unit": "nats per step"})

    def weights(self, model: Any) -> WeightTable:
        """Return the probabilities of the states at each step; a step is named by its sequence and number."""
        steps = self.vectors
        names = [f"{steps.names[d]}/{t}" for d, n in enumerate(steps.lengths.tolist()) for t in range(n)]
        share = model.transform(steps)
        columns = tuple(f"state_{k}" for k in range(model.n_states_))
        return WeightTable("step", names, columns, lambda rows: share[rows])

    def write_report(
        self,
        model: Any,
        path: Path,
        title: str | None = None,
        callback: Callable[[dict[str, Any]], None] | None = None,
        **options: Any,
    ) -> None:
        """Write the picture of the states over time."""
        if options:
            raise InputError("the options of reports are for words, but this is a model of sequences; leave them out")
        picture = model.plot.states(self.vectors)
        if title is not None:
            picture.update_layout(title=title)
        path.parent.mkdir(parents=True, exist_ok=True)
        picture.write_html(path, include_plotlyjs=True)


def _sequences(path: Location, reading: Mapping[str, Any]) -> Sequences:
    """Read a table with a row for each step."""
    import pandas as pd

    from stickbreak_sequences.data import Sequences

    refuse_settings(reading, ELSEWHERE, "words", "sequences")
    sequence, order, text, keep = (reading.get(name) for name in ("group_field", "dates", "text_field", "keep"))
    mark, encoding, suffix = reading.get("delimiter"), reading.get("encoding") or "utf-8-sig", suffix_of(path)
    try:
        if suffix in (".parquet", ".pq"):
            table = pd.read_parquet(path)
        elif suffix in (".jsonl", ".ndjson"):
            table = pd.read_json(path, lines=True, encoding=encoding)
        else:
            separator = "\t" if mark == "tab" or (mark is None and suffix == ".tsv") else mark or ","
            table = pd.read_csv(path, sep=separator, encoding=encoding)
    except (OSError, ValueError) as error:
        raise ReadError(f"{path} cannot be read as a table ({error}); give CSV, TSV, JSON lines or Parquet") from None
    columns = None if not keep else [name.strip() for name in keep.split(",")] if isinstance(keep, str) else list(keep)
    if text is not None and columns is not None:
        raise InputError("--text names symbols and --keep vectors; give one of them")
    wanted = [text] if text is not None else columns
    if wanted is not None:
        named = [name for name in (sequence, order) if name is not None]
        missing = [name for name in (*named, *wanted) if name not in table.columns]
        if missing:
            raise InputError(f"{path} has no column {missing[0]!r}; it has {', '.join(map(str, table.columns))}")
        table = table[[*named, *wanted]]
        if text is not None:
            table = table.assign(**{text: table[text].astype(object).where(table[text].notna(), None).map(_name)})
    if order is not None and order in table.columns and table[order].isna().any():
        raise InputError(f"the column {order!r} has rows without a value; give each step its place")
    return Sequences.of(table, sequence=sequence, order=order)


def _name(value: Any) -> str | None:
    return None if value is None else str(value)
