"""Planted states: the sticky HDP-HMM from one state and from fifty, beside hmmlearn, which is given their true number.

hmmlearn is fitted by EM, from one start and from the best of ten. `score` is the log-likelihood of sequences that were
held out, in nats per step; of symbols the coefficient of the multinomial is left out everywhere. Rand: the adjusted
Rand index of the paths of all training steps beside the planted states. Figures are means over the seeds.
"""

from __future__ import annotations

import argparse
import logging
import time
from typing import Any

import numpy as np
from scipy.special import gammaln
from sklearn.metrics import adjusted_rand_score

from benchmarks.harness.tables import table
from stickbreak_sequences import Sequences, StickyHDPHMM, planted_states

KINDS = {"full": "vectors", "symbols": "symbols"}


def ours(n_states: int, train: Sequences, held: Sequences, seed: int) -> tuple[Any, float, int]:
    """Return the path of the training steps, the score and the number of states."""
    model = StickyHDPHMM(n_states=n_states, random_state=seed).fit(train)
    return model.predict(train), model.score(held), model.n_states_


def hmmlearn(n_states: int, starts: int, train: Sequences, held: Sequences, seed: int) -> tuple[Any, float, int]:
    """Return the same of hmmlearn, of the start with the largest likelihood."""
    from hmmlearn.hmm import GaussianHMM, MultinomialHMM

    logging.getLogger("hmmlearn").setLevel(logging.CRITICAL)
    vectors = train.symbols is None
    steps, new = (x.steps if vectors else x.steps.toarray().astype(int) for x in (train, held))
    best = (-np.inf, None)
    for start in range(starts):
        of_start = {"n_components": n_states, "n_iter": 200, "tol": 1e-3, "random_state": 100 * seed + start}
        model = GaussianHMM(covariance_type="full", **of_start) if vectors else MultinomialHMM(**of_start)
        model.fit(steps, train.lengths)
        best = max(best, (model.score(steps, train.lengths), model), key=lambda one: one[0])
    model = best[1]
    score = model.score(new, held.lengths)
    if not vectors:
        score -= float((gammaln(new.sum(axis=1) + 1) - gammaln(new + 1).sum(axis=1)).sum())
    return model.predict(steps, train.lengths), score / held.n_steps, n_states


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--states", type=int, default=5)
    parser.add_argument("--sequences", type=int, default=10, help="of the training; five more are held out")
    parser.add_argument("--length", type=int, default=200)
    parser.add_argument("--stay", type=float, default=0.95, help="probability of staying in a state")
    parser.add_argument("--seeds", type=int, default=5)


def run(options: argparse.Namespace) -> str:
    """Fit every system to every planted collection."""
    K, rows = options.states, list[dict[str, Any]]()
    systems: dict[str, Any] = {
        "stickbreak, from 1 state": lambda *data: ours(1, *data),
        "stickbreak, from 50 states": lambda *data: ours(50, *data),
        f"hmmlearn, given {K}": lambda *data: hmmlearn(K, 1, *data),
        f"hmmlearn, given {K}, best of 10 starts": lambda *data: hmmlearn(K, 10, *data),
    }
    for kind, name in KINDS.items():
        for system, fit in systems.items():
            found = []
            for seed in range(options.seeds):
                n, size = options.sequences, {"length": options.length, "stay": options.stay}
                X, states = planted_states(kind, n_states=K, n_sequences=n + 5, seed=seed, **size)
                train, held = X[:n], X[n:]
                if not found:
                    fit(train, held, seed)  # compiles
                began = time.perf_counter()
                path, score, n_states = fit(train, held, seed)
                seconds = time.perf_counter() - began
                found.append((n_states, adjusted_rand_score(states[: train.n_steps], path), score, seconds))
            count, rand, score, seconds = np.array(found).T
            right = f"{int((count == K).sum())} of {len(found)}" if "given" not in system else "given"
            row = {"steps": name, "system": system, f"{K} states found": right, "Rand": f"{rand.mean():.3f}"}
            rows.append(row | {"score": f"{score.mean():.4f}", "seconds": f"{seconds.mean():.1f}"})
    return table(rows)
