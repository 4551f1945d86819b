"""`stickbreak count`."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from stickbreak.cli import options as o
from stickbreak.cli.documents import FOR_VECTORS, check_input, read_arguments, refuse_settings
from stickbreak.cli.output import print_json, say
from stickbreak.cli.settings import Settings, limits_of, stripped, text_options, values_set
from stickbreak.exceptions import InputError
from stickbreak.storage.urls import location_of

__all__ = ["count"]


@o.spread(reading=o.READING)
def count(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...", help='Files of texts, patterns such as "part-*.jsonl.gz", folders.', show_default=False
        ),
    ],
    reading: dict[str, Any],
    out: Annotated[Path, o.option("--out -o", "FOLDER", "Corpus folder to write.")],
    keep: Annotated[str | None, o.option("--keep", "NAMES", "Columns to keep: date,category; or all.")] = None,
    stop_words: o.StopWords = "english",
    min_df: o.MinDf = "5",
    max_df: o.MaxDf = "0.5",
    strip: o.Strip = None,
    set_: Annotated[
        list[str] | None,
        o.option("--set", "NAME=VALUE", "max_features, ngram_range, token_pattern, lowercase, strip_accents, phrases."),
    ] = None,
    jobs: o.Jobs = None,
    workers: o.Workers = None,
    force: Annotated[bool, o.option("--force", None, "Replace an existing corpus folder.")] = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Count the words of texts of any size, for fits that follow.

    Words and counts are those that fit finds in the same texts. A folder of JSON
    lines, CSV, TSV or Parquet stands for its files; in any other folder each file
    is a document. The work is cut into jobs of about 8 MB. What is done stays in
    the folder OUT.parts until all is: after a kill the same command goes on. With
    --workers ADDRESS all machines must see the input and the folder of --out. A
    --tokenizer of your own has one thread, unless --jobs gives it more.
    """
    on_workers = o.workers_of(workers, None, copies=False)
    settings = Settings.of(values_set(set_ or ()), None)
    reading = {**settings.reading, **o.given_options(reading)}
    refuse_settings(reading, FOR_VECTORS, "vectors", "words")
    if "vectors" in reading:
        raise InputError("--vectors is given, but count keeps no vectors; give it to fit, with the texts themselves")
    if "copies" in reading:
        raise InputError(
            "count keeps all documents, as it sees few at a time; leave copies out in the fit: --set copies=drop"
        )
    for place in inputs:
        if not any(sign in place for sign in "*?["):  # the files of a pattern are found by who counts them
            check_input(location_of(place))
    tokenizer = reading.get("tokenizer")
    text = text_options(
        stop_words, min_df, max_df, tokenizer, limits_of(reading), {**settings.counting, **stripped(strip)}
    )
    if not quiet:
        say("counting (the first count on a machine also compiles, which takes some seconds) ...")
    from stickbreak.counting import count_files
    from stickbreak.fitting.progress import StageProgress

    with on_workers, StageProgress(not quiet and sys.stderr.isatty()) as progress:
        done = count_files(
            inputs,
            out,
            text=text,
            keep=o.kept_fields(keep),
            overwrite=force,
            n_jobs=jobs or (o.ALL_CORES if tokenizer is None else 1),  # theirs may not bear threads
            callback=progress.update,
            **read_arguments(reading),
        )
    if json:
        print_json(
            {
                "out": str(out),
                "n_documents": done.n_documents,
                "n_words": done.n_words,
                "n_tokens": done.n_tokens,
                "n_jobs": done.n_jobs,
                "n_jobs_done_before": done.n_jobs_before,
            }
        )
    elif not quiet:
        before = f" ({done.n_jobs_before:,} of {done.n_jobs:,} jobs were done before)" if done.n_jobs_before else ""
        say(
            f"{done.n_documents:,} documents, {done.n_tokens:,} words, {done.n_words:,} of them different, written to "
            f"{out}{before}"
        )
