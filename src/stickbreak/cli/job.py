"""The main job as `fit` and `demo` run it: fit, write, score, report, and say what was found."""

import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stickbreak.cli.documents import labels_of
from stickbreak.cli.methods import DEFAULT, METHODS
from stickbreak.cli.options import TAKEN_CHECKPOINT, check_resumed
from stickbreak.cli.output import (
    MOST_LEAVES,
    TOPICS_SHOWN,
    check_output,
    next_lines,
    print_json,
    say,
    several,
    show,
    show_rest,
    tell_notice,
)
from stickbreak.cli.scores import Score
from stickbreak.cli.settings import joined
from stickbreak.cli.tables import print_topics
from stickbreak.exceptions import InputError
from stickbreak.fitting.progress import explained

if TYPE_CHECKING:
    from stickbreak.fitting.progress import StageProgress

__all__ = ["FitJob", "FitResult"]

_WORDS = 10  # of each topic in the table
_FEW_DOCUMENTS = 100
_CUT_SHORT, _AT_THE_LIMIT = "interrupted", "reached the limit"  # how the reasons begin that more passes would mend
_OF_ONE_RUN = ("out", "report", "no_report", "no_path", "checkpoint", "resume", "force", "json", "verbose")
"""Options that the next commands do not repeat."""
_READ_AGAIN = ("tokenizer", "vectors", "document_bytes", "unpacked_bytes", "declared_size")
"""Options of `fit` that `transform` needs again: a model remembers neither code, files nor limits."""


