"""`stickbreak report`."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from stickbreak.cli.asking import load_words_model
from stickbreak.cli.documents import InputSettings, read_limits
from stickbreak.cli.models import check_model, load_model
from stickbreak.cli.options import (
    DateFormat,
    Dates,
    Delimiter,
    Encoding,
    Format,
    GroupField,
    InputPath,
    Json,
    MaxDeclared,
    MaxDocumentBytes,
    MaxUnpackedBytes,
    Metadata,
    ModelPath,
    MostPatches,
    NameField,
    PatchSize,
    Quiet,
    Since,
    TextField,
    Tokenizer,
    Until,
    Vocabulary,
)
from stickbreak.cli.output import print_json, say
from stickbreak.cli.paths import check_input, check_output
from stickbreak.cli.text_options import kept_fields


def report(
    model: ModelPath,
    documents: InputPath,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write.")],
    title: Annotated[str | None, typer.Option("--title", help="Heading of the report.")] = None,
    dates: Dates = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="PERIOD",
            help="day, week, month, quarter or year. Default: the first that makes 60 periods at most.",
        ),
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(
            "--classes",
            metavar="NAMES",
            help="Columns of classes, such as category,paper; or none. Default: those with few different values.",
        ),
    ] = None,
    date_format: DateFormat = None,
    since: Since = None,
    until: Until = None,
    others: Annotated[
        list[Path] | None,
        typer.Option(
            "--other",
            metavar="FOLDER",
            help="Folder of another fit, such as one from another seed; may be given several times. The report says "
            "how often each topic comes again.",
        ),
    ] = None,
    format: Format = None,
    text_field: TextField = None,
    name_field: NameField = None,
    metadata: Metadata = None,
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
    """Write the report on a model as one HTML file that opens without a network.

    Where the input has columns beside the texts, it shows shares over time and
    by class. With --since and --until these are of the documents of some days, as
    are the documents that it shows.
    """
    from stickbreak.fitting.progress import StageProgress
    from stickbreak.questions.columns import Span

    Span.of(since, until, "--")
    check_input(documents)
    check_output(out, documents)
    for other in others or ():
        check_model(other)
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
        keep=material.all_columns,
        tokenizer=tokenizer,
        metadata=metadata,
    )
    read = material.read_for(documents, model, fitted, given)
    if not quiet:
        say(read.told)
    options = _columns(dates, by, classes, date_format, since, until)
    if others:
        options["others"] = [load_words_model(other) for other in others]
    with StageProgress(not quiet and sys.stderr.isatty()) as progress:
        read.write_report(fitted, out, title, options=options, callback=progress.update)
    if as_json:
        print_json({"report": str(out), **read.counts()})
    elif not quiet:
        say(f"report written to {out}")


def _columns(
    dates: str | None,
    by: str | None,
    classes: str | None,
    date_format: str | None,
    since: str | None,
    until: str | None,
) -> dict[str, Any]:
    """Return what documents are chosen and grouped by, as `build_report` takes it: what was given."""
    named: Any = [] if classes == "none" else kept_fields(classes)
    given = {
        "dates": False if dates == "none" else dates,
        "by": by,
        "categories": named,
        "date_format": date_format,
        "since": since,
        "until": until,
    }
    return {name: value for name, value in given.items() if value is not None}
