"""Held-out scores of models of words, as lines and as values for JSON."""

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from stickbreak.cli.documents import Documents
from stickbreak.cli.material import Score, Told
from stickbreak.fitting.progress import explained

if TYPE_CHECKING:
    from stickbreak.evaluation import Completion, Evaluation, LeftToRight
    from stickbreak.prediction.completion import HeldOutScore

__all__ = ["completion_json", "held_out_score", "told_scores"]

_LEAST_GAIN = 1.05  # times as well as frequencies: below it, topics are of little use
_NO_BETTER = (
    "the topics hardly help to guess the words of new documents. Add documents, start with fewer topics (--topics), or "
    "drop words that are everywhere (--max-df, --stop-words)."
)


def told_scores(
    scores: "Evaluation", read: Documents, unigram: float | None, n_particles: int | None, resample: bool
) -> Told:
    """Tell the scores of a model on new documents.

    Parameters
    ----------
    scores : Evaluation
    read : Documents
        The documents.
    unigram : float or None
        As from `unigram_completion`, in nats per token; None where it is not known.
    n_particles : int or None
        Of the left-to-right likelihood, if it was asked for.
    resample : bool
        Of the same.
    """
    drawn = {"particles": n_particles, "resample": resample}
    return Told(
        (
            *_as_text(scores, read, unigram),
            *_left_to_right_text(scores.left_to_right, n_particles),
            f"unit           {explained('token')}",
        ),
        _as_json(scores, read, unigram) | _left_to_right_json(scores.left_to_right, drawn),
    )


def held_out_score(known: "HeldOutScore") -> Score:
    """Tell the held-out score of a fit beside that of word frequencies alone, if it is known.

    Parameters
    ----------
    known : HeldOutScore
    """
    value, unigram = known.value, known.unigram
    times = None if unigram is None else _exp(value - unigram)
    if times is None:
        sentence = f"Held-out score: {value:.4f} nats per token; closer to 0 is better."
    else:
        sentence = _gain(times)
    note = None if times is None or times >= _LEAST_GAIN else _NO_BETTER
    completion = known.completion
    values = {"active": value, "perplexity": _exp(-value)} if completion is None else completion_json(completion)
    return Score(sentence, tuple(_expert_lines(known)), {**values, **_gain_json(value, unigram)}, note)


def _expert_lines(known: "HeldOutScore") -> Iterator[tuple[str, str]]:
    completion = known.completion
    halves = "second halves" if completion is None else f"second halves of {completion.n_documents:,} documents"
    yield "held-out", f"{_with_perplexity(known.value)}: {halves}, given the first halves"
    if known.unigram is not None:
        yield "unigram", f"{_with_perplexity(known.unigram)}: word frequencies alone"
    if completion is not None:
        yield "unseen", f"{completion.with_inactive:.4f} nats per token if topics not yet seen keep their share"


def _with_perplexity(value: float) -> str:
    return f"{value:.4f} nats per token (perplexity {_exp(-value):,.1f})"


def _exp(value: float) -> float:
    return math.exp(value) if value < 700 else math.inf


def _gain(times: float) -> str:
    """Say how many times better words are guessed than by their frequencies."""
    if times >= _LEAST_GAIN:
        shown = f"{times:.{1 if times < 99.95 else 0}f}"
        return f"Each held-out word is guessed {shown} times better than by its frequency alone."
    return f"Held-out words are guessed only {times:.2f} times as well as by their frequency alone."


def _beside_unigram(completion: "Completion", unigram: float | None) -> dict[str, Any]:
    """Return a completion score for `print_json`, beside that of word frequencies if it is known."""
    return {**completion_json(completion), **_gain_json(completion.active, unigram)}


def _gain_json(active: float, unigram: float | None) -> dict[str, Any]:
    times = None if unigram is None else _exp(active - unigram)
    return {"unigram": unigram, "times_better_than_unigram": times}


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


def _as_json(scores: "Evaluation", read: Documents, unigram: float | None) -> dict[str, Any]:
    return {
        "n_documents": scores.n_documents,
        "n_tokens": read.corpus.n_tokens,
        "n_tokens_outside_vocabulary": read.n_outside,
        "words_outside_vocabulary": "left out",
        "seed": scores.seed,
        "completion": _beside_unigram(scores.completion, unigram),
        "mean_coherence": scores.mean_coherence,
        "coherence": scores.coherence.tolist(),
        "mean_npmi": scores.mean_npmi,
        "diversity": scores.diversity,
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


def _as_text(scores: "Evaluation", read: Documents, unigram: float | None) -> list[str]:
    done = scores.completion
    beside = []
    if unigram is not None:
        beside = [
            f"unigram        {unigram:.4f} nats per token: the frequencies of words in the documents of the fit alone",
            f"gain           {_gain(math.exp(done.active - unigram))}",
        ]
    return [
        f"documents      {scores.n_documents:,}, of which {done.n_documents:,} have words in both halves",
        f"words          {read.corpus.n_tokens:,}; {read.outside_sentence()}",
        f"held-out       {done.active:.4f} nats per token: {done.n_tokens:,.0f} words of second halves from the first",
        *beside,
        f"unseen         {done.with_inactive:.4f} nats per token if topics not yet seen keep their share",
        f"perplexity     {done.perplexity:,.1f}: as uncertain as a choice among this many equally probable words",
        f"coherence      {scores.mean_coherence:.1f}: whether the 10 top words of a topic occur together; 0 is best",
        f"npmi           {scores.mean_npmi:.3f}: the same from -1 to 1; 0 is chance",
        f"diversity      {scores.diversity:.2f}: share of different words among the 25 top words of all topics",
    ]


def _left_to_right_text(scores: "LeftToRight | None", n_particles: int | None) -> list[str]:
    if scores is None:
        return []
    return [
        f"left to right  {scores.unbiased:.4f} nats per token (perplexity {scores.perplexity:,.1f}): whole documents, "
        f"unbiased mean of {n_particles} samples",
        f"as printed     {scores.printed:.4f} nats per token (perplexity {scores.printed_perplexity:,.1f}): the same "
        "by the formula in Wallach et al. (2009)",
    ]
