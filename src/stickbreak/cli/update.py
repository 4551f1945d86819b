"""`stickbreak update`."""

import json
import sys
from pathlib import Path
from typing import Any

from stickbreak.cli import options as o
from stickbreak.cli.asking import load_words_model
from stickbreak.cli.documents import Documents, InputSettings, read_for_model, read_limits
from stickbreak.cli.fitting import TAKEN_CHECKPOINT, check_resumed
from stickbreak.cli.output import describe_topics, print_json, print_topics, say
from stickbreak.cli.paths import check_input
from stickbreak.cli.steering import Labels, LabelSeparator, check_separator, labels_of, with_column
from stickbreak.cli.words import Words

_INPUT = "input.json"  # beside a model: how its documents were read
_WORDS = 10  # of each new topic


def update(
    model: o.ModelPath,
    documents: o.InputPath,
    out: o.Out,
    labels: Labels = None,
    label_separator: LabelSeparator = None,
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
    """Go on with new documents: topics keep their numbers and labels.

    INPUT holds the new documents alone. What the model knows of those before
    stays as it is, and the new ones add to it. New subjects become new topics,
    with numbers after the old ones, and new words join. The old model is not
    changed. Only models of --method collapsed can do this.
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
    limits = read_limits(max_document_bytes, max_unpacked_bytes, max_declared)
    given = InputSettings(
        format, text_field, name_field, encoding, vocabulary, None, delimiter, limits, keep=with_column(None, labels)
    )
    given.check_of_words()
    read = read_for_model(documents, model, fitted, given, new_words=True)
    before, n_words = fitted.n_topics_, fitted.n_features_in_
    if not quiet:
        n_new = read.corpus.n_words - n_words
        say(f"{Words(read, given).size}, {n_new:,} new{_left_out(read)}; updating {before} topics ...")
    of_documents = None if labels is None else labels_of(read.corpus, labels, label_separator)
    with FitProgress(not quiet and sys.stderr.isatty()) as progress:
        parameters = fitted.get_params()
        given_here = {name: value for name, value in (("n_jobs", jobs or -1), ("scratch", None)) if name in parameters}
        own = {name: parameters[name] for name in given_here}
        fitted.set_params(**given_here)
        kept = {"checkpoint": checkpoint, "resume": resume}
        fitted.update(read.corpus, labels=of_documents, callback=progress.update, **kept)
        fitted.set_params(**own)
    _write(fitted, model, out, read.corpus, force=force)
    _tell(fitted, before, fitted.n_features_in_ - n_words, out, as_json=as_json)


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
            old = np.asarray(known.get("word_counts") or [])
            if old.size:  # a model of an older version does not remember them
                counts = np.asarray(corpus.counts.sum(axis=0), dtype=np.float64).ravel()
                counts[: old.size] += old
                known["word_counts"] = counts.tolist()
            (folder / _INPUT).write_text(json.dumps(known) + "\n", encoding="ascii")


def _tell(fitted: Any, before: int, n_new_words: int, out: Path, *, as_json: bool) -> None:
    """Say which topics are new."""
    new = [line for line in describe_topics(fitted, _WORDS, fitted.n_topics_) if line.id >= before]
    if as_json:
        print_json(
            {
                "model": str(out),
                "n_topics_before": before,
                "n_topics": fitted.n_topics_,
                "n_new_words": n_new_words,
                "new_topics": [line.as_json() for line in new],
            }
        )
        return
    if new:
        print_topics(new, Words.columns, verbose=False)
    say(f"{len(new)} new topics after the {before} of before, written to {out}")
