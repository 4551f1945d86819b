"""What a fit prints below its topics: what was found, what to look out for, what to do next; numbers for experts."""

import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stickbreak.cli.fitting import FitResult

__all__ = ["expert_lines", "result_lines"]

_FEW_DOCUMENTS = 100
_CUT_SHORT, _AT_THE_LIMIT = "interrupted", "reached the limit"  # how the reasons begin that more passes would mend
_READ_AGAIN = (
    "format", "name_field", "encoding", "max_document_bytes", "max_unpacked_bytes", "max_declared",
)  # fmt: skip
"""Options of `fit` that `transform` needs again: a model does not remember them."""


def result_lines(result: "FitResult") -> Iterator[str]:
    """Yield what was found, notes on it, where it is, and the next command.

    Parameters
    ----------
    result : FitResult
    """
    yield _wrapped("Found", _found(result))
    for note in _notes(result):
        yield _wrapped("Note", note)
    yield _wrapped("Wrote", _written(result))
    # Not wrapped: a command that is cut into lines cannot be copied.
    yield f"Next   {_next(result)}"


def expert_lines(result: "FitResult") -> Iterator[str]:
    """Yield the numbers of a fit that need a word of explanation.

    Parameters
    ----------
    result : FitResult
    """
    for label, text in _numbers(result):
        yield _wrapped(label, text, 12)


def _numbers(result: "FitResult") -> Iterator[tuple[str, str]]:
    model, material = result.model, result.material
    start = result.job.n_topics_start(model, result.train)
    yield f"{material.topic}s", f"{material.n_topics(model):,}" + ("" if start is None else f" (started with {start})")
    seconds = float(sum(model.trace_["seconds"]))
    yield "passes", f"{model.n_laps_} over the data in {seconds:.1f} s, after a start of {model.start_seconds_:.1f} s"
    yield "stopped", str(model.stop_reason_)
    named = "" if model.objective_name == "objective" else f" ({model.objective_name})"
    yield "objective", f"{model.objective_:.4f} nats per {material.unit}{named}; higher is better"
    if model.learned_:
        yield "learned", ", ".join(f"{name} {getattr(model, name + '_'):.4g}" for name in model.learned_)
    if result.score is not None:
        yield from result.score.lines
    yield "nat", "the unit of natural logarithms: 0.1 nats more make a probability 1.105 times as large"


def _found(result: "FitResult") -> str:
    """Say how many topics there are, in what, and how good they are."""
    noun, n_topics = result.material.topic, result.material.n_topics(result.model)
    found = f"{n_topics:,} {noun}{'s' * (n_topics != 1)} in {result.train.size_of_fit}."
    return found if result.score is None else f"{found} {result.score.sentence}"


def _notes(result: "FitResult") -> Iterator[str]:
    """Say what is not as it should be, and what to do."""
    model, train = result.model, result.train
    reason = str(model.stop_reason_)
    if reason.startswith(_CUT_SHORT):
        yield (
            f"the fit was stopped after pass {model.n_laps_} of {model.n_laps}. The model can be used; more passes may "
            "improve it."
        )
    elif reason.startswith(_AT_THE_LIMIT):
        yield (
            f"the fit has not converged in {model.n_laps} passes over the data. Fit again with more: --laps "
            f"{2 * model.n_laps} --force"
        )
    few = train.counts(train).get("n_documents_fitted", _FEW_DOCUMENTS)
    if few < _FEW_DOCUMENTS:
        yield (
            f"{few} documents are few, and another seed may give other topics. Add documents, or divide long ones into "
            "paragraphs."
        )
    if result.score is not None and result.score.note is not None:
        yield result.score.note


def _written(result: "FitResult") -> str:
    """Say where the report and the model are."""
    out, report = result.job.out, result.job.report
    return f"{out} (the model)" if report is None else f"{report} (open it in a browser) and {out} (the model)"


def _next(result: "FitResult") -> str:
    """Return the next command, with a few words on what it gives."""
    job = result.job
    if getattr(result.model, "tree_", None) is not None:
        return f"look at the tree: {shlex.join(['stickbreak', 'tree', str(job.out)])}"
    if job.input is None:
        return f"see more words of each topic: {shlex.join(['stickbreak', 'topics', str(job.out), '--words', '20'])}"
    command = ["stickbreak", "transform", str(job.out), str(job.input), "--out", "weights.csv"]
    for argument in _READ_AGAIN:
        if job.options is not None and argument in job.options:
            command += ["--" + argument.replace("_", "-"), str(job.options[argument])]
    return f"see the {result.material.topic}s of each {result.material.row}: {shlex.join(command)}"


def _wrapped(label: str, text: str, indent: int = 7) -> str:
    """Return a line; on a terminal, as many lines as its width needs."""
    line = f"{label:<{indent}}{text}"
    if not sys.stdout.isatty():
        return line
    width = max(shutil.get_terminal_size().columns, 40)
    return textwrap.fill(line, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)