@dataclass(frozen=True, slots=True)
class FitJob:
    """What is to be fitted, and where the results go."""

    out: Path  # folder of the model
    report: Path | None  # file of the report; None writes none
    parameters: dict[str, Any]  # of the estimator
    method: str = DEFAULT  # which estimator: a key of `METHODS`
    held_out: float | None = None  # share or number of documents to hold out and score
    seed: int = 0  # of the split
    checkpoint: Path | None = None  # folder of the checkpoint
    resume: bool = False  # continue from the checkpoint
    force: bool = False  # replace a model that is at `out` already
    quiet: bool = False  # no progress and no messages
    labels: str | None = None  # column of the documents' labels
    label_separator: str | None = None  # what stands between several
    joins: bool = True  # join the topics pair by pair, down to one
    input: Any = None  # what was read; None where it was not a file or folder
    repeat: Callable[..., list[str]] | None = None  # gives the words of the command `without` some, or `only` some

    def check(self) -> None:
        """Refuse, before the long work, what cannot be done at its end."""
        from stickbreak.storage.persistence import check_target

        check_resumed(self.checkpoint, resume=self.resume)
        if self.held_out is not None and not self.held_out > 0:
            raise InputError(f"--held-out is {self.held_out}; give a share (0.1) or a number of documents (500)")
        check_target(self.out, overwrite=self.force)
        if self.checkpoint is not None:
            if self.checkpoint.resolve().is_relative_to(self.out.resolve()):
                raise InputError(
                    f"--checkpoint {self.checkpoint} is inside the folder of --out, where the model will be "
                    "written; give a folder outside it"
                )
            check_target(self.checkpoint, overwrite=self.resume or self.force, advice=TAKEN_CHECKPOINT)
        if self.report is not None:
            check_output(self.report, *([] if self.input is None else [self.input]), made=self.out)
        if self.labels is not None:
            estimator = self.estimator()
            if not _takes_labels(estimator):
                able = joined([name for name, method in METHODS.items() if _takes_labels(method.load())], "or")
                raise InputError(f"--labels is for --method {able}, but --method is {self.method}; leave it out")
            estimator._check_labelled_fit()

    def run(self, material: Any) -> "FitResult":
        """Fit what was read; write the model, then score it, then write the report."""
        from stickbreak.storage.persistence import check_target

        train, held = (material, None) if self.held_out is None else material.split(self.held_out, self.seed)
        model = self._fit(train)
        check_target(self.out, overwrite=self.force)
        model.forget_state()  # it is as large as the corpus; a fit that is to go on has a checkpoint
        model._reading = train.memory_of_fit()
        model.save(self.out, overwrite=self.force)  # before the joins, whose end a reader may not want to wait for
        path = self._find_path(model, train)
        if path is not None:
            model.save(self.out, overwrite=True)
        score = None if held is None else self._score(model, held, train)
        if self.report is not None:
            self._tell("writing the report ...")
            with self._stages() as progress:
                material.write_report(model, self.report, callback=progress.update)
        n_start = self.n_topics_start(model, train)
        return FitResult(model, material, train, score, self, n_start, path)

    def estimator(self) -> Any:
        """Return the estimator, not yet fitted."""
        return METHODS[self.method].load()(**self.parameters)

    def _fit(self, train: Any) -> Any:
        """Fit the estimator, showing its progress."""
        self._tell("loading (the first fit on a machine also compiles, which takes about a minute) ...")
        from stickbreak.fitting.progress import FitProgress

        model = self.estimator()
        options: dict[str, Any] = {}
        if self.checkpoint is not None:
            options = {"checkpoint": self.checkpoint, "resume": self.resume}
            if self.resume and not self.checkpoint.exists():
                self._tell(f"there is no checkpoint at {self.checkpoint} yet: the fit begins at the start")
        counted = self.labels is None or model.n_topics is not None  # else labels have topics besides
        n = self.n_topics_start(model, train) if counted else None
        starting = "" if n is None else f", starting with {several(n, train.topic)}"
        self._tell(
            f"fitting {train.size_of_fit}{starting}; Ctrl-C stops after the current pass and keeps the model ..."
        )
        if self.labels is not None:
            options["labels"] = labels_of(train.data, self.labels, self.label_separator)
        with FitProgress(not self.quiet and sys.stderr.isatty()) as progress:
            model.fit(train.data, callback=progress.update, **options)
        return model

    def _find_path(self, model: Any, train: Any) -> Any:
        """Join the topics, down to one; Ctrl-C leaves it, as the model is written by then."""
        if not (self.joins and getattr(model, "joins_topics", False)):
            return None
        self._tell("joining the topics pair by pair, to offer fewer ...")
        try:
            with self._stages() as progress:
                return train.find_path(model, progress.update)
        except KeyboardInterrupt:
            self._tell("interrupted: the model is written, without a path of joined topics")
            return None

    def _stages(self) -> "StageProgress":
        """Return what shows how far a stage is, on a terminal."""
        from stickbreak.fitting.progress import StageProgress

        return StageProgress(not self.quiet and sys.stderr.isatty())

    def n_topics_start(self, model: Any, train: Any) -> int | None:
        """Return the topics that a fit starts with, or did; None where the start decides their number."""
        started: int | None = getattr(model, "started_", None)
        if started is not None:
            return started
        start = model.get_params(deep=False).get("init")
        return None if start in METHODS[self.method].uncounted_starts else train.starting(model)

    def _score(self, model: Any, held: Any, train: Any) -> Any:
        """Score what was held out, and add that to the saved model; None, with a notice, if it is too little."""
        from stickbreak.model.estimator import save_held_out

        self._tell(f"scoring {held.size_of_fit.replace(' ', ' held-out ', 1)} ...")
        try:
            held.score(model, self.seed, train)
        except InputError as error:
            tell_notice(f"there is no held-out score: {error}")
            return None
        save_held_out(model, self.out)
        return held.told_score(model)

    def _tell(self, text: str) -> None:
        if not self.quiet:
            say(text)


def _takes_labels(estimator: Any) -> bool:
    return getattr(estimator, "_takes_labels", False)  # those of vectors and of plug-ins may know no labels


