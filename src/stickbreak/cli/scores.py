"""Scores of models on documents that they have not seen, as lines and as values for JSON."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stickbreak.evaluation import Completion, Evaluation
    from stickbreak.prediction.completion import HeldOutScore

__all__ = ["Score", "Told", "completion_score", "scores_of_words"]

_LEAST_GAIN = 1.05  # times as well as frequencies: below it, topics are of little use
_NO_BETTER = (
    "the topics hardly help to guess the words of new documents. Add documents, fit fewer topics (--topics NUMBER), or "
    "drop words that are everywhere (--max-df, --stop-words)."
)


@dataclass(frozen=True, slots=True)
class Told:
    """Something found out about a model: lines for a person, values for JSON."""

    lines: tuple[str, ...]
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Score:
    """A held-out score of a fit."""

    sentence: str  # for a reader who knows no units
    lines: tuple[tuple[str, str], ...]  # for experts: labels and texts
    values: dict[str, Any]  # for JSON
    note: str | None = None  # what is wrong with it, and what to do


def completion_score(known: "HeldOutScore") -> Score:
    """Tell the held-out score of a fit beside that of word frequencies alone, if it is known."""
    value, unigram, completion = known.value, known.unigram, known.completion
    times = None if unigram is None else _exp(value - unigram)
    if times is None:
        sentence = f"Held-out score: {value:.4f} nats per token; closer to 0 is better."
    else:
        sentence = _gain(times)
    halves = "second halves" if completion is None else f"second halves of {completion.n_documents:,} documents"
    lines = [("held-out", f"{_with_perplexity(value)}: {halves}, given the first halves")]
    if unigram is not None:
        lines.append(("unigram", f"{_with_perplexity(unigram)}: word frequencies alone"))
    if completion is not None:
        unseen = f"{completion.with_inactive:.4f} nats per token if topics not yet seen keep their share"
        lines.append(("unseen", unseen))
    values = {"active": value, "perplexity": _exp(-value)} if completion is None else _completion_json(completion)
    note = None if times is None or times >= _LEAST_GAIN else _NO_BETTER
    return Score(sentence, tuple(lines), {**values, **_gain_json(value, unigram)}, note)


def scores_of_words(
    scores: "Evaluation",
    told_words: str,
    known: dict[str, Any],
    unigram: float | None,
    n_particles: int | None,
) -> Told:
    """Tell the scores of a model on new documents."""
    from stickbreak.fitting.progress import explained

    values: dict[str, Any] = {
        "n_documents": scores.n_documents,
        **known,
        "words_outside_vocabulary": "left out",
        "seed": scores.seed,
        "completion": {**_completion_json(scores.completion), **_gain_json(scores.completion.active, unigram)},
        "mean_coherence": scores.mean_coherence,
        "coherence": scores.coherence.tolist(),
        "mean_npmi": scores.mean_npmi,
        "diversity": scores.diversity,
    }
    lines = list(_lines(scores, told_words, unigram))
    whole = scores.left_to_right
    if whole is not None:
        names = ("printed", "printed_perplexity", "unbiased", "perplexity", "n_tokens", "n_documents")
        drawn = {"particles": n_particles, "unit": "nats per token"}
        values["left_to_right"] = {name: getattr(whole, name) for name in names} | drawn
        lines += [
            f"left to right  {whole.unbiased:.4f} nats per token (perplexity {whole.perplexity:,.1f}): all words, "
            f"unbiased mean of {n_particles} samples",
            f"as printed     {whole.printed:.4f} nats per token (perplexity {whole.printed_perplexity:,.1f}): the same "
            "by the formula in Wallach et al. (2009)",
        ]
    return Told((*lines, f"unit           {explained('token')}"), values)


def _lines(scores: "Evaluation", told_words: str, unigram: float | None) -> Iterator[str]:
    done = scores.completion
    yield f"documents      {scores.n_documents:,}, of which {done.n_documents:,} have words in both halves"
    yield f"words          {told_words}"
    yield f"held-out       {done.active:.4f} nats per token: {done.n_tokens:,.0f} words of second halves from the first"
    if unigram is not None:
        yield f"unigram        {unigram:.4f} nats per token: the frequencies of words in the documents of the fit alone"
        yield f"gain           {_gain(_exp(done.active - unigram))}"
    yield f"unseen         {done.with_inactive:.4f} nats per token if topics not yet seen keep their share"
    yield f"perplexity     {done.perplexity:,.1f}: as uncertain as a choice among this many equally probable words"
    yield f"umass          {scores.mean_coherence:.1f}: whether the 10 top words of a topic occur together; 0 is best"
    yield f"npmi           {scores.mean_npmi:.3f}: the same from -1 to 1; 0 is chance"
    yield f"diversity      {scores.diversity:.2f}: share of different words among the 25 top words of all topics"


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


def _gain_json(active: float, unigram: float | None) -> dict[str, Any]:
    times = None if unigram is None else _exp(active - unigram)
    return {"unigram": unigram, "times_better_than_unigram": times}


def _completion_json(completion: "Completion") -> dict[str, Any]:
    return {**asdict(completion), "perplexity": completion.perplexity, "unit": "nats per token"}
