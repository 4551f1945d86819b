"""Hashes of fits of all estimators: what a change that moves code, and no number, is judged by.

Write them at the old commit (`--write before.json`), compare at the new one (`--against before.json`).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import stickbreak
from fuzz.models import ALL_MOVES, ALL_PRIORS, FITS, Fit, digest
from stickbreak.corpus import Corpus, planted_lda, toy_bars
from stickbreak.methods import estimator_of

Work = Callable[[], str]

TOPICS = np.random.default_rng(5).dirichlet(np.full(25, 0.3), 4)
"""Topics to start from."""

_PATHS = ["a/1", "a/2", "b/1/x", "b/1/y", "b/2", "c"]

VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "topics": {"no learning": {"learn": ()}, "tolerance": {"tolerance": 1e-2}},
    "topics found": {"no learning": {"learn": ()}, "stops in merges": {"n_laps": 42}},
    "variational": {
        "quadratic bound": {"bound": "quadratic"},
        "no moves": {"moves": ()},
        **{f"{move} alone": {"moves": (move,)} for move in ALL_MOVES},
        **{f"start {start}": {"init": start} for start in ("near-uniform", "documents", "anchors")},
        "collapsed weights": {"document_weights": "collapsed"},
        "no restarts": {"restarts": 0, "n_batches": 1},
        "two threads": {"n_jobs": 2},
    },
    "variational stochastic": {
        "exact sticks": {"stick_rule": "natural", "learning_decay": 0.7},
        "start topics": {"init": TOPICS},
    },
    "hybrid": {
        "start random": {"init": "random"},
        "start documents": {"init": "documents"},
        "start topics": {"init": TOPICS},
        "all learned": {"learn": ALL_PRIORS},
        "dense sampler": {"sampler": "dense"},
        "two threads": {"n_jobs": 2},
    },
    "gibbs": {
        "best": {"estimate": "best", "n_chains": 1},
        "last": {"estimate": "last"},
        "dense sampler": {"sampler": "dense"},
        "no moves": {"subtopic_trials": 0, "split_merge_trials": 0},
        "sub-topics": {"subtopic_trials": 5, "subtopic_passes": 3},
        "scans": {"split_merge_scans": 2},
        **{f"start {start}": {"init": start} for start in ("single", "sequential", "documents")},
    },
    "gibbs partially collapsed": {"no moves": {"subtopic_trials": 0}, "two threads": {"n_jobs": 2}},
    "gibbs franchise": {"start random": {"init": "random"}, "all learned": {"learn": ALL_PRIORS}},
    "tree": {
        "no learning": {"learn": ()},
        "no stages": {"stages": ()},
        "two threads": {"n_jobs": 2},
        "share": {"smoothing_share": 0.2},
        "paths": {"branching": _PATHS},
    },
    "gaussian": {
        **{f"{kind}": {"likelihood": kind} for kind in ("full", "diagonal", "zero_mean")},
        "stochastic": {"schedule": "stochastic", "learn": ()},
        "quadratic bound": {"bound": "quadratic"},
        "float32": {"dtype": "float32"},
        "no moves": {"moves": ()},
    },
    "gaussian mixture": {
        **{f"{kind}": {"likelihood": kind} for kind in ("full", "diagonal", "zero_mean")},
        "stochastic": {"schedule": "stochastic"},
        "no moves": {"moves": ()},
    },
}
"""Fit of `fuzz.models` -> name -> parameters that differ.."""

SEEDS = {"one": ["w0", "w1"], "two": ["w7"]}

MERGING = {
    "found": {},
    "few to begin with": {"max_topics": 30},
    "given": {"n_topics": 12, "n_laps": 60},
    "all learned": {"learn": ("alpha", "eta")},
    "seeds": {"seeds": SEEDS},
    "seeds, given": {"seeds": SEEDS, "n_topics": 12, "n_laps": 60},
    "rows of eta": {"eta": np.random.default_rng(5).gamma(0.5, 0.2, (3, 300)) + 0.01},
}
"""Parameters of fits of the default to documents of a dozen topics, of which it begins with many more."""

DEFAULTS = {
    "TopicModel": {},
    "VariationalHDP": {"n_topics": 30, "n_laps": 8},
    "GibbsHDP": {"n_laps": 20},
    "HybridHDP": {"n_topics": 30, "n_laps": 3},
    "BackoffTreeTopics": {"n_laps": 10},
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this mode."""
    parser.add_argument("--write", type=Path, metavar="FILE", help="where the hashes go")
    parser.add_argument("--against", type=Path, metavar="FILE", help="hashes of before; differences are printed")
    parser.add_argument("--only", default="", metavar="NAME", help="fits whose name holds this")


def run(arguments: argparse.Namespace) -> int:
    """Hash the fits; return how many differ."""
    found = {name: work() for name, work in works() if arguments.only in name}
    print(f"{len(found)} hashes")
    if arguments.write:
        arguments.write.write_text(json.dumps(found, indent=1) + "\n")
    if not arguments.against:
        return 0
    before = json.loads(arguments.against.read_text())
    different = [name for name in before if arguments.only in name and before[name] != found.get(name)]
    for name in different:
        print(f"DIFFERENT {name}: {before[name]}, now {found.get(name)}")
    print(f"{len(different)} differ")
    return len(different)


