"""Pachinko allocation and trees of topics, beside tomotopy's: seconds of a pass, and held-out completion.

All have one thread, the same eta and the same numbers of topics, and learn their Dirichlet priors where they have some,
each by its own rule. The topics and priors of both makers are scored by the same rule, that of our models (math.md (P5)
and (R4)), so only what was learned differs. The level prior of tomotopy's tree is a Dirichlet distribution and not GEM;
its trees are scored with the GEM prior of ours. It has no nested HDP. Ours takes fewer passes, in minibatches, over a
tree of given size, and is scored by its own rule (math.md (F8)).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.harness.corpora import Split, load
from benchmarks.harness.peers import add_documents
from benchmarks.harness.records import Record
from benchmarks.harness.tables import table
from benchmarks.harness.units import Float, processor_seconds
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.fitting.engine import engine
from stickbreak.prediction.completion import completion_log_likelihood
from stickbreak_baselines import HierarchicalPachinko, NestedCRP, NestedHDP, Pachinko
from stickbreak_baselines.nested_crp.documents import Levels, Routes
from stickbreak_baselines.nested_crp.documents import weights_of as tree_weights
from stickbreak_baselines.pachinko.documents import weights_of as path_weights

FEWEST = 1e-12  # of a word: tomotopy knows no word that it did not see
MEAN, SCALE = 0.35, 100.0  # of the levels of a document
OURS = (Pachinko, HierarchicalPachinko, NestedCRP, NestedHDP)
FEWER_PASSES = 5  # of variational inference in minibatches: a fifth of those of the samplers


@dataclass
class Fitted:
    """What a system has learned: topics (K, W), and how it weighs those in documents."""

    topics: Float
    weights: Callable[[Corpus, Any], Float]
    n_topics: int


def ours(kind: type, corpus: Corpus, options: argparse.Namespace, seed: int) -> tuple[Fitted, float]:
    """Fit one of our models; return it with the processor seconds of a pass."""
    passes = options.passes
    if kind is NestedHDP:
        passes = max(1, passes // FEWER_PASSES)
        given: dict[str, Any] = {"branching": options.branching, "eta": options.eta}
    elif kind is NestedCRP:
        given = {"eta": options.tree_eta, "level_mean": MEAN, "level_scale": SCALE}
    else:
        given = {"n_super": options.super, "n_topics": options.topics, "eta": options.eta, "tolerance": None}
    model = kind(n_laps=passes, random_state=seed, **given)
    seconds = processor_seconds(lambda: model.fit(corpus))
    fitted = Fitted(model.topic_word_, lambda X, executor: model.expected_weights(X)[:, :-1], model.n_topics_)
    return fitted, seconds / passes


def words_of(model: Any, chosen: list[int], n_words: int) -> Float:
    """Return the word distributions of topics of a tomotopy model, none of them zero."""
    topics = np.zeros((len(chosen), n_words))
    topics[:, [int(word) for word in model.used_vocabs]] = [model.get_topic_word_dist(k) for k in chosen]
    topics = np.maximum(topics, FEWEST)
    return topics / topics.sum(axis=1, keepdims=True)


def peer(name: str, corpus: Corpus, options: argparse.Namespace, seed: int) -> tuple[Fitted, float]:
    """Fit one of tomotopy's models; return it with the processor seconds of a pass."""
    import tomotopy

    S, K, W = options.super, options.topics, corpus.n_words
    if name == "HLDAModel":
        model: Any = tomotopy.HLDAModel(depth=3, eta=options.tree_eta, gamma=1.0, seed=seed + 1)
    else:
        model = getattr(tomotopy, name)(k1=S, k2=K, alpha=5 / S, subalpha=5 / K, eta=options.eta, seed=seed + 1)
    add_documents(model, corpus)
    seconds = processor_seconds(lambda: model.train(options.passes, workers=1)) / options.passes
    if name == "HLDAModel":
        return tree_of(model, W), seconds
    a, below = np.asarray(model.alpha, np.float64), np.asarray(model.subalpha, np.float64)
    if name == "PAModel":
        topics, b = words_of(model, list(range(K)), W), below
    else:
        topics, b = words_of(model, list(range(1 + S + K)), W), np.zeros((1 + S, 1 + S + K))
        np.fill_diagonal(b, 1.0)
        b[np.arange(1, 1 + S), np.arange(1, 1 + S)], b[1:, 1 + S :] = below[:, 0], below[:, 1:]
    return Fitted(topics, lambda X, executor: path_weights(X, topics, a, b, executor)[1], len(topics)), seconds