@dataclass(frozen=True, slots=True)
class FitResult:
    """A fitted model and what is told of it."""

    model: Any
    material: Any  # all that was read
    train: Any  # what the model was fitted to
    score: Score | None  # held-out score, if there is one
    job: FitJob
    n_topics_start: int | None  # topics at the start of the fit; None where the start decides their number
    path: Any = None  # the joins of its topics; None where they cannot be joined

    def show(self, topics_shown: int = TOPICS_SHOWN, *, as_json: bool = False, verbose: bool = False) -> None:
        """Print the largest topics, and below them what was found and what to do next."""
        material = self.material
        topics = material.topics(self.model, _WORDS, max(topics_shown, MOST_LEAVES))
        if as_json:
            print_json(self._as_json(topics))
            return
        if topics_shown:
            print_topics([material.cells(topic, verbose=verbose) for topic in topics[:topics_shown]])
            show_rest(material.n_topics(self.model) - min(topics_shown, len(topics)), self.job.out)
            show("")
        if verbose:
            show("\n".join([*_expert_lines(self), ""]))
        show("\n".join(_result_lines(self)))

    def _as_json(self, topics: list[dict[str, Any]]) -> dict[str, Any]:
        model, material, trace = self.model, self.material, self.model.trace_
        return {
            "model": str(self.job.out),
            "report": None if self.job.report is None else str(self.job.report),
            **material.counts(self.train),
            "method": self.job.method,
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
            f"{material.topic}s": topics,
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
    found = f"{several(n_topics, noun)} in {result.train.size_of_fit}{given}."
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
    given = result.job.method == DEFAULT and result.model.n_topics is not None
    branching = getattr(result.model, "branching", None)
    learned = isinstance(branching, str) and branching == "learned"
    return given or (METHODS[result.job.method].given_number and not learned)


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
    out, report = result.job.out, result.job.report
    return f"{out} (the model)" if report is None else f"{report} (open it in a browser) and {out} (the model)"


def _next(result: FitResult) -> Iterator[tuple[str, list[str]]]:
    """Yield the next commands, each after a few words on what it gives."""
    job, material, out = result.job, result.material, str(result.job.out)
    if getattr(result.model, "tree_", None) is not None:
        yield "look at the tree", ["stickbreak", "ask", out, "tree"]
        return
    columns = getattr(result.model, "prevalence", None) is not None
    if job.repeat is None:
        yield "see more words of each topic", ["stickbreak", "topics", out, "--words", "20"]
    else:
        path, again, beside = str(job.input), job.repeat, ("metadata", *_READ_AGAIN)
        transform = ["stickbreak", "transform", out, path, "--out", "weights.csv"]
        yield (
            f"see the {material.topic}s of each {material.row}",
            [*transform, *again(only=beside if columns else _READ_AGAIN)],
        )
        if material.dated:
            asked = ["stickbreak", "ask", out, "trends", path, *again(only=beside)]
            yield "see which topics grow", asked
    if columns:
        yield "see how columns change the topics", ["stickbreak", "ask", out, "prevalence"]
    yield from _other_numbers(result)
    yield from _another_seed(result)


def _other_numbers(result: FitResult) -> Iterator[tuple[str, list[str]]]:
    """Yield the command that joins topics, and the numbers that it could be given.

    Where the number was given and all lower ones predict worse, higher ones are to be tried.
    """
    path = result.path
    if path is None:
        return
    n_topics, out = path.scores.size, str(result.job.out)
    better = f"predict{'s' * (path.best == 1)} held-out words better than all"
    numbers = [(n, name) for n, name in ((path.overview, "for an overview"), (path.best, better)) if n < n_topics]
    if numbers:
        number, told = numbers[0][0], "; ".join(f"{n} {name}" for n, name in numbers)
        command = ["stickbreak", "reduce", out, "--topics", str(number), "--out", f"{out}-{number}"]
        yield f"join these {n_topics} topics to fewer ({told})", command
    if _is_given(result) and path.smallest_within_one_error == n_topics and result.job.repeat is not None:
        again = result.job.repeat(without=("topics", *_OF_ONE_RUN))
        command = ["stickbreak", "fit", *again, "--topics", str(2 * n_topics), "--out", f"{out}-{2 * n_topics}"]
        yield f"try more topics (these {n_topics} predict held-out words better than fewer)", command


def _another_seed(result: FitResult) -> Iterator[tuple[str, list[str]]]:
    """Yield the commands that show which topics of words come again."""
    job = result.job
    if job.repeat is None or "n_tokens" not in result.train.counts(result.train):
        return
    seed = 1 + int(result.model.random_state)
    out, other = str(job.out), f"{job.out}-seed-{seed}"
    again = ["stickbreak", "fit", *job.repeat(without=("random_state", *_OF_ONE_RUN)), "--random-state", str(seed)]
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
