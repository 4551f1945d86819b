"""`stickbreak evaluate`."""

from typing import Annotated

import typer

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
    Scratch,
    Seed,
    TextField,
    Tokenizer,
    Vocabulary,
    Workers,
)
from stickbreak.cli.output import print_json, show
from stickbreak.cli.paths import check_input
from stickbreak.cli.workers import workers_of
from stickbreak.exceptions import InputError

Particles = Annotated[
    int | None,
    typer.Option(
        "--left-to-right",
        min=1,
        metavar="PARTICLES",
        help="Also the left-to-right likelihood (Wallach et al. 2009) from this number of samples per document: "
        "20 are usual.",
    ),
]
NoResample = Annotated[
    bool,
    typer.Option(
        "--no-resample",
        help="With --left-to-right: do not draw the topics of earlier words again. Faster, but needs more samples.",
    ),
]


def evaluate(
    model: ModelPath,
    documents: InputPath,
    seed: Seed = 0,
    left_to_right: Particles = None,
    no_resample: NoResample = False,
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
    as_json: Json = False,
) -> None:
    """Score a model on documents that it has not seen.

    The score says how well the model predicts the second half of each document
    from the first, and how much better than the frequencies of words alone.
    Coherence says whether the top words of a topic occur together.

    A model of vectors is scored by the log density of half of each group, given
    the other half, or with --method gaussian-mixture of each vector.
    """
    if no_resample and left_to_right is None:
        raise InputError("--no-resample needs --left-to-right; add --left-to-right 20")
    on_workers = workers_of(workers, cluster, scratch)
    check_input(documents)
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
    with on_workers:
        told = read.evaluate(fitted, seed, left_to_right, not no_resample)
    if as_json:
        print_json(told.values)
    else:
        show("\n".join(told.lines))
