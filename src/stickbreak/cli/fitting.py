"""The main job as `fit` and `demo` run it: fit, save, score, report."""

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stickbreak.cli.documents import InputSettings
from stickbreak.cli.evaluate import completion_json
from stickbreak.cli.methods import DEFAULT, METHODS
from stickbreak.cli.output import TopicLine, describe_topics, print_json, print_topics, say, show
from stickbreak.exceptions import InputError, WriteError
from stickbreak.storage.atomic import replace_folder
from stickbreak.storage.persistence import check_target

if TYPE_CHECKING:
    from stickbreak.corpus import Corpus
    from stickbreak.evaluation import Completion

__all__ = ["FitJob", "FitResult"]

_TAKEN_CHECKPOINT = "Add --resume to go on from it, or --force to replace it."
Texts = Callable[[Sequence[int]], list[str]] | Sequence[str]


@dataclass(frozen=True, slots=True)
class FitJob:
    """What is to be fitted, and where the results go.

    Attributes
    ----------
    out : Path
        Folder of the model.
    report : Path or None
        File of the report; None writes none.
    parameters : dict
        Of the estimator.
    method : str
        Which estimator: a key of `METHODS`.
    held_out : float or None
        Share or number of documents to hold out and score.
    seed : int
        Of the split.
    checkpoint : Path or None
        Folder of the checkpoint.
    resume : bool
        Go on from the checkpoint.
    force : bool
        Replace a model that is at `out` already.
    quiet : bool
        No progress and no messages.
    """

    out: Path
    report: Path | None
    parameters: dict[str, Any]
    method: str = DEFAULT
    held_out: float | None = None
    seed: int = 0
    checkpoint: Path | None = None
    resume: bool = False
    force: bool = False
    quiet: bool = False

    def check(self) -> None:
        """Refuse, before the long work, what cannot be done at its end.

        Raises
        ------
        InputError
            If the options contradict each other.
        WriteError
            If an output cannot be written.
        """
        for name in ("alpha", "gamma", "eta"):
            if not self.parameters.get(name, 1.0) > 0:
                raise InputError(f"--{name} is {self.parameters[name]}; give a number above 0")
        if self.resume and self.checkpoint is None:
            raise InputError("--resume needs to know from where; add --checkpoint FOLDER")
        if self.held_out is not None and not self.held_out > 0:
            raise InputError(f"--held-out is {self.held_out}; give a share (0.1) or a number of documents (500)")
        check_target(self.out, overwrite=self.force)
        if self.checkpoint is not None:
            if self.checkpoint.resolve().is_relative_to(self.out.resolve()):
                raise InputError(
                    f"--checkpoint {self.checkpoint} is in the folder of --out, which the model will fill; give a "
                    "folder beside it"
                )
            check_target(self.checkpoint, overwrite=self.resume or self.force, advice=_TAKEN_CHECKPOINT)
        if self.report is not None and self.report.absolute().parent != self.out.absolute():
            _check_file(self.report)

    def run(self, corpus: "Corpus", settings: InputSettings, texts: Texts | None) -> "FitResult":
        """Fit the corpus; write the model, then score it, then write the report.

        Parameters
        ----------
        corpus : Corpus
            All documents.
        settings : InputSettings
            How they were read; written beside the model.
        texts : callable, sequence of str or None
            Their texts, for the report.

        Returns
        -------
        FitResult

        Raises
        ------
        StickbreakError
            If the corpus does not suit the estimator, or an output cannot be written.
        """
        train, held = (corpus, None) if self.held_out is None else corpus.split(self.held_out, seed=self.seed)
        model = self._fit(train)
        check_target(self.out, overwrite=self.force)
        model.forget_state()  # it is as large as the corpus; on this line it is a checkpoint that goes on
        with replace_folder(self.out, overwrite=self.force or self.out.is_dir()) as folder:
            model.save(folder)
            settings.remember(folder)
        completion = None if held is None else self._score(model, held)
        if self.report is not None:
            self._tell("writing the report ...")
            from stickbreak.report import build_report, write_report

            write_report(build_report(model, corpus, held_out=completion, texts=texts), self.report)
        return FitResult(self, model, corpus, train, completion)

    def _fit(self, train: "Corpus") -> Any:
        """Fit the estimator, showing its progress."""
        self._tell("loading (the first fit on a machine also compiles: about a minute, once) ...")
        import stickbreak
        from stickbreak.fitting.progress import FitProgress

        model = getattr(stickbreak, METHODS[self.method].estimator)(**self.parameters)
        options: dict[str, Any] = {}
        if self.checkpoint is not None:
            options = {"checkpoint": self.checkpoint, "resume": self.resume}
            if self.resume and not self.checkpoint.exists():
                self._tell(f"there is no checkpoint at {self.checkpoint} yet: starting from the beginning")
        self._tell(
            f"fitting {train.n_documents:,} documents{self._starting(model, train)} "
            f"(Ctrl-C ends after the lap and keeps the model) ..."
        )
        with FitProgress(not self.quiet and sys.stderr.isatty()) as progress:
            model.fit(train, callback=progress.update, **options)
        return model

    def _starting(self, model: Any, train: "Corpus") -> str:
        n_topics = self.n_topics_start(model, train)
        return "" if n_topics is None else f", starting with {n_topics} topic{'s' * (n_topics != 1)}"

    def n_topics_start(self, model: Any, train: "Corpus") -> int | None:
        """Return the topics that a fit to the documents starts with; None where the start decides their number."""
        method = METHODS[self.method]
        start = self.parameters.get("init", method.default_start)
        return int(model.starting_topics(train)) if start in method.counted_starts else None

    def _score(self, model: Any, held: "Corpus") -> "Completion | None":
        """Score the held-out documents; None, with a message, if they are too short for that."""
        from stickbreak.evaluation import document_completion

        self._tell(f"scoring {held.n_documents:,} held-out documents ...")
        try:
            return document_completion(model, *held.halves(seed=self.seed))
        except InputError as error:
            self._tell(f"no held-out score: {error}")
            return None

    def _tell(self, text: str) -> None:
        if not self.quiet:
            say(text)


