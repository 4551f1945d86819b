"""Coverage of the 95 % intervals of `prevalence` on planted effects: documents whose prior follows a known formula.

Five topics over 200 words, which the fit must find, or which rows of eta hold (`--topics known`). The prior weight of a
topic is the exponential of a linear function of a number and of a category of three values. `slope` is what the mean
estimate is of the planted effect.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.harness.tables import table
from stickbreak import TopicModel
from stickbreak.corpus import Corpus

# Rows: five topics. Columns: a number, and two categories beside the first.
EFFECTS = np.array([[0.8, 0.0, 0.9], [-0.7, 0.8, 0.0], [0.0, -0.9, 0.0], [0.0, 0.0, -0.8], [0.0, 0.0, 0.0]])
WEIGHT = 0.4  # of each topic where all terms are 0
KNOWN = 1e6  # tokens of a known topic, beside which those of the documents do not count


def drawn(n_documents: int, n_tokens: float, shared: float, seed: int) -> tuple[Any, Corpus]:
    """Return topics, and documents with their columns; `shared` is the part of each topic that is like the others."""
    rng, K, W = np.random.default_rng(seed), len(EFFECTS), 200
    phi = (1 - shared) * rng.dirichlet(np.full(W, 0.05), K) + shared * rng.dirichlet(np.full(W, 0.5))
    number, category = rng.normal(size=n_documents), rng.integers(3, size=n_documents)
    design = np.column_stack([number, category == 1, category == 2])
    theta = np.array([rng.dirichlet(a) for a in WEIGHT * np.exp(design @ EFFECTS.T)])
    lengths = 1 + rng.poisson(rng.gamma(2.0, n_tokens / 2, n_documents))
    counts = np.array([rng.multinomial(n, weights @ phi) for n, weights in zip(lengths, theta, strict=True)])
    return phi, Corpus.from_counts(counts, metadata={"number": number, "category": np.array(list("abc"))[category]})


def estimates(phi: Any, corpus: Corpus, n_laps: int, seed: int, topics: str = "eta") -> tuple[Any, Any] | None:
    """Return the estimates and half the length of their intervals, (5, 3) each; None if topics are not found."""
    given: dict[str, Any] = {"n_topics": len(phi), "n_laps": n_laps, "random_state": seed}
    if topics == "known":
        given["eta"] = np.maximum(KNOWN * phi, 1e-6)
    elif topics == "eta":
        given["learn"] = ["alpha", "eta"]
    model = TopicModel(prevalence="number + category", **given).fit(corpus)
    numbers = np.abs(phi[:, None] - model.topic_word_).sum(axis=2).argmin(axis=1)
    if np.unique(numbers).size < len(phi):
        return None
    table = model.prevalence_effects()
    found, high = (table[name].to_numpy().reshape(len(phi), -1)[numbers] for name in ("estimate", "high"))
    return found, high - found


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--repeats", type=int, default=100, help="data sets of each row")
    parser.add_argument("--documents", type=int, nargs="+", default=[200, 600])
    parser.add_argument("--tokens", type=float, nargs="+", default=[30.0, 100.0], help="mean length of documents")
    parser.add_argument("--shared", type=float, default=0.3, help="part of each topic that is like the others")
    how = "known; learned; or learned with their eta"
    parser.add_argument("--topics", choices=("known", "learned", "eta"), default="eta", help=how)
    parser.add_argument("--laps", type=int, default=40)


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    rows = []
    for n_documents in options.documents:
        for n_tokens in options.tokens:
            data = (drawn(n_documents, n_tokens, options.shared, s) for s in range(options.repeats))
            found = [estimates(*one, options.laps, s, options.topics) for s, one in enumerate(data)]
            kept = [one for one in found if one is not None]
            wrong, reach = (np.array(part) for part in zip(*[(e - EFFECTS, r) for e, r in kept], strict=True))
            slope = 1 + (wrong.mean(axis=0) * EFFECTS).sum() / (EFFECTS**2).sum()
            inside = np.abs(wrong) <= reach
            error = stats.sem(inside.mean(axis=(1, 2)))
            rows.append(
                {
                    "documents": n_documents,
                    "tokens each": f"{n_tokens:g}",
                    "data sets with all topics": f"{len(kept)} of {len(found)}",
                    "planted effects inside": f"{100 * inside.mean():.1f} % (± {100 * error:.1f})",
                    "slope": f"{slope:.2f}",
                }
            )
    return table(rows)
