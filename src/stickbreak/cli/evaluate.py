"""`stickbreak evaluate`."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stickbreak.cli.documents import Documents, InputSettings, read_for_model, read_limits
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
    Seed,
    TextField,
    Vocabulary,
)
from stickbreak.cli.output import print_json
from stickbreak.exceptions import InputError

if TYPE_CHECKING:
    from stickbreak.evaluation import Completion, Evaluation, LeftToRight

__all__ = ["completion_json", "evaluate"]

Particles = Annotated[
    int | None,
    typer.Option(
        "--left-to-right",
        min=1,
        metavar="PARTICLES",
        help="Also the left-to-right likelihood (Wallach et al. 2009), by so many samples of a document: 20, say.",
    ),
]
NoResample = Annotated[
    bool,
    typer.Option(
        "--no-resample",
        help="Of that: leave the topics of earlier words as they are (quicker; take more samples).",
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
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    max_document_bytes: MaxDocumentBytes = None,
    max_unpacked_bytes: MaxUnpackedBytes = None,
    max_declared: MaxDeclared = None,
    as_json: Json = False,
) -> None:
    """Score a model on documents that it has not seen: completion of their halves, coherence of topics."""
    import stickbreak
    from stickbreak.evaluation import evaluate as score

    if no_resample and left_to_right is None:
        raise InputError("--no-resample is about the left-to-right likelihood; give --left-to-right 20, too")
    fitted = stickbreak.load(model)
    limits = read_limits(max_document_bytes, max_unpacked_bytes, max_declared)
    given = InputSettings(format, text_field, name_field, encoding, vocabulary, None, delimiter, limits)
    read = read_for_model(documents, model, fitted, given)
    scores = score(fitted, read.corpus, seed=seed, n_particles=left_to_right, resample=not no_resample)
    if as_json:
        drawn = {"particles": left_to_right, "resample": not no_resample}
        print_json(_as_json(scores, read) | _left_to_right_json(scores.left_to_right, drawn))
    else:
        typer.echo("\n".join([*_as_text(scores, read), *_left_to_right_text(scores.left_to_right, left_to_right)]))


def completion_json(completion: "Completion") -> dict[str, Any]:
    """Return a completion score for `print_json`.

    Parameters
    ----------
    completion : Completion
        The score.

    Returns
    -------
    dict
    """
    return {**asdict(completion), "perplexity": completion.perplexity, "unit": "nats per token"}


def _as_json(scores: "Evaluation", read: Documents) -> dict[str, Any]:
    return {
        "n_documents": scores.n_documents,
        "n_tokens": read.corpus.n_tokens,
        "n_tokens_outside_vocabulary": read.n_outside,
        "words_outside_vocabulary": "left out",
        "seed": scores.seed,
        "completion": completion_json(scores.completion),
        "mean_coherence": scores.mean_coherence,
        "coherence": scores.coherence.tolist(),
    }


def _left_to_right_json(scores: "LeftToRight | None", drawn: dict[str, Any]) -> dict[str, Any]:
    if scores is None:
        return {}
    return {
        "left_to_right": {
            "printed": scores.printed,
            "printed_perplexity": scores.printed_perplexity,
            "unbiased": scores.unbiased,
            "perplexity": scores.perplexity,
            "n_tokens": scores.n_tokens,
            "n_documents": scores.n_documents,
            **drawn,
            "unit": "nats per token",
        }
    }


def _as_text(scores: "Evaluation", read: Documents) -> list[str]:
    done = scores.completion
    return [
        f"documents           {scores.n_documents:,} ({done.n_documents:,} long enough to be completed)",
        f"tokens              {read.corpus.n_tokens:,}; {read.outside_sentence()}",
        f"completion          {done.active:.4f} nats per token, of {done.n_tokens:,.0f} held-out tokens "
        "(weights of the active topics)",
        f"  with inactive     {done.with_inactive:.4f} nats per token (all weights)",
        f"perplexity          {done.perplexity:,.1f}",
        f"coherence           {scores.mean_coherence:.1f} (10 top words, mean over topics)",
    ]


def _left_to_right_text(scores: "LeftToRight | None", n_particles: int | None) -> list[str]:
    if scores is None:
        return []
    return [
        f"left to right       {scores.unbiased:.4f} nats per token, perplexity {scores.perplexity:,.1f} "
        f"(mean of products over {n_particles} particles: unbiased)",
        f"  as printed        {scores.printed:.4f} nats per token, perplexity {scores.printed_perplexity:,.1f} "
        "(product of means: Wallach et al. 2009)",
    ]
