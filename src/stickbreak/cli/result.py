"""What a fit prints: its topics, and below them what was found, what to look out for, and what to do next."""

import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stickbreak.cli.config import FILE
from stickbreak.cli.material import Material, Score
from stickbreak.cli.methods import DEFAULT, METHODS
from stickbreak.cli.output import (
    MOST_LEAVES,
    TOPICS_SHOWN,
    Line,
    next_lines,
    print_json,
    print_topics,
    show,
    show_rest,
)
from stickbreak.fitting.progress import explained
from stickbreak.storage.urls import Location

__all__ = ["FitResult"]

_WORDS = 10  # of each topic in the table
_FEW_DOCUMENTS = 100
_CUT_SHORT, _AT_THE_LIMIT = "interrupted", "reached the limit"  # how the reasons begin that more passes would mend
_READ_AGAIN = ("max_document_bytes", "max_unpacked_bytes", "max_declared", "tokenizer")
"""Options of `fit` that `transform` needs again: a model has no limits and no code, as it may come from a stranger."""


@dataclass(frozen=True, slots=True)
class FitResult:
    """A fitted model and what is told of it.

    Attributes
    ----------
    model : fitted model
    material : Material
        All that was read.
    train : Material
        What the model was fitted to.
    score : Score or None
        Held-out score, if there is one.
    method : str
        A key of `METHODS`.
    n_topics_start : int or None
        Topics at the start of the fit; None where the start decides their number.
    out : Path
        Folder of the model.
    report : Path or None
        File of the report.
    input : Location or None
        What was read; None where it was not a file or folder.
    options : mapping or None
        What `fit` was given.
    path : TopicPath or None
        The joins of its topics; None where they cannot be joined.
    """

    model: Any
    material: Material
    train: Material
    score: Score | None
    method: str
    n_topics_start: int | None
    out: Path
    report: Path | None
    input: Location | None
    options: Mapping[str, Any] | None
    path: Any = None

    def show(self, topics_shown: int = TOPICS_SHOWN, *, as_json: bool = False, verbose: bool = False) -> None:
        """Print the largest topics, and below them what was found and what to do next.

        Parameters
        ----------
        topics_shown : int, default=20
            Most topics in the table.
        as_json : bool, default=False
            Print JSON instead, with all topics.
        verbose : bool, default=False
            Print the numbers for experts, too.
        """
        material = self.material
        lines = material.lines(self.model, self.out, _WORDS, max(topics_shown, MOST_LEAVES))
        if as_json:
            print_json(self._as_json(lines))
            return
        if topics_shown:
            columns = material.expert_columns if verbose else material.columns
            print_topics(lines[:topics_shown], columns, verbose=verbose)
            show_rest(material.n_topics(self.model) - min(topics_shown, len(lines)), self.out)
            show("")
        if verbose:
            show("\n".join([*_expert_lines(self), ""]))
        show("\n".join(_result_lines(self)))

    def _as_json(self, topics: Sequence[Line]) -> dict[str, Any]:
        model, material, trace = self.model, self.material, self.model.trace_
        return {
            "model": str(self.out),
            "report": None if self.report is None else str(self.report),
            **material.counts(self.train),
            "method": self.method,
            f"n_{material.topic}s_start": self.n_topics_start,
            f"n_{material.topic}s": material.n_topics(model),
            "n_laps": int(model.n_laps_),
            "converged": bool(model.converged_),
            "stop_reason": str(model.stop_reason_),
            "objective": float(model.objective_),
            **{
                name: float(getattr(model, name + "_"))
                for name in ("alpha", "gamma", "eta")
                if name in model.get_params() and isinstance(getattr(model, name + "_"), float)
            },
            "seconds": float(sum(trace["seconds"])),
            "held_out": None if self.score is None else self.score.values,
            "path": _path_as_json(self.path),
            f"{material.topic}s": [topic.as_json() for topic in topics],
        }


def _result_lines(result: FitResult) -> Iterator[str]:
    """Yield what was found, notes on it, where it is, and the next command."""
    yield _wrapped("Fitted" if _is_given(result) else "Found", _found(result))
    for note in _notes(result):
        yield _wrapped("Note", note)
    yield _wrapped("Wrote", _written(result))
    yield from next_lines(_next(result))


def _expert_lines(result: FitResult) -> Iterator[str]:
    """Yield the numbers of a fit that need a word of explanation."""
    for label, text in _numbers(result):
        yield _wrapped(label, text, 12)


def _numbers(result: FitResult) -> Iterator[tuple[str, str]]:
    model, material = result.model, result.material
    start = result.n_topics_start
    yield f"{material.topic}s", f"{material.n_topics(model):,}" + ("" if start is None else f" (started with {start})")
    seconds = float(sum(model.trace_["seconds"]))
    yield "passes", f"{model.n_laps_} over the data in {seconds:.1f} s, after a start of {model.start_seconds_:.1f} s"
    yield "stopped", str(model.stop_reason_)
    named = "" if model.objective_name == "objective" else f" ({model.objective_name})"
    yield "objective", f"{model.objective_:.4f} nats per {material.unit}{named}; higher is better"
    if model.learned_:
        yield "learned", ", ".join(f"{name} {getattr(model, name + '_'):.4g}" for name in model.learned_)
    if result.score is not None:
        yield from result.score.lines
    yield "unit", explained(material.unit)


