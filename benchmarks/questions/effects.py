"""Coverage of the 95 % intervals of `effects` on planted effects: documents whose shares follow a known formula.

Five topics over 200 words; the topics that the documents are drawn from are given. The mean share of a topic is linear
in a number, in a category of two values and in their product; the shares of a document scatter about the mean
(Dirichlet). Three ways: least squares on the weights that `transform` returns; draws of the weights with the prior of
the model (the method of composition without the formula); and `effects`, whose prior follows the formula. `slope` is
what the mean estimate is of the planted effect.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.harness.tables import table
from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import threads_and_workers
from stickbreak.prediction.document_weights import collapsed_weights
from stickbreak.questions.regression import Pooled, Regression, weight_draws

# Rows: the intercept, a category, a number, their product. Columns: five topics.
EFFECTS = np.array(
    [
        [0.30, 0.25, 0.20, 0.15, 0.10],
        [0.10, -0.10, 0.00, 0.05, -0.05],
        [0.12, 0.00, -0.12, 0.04, -0.04],
        [-0.08, 0.08, 0.00, 0.00, 0.00],
    ]
)
WAYS = {"weights of `transform`": "weights", "draws, prior of the model": "draws", "`effects`": "effects"}


def drawn(n_documents: int, n_tokens: float, alpha: float, shared: float, seed: int) -> tuple[Any, Any, Any]:
    """Return topics, documents and their design; `shared` is the part of each topic that is like the others."""
    rng, K, W = np.random.default_rng(seed), EFFECTS.shape[1], 200
    phi = (1 - shared) * rng.dirichlet(np.full(W, 0.05), K) + shared * rng.dirichlet(np.full(W, 0.5))
    number, category = rng.uniform(-1, 1, n_documents), rng.integers(0, 2, n_documents)
    design = np.column_stack([np.ones(n_documents), category, number, category * number])
    theta = np.array([rng.dirichlet(alpha * mean) for mean in design @ EFFECTS])
    lengths = 1 + rng.poisson(rng.gamma(2.0, n_tokens / 2, n_documents))
    counts = np.array([rng.multinomial(n, weights @ phi) for n, weights in zip(lengths, theta, strict=True)])
    return phi, Corpus.from_counts(counts), design


def estimates(
    way: str, phi: Any, corpus: Corpus, design: Any, alpha: float, n_draws: int, seed: int
) -> tuple[Any, Any]:
    """Return the estimates and half the length of their intervals, (p, K) each."""
    regression, prior = Regression(design), np.full(len(phi), alpha / len(phi))
    if way == "weights":
        with threads_and_workers(None) as engine:
            found, squared = regression.fit(collapsed_weights(corpus, phi, prior, engine))
        return found, stats.norm.ppf(0.975) * np.sqrt(squared)
    pooled = Pooled(regression)
    for theta in weight_draws(phi, prior, corpus, regression if way == "effects" else None, n_draws, seed):
        pooled.add(theta)
    found, error, freedom = pooled.result()
    return found, stats.t.ppf(0.975, freedom) * error


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--repeats", type=int, default=200, help="data sets of each row")
    parser.add_argument("--documents", type=int, nargs="+", default=[200, 1000])
    parser.add_argument("--tokens", type=float, nargs="+", default=[30.0, 150.0], help="mean length of documents")
    parser.add_argument("--shared", type=float, default=0.3, help="part of each topic that is like the others")
    parser.add_argument("--alpha", type=float, default=5.0, help="how near the shares of documents are to their mean")
    parser.add_argument("--draws", type=int, default=25)
    parser.add_argument("--ways", nargs="+", choices=list(WAYS.values()), default=list(WAYS.values()))


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    rows = []
    for n_documents in options.documents:
        for n_tokens in options.tokens:
            data = [drawn(n_documents, n_tokens, options.alpha, options.shared, s) for s in range(options.repeats)]
            for name, way in WAYS.items():
                if way not in options.ways:
                    continue
                found = [estimates(way, *one, options.alpha, options.draws, s) for s, one in enumerate(data)]
                wrong = np.array([estimate - EFFECTS for estimate, _ in found])[:, 1:]
                reach = np.array([half for _, half in found])[:, 1:]
                slope = 1 + (wrong.mean(axis=0) * EFFECTS[1:]).sum() / (EFFECTS[1:] ** 2).sum()
                rows.append(
                    {
                        "documents": n_documents,
                        "tokens each": f"{n_tokens:g}",
                        "shares and errors from": name,
                        "planted effects inside": f"{100 * (np.abs(wrong) <= reach).mean():.1f} %",
                        "slope": f"{slope:.2f}",
                    }
                )
    return table(rows)
