"""`stickbreak report`."""

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


def report(
    model: ModelPath,
    documents: InputPath,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write.")],
    title: Annotated[str | None, typer.Option("--title", help="Heading of the report.")] = None,
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
    """Write the report on a model as one HTML file that opens without a network."""
    import stickbreak
    from stickbreak.report import build_report, write_report

    fitted = stickbreak.load(model)
    limits = read_limits(max_document_bytes, max_unpacked_bytes, max_declared)
    given = InputSettings(format, text_field, name_field, encoding, vocabulary, None, delimiter, limits)
    read = read_for_model(documents, model, fitted, given)
    if not quiet:
        say(f"{read.corpus.n_documents:,} documents; {read.outside_sentence()}")
    write_report(build_report(fitted, read.corpus, title=title, texts=read.texts), out)
    if as_json:
        print_json({"report": str(out), "n_documents": read.corpus.n_documents})
    elif not quiet:
        say(f"report written to {out}")