def _found(result: FitResult) -> str:
    """Say how many topics there are, in what, and how good they are."""
    noun, n_topics = result.material.topic, result.material.n_topics(result.model)
    given = _how_many(result)
    found = f"{n_topics:,} {noun}{'s' * (n_topics != 1)} in {result.train.size_of_fit}{given}."
    return found if result.score is None else f"{found} {result.score.sentence}"


def _how_many(result: FitResult) -> str:
    """Say where the number of topics comes from, if that takes few words."""
    if _is_given(result):
        return "; their number was set before the fit"
    started = getattr(result.model, "started_", None)
    if started is None:
        return ""
    return f"; the fit began with {started}, and those that explain their words better as one were merged"


def _is_given(result: FitResult) -> bool:
    """Tell whether the number of topics was set before the fit."""
    given = result.method == DEFAULT and result.model.n_topics is not None
    return given or METHODS[result.method].given_number


def _notes(result: FitResult) -> Iterator[str]:
    """Say what is not as it should be, and what to do."""
    model, train = result.model, result.train
    reason = str(model.stop_reason_)
    if reason.startswith(_CUT_SHORT):
        yield (
            f"the fit was stopped after pass {model.n_laps_} of {model.n_laps}. The model can be used; more passes may "
            "improve it."
        )
    elif reason.startswith(_AT_THE_LIMIT):
        yield (
            f"the fit has not converged in {model.n_laps} passes over the data. Fit again with more: --laps "
            f"{2 * model.n_laps} --force"
        )
    few = train.counts(train).get("n_documents_fitted", _FEW_DOCUMENTS)
    if few < _FEW_DOCUMENTS:
        yield f"{few} documents are few. Add documents, or divide long ones into paragraphs."
    if result.score is not None and result.score.note is not None:
        yield result.score.note


def _written(result: FitResult) -> str:
    """Say where the report and the model are."""
    out, report = result.out, result.report
    return f"{out} (the model)" if report is None else f"{report} (open it in a browser) and {out} (the model)"


def _next(result: FitResult) -> Iterator[tuple[str, list[str]]]:
    """Yield the next commands, each after a few words on what it gives."""
    out, material = str(result.out), result.material
    if getattr(result.model, "tree_", None) is not None:
        yield "look at the tree", ["stickbreak", "tree", out]
        return
    if result.input is None:
        yield "see more words of each topic", ["stickbreak", "topics", out, "--words", "20"]
    else:
        command = ["stickbreak", "transform", out, str(result.input), "--out", "weights.csv"]
        for argument in _READ_AGAIN:
            if result.options is not None and argument in result.options:
                command += ["--" + argument.replace("_", "-"), str(result.options[argument])]
        yield f"see the {material.topic}s of each {material.row}", command
        if material.dated:
            yield "see which topics grow", ["stickbreak", "trends", out, str(result.input)]
    yield from _other_numbers(result)
    yield from _another_seed(result)


def _other_numbers(result: FitResult) -> Iterator[tuple[str, list[str]]]:
    """Yield the command that joins topics, and the numbers that it could be given.

    Where the number was given and all lower ones predict worse, higher ones are to be tried.
    """
    path = result.path
    if path is None:
        return
    n_topics, out = path.scores.size, str(result.out)
    better = f"predict{'s' * (path.best == 1)} held-out words better than all"
    numbers = [(n, name) for n, name in ((path.overview, "for an overview"), (path.best, better)) if n < n_topics]
    if numbers:
        number, told = numbers[0][0], "; ".join(f"{n} {name}" for n, name in numbers)
        command = ["stickbreak", "reduce", out, "--topics", str(number), "--out", f"{out}-{number}"]
        yield f"join these {n_topics} topics to fewer ({told})", command
    if _is_given(result) and path.smallest_within_one_error == n_topics and result.options is not None:
        command = ["stickbreak", "fit", "--config", str(result.out / FILE), "--topics", str(2 * n_topics)]
        yield (
            f"try more topics (these {n_topics} predict held-out words better than fewer)",
            [*command, "--out", f"{out}-{2 * n_topics}"],
        )


def _another_seed(result: FitResult) -> Iterator[tuple[str, list[str]]]:
    """Yield the commands that show which topics of words come again."""
    if result.options is None or "n_tokens" not in result.train.counts(result.train):
        return
    seed = 1 + int(result.model.random_state)
    out, other = str(result.out), f"{result.out}-seed-{seed}"
    again = ["stickbreak", "fit", "--config", str(result.out / FILE), "--seed", str(seed)]
    yield "fit with another seed, which finds partly other topics", [*again, "--no-report", "--no-path", "--out", other]
    yield f"then see which {result.material.topic}s come again", ["stickbreak", "compare", out, other]


def _path_as_json(path: Any) -> dict[str, Any] | None:
    """Return what a path offers for `print_json`."""
    if path is None:
        return None
    names = ("best", "smallest_within_one_error", "overview")
    return {
        **{name: int(getattr(path, name)) for name in names},
        "scores": path.scores.tolist(),
        "standard_errors": path.standard_errors.tolist(),
    }


def _wrapped(label: str, text: str, indent: int = 7) -> str:
    """Return a line; on a terminal, as many lines as its width needs."""
    line = f"{label:<{indent}}{text}"
    if not sys.stdout.isatty():
        return line
    width = max(shutil.get_terminal_size().columns, 40)
    return textwrap.fill(line, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)
