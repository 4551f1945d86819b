"""`stickbreak report`."""

from pathlib import Path
from typing import Annotated

import typer

from stickbreak.cli.documents import InputSettings, read_limits
from stickbreak.cli.models import load_model
from stickbreak.cli.options import (
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
    TextField,
    Tokenizer,
    Vocabulary,
)
from stickbreak.cli.output import print_json, say
from stickbreak.cli.paths import check_input, check_output


def report(
    model: ModelPath,
    documents: InputPath,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write.")],
    title: Annotated[str | None, typer.Option("--title", help="Heading of the report.")] = None,
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
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write the report on a model as one HTML file that opens without a network."""
    check_input(documents)
    check_output(out, documents)
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
    read = material.read_for(documents, model, fitted, given)
    if not quiet:
        say(read.told)
    read.write_report(fitted, out, title)
    if as_json:
        print_json({"report": str(out), **read.counts()})
    elif not quiet:
        say(f"report written to {out}")