def works() -> Iterator[tuple[str, Work]]:
    """Yield the name of each fit, and what makes it and returns its hash."""
    for name, fit in FITS.items():
        yield name, lambda fit=fit: _fitted(fit)
        yield f"{name}, loaded", lambda fit=fit: _loaded(fit)
        yield f"{name}, resumed", lambda fit=fit: _resumed(fit)
        for call in ("continue_fit", "partial_fit"):
            if hasattr(fit.model(), call):
                yield f"{name}, {call}", lambda fit=fit, call=call: _more(fit, call)
        for variant, parameters in VARIANTS.get(name, {}).items():
            yield f"{name}, {variant}", lambda fit=fit, parameters=parameters: _fitted(fit, **parameters)
    corpus, _ = toy_bars(n_documents=120, seed=0)
    weighted = Corpus.from_counts(corpus.counts * 0.5)
    for estimator, parameters in DEFAULTS.items():
        yield f"{estimator}, defaults", lambda e=estimator, p=parameters: _default(e, p, corpus)
        if estimator == "VariationalHDP":
            yield f"{estimator}, weights", lambda e=estimator, p=parameters: _default(e, p, weighted)
    for name, parameters in MERGING.items():
        yield f"merging, {name}", lambda p=parameters: _merged(p)
    for name, parameters in (("found", {}), ("given", {"n_topics": 12, "n_laps": 60}), ("seeds", {"seeds": SEEDS})):
        yield f"merging, labels, {name}", lambda p=parameters: _merged(p, labels=_labels())
        yield f"merging, updated, {name}", lambda p=parameters: _updated(p)
        yield f"merging, labels, updated, {name}", lambda p=parameters: _updated(p, labels=_labels())
    for n_jobs in (1, 2):
        for name, parameters in (("found", {"max_topics": 40}), ("given", {"n_topics": 12, "n_laps": 30})):
            yield f"merging, {n_jobs} threads, {name}", lambda p=parameters, n=n_jobs: _merged(p | {"n_jobs": n}, 2000)


def _fitted(fit: Fit, **parameters: Any) -> str:
    data = fit.documents()
    model = fit.model(**parameters).fit(data)
    score = f"{float(model.score(data)):.17g}" if hasattr(model, "score") else ""
    return f"{digest(model, data)} {score}"


def _loaded(fit: Fit) -> str:
    model = fit.model().fit(fit.documents())
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        return digest(stickbreak.load(Path(folder) / "model"), fit.documents())


def _resumed(fit: Fit) -> str:
    """Stop a fit in its middle, and let another go on from its checkpoint."""

    def stop(*arguments: Any) -> bool:
        return len(seen) >= fit.n // 2 or seen.append(None)

    seen: list[None] = []
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Path(folder) / "checkpoint"
        fit.model().fit(fit.documents(), callback=stop, checkpoint=checkpoint)
        model = fit.model().fit(fit.documents(), checkpoint=checkpoint, resume=True)
    return digest(model, fit.documents())


def _more(fit: Fit, call: str) -> str:
    data = fit.documents()
    if call == "continue_fit":
        return digest(fit.model().fit(data).continue_fit(data, n_laps=3), data)
    model, streamed = fit.model().fit(data), fit.model()
    if model.get_params().get("learn") and type(model).__name__ in ("VariationalHDP", "GaussianHDP"):
        model, streamed = model.set_params(learn=()), streamed.set_params(learn=())
    for begin in range(0, 40, 20):
        part = data[begin : begin + 20] if fit.data == "words" else data
        streamed.partial_fit(part)
    return f"{digest(model.partial_fit(data), data)} {digest(streamed, data)}"


@cache
def _many(mean_tokens: int) -> Corpus:
    """Return documents of a dozen topics; with 2000 tokens each they are two parts, for two threads."""
    return planted_lda(300, 300, n_topics=12, mean_tokens=mean_tokens, seed=0)[0]


def _labels() -> list[list[str]]:
    """Return none to two labels for each of these documents, by the words that they hold."""
    counts = _many(60).counts.toarray()
    return [[f"word {w}" for w in (3, 5, 8) if row[w]][:2] for row in counts]


def _merged(parameters: dict[str, Any], mean_tokens: int = 60, labels: Any = None) -> str:
    X = _many(mean_tokens)
    model = stickbreak.TopicModel(random_state=0, **parameters).fit(X, labels=labels)
    return f"{digest(model, X)} {model.started_} {model.n_topics_}"


def _updated(parameters: dict[str, Any], labels: Any = None) -> str:
    """Fit half of the documents, and update by the other half."""
    X = _many(60)
    of = [None, None] if labels is None else [labels[:150], labels[150:]]
    model = stickbreak.TopicModel(random_state=0, **parameters).fit(X[:150], labels=of[0])
    return f"{digest(model.update(X[150:], labels=of[1]), X)} {model.started_} {model.n_topics_}"


def _default(estimator: str, parameters: dict[str, Any], corpus: Corpus) -> str:
    model = estimator_of(estimator)(random_state=0, **parameters).fit(corpus)
    words = hashlib.sha256(repr(model.top_words(3)).encode()).hexdigest()[:8]
    return f"{digest(model, corpus)} {words}"
