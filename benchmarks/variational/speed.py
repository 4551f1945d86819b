"""Seconds of a lap beside a pass of scikit-learn's batch LDA, and how the cost grows with the number of topics.

The two take turns in one process, so that a machine whose speed drifts treats them alike. Same number of topics, same
threads, at most 100 inner sweeps, inner tolerance 1e-4 for both (ours bounds the largest change of a document's
expected counts, scikit-learn the mean change: its rule is the looser one), same alpha = 0.5 in all and eta = 0.1.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator

import numpy as np
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.utils.parallel import Parallel
from threadpoolctl import threadpool_limits

from benchmarks.harness.corpora import load_split
from benchmarks.harness.tables import table
from stickbreak import VariationalHDP


def our_laps(split, n_topics: int, options: argparse.Namespace, *, jobs: int) -> tuple[list[float], float]:
    """Return the seconds of each lap and of the start."""
    model = VariationalHDP(
        n_topics=n_topics,
        learn=(),
        n_laps=options.laps,
        tolerance=0.0,
        moves=("reorder",) if options.no_moves else ("merge", "delete", "reorder"),
        init_sweeps=options.sweeps,
        random_state=0,
        n_jobs=jobs,
    )
    model.fit(split.train)
    return model.trace_["seconds"].tolist(), model.start_seconds_


def sklearn_passes(split, n_topics: int, jobs: int) -> Iterator[float]:
    """Yield the seconds of each pass of scikit-learn's batch LDA."""
    lda = LatentDirichletAllocation(
        n_topics,
        doc_topic_prior=0.5 / n_topics,
        topic_word_prior=0.1,
        learning_method="batch",
        max_doc_update_iter=100,
        mean_change_tol=1e-4,
        n_jobs=jobs,
        random_state=0,
        max_iter=1,
    )
    X = split.train.counts.astype(np.float64)
    lda._init_latent_vars(X.shape[1], dtype=np.float64)
    with Parallel(n_jobs=jobs) as parallel:
        while True:
            begin = time.perf_counter()
            lda._em_step(X, total_samples=X.shape[0], batch_update=True, parallel=parallel)
            yield time.perf_counter() - begin


def beside_sklearn(split, n_topics: int, passes: Iterator[float], options: argparse.Namespace) -> dict[str, object]:
    """Return the row of a corpus and a number of topics: laps beside passes of scikit-learn."""
    ours, theirs, starts = [], [], []
    for _ in range(options.repeats):
        seconds, start = our_laps(split, n_topics, options, jobs=options.jobs)
        ours.append(seconds)
        starts.append(start)
        if not options.alone:
            theirs += [next(passes) for _ in range(2)]
    first = float(np.median([run[0] for run in ours]))
    later = float(np.median([s for run in ours for s in run[1:]]))
    whole = float(np.median([np.mean(run) for run in ours]))
    row: dict[str, object] = {
        "corpus": split.name,
        "K": n_topics,
        "threads": options.jobs,
        f"start ({options.sweeps} sweeps), s": f"{np.median(starts):.2f}",
        "first pass, s": f"{first:.3f}",
        "later passes, s": f"{later:.3f}",
    }
    if theirs:
        peer = float(np.median(theirs))
        row |= {
            "scikit-learn pass, s": f"{peer:.2f}",
            "ratio, first pass": f"{peer / first:.1f}",
            "ratio, mean of the passes": f"{peer / whole:.1f}",
            "ratio, later passes": f"{peer / later:.1f}",
        }
    return row


def of_a_lap(parser: argparse.ArgumentParser) -> None:
    """Add the options of what is timed."""
    parser.add_argument("--splits", nargs="+", default=["kos", "nips"])
    parser.add_argument("--topics", nargs="+", type=int, default=[100, 400])
    parser.add_argument("--laps", type=int, default=5)
    parser.add_argument("--sweeps", type=int, default=50, help="sweeps of the start by LDA")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--no-moves", action="store_true")


def compile_kernels(split, options: argparse.Namespace, jobs: int) -> None:
    """Make two laps: compilation is not on the clock."""
    our_laps(split, 5, argparse.Namespace(**{**vars(options), "laps": 2, "sweeps": 1}), jobs=jobs)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    of_a_lap(parser)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--alone", action="store_true", help="time stickbreak alone")


@threadpool_limits.wrap(limits=1, user_api="blas")
def run(options: argparse.Namespace) -> str:
    """Return the table."""
    rows = []
    for name in options.splits:
        split = load_split(name)
        compile_kernels(split, options, options.jobs)
        for n_topics in options.topics:
            rows.append(beside_sklearn(split, n_topics, sklearn_passes(split, n_topics, options.jobs), options))
            sys.stderr.write(f"{rows[-1]}\n")
    return table(rows)
