"""`stickbreak transform`."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from stickbreak.cli.asking import load_words_model
from stickbreak.cli.documents import InputSettings, read_limits
from stickbreak.cli.models import load_model
from stickbreak.cli.options import (
    Cluster,
    Delimiter,
    Encoding,
    Format,
    GroupField,
    InputPath,
    Json,
    MaxDeclared,
    MaxDocumentBytes,
    MaxUnpackedBytes,
    ModelPath,
    MostPatches,
    NameField,
    PatchSize,
    Quiet,
    Scratch,
    TextField,
    Tokenizer,
    Vocabulary,
    Workers,
)
from stickbreak.cli.output import print_json, say
from stickbreak.cli.paths import check_input, check_output
from stickbreak.cli.weights import SparseWeightTable, check_weight_file, csv_lines, jsonl_lines, write_weights
from stickbreak.cli.workers import workers_of
from stickbreak.exceptions import InputError, NoDocuments


def transform(
    model: ModelPath,
    documents: InputPath,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File to write: .csv, .jsonl, .npz or .parquet; without it, CSV is printed."),
    ] = None,
    format: Format = None,
    text_field: TextField = None,
    name_field: NameField = None,
    vocabulary: Vocabulary = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    tokenizer: Tokenizer = None,
    group_field: GroupField = None,
    patch_size: PatchSize = None,
    patches: MostPatches = None,
    max_document_bytes: MaxDocumentBytes = None,
    max_unpacked_bytes: MaxUnpackedBytes = None,
    max_declared: MaxDeclared = None,
    workers: Workers = None,
    cluster: Cluster = None,
    scratch: Scratch = None,
    labels: Annotated[
        bool, typer.Option("--labels", help="Name the columns of .csv and .parquet by the labels of the topics.")
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write the weights of the topics in documents, one row per document.

    Documents are read as those of the fit were, unless an option says otherwise.
    Words that the model does not know are left out. The row of a document without a
    known word is empty. A file without documents gives a table without rows. Of a
    tree there is a row for each topic of each document, as a document has few of
    many. For a model of vectors the rows are groups, or with --method
    gaussian-mixture single vectors. --json prints JSON lines.
    """
    on_workers = workers_of(workers, cluster, scratch)
    check_input(documents)
    if out is not None:
        check_weight_file(out)
        check_output(out, documents)
    if labels and (as_json or (out is not None and out.suffix not in (".csv", ".parquet"))):
        raise InputError(
            "--labels names columns, which only CSV and Parquet have; give --out FILE.csv, or leave it out"
        )
    fitted, material = load_model(model)
    limits = read_limits(max_document_bytes, max_unpacked_bytes, max_declared)
    given = InputSettings(
        format,
        text_field,
        name_field,
        encoding,
        vocabulary,
        None,
        delimiter,
        limits,
        group_field,
        patch_size,
        patches,
        tokenizer=tokenizer,
    )
    try:
        read = material.read_for(documents, model, fitted, given)
    except NoDocuments:
        read = material.nothing(fitted, given)
    if not quiet:
        say(read.told)
    with on_workers:
        table = read.weights(fitted)
    if labels:
        if isinstance(table, SparseWeightTable):
            raise InputError("--labels names columns of topics, but the topics of a tree are rows; leave it out")
        table = replace(table, columns=load_words_model(model).labelled_topics().labels)
    if out is None:
        for line in (jsonl_lines if as_json else csv_lines)(table):
            typer.echo(line, nl=False)
        return
    write_weights(table, out)
    n_topics = material.n_topics(fitted)
    if as_json:
        print_json({"out": str(out), **read.counts(), f"n_{material.topic}s": n_topics})
    elif not quiet:
        say(f"weights of {n_topics} {material.topic}s written to {out}")
