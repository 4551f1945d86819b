"""Sequences as the commands read and tell them: a table with a row for each step."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from stickbreak.cli.documents import kept_settings, known_settings, refuse_settings, suffix_of
from stickbreak.cli.output import MOST_LEAVES, several
from stickbreak.cli.scores import Score, Told
from stickbreak.cli.settings import limits_of
from stickbreak.cli.tables import WeightTable
from stickbreak.cli.vectors import FOR_WORDS, Vectors
from stickbreak.exceptions import InputError, ReadError
from stickbreak.storage.urls import Location

if TYPE_CHECKING:
    from stickbreak_sequences.data import Sequences

OWN = ("text_field", "dates", "date_format", "keep")  # options for words that sequences have, too
ELSEWHERE = {name: option for name, option in FOR_WORDS.items() if name not in OWN} | {
    "patch_size": "--patch-size",
    "n_patches": "--patches",
    "format": "--format",
}


@dataclass(frozen=True, slots=True)
class SequenceTable(Vectors):
    """Sequences of a table: ``--group-field`` names the column of sequences, ``--dates`` that of their order.

    ``--date-format`` says how the order is written.
    ``--text`` names a column of symbols; without it, the other columns are the vectors, or those that ``--keep`` names.
    """

    topic: ClassVar[str] = "state"
    row: ClassVar[str] = "step"
    unit: ClassVar[str] = "step"

    vectors: Sequences  # type: ignore[assignment]
    n_outside: int = 0  # symbols that the model does not have

    @classmethod
    def read(cls, path: Location, reading: Mapping[str, Any], *, asking: str) -> Self:
        """Read what is to be fitted."""
        sequences, settings = _sequences(path, reading), kept_settings(reading)
        if sequences.symbols is not None and sequences.columns is not None:
            settings["text_field"] = sequences.columns[0]  # in other files it may look like numbers
        return cls(sequences, {"settings": settings, "suffix": suffix_of(path), "columns": None})

    @classmethod
    def read_for(
        cls, path: Location, model: Any, reading: Mapping[str, Any], *, keep: Any = None, metadata: Any = None
    ) -> Self:
        """Read what a fitted model is asked about."""
        settings = known_settings(model, path, {**reading, **({} if metadata is None else {"metadata": metadata})})
        names = getattr(model, "feature_names_in_", None)
        if names is not None and settings.get("text_field") is None:
            settings["keep"] = names.tolist()
        given = _sequences(path, settings)
        known = model._checked(given)
        n_outside = 0 if known.symbols is None else int(given.steps.sum() - known.steps.sum())
        return cls(known, dict(model._reading or {}), n_outside=n_outside)

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
        """Sequences, steps and what is at a step."""
        from stickbreak.corpus.reading.fields import listed

        of = self.vectors
        what = several(len(of.symbols), "symbol") if of.symbols is not None else f"{listed(of.columns or ())}"
        return f"{several(of.n_sequences, 'sequence')}, {several(of.n_steps, 'step')} of {what}"

    @property
    def summary(self) -> str:
        """The same, and the symbols that the model does not have."""
        return f"{self.size}; {self.outside_sentence()}" if self.n_outside else self.size

    def outside_sentence(self) -> str:
        """Say how many symbols the model does not have."""
        what = "1 symbol is" if self.n_outside == 1 else f"{self.n_outside:,} symbols are"
        return f"{what} not in the model and left out"

    @property
    def size_of_fit(self) -> str:
        """Sequences and steps."""
        return f"{several(self.vectors.n_sequences, 'sequence')} of {several(self.vectors.n_steps, 'step')}"

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
        lines = (f"sequences  {self.summary}", f"score      {self._scored(value)}")
        told = {**self.counts(), "n_symbols_outside": self.n_outside, "held_out": value, "unit": "nats per step"}
        return Told(lines, told)

    def weights(self, model: Any) -> WeightTable:
        """Return the probabilities of the states at each step; a step is named by its sequence and place in it."""
        import numpy as np

        steps = self.vectors
        ranks = np.arange(steps.n_steps) - np.repeat(steps.offsets[:-1], steps.lengths)
        places = (ranks if steps.order is None else steps.order).tolist()
        of_steps = np.repeat(np.array(steps.names, object), steps.lengths).tolist()
        names = [f"{name}/{place}" for name, place in zip(of_steps, places, strict=True)]
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
    columns = None if not keep else [name.strip() for name in keep.split(",")] if isinstance(keep, str) else list(keep)
    if text is not None and columns is not None:
        raise InputError("--text names symbols and --keep vectors; give one of them")
    table = _table(path, reading)
    named, wanted = [name for name in (sequence, order) if name is not None], [text] if text is not None else columns
    missing = [name for name in (*named, *(wanted or ())) if name not in table.columns]
    if missing:
        raise InputError(f"{path} has no column {missing[0]!r}; it has {', '.join(map(str, table.columns))}")
    if wanted is not None:
        table = table[[*named, *wanted]]
    named_columns: dict[str, Any] = {"sequence": sequence, "order": order, "date_format": reading.get("date_format")}
    if text is not None:
        return Sequences.of(table.astype({text: object}), **named_columns)
    numbers = {}
    for name in table.columns.difference(named):
        if table[name].dtype.kind == "O":
            with suppress(TypeError, ValueError):  # texts stay
                numbers[name] = pd.to_numeric(table[name])
    return Sequences.of(table.assign(**numbers), **named_columns)


def _table(path: Location, reading: Mapping[str, Any]) -> Any:
    """Return a data frame of what is written: cells of CSV and numbers of JSON are texts, and none is empty by name."""
    import pandas as pd

    from stickbreak.corpus.reading.decoding import Dirt, checked_encoding, decoded_lines
    from stickbreak.corpus.reading.parquet import open_parquet, read_table
    from stickbreak.corpus.reading.tables import Table, checked_delimiter

    limits, suffix = limits_of(reading), suffix_of(path)
    encoding = checked_encoding(reading.get("encoding") or "utf-8")
    if suffix in (".parquet", ".pq"):
        with open_parquet(path, limits) as file:
            return read_table(file, path, limits).to_pandas(integer_object_nulls=True)
    if suffix in (".jsonl", ".ndjson"):
        lines = (line for line in decoded_lines(path, encoding, limits) if line.strip())
        try:
            rows = [dict(json.loads(line, parse_int=str, parse_float=str)) for line in lines]
        except (TypeError, ValueError) as error:
            raise ReadError(f"{path} has a line that is no JSON object ({error}); give JSON lines or CSV") from None
        return pd.DataFrame(rows, dtype=object)
    usual = "\t" if suffix == ".tsv" else ","
    found = Table.open(path, encoding, checked_delimiter(reading.get("delimiter")), usual, limits, header=True)
    if len(set(found.columns)) < len(found.columns):
        twice = next(name for name in found.columns if found.columns.count(name) > 1)
        raise ReadError(f"{path} has several columns {twice!r:.40}; give each a different name")
    parts = [pd.DataFrame({k: v.to_pandas() for k, v in c.items()}) for c in found.chunks(found.columns, Dirt())]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(found.columns), dtype=object)
