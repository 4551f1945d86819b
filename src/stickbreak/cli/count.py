"""`stickbreak count`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from stickbreak.cli.documents import read_limits
from stickbreak.cli.options import (
    ALL_CORES,
    Cluster,
    Delimiter,
    Encoding,
    Format,
    Jobs,
    Json,
    Keep,
    KeepCase,
    MaxDeclared,
    MaxDf,
    MaxDocumentBytes,
    MaxFeatures,
    MaxUnpackedBytes,
    MinDf,
    NameField,
    NgramMax,
    NgramMin,
    Quiet,
    StopWords,
    StripAccents,
    TextField,
    Tokenizer,
    TokenPattern,
    Vocabulary,
    Workers,
)
from stickbreak.cli.output import print_json, say
from stickbreak.cli.paths import check_input
from stickbreak.cli.text_options import kept_fields, text_options
from stickbreak.cli.workers import workers_alone
from stickbreak.storage.urls import location_of


def count(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...", help='Files of texts, patterns such as "part-*.jsonl.gz", folders.', show_default=False
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Corpus folder to write.")],
    format: Format = None,
    text_field: TextField = None,
    name_field: NameField = None,
    keep: Keep = None,
    vocabulary: Vocabulary = None,
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    max_document_bytes: MaxDocumentBytes = None,
    max_unpacked_bytes: MaxUnpackedBytes = None,
    max_declared: MaxDeclared = None,
    stop_words: StopWords = "english",
    min_df: MinDf = "5",
    max_df: MaxDf = "0.5",
    max_features: MaxFeatures = None,
    ngram_min: NgramMin = 1,
    ngram_max: NgramMax = 1,
    token_pattern: TokenPattern = None,
    keep_case: KeepCase = False,
    strip_accents: StripAccents = None,
    tokenizer: Tokenizer = None,
    jobs: Jobs = None,
    workers: Workers = None,
    cluster: Cluster = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing corpus folder.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Count the words of texts of any size, for fits that follow.

    Words and counts are those that fit finds in the same texts. A folder of JSON
    lines, CSV, TSV or Parquet stands for its files; in any other folder each file
    is a document. The work is cut into jobs of about 8 MB. What is done stays in
    the folder OUT.parts until all is: after a kill the same command goes on. With
    --cluster all machines must see the input and the folder of --out. A --tokenizer
    of your own has one thread, unless --jobs gives it more.
    """
    on_workers = workers_alone(workers, cluster)
    for given in inputs:
        if not any(sign in given for sign in "*?["):  # the files of a pattern are found by who counts them
            check_input(location_of(given))
    limits = read_limits(max_document_bytes, max_unpacked_bytes, max_declared)
    text = text_options(
        stop_words, min_df, max_df, max_features, ngram_min, ngram_max, token_pattern, keep_case, strip_accents, limits,
        tokenizer=tokenizer,
    )  # fmt: skip
    if not quiet:
        say("counting (the first count on a machine also compiles, which takes some seconds) ...")
    from stickbreak.counting import count_files
    from stickbreak.fitting.progress import StageProgress

    with on_workers, StageProgress(not quiet and sys.stderr.isatty()) as progress:
        done = count_files(
            inputs,
            out,
            format=format,
            text_field=text_field,
            name_field=name_field,
            vocabulary=vocabulary,
            text=text,
            keep=kept_fields(keep),
            encoding=encoding or "utf-8",
            delimiter=delimiter,
            limits=limits,
            overwrite=force,
            n_jobs=jobs or (ALL_CORES if tokenizer is None else 1),  # theirs may not bear threads
            callback=progress.update,
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