def tree_of(model: Any, n_words: int) -> Fitted:
    """Return the tree of tomotopy's model, level by level, with the routes of ours."""
    alive = [k for k in range(model.k) if model.is_live_topic(k)]
    alive.sort(key=lambda k: (model.level(k), k))
    place = {k: j for j, k in enumerate(alive)}
    level = np.array([model.level(k) for k in alive])
    parent = np.array([place[model.parent_topic(k)] if model.level(k) else -1 for k in alive])
    n_documents = np.array([model.num_docs_of_topic(k) for k in alive])
    topics = words_of(model, alive, n_words)
    routes = Routes.of(parent, level, n_documents, int(level.max()) + 1, model.gamma)
    rest = np.vstack([topics, np.full(n_words, 1.0 / n_words)])
    weigh = partial(tree_weights, topics=rest, routes=routes, levels=Levels(MEAN, SCALE))
    return Fitted(topics, lambda X, executor: weigh(X, executor=executor)[:, :-1], len(alive))


def completion(split: Split, fitted: Fitted) -> float:
    """Return the nats per token of the held-out halves."""
    with engine(1) as executor:
        weights = fitted.weights(split.observed, executor)
    weights /= weights.sum(axis=1, keepdims=True)
    total, n_tokens = completion_log_likelihood(weights, fitted.topics, split.held_out.counts, seen=split.seen)
    return total / n_tokens


def systems() -> dict[str, Callable[..., tuple[Fitted, float]]]:
    """Return what is compared."""
    found = {kind.__name__: partial(ours, kind) for kind in OURS}
    if find_spec("tomotopy") is not None:
        found |= {f"tomotopy {name}": partial(peer, name) for name in ("PAModel", "HPAModel", "HLDAModel")}
    return found


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--corpora", nargs="+", default=["kos"], help="corpora")
    parser.add_argument("--super", type=int, default=10, help="super-topics")
    parser.add_argument("--topics", type=int, default=50, help="topics below them")
    parser.add_argument("--eta", type=float, default=0.1, help="eta of Pachinko allocation")
    parser.add_argument("--tree-eta", type=float, default=0.5, help="eta of the trees")
    parser.add_argument(
        "--branching", type=int, nargs="+", default=[10, 5], help="children in the tree of the nested HDP"
    )
    parser.add_argument("--passes", type=int, default=100, help="passes")
    parser.add_argument("--seeds", type=int, default=1, help="runs of each")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    rows: list[Record] = []
    tiny = argparse.Namespace(**{**vars(options), "super": 2, "topics": 3, "branching": [2, 2], "passes": 2})
    for system in systems().values():  # compilation is not on the clock
        fitted, _ = system(planted_lda(40, 30, n_topics=3, seed=0)[0], tiny, 0)
        with engine(1) as executor:
            fitted.weights(planted_lda(40, 30, n_topics=3, seed=1)[0], executor)
    for name in options.corpora:
        split = load(name)
        for who, system in systems().items():
            scores, seconds, topics = [], [], []
            for seed in range(options.seeds):
                fitted, of_pass = system(split.train, options, seed)
                scores.append(completion(split, fitted))
                seconds.append(of_pass)
                topics.append(fitted.n_topics)
                sys.stderr.write(f"{name} {who} {seed} {of_pass:.4f} s {scores[-1]:.4f} {topics[-1]}\n")
            rows.append(
                {
                    "corpus": name,
                    "system": who,
                    "topics": f"{np.mean(topics):.0f}",
                    "seconds of a pass": f"{np.median(seconds):.3f}",
                    "nanoseconds of a token": f"{1e9 * np.median(seconds) / float(split.train.n_tokens):.0f}",
                    "completion": f"{np.mean(scores):.3f} ({np.ptp(scores) / 2:.3f})",
                }
            )
    return table(rows)
