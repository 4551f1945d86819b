"""`stickbreak update`."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from stickbreak.cli import options as o
from stickbreak.cli.asking import load_words_model
from stickbreak.cli.documents import Documents, InputSettings, read_for_model, read_limits
from stickbreak.cli.fitting import TAKEN_CHECKPOINT, check_resumed
from stickbreak.cli.output import describe_topics, print_json, print_topics, say
from stickbreak.cli.paths import check_input
from stickbreak.cli.steering import Labels, LabelSeparator, check_separator, labels_of, with_column
from stickbreak.cli.words import Words
from stickbreak.exceptions import InputError

_INPUT = "input.json"  # beside a model: how its documents were read
_WORDS = 10  # of each new topic

BatchSize = Annotated[
    int | None,
    typer.Option(
        "--batch-size",
        min=1,
        metavar="NUMBER",
        help="Documents of a step. Default: the batch size of the fit, or all documents.",
    ),
]
TotalDocuments = Annotated[
    int | None,
    typer.Option(
        "--total-documents",
        min=1,
        metavar="NUMBER",
        help="Documents of the whole stream, for models that take steps. Default: those seen so far.",
    ),
]
GrowVocabulary = Annotated[
    bool,
    typer.Option("--grow-vocabulary", help="Let new words join a model of --method hybrid, now and in later updates."),
]


def update(
    model: o.ModelPath,
    documents: o.InputPath,
    out: o.Out,
    labels: Labels = None,
    label_separator: LabelSeparator = None,
    batch_size: BatchSize = None,
    total_documents: TotalDocuments = None,
    grow_vocabulary: GrowVocabulary = False,
    format: o.Format = None,
    text_field: o.TextField = None,
    name_field: o.NameField = None,
    vocabulary: o.Vocabulary = None,
    encoding: o.Encoding = None,
    delimiter: o.Delimiter = None,
    max_document_bytes: o.MaxDocumentBytes = None,
    max_unpacked_bytes: o.MaxUnpackedBytes = None,
    max_declared: o.MaxDeclared = None,
    checkpoint: o.Checkpoint = None,
    resume: o.Resume = False,
    jobs: o.Jobs = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
) -> None:
    """Go on with new documents.

    INPUT holds the new documents alone. The old model is not changed. With a
    model of --method topics its topics keep their numbers and labels: what it knows
    of the documents before stays as it is, and the new ones add to it. New
    subjects become new topics, with numbers after the old ones, and new words
    join. Models of the other methods with minibatches (variational, hybrid, lda,
    nested-hdp, online-hdp, split-merge-online) take a step on each minibatch of
    the new documents, and forget the old ones little by little.
    """
    from stickbreak.fitting.progress import FitProgress
    from stickbreak.storage.persistence import check_target

    check_separator(labels, label_separator)
    check_input(documents)
    check_target(out, overwrite=force)
    check_resumed(checkpoint, resume=resume)
    if checkpoint is not None:
        check_target(checkpoint, overwrite=resume or force, advice=TAKEN_CHECKPOINT)
    fitted = load_words_model(model)
    if not hasattr(fitted, "update") and not hasattr(fitted, "partial_fit"):
        raise InputError(
            f"{model} holds a {type(fitted).__name__}, which cannot go on with new documents; take a TopicModel."
        )
    by_steps = _takes_steps(fitted)
    grows = by_steps and "grow_vocabulary" in fitted.get_params()
    for option, value, known in (
        ("--labels", labels, not by_steps),
        ("--checkpoint", checkpoint, not by_steps),
        ("--batch-size", batch_size, by_steps),
        ("--total-documents", total_documents, by_steps),
        ("--grow-vocabulary", grow_vocabulary, grows),
    ):
        if value and not known:
            raise InputError(f"{model} holds a {type(fitted).__name__}, whose update knows no {option}; leave it out")
    if total_documents is not None:
        fitted.set_params(total_documents=total_documents)
    if grow_vocabulary:
        fitted.set_params(grow_vocabulary=True)
    limits = read_limits(max_document_bytes, max_unpacked_bytes, max_declared)
    given = InputSettings(
        format, text_field, name_field, encoding, vocabulary, None, delimiter, limits, keep=with_column(None, labels)
    )
    given.check_of_words()
    new_words = not by_steps or (grows and fitted.grow_vocabulary)
    read = read_for_model(documents, model, fitted, given, new_words=new_words)
    before, n_words = fitted.n_topics_, fitted.n_features_in_
    if not quiet:
        n_new = read.corpus.n_words - n_words
        say(f"{Words(read, given).size}, {n_new:,} new{_left_out(read)}; updating {before} topics ...")
    parameters = fitted.get_params()
    given_here = {name: value for name, value in (("n_jobs", jobs or -1), ("scratch", None)) if name in parameters}
    own = {name: parameters[name] for name in given_here}
    fitted.set_params(**given_here)
    if by_steps:
        size = batch_size or parameters.get("batch_size") or read.corpus.n_documents
        for first in range(0, read.corpus.n_documents, size):
            fitted.partial_fit(read.corpus[first : first + size])
    else:
        of_documents = None if labels is None else labels_of(read.corpus, labels, label_separator)
        with FitProgress(not quiet and sys.stderr.isatty()) as progress:
            kept = {"checkpoint": checkpoint, "resume": resume}
            fitted.update(read.corpus, labels=of_documents, callback=progress.update, **kept)
    fitted.set_params(**own)
    _write(fitted, model, out, read.corpus, force=force)
    told = {
        "model": str(out),
        "n_topics_before": before,
        "n_topics": fitted.n_topics_,
        "n_new_words": fitted.n_features_in_ - n_words,
    }
    if by_steps:
        _tell_steps(fitted, told, as_json=as_json)
    else:
        _tell_new_topics(fitted, told, as_json=as_json)


def _takes_steps(fitted: Any) -> bool:
    """Tell whether a model takes new documents by steps alone, as all with minibatches do."""
    return hasattr(fitted, "partial_fit") and not hasattr(fitted, "update")


def _left_out(read: Documents) -> str:
    """Say how many words neither the model knows nor enough of the new documents have; nothing where there are none."""
    if not read.n_outside:
        return ""
    share = read.n_outside / (read.n_outside + read.corpus.n_tokens)
    return f"; {read.n_outside:,.0f} others ({share:.1%}) are new and in too few of these documents, and are left out"


def _write(fitted: Any, model: Path, out: Path, corpus: Any, *, force: bool) -> None:
    """Write a model, with what is remembered of how its documents were read."""
    import numpy as np

    from stickbreak.storage.atomic import replace_folder
    from stickbreak.storage.plain_files import read_json

    with replace_folder(out, overwrite=force or out.is_dir()) as folder:
        fitted.save(folder)
        file = model / _INPUT
        if file.is_file():
            known = read_json(file)
            counts, old = np.asarray(corpus.counts.sum(axis=0), dtype=np.float64).ravel(), known["word_counts"]
            counts[: len(old)] += old
            known["word_counts"] = counts.tolist()
            (folder / _INPUT).write_text(json.dumps(known) + "\n", encoding="ascii")


def _tell_steps(fitted: Any, told: dict[str, Any], *, as_json: bool) -> None:
    """Say how far the steps have come."""
    if as_json:
        print_json({**told, "n_steps": fitted.n_steps_})
        return
    say(
        f"{told['n_topics']} topics after {fitted.n_steps_} steps ({told['n_topics_before']} before), written to "
        f"{told['model']}"
    )


def _tell_new_topics(fitted: Any, told: dict[str, Any], *, as_json: bool) -> None:
    """Say which topics are new."""
    before = told["n_topics_before"]
    new = [line for line in describe_topics(fitted, _WORDS, fitted.n_topics_) if line.id >= before]
    if as_json:
        print_json({**told, "new_topics": [line.as_json() for line in new]})
        return
    if new:
        print_topics(new, Words.columns, verbose=False)
    say(f"{len(new)} new topics after the {before} of before, written to {told['model']}")
