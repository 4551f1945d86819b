"""Trees whose shape is learned: are planted ones found, and how do they compare with trees of other methods.

Planted: irregular trees of 16 topics, whose documents are drawn by the sequential rule of the backoff trees. "Found"
means that the fit has as many leaves as there are topics, and that the leaves, matched to the topics by the cosines of
the square roots of their words, form the same groups of leaves with one parent. "All nodes": every inner node has the
same leaves below it, and there are no others.

Collections: document completion; NPMI of the ten words of each topic; NPMI of the pairs of a word of a parent and
another word of its child, as both are shown, less that of the pairs of the child with parents of other children.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from benchmarks.harness.corpora import load_split
from benchmarks.harness.records import Record
from benchmarks.harness.tables import table
from benchmarks.harness.units import processor_seconds
from stickbreak import BackoffTreeTopics, TopicModel
from stickbreak.backoff_tree.moves import Group, Groups, groups_of, nodes_above, nodes_of
from stickbreak.backoff_tree.shape import shape_of
from stickbreak.corpus import Corpus
from stickbreak.evaluation import npmi
from stickbreak_baselines import NestedCRP, NestedHDP

Model = Any
N_TOPICS, DEPTH, DISCOUNTS = 16, 3, (0.1, 0.3, 0.4)
N_WORDS, WORDS_OF_NODES, WORDS_OF_TOPICS = 600, 200.0, 30.0  # concentrations
SHOWN = 10  # words of a node


def random_groups(rng: np.random.Generator, first: int, last: int, level: int = 0) -> Iterator[Group]:
    """Yield the inner nodes of a random tree with the leaves first .. last - 1, the root as well."""
    if last - first > 1:
        yield frozenset(range(first, last))
    if last - first > 3 and level + 1 < DEPTH:
        n = int(rng.integers(2, min(4, last - first) + 1)) if level else int(rng.integers(3, 5))
        cuts = np.sort(rng.choice(np.arange(first + 1, last), n - 1, replace=False)).tolist()
        for a, b in zip([first, *cuts], [*cuts, last], strict=True):
            yield from random_groups(rng, a, b, level + 1)


def planted_tree(seed: int, n_documents: int = 2000, mean_tokens: float = 100.0) -> tuple[Corpus, Groups, np.ndarray]:
    """Draw documents from an irregular tree; return its inner nodes below the root and its topics, too."""
    rng = np.random.default_rng(seed)
    root, *below = random_groups(rng, 0, N_TOPICS)
    words = {root: rng.dirichlet(np.ones(N_WORDS))}
    for node in [*below, *(frozenset([z]) for z in range(N_TOPICS))]:
        above = words[min((other for other in words if other > node), key=len)]
        concentration = WORDS_OF_NODES if len(node) > 1 else WORDS_OF_TOPICS
        words[node] = rng.dirichlet(concentration * above + 1e-3)
    topics = np.stack([words[frozenset([z])] for z in range(N_TOPICS)])
    counts = np.zeros((n_documents, N_WORDS), np.int64)
    for d, n in enumerate(leaves_in_sequence(frozenset(below), rng, n_documents, mean_tokens)):
        counts[d] = sum(rng.multinomial(n[z], topics[z]) for z in np.flatnonzero(n))
    return Corpus.from_counts(counts), frozenset(below), topics


def leaves_in_sequence(
    groups: Groups, rng: np.random.Generator, n_documents: int, mean_tokens: float
) -> Iterator[np.ndarray]:
    """Yield the tokens of each leaf in documents, each token drawn given those before it (docs/math (T7))."""
    nodes, total = nodes_of(groups, N_TOPICS, DEPTH), sum(DISCOUNTS)
    same = [column[:, None] == column for column in nodes.T]
    spread = sum(delta * one / one.sum(axis=1) for delta, one in zip(DISCOUNTS, same, strict=True))
    for _ in range(n_documents):
        n, smoothing = np.zeros(N_TOPICS, np.int64), np.zeros(N_TOPICS)
        for i in range(1 + int(rng.poisson(mean_tokens))):
            sums = np.cumsum(np.maximum(n - total, 0.0) + smoothing if i else np.ones(N_TOPICS))
            z = int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))
            smoothing += spread[z] * (n[z] == 0)
            n[z] += 1
        yield n


def siblings(groups: Groups, n_leaves: int) -> frozenset[Group]:
    """Return the groups of leaves that have one parent."""
    found: dict[Group | None, set[int]] = {}
    for z in range(n_leaves):
        found.setdefault(next(iter(nodes_above(groups, frozenset([z]))), None), set()).add(z)
    return frozenset(map(frozenset, found.values()))


def is_found(model: BackoffTreeTopics, groups: Groups, topics: np.ndarray) -> tuple[bool, bool]:
    """Return whether a fit has the leaves of the planted tree with their parents, and all of its nodes."""
    if model.n_leaves_ != len(topics) or model.n_topics_ != len(topics):
        return False, False
    to = linear_sum_assignment(-np.sqrt(model.topic_word_) @ np.sqrt(topics).T)[1]
    found = frozenset(frozenset(to[sorted(group)].tolist()) for group in groups_of(shape_of(model.branching_, 0)))
    n = len(topics)
    return siblings(found, n) == siblings(groups, n), found == groups


def likeness_of_parents(model: Model, corpus: Corpus) -> tuple[float, float]:
    """Return the mean NPMI of children with their parents, and with other nodes of that level; the root is left out."""
    column = {word: w for w, word in enumerate(model.vocabulary_)}
    nodes = [node for node in model.tree_.walk() if node.level > 0]
    shown = [[column[word] for word in node.top_words(SHOWN)] for node in nodes]
    columns = np.unique(np.concatenate(shown))
    there = csr_array(corpus.counts)[:, columns].astype(bool).astype(np.float64)
    joint = (there.T @ there).toarray() / corpus.n_documents
    alone = np.diag(joint)
    with np.errstate(divide="ignore", invalid="ignore"):
        npmi = np.where(joint > 0, np.log(joint / np.outer(alone, alone)) / -np.log(joint), -1.0)
    np.fill_diagonal(npmi, np.nan)  # a word that both have says nothing
    words, own, other = [np.searchsorted(columns, row) for row in shown], [], []
    for i, j in product(range(len(nodes)), repeat=2):
        parent, child = nodes[i], nodes[j]
        if parent.children and child.level == parent.level + 1:
            values = npmi[np.ix_(words[i], words[j])]
            (own if child.path[:-1] == parent.path else other).append(np.nanmean(values))
    return float(np.mean(own)) if own else np.nan, float(np.mean(other)) if other else np.nan


SYSTEMS = {
    "learned": partial(BackoffTreeTopics, branching="learned"),
    "tall": partial(BackoffTreeTopics, branching="tall"),
    "wide": partial(BackoffTreeTopics, branching="wide"),
    "NestedCRP": NestedCRP,
    "NestedHDP": NestedHDP,
    "TopicModel": TopicModel,
}


def row(name: str, system: str, leaves: int, seed: int) -> Record:
    """Fit a system to a collection; return what is measured."""
    split = load_split(name)
    seen = np.asarray(split.train.counts.sum(axis=0)).ravel() > 0
    sizes = {"n_topics": leaves} if system in ("tall", "wide") else {}
    model = SYSTEMS[system](random_state=seed, **sizes)
    seconds = processor_seconds(lambda: model.fit(split.train))
    scores = npmi(model.topic_word_, split.train)
    nodes = [] if model.tree_ is None else list(model.tree_.walk())
    own, other = likeness_of_parents(model, split.train) if nodes else (np.nan, np.nan)
    found: Record = {
        "collection": name,
        "system": system,
        "topics": model.n_topics_,
        "inner nodes": sum(bool(node.children) for node in nodes[1:]),
        "completion": f"{model.complete(split.observed, split.held_out, seen=seen).active:.4f}",
        "NPMI of topics": f"{np.nanmean(scores):.3f}",
        "of parents and children": f"{own:.3f}",
        "of other parents": f"{other:.3f}",
        "processor seconds": f"{seconds:.0f}",
    }
    sys.stderr.write(f"{found}\n")
    return found


def planted_row(seed: int, passes: int) -> Record:
    """Fit a planted tree; return what is found."""
    corpus, groups, topics = planted_tree(seed)
    model = BackoffTreeTopics(branching="learned", n_laps=passes, random_state=seed).fit(corpus)
    parents, nodes = is_found(model, groups, topics)
    found: Record = {
        "planted tree": seed,
        "inner nodes": len(groups),
        "leaves found": model.n_leaves_,
        "inner nodes found": len(groups_of(shape_of(model.branching_, 0))),
        "parents found": parents,
        "all nodes": nodes,
    }
    sys.stderr.write(f"{found}\n")
    return found


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--corpora", nargs="*", default=["ap", "kos"])
    parser.add_argument("--systems", nargs="+", choices=[*SYSTEMS], default=[*SYSTEMS])
    parser.add_argument("--leaves", type=int, default=256, help="of the trees whose shape is given")
    parser.add_argument("--seed", type=int, default=0, help="of fits, and of the first planted tree")
    parser.add_argument("--planted", type=int, default=10, help="planted trees")
    parser.add_argument("--passes", type=int, default=40, help="of fits of planted trees")


def run(options: argparse.Namespace) -> str:
    """Return the tables."""
    planted = [planted_row(seed, options.passes) for seed in range(options.seed, options.seed + options.planted)]
    rows = [row(name, system, options.leaves, options.seed) for name in options.corpora for system in options.systems]
    return "\n\n".join(table(part) for part in (planted, rows) if part)
