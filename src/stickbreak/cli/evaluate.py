"""`stickbreak evaluate`."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from stickbreak.cli.documents import Documents, InputSettings, read_for_model
from stickbreak.cli.options import (
    Encoding,
    Format,
    InputPath,
    Json,
    ModelPath,
    NameField,
    Seed,
    TextField,
    Vocabulary,
)
from stickbreak.cli.output import print_json

if TYPE_CHECKING:
    from stickbreak.evaluation import Completion, Evaluation

__all__ = ["completion_json", "evaluate"]


def evaluate(
    model: ModelPath,
    documents: InputPath,
    seed: Seed = 0,
    format: Format = None,
    text_field: TextField = None,
    name_field: NameField = None,
    vocabulary: Vocabulary = None,
    encoding: Encoding = "utf-8",
    as_json: Json = False,
) -> None:
    """Score a model on documents that it has not seen: completion of their halves, coherence of topics."""
    import stickbreak
    from stickbreak.evaluation import evaluate as score

    fitted = stickbreak.load(model)
    given = InputSettings(format, text_field, name_field, encoding, vocabulary)
    read = read_for_model(documents, model, fitted, given)
    scores = score(fitted, read.corpus, seed=seed)
    if as_json:
        print_json(_as_json(scores, read))
    else:
        typer.echo(_as_text(scores, read))


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


def _as_text(scores: "Evaluation", read: Documents) -> str:
    done = scores.completion
    return "\n".join(
        [
            f"documents           {scores.n_documents:,} ({done.n_documents:,} long enough to be completed)",
            f"tokens              {read.corpus.n_tokens:,}; {read.outside_sentence()}",
            f"completion          {done.active:.4f} nats per token, of {done.n_tokens:,.0f} held-out tokens "
            "(weights of the active topics)",
            f"  with inactive     {done.with_inactive:.4f} nats per token (all weights)",
            f"perplexity          {done.perplexity:,.1f}",
            f"coherence           {scores.mean_coherence:.1f} (10 top words, mean over topics)",
        ]
    )