@dataclass(frozen=True, slots=True)
class FitResult:
    """A fitted model and what is told of it."""

    job: FitJob
    model: Any
    corpus: "Corpus"
    train: "Corpus"
    completion: "Completion | None"

    def show(self, n_words: int = 10, *, as_json: bool = False) -> None:
        """Print the topics and the summary on standard output.

        Parameters
        ----------
        n_words : int, default=10
            Words of each topic.
        as_json : bool, default=False
            Print JSON instead.
        """
        topics = describe_topics(self.model, n_words)
        if as_json:
            print_json(self._as_json(topics))
            return
        print_topics(topics)
        show("\n" + self._summary())

    def _summary(self) -> str:
        """Say how many topics, why the fit stopped, how good it is, and where everything is."""
        model, done = self.model, self.completion
        start = self.job.n_topics_start(model, self.train)
        lines = [
            f"topics     {model.n_topics_}" + ("" if start is None else f" (started with {start})"),
            f"stopped    {model.stop_reason_}",
            f"objective  {model.objective_:.4f} nats per token"
            + ("" if model.objective_name == "objective" else f" ({model.objective_name})"),
        ]
        if model.learned:
            learned = ", ".join(f"{name} {getattr(model, name + '_'):.4g}" for name in model.learned)
            lines.append(f"learned    {learned}")
        if done is not None:
            lines.append(
                f"held-out   {done.active:.4f} nats per token: completion of {done.n_documents:,} documents, "
                f"perplexity {done.perplexity:,.1f} ({done.with_inactive:.4f} with the inactive mass)"
            )
        lines.append(f"model      {self.job.out}")
        if self.job.report is not None:
            lines.append(f"report     {self.job.report}")
        return "\n".join(lines)

    def _as_json(self, topics: list[TopicLine]) -> dict[str, Any]:
        model, trace = self.model, self.model.trace_
        return {
            "model": str(self.job.out),
            "report": None if self.job.report is None else str(self.job.report),
            "n_documents": self.corpus.n_documents,
            "n_documents_fitted": self.train.n_documents,
            "n_words": self.corpus.n_words,
            "n_tokens": self.corpus.n_tokens,
            "method": self.job.method,
            "n_topics_start": self.job.n_topics_start(model, self.train),
            "n_topics": int(model.n_topics_),
            "n_laps": int(model.n_laps_),
            "converged": bool(model.converged_),
            "stop_reason": str(model.stop_reason_),
            "objective": float(model.objective_),
            **{
                name: float(getattr(model, name + "_"))
                for name in ("alpha", "gamma", "eta")
                if name in model.get_params()
            },
            "seconds": float(sum(trace["seconds"])),
            "held_out": None if self.completion is None else completion_json(self.completion),
            "topics": [topic.as_json() for topic in topics],
        }


def _check_file(path: Path) -> None:
    """Refuse a file that could not be written."""
    parent = path.absolute().parent
    if path.is_dir():
        raise WriteError(f"cannot write {path}: it is a folder; give the name of a file")
    if path.exists() and not path.is_file():
        raise WriteError(f"cannot write {path}: it is a device or a pipe; give the name of a file")
    if not parent.is_dir():
        raise WriteError(f"cannot write {path}: its parent folder does not exist; create it first")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise WriteError(f"cannot write {path}: permission denied; choose a place that you may write to")
