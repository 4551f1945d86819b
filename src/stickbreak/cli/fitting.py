"""The main job as `fit` and `demo` run it: fit, save, score, report."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stickbreak.cli.config import write_config
from stickbreak.cli.material import Material, Score
from stickbreak.cli.methods import DEFAULT, METHODS
from stickbreak.cli.notices import tell_notice
from stickbreak.cli.output import say
from stickbreak.cli.result import FitResult
from stickbreak.cli.steering import labels_of
from stickbreak.exceptions import InputError, WriteError
from stickbreak.storage.atomic import replace_folder
from stickbreak.storage.urls import Location

if TYPE_CHECKING:
    from stickbreak.fitting.progress import StageProgress

__all__ = ["TAKEN_CHECKPOINT", "FitJob", "check_resumed"]

TAKEN_CHECKPOINT = "Add --resume to continue from it, or --force to replace it."


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
        Continue from the checkpoint.
    force : bool
        Replace a model that is at `out` already.
    quiet : bool
        No progress and no messages.
    options : mapping or None
        What `fit` was given, to be written beside the model; None writes no such file.
    input : Location or None
        What the documents were read from; None where they are not in a file.
    labels, label_separator : str or None
        Column of the documents' labels, and what stands between several.
    joins : bool
        Join the topics pair by pair, down to one.
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
    options: Mapping[str, Any] | None = None
    input: Location | None = None
    labels: str | None = None
    label_separator: str | None = None
    joins: bool = True

    def check(self) -> None:
        """Refuse, before the long work, what cannot be done at its end.

        Raises
        ------
        InputError
            If the options contradict each other.
        WriteError
            If an output cannot be written.
        """
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
        if self.report is not None and self.report.absolute().parent != self.out.absolute():
            _check_file(self.report)
        if self.labels is not None:
            self.estimator()._check_labelled_fit()

    def run(self, material: Material) -> FitResult:
        """Fit what was read; write the model, then score it, then write the report.

        Parameters
        ----------
        material : Material
            All of it.

        Returns
        -------
        FitResult

        Raises
        ------
        StickbreakError
            If it does not suit the estimator, or an output cannot be written.
        """
        from stickbreak.storage.persistence import check_target

        train, held = (material, None) if self.held_out is None else material.split(self.held_out, self.seed)
        model = self._fit(train)
        check_target(self.out, overwrite=self.force)
        model.forget_state()  # it is as large as the corpus; on this line it is a checkpoint that goes on
        self._write(model, train)  # before the joins, whose end a reader may not want to wait for
        path = self._find_path(model, train)
        if path is not None:
            self._write(model, train)
        score = None if held is None else self._score(model, held, train)
        if self.report is not None:
            self._tell("writing the report ...")
            with self._stages() as progress:
                material.write_report(model, self.report, callback=progress.update)
        return FitResult(
            model,
            material,
            train,
            score,
            self.method,
            self.n_topics_start(model, train),
            self.out,
            self.report,
            self.input,
            self.options,
            path,
        )

    def _write(self, model: Any, train: Material) -> None:
        """Write the model, how its documents were read, and what the fit was given."""
        with replace_folder(self.out, overwrite=self.force or self.out.is_dir()) as folder:
            model.save(folder)
            train.remember(folder)
            if self.options is not None:
                write_config(folder, self.options)

    def estimator(self) -> Any:
        """Return the estimator, not yet fitted."""
        return METHODS[self.method].load()(**self.parameters)

    def _fit(self, train: Material) -> Any:
        """Fit the estimator, showing its progress."""
        self._tell("loading (the first fit on a machine also compiles, which takes about a minute) ...")
        from stickbreak.fitting.progress import FitProgress

        model = self.estimator()
        options: dict[str, Any] = {}
        if self.checkpoint is not None:
            options = {"checkpoint": self.checkpoint, "resume": self.resume}
            if self.resume and not self.checkpoint.exists():
                self._tell(f"there is no checkpoint at {self.checkpoint} yet: the fit begins at the start")
        self._tell(
            f"fitting {train.size_of_fit}{self._starting(model, train)}; Ctrl-C stops after the current pass and keeps "
            "the model ..."
        )
        if self.labels is not None:
            options["labels"] = self.labels_of(train.data)
        with FitProgress(not self.quiet and sys.stderr.isatty()) as progress:
            model.fit(train.data, callback=progress.update, **options)
        return model

    def labels_of(self, documents: Any) -> Any:
        """Return the labels of documents, as a fit takes them."""
        assert self.labels is not None
        return labels_of(documents, self.labels, self.label_separator)

    def _find_path(self, model: Any, train: Material) -> Any:
        """Join the topics, down to one; Ctrl-C leaves it, as the model is written by then."""
        if not (self.joins and train.joins(model)):
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

    def _starting(self, model: Any, train: Material) -> str:
        n_topics = self.n_topics_start(model, train)
        return "" if n_topics is None else f", starting with {n_topics} {train.topic}{'s' * (n_topics != 1)}"

    def n_topics_start(self, model: Any, train: Material) -> int | None:
        """Return the topics that a fit starts with; None where the start decides their number."""
        start = model.get_params(deep=False).get("init")
        return None if start in METHODS[self.method].uncounted_starts else train.starting(model)

    def _score(self, model: Any, held: Material, train: Material) -> Score | None:
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


def check_resumed(checkpoint: Path | None, *, resume: bool) -> None:
    """Refuse to go on from no checkpoint.

    Raises
    ------
    InputError
    """
    if resume and checkpoint is None:
        raise InputError("--resume needs a checkpoint to continue from; add --checkpoint FOLDER")


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
