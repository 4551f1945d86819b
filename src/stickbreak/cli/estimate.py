"""`stickbreak fit --estimate`: how long a fit takes and how much memory it needs, from a sample and a few passes."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stickbreak.cli.documents import Documents, labels_of, read_arguments
from stickbreak.cli.job import FitJob
from stickbreak.cli.methods import DEFAULT
from stickbreak.cli.output import print_json, say, show
from stickbreak.corpus.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.storage.urls import Location

if TYPE_CHECKING:
    from stickbreak.corpus import TextOptions
    from stickbreak.corpus.reading.readers import Extent

__all__ = ["print_estimate"]

SAMPLE = 10_000  # documents
PASSES = 10
LATER = 0.7  # of the time of the first passes take all, on average: topics become fewer
USUAL_PASSES = 280  # of the default: 160 at the least
PROGRAM = 0.5 * 2**30  # bytes of the program itself, its tables of words and the report


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a fit needs; seconds of a processor."""

    n_documents: int
    n_sampled: int
    n_words: int
    n_tokens: float
    n_pairs: int
    passes: int
    bytes: float
    reading: float
    fit: float
    joining: float
    report: float

    def lines(self, installed: float, *, most: bool, in_files: bool) -> list[str]:
        """Say it; `most` where a fit may end before its last pass, `in_files` where it can have a scratch folder."""
        sampled = f" (from {self.n_sampled:,} of them)" if self.n_sampled < self.n_documents else ""
        GiB = 2.0**30
        lack = ""
        if self.bytes > installed:
            other = "--scratch" if in_files else "--method hybrid"
            lack = f", more than the {installed / GiB:.3g} GiB of this machine: see {other}, or give fewer documents"
        parts = {"reading": self.reading, "the fit": self.fit, "joining": self.joining, "the report": self.report}
        told = ", ".join(f"{name} {_told(seconds)}" for name, seconds in parts.items() if seconds)
        passes = f"{self.passes} passes{' at most' if most else ''}"
        return [
            f"{self.n_documents:,} documents{sampled}: about {self.n_tokens:,.0f} words, {self.n_words:,} of them "
            f"different, {self.n_pairs:,} pairs of document and word",
            f"memory: about {self.bytes / GiB:.2g} GiB{lack}",
            f"processor time: about {_told(sum(parts.values()))} ({told}; {passes}); threads share most of it",
            "Both are right within a factor of about two.",
        ]


class _Counts:
    """The counts of a sample, in the place of those of the whole: checks of memory ask for no more."""

    def __init__(self, sample: Any, extent: Extent) -> None:
        self._sample, self.indptr, self.data = sample, sample.indptr, sample.data
        self.shape, self.nnz = (extent.n_documents, extent.n_words), extent.n_counts

    def __getitem__(self, rows: Any) -> Any:
        return self._sample[rows % self._sample.shape[0]]


class _Whole(Corpus):
    """A collection of which a sample is known."""

    extent: Extent

    @classmethod
    def of(cls, sample: Corpus, extent: Extent) -> _Whole:
        """Return the whole of a sample."""
        counts: Any = _Counts(sample.counts, extent)
        whole = cls(counts, sample.vocabulary, text_options=sample.text_options)
        object.__setattr__(whole, "extent", extent)
        return whole

    @property
    def n_tokens(self) -> float:
        """Sum of all counts."""
        return self.extent.n_tokens

    def copy_of(self) -> Any:
        """Return the documents as they are: copies in the sample say little of the whole."""
        import numpy as np

        return np.arange(self.n_documents)

    @property
    def document_lengths(self) -> Any:
        """Tokens of the longest document."""
        import numpy as np

        return np.array([self.extent.longest])


def print_estimate(
    job: FitJob, path: Location, reading: dict[str, Any], text: TextOptions, keep: Any, *, as_json: bool
) -> None:
    """Print what a fit needs.

    Raises
    ------
    InputError
        If the documents cannot be read or do not suit the method.
    """
    from stickbreak.corpus.reading.readers import read_sample
    from stickbreak.fitting.checks import bytes_noted
    from stickbreak.storage.memory import memory_installed

    began = time.process_time()
    sample, texts, extent = read_sample(path, SAMPLE, text=text, keep=keep, **read_arguments(reading))
    seconds_read = time.process_time() - began
    of_rows = None if texts is None else lambda rows: [texts[row] for row in rows]
    train = Documents(sample, {}, 0, of_rows, path, reading)
    if not job.quiet:
        say(f"making {PASSES} passes over {train.size_of_fit} ...")
    whole, times = _Whole.of(sample, extent), extent.n_counts / max(sample.counts.nnz, 1)
    with bytes_noted() as asked:
        job.estimator()._check_documents(whole)
    default = job.method == DEFAULT
    growth = _growth(job, sample, extent) if default else 1.0
    model, first, a_pass = _timed(job, sample)
    all_passes = int(job.estimator().get_params()["n_laps"])
    passes = min(USUAL_PASSES, all_passes) if default else all_passes
    over_all = passes if default else job.estimator()._passes_over_all(whole)
    joining = _seconds(lambda: train.find_path(model)) if job.joins and model.joins_topics else 0.0
    report = 0.0
    if job.report is not None:
        with tempfile.TemporaryDirectory() as folder:
            report = _seconds(lambda: train.write_report(model, Path(folder) / "report.html"))
        report *= extent.n_documents / sample.n_documents
    found = Estimate(
        extent.n_documents,
        sample.n_documents,
        extent.n_words,
        extent.n_tokens,
        extent.n_counts,
        passes,
        PROGRAM + max(asked, default=0.0),
        seconds_read,
        times * (first + a_pass * growth**0.5 * max(1, over_all * LATER - 1)),
        joining * growth**2,
        report,
    )
    if as_json:
        print_json(asdict(found))
    else:
        in_files = "scratch" in job.estimator().get_params()
        show("\n".join(found.lines(memory_installed(), most=not default, in_files=in_files)))


def _growth(job: FitJob, sample: Corpus, extent: Extent) -> float:
    """Return how many times as many topics the whole begins with as a sample."""
    from stickbreak.topics.estimator import MOST_FOUND
    from stickbreak.topics.laps import n_starting_topics

    given = job.estimator().get_params(deep=False)
    if given["n_topics"] is not None:
        return 1.0
    most = given["max_topics"] or MOST_FOUND
    of_whole = n_starting_topics(extent.n_counts, extent.n_documents, most)
    return of_whole / n_starting_topics(sample.counts.nnz, sample.n_documents, most)


def _timed(job: FitJob, sample: Corpus) -> tuple[Any, float, float]:
    """Fit a sample in a few passes; return the model, the seconds up to the first, and those of a later one."""
    model = job.estimator()
    all_passes, ends = int(model.get_params()["n_laps"]), [time.process_time()]
    try:
        model.set_params(n_laps=min(PASSES, all_passes))._check_parameters()
    except InputError:  # its parameters ask for more passes
        model.set_params(n_laps=all_passes)

    def note(event: dict[str, Any]) -> None:
        if "lap" in event:
            ends.append(time.process_time())

    options = {} if job.labels is None else {"labels": labels_of(sample, job.labels, job.label_separator)}
    model.fit(sample, callback=note, **options)
    first = ends[1] - ends[0]
    return model, first, (ends[-1] - ends[1]) / (len(ends) - 2) if len(ends) > 2 else first


def _seconds(work: Callable[[], Any]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _told(seconds: float) -> str:
    """Write a time in its unit."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 90 * 60 else f"{seconds / 3600:.2g} hours"
