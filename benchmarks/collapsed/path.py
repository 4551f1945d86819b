"""Which numbers of topics the path of joins names, and which predict documents best that the fit has not seen.

A row is one fit and its path (`find_path`): with the defaults, or with many topics at the start and neither births nor
merges (`--many`), so that most of them are too many. The path says itself which number is best, from documents
of the fit that it sets apart. Documents that were held out of the fit say it again: they are completed with the model
reduced to some numbers of topics, and the prior of each. What the path's numbers lose there is in nats per token.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.harness import corpora
from benchmarks.harness.figures import pyplot
from benchmarks.harness.ours import own_prior
from benchmarks.harness.scores import completion
from benchmarks.harness.tables import table
from benchmarks.harness.units import Float, processor_seconds
from stickbreak import CollapsedHDP
from stickbreak.corpus import toy_bars
from stickbreak.path.topic_path import TopicPath

# Numbers of topics at which held-out documents are completed, evenly on a logarithmic scale, beside those of the path.
POINTS = 40
COLUMNS = 2
PATH, UNSEEN = "#0a6e6e", "#c2571a"


class Measured(NamedTuple):
    """A path, and what documents that were held out of the fit say of some of its numbers of topics."""

    corpus: str
    many: int | None
    seed: int
    path: TopicPath
    n_topics: np.ndarray
    scores: Float
    seconds: float

    @property
    def fit(self) -> str:
        """Which fit it is."""
        return "default" if self.many is None else f"{self.many}, no moves"

    def lost(self, n_topics: int) -> float:
        """Return what the documents held out lose with this number of topics, of their best."""
        return float(self.scores.max() - self.scores[self.n_topics == n_topics][0])


def measured(split: corpora.Split, many: int | None, seed: int) -> Measured:
    """Fit, find the path, and complete held-out documents along it."""
    settings = {} if many is None else {"n_topics": many, "births": False, "merge_laps": 0}
    model = CollapsedHDP(random_state=seed, **settings).fit(split.train)
    seconds = processor_seconds(lambda: model.find_path(split.train))
    path, K = model.path_, model.n_topics_
    named = [path.best, path.smallest_within_one_error, path.overview]
    some = np.unique([*np.geomspace(1, K, POINTS).round().astype(int), *named])
    models = [model.reduced(int(n)) for n in some]
    scores = [completion(split, each.topic_word_, own_prior(each)) for each in models]
    return Measured(split.name, many, seed, path, some, np.array(scores), seconds)


def row(found: Measured) -> dict[str, object]:
    """Return a row of the table."""
    path = found.path
    return {
        "corpus": found.corpus,
        "fit": found.fit,
        "seed": found.seed,
        "topics": path.scores.size,
        "best by the path": path.best,
        "fewest within one error": path.smallest_within_one_error,
        "best for held-out documents": int(found.n_topics[np.argmax(found.scores)]),
        "lost at the path's best": f"{found.lost(path.best):.4f}",
        "at the fewest": f"{found.lost(path.smallest_within_one_error):.4f}",
        f"at {path.overview}": f"{found.lost(path.overview):.4f}",
        "processor seconds": f"{found.seconds:.1f}",
    }


def plot(runs: list[Measured], file: Path) -> None:
    """Draw the scores of paths with their standard errors, and those of held-out documents, against topics."""
    plt = pyplot()
    rows = -(-len(runs) // COLUMNS)
    figure, places = plt.subplots(rows, COLUMNS, figsize=(9.2, 3.2 * rows), layout="constrained", squeeze=False)
    for place, found in zip(places.ravel(), runs, strict=False):
        path = found.path
        low, high = path.scores - path.standard_errors, path.scores + path.standard_errors
        place.fill_between(path.n_topics, low, high, color=PATH, alpha=0.3, linewidth=0, label="one standard error")
        place.plot(path.n_topics, path.scores, color=PATH, label="documents that score the path")
        place.plot(found.n_topics, found.scores, color=UNSEEN, linestyle="--", label="documents held out of the fit")
        place.plot(path.best, path.scores.max(), "o", color=PATH, markersize=5, label="best")
        place.set(xscale="log", xlabel="topics K", ylabel="nats per token")
        place.set_title(f"{found.corpus}, {found.fit}: {path.best} of {path.scores.size} best", fontsize=9)
        place.xaxis.set_major_formatter("{x:g}")
        place.spines[["top", "right"]].set_visible(False)
    for place in places.ravel()[len(runs) :]:
        place.set_visible(False)
    places[0, 0].legend(frameon=False, fontsize=8)
    figure.savefig(file, dpi=100)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--splits", nargs="+", default=[corpora.DOCSTRINGS], help="corpora by name, or present")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--many", nargs="+", type=int, default=[], help="topics of fits without births and merges")
    parser.add_argument("--plot", type=Path, help="draw the first fit of each kind into this file")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    bars, _ = toy_bars(n_documents=250, seed=0)
    CollapsedHDP(n_laps=100, random_state=0).fit(bars).find_path(bars)  # kernels are compiled
    splits = [corpora.load(name) for name in corpora.names(options.splits)]
    kinds = [None, *options.many]
    found = [measured(split, many, seed) for split in splits for many in kinds for seed in options.seeds]
    if options.plot:
        plot(found[:: len(options.seeds)], options.plot)
    return table([row(each) for each in found])
