"""`stickbreak transform`."""

from pathlib import Path
from typing import Annotated

import typer

from stickbreak.cli.documents import InputSettings, read_for_model, read_limits
from stickbreak.cli.options import (
    Delimiter,
    Encoding,
    Format,
    InputPath,
    Json,
    MaxDeclared,
    MaxDocumentBytes,
    MaxUnpackedBytes,
    ModelPath,
    NameField,
    Quiet,
    TextField,
    Vocabulary,
)
from stickbreak.cli.output import print_json, say
from stickbreak.cli.weights import check_weight_file, csv_lines, jsonl_lines, write_weights


def transform(
    model: ModelPath,
    documents: InputPath,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File to write: .csv, .jsonl, .npz or .parquet; otherwise CSV is printed."),
    ] = None,
    format: Format = None,
    text_field: TextField = None,
    name_field: NameField = None,
    vocabulary: Vocabulary = None,
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    max_document_bytes: MaxDocumentBytes = None,
    max_unpacked_bytes: MaxUnpackedBytes = None,
    max_declared: MaxDeclared = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Give the weights of the topics in documents, one row a document; --json prints JSON lines.

    New documents are read as those of the fit were. Words that the model does not
    know are left out; a document without any word that it knows gets the weights
    of the whole collection (of a tree: none). A tree takes only --out FILE.npz.
    """
    import stickbreak

    if out is not None:
        check_weight_file(out)
    fitted = stickbreak.load(model)
    check_weight_file(out, fitted)
    limits = read_limits(max_document_bytes, max_unpacked_bytes, max_declared)
    given = InputSettings(format, text_field, name_field, encoding, vocabulary, None, delimiter, limits)
    read = read_for_model(documents, model, fitted, given)
    if not quiet:
        say(f"{read.corpus.n_documents:,} documents; {read.outside_sentence()}")
    if out is None:
        for line in (jsonl_lines if as_json else csv_lines)(fitted, read.corpus):
            typer.echo(line, nl=False)
        return
    write_weights(fitted, read.corpus, out)
    if as_json:
        print_json(
            {
                "out": str(out),
                "n_documents": read.corpus.n_documents,
                "n_topics": int(fitted.n_topics_),
                "n_tokens": read.corpus.n_tokens,
                "n_tokens_outside_vocabulary": read.n_outside,
            }
        )
    elif not quiet:
        say(f"weights of {fitted.n_topics_} topics written to {out}")
