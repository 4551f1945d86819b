"""Hughes, Kim and Sudderth 2015, Fig. 2 and supplement Fig. 2: objectives with empty topics, and the bound on c_D.

Left: documents use a few topics alike; J empty topics are added, and q(u) is fitted again. By how much do the surrogate
objective, the exact one and that of a point estimate of u rise? The exact one takes E[c_D] by Monte Carlo at the q(u)
of the surrogate, with the same random numbers for all J. Right: c_D(alpha beta) and its lower bound for K = 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from benchmarks.harness.records import Record
from scipy.optimize import minimize
from scipy.special import gammaln

from stickbreak.variational.objective import POINT, SURROGATE, expected_log_normaliser, stick_term

from .study import Claim, Study, Verdict, main

PAPER = {
    "gamma": 10.0,
    "alpha": 0.5,
    "documents": 100,
    "tokens": 100,
    "active": 4,
    "empty": [0, 1, 2, 3],
    "draws": 100_000,
}
QUICK = {"draws": 2000, "empty": [0, 1], "documents": 10}
ALPHAS = np.geomspace(0.01, 100, 60)


def keys(settings: Record) -> list[Record]:
    """Return a run for each number of empty topics."""
    rest = {name: value for name, value in settings.items() if name != "empty"}
    return [{**rest, "J": J} for J in settings["empty"]]


def c_D(a: Any) -> Any:
    """Return the log normaliser of Dirichlet distributions, over the last axis."""
    return gammaln(a.sum(axis=-1)) - gammaln(a).sum(axis=-1)


def beta_of(u: Any) -> Any:
    """Return the topic weights of sticks, with the rest last."""
    left = np.concatenate([np.ones((*u.shape[:-1], 1)), np.cumprod(1 - u, axis=-1)], axis=-1)
    return np.concatenate([u, np.ones((*u.shape[:-1], 1))], axis=-1) * left


def counts_of(key: Record) -> Any:
    """Return the expected counts N_dk (D, K + 1): every document uses two of the active topics."""
    rng = np.random.default_rng(0)
    N = np.zeros((key["documents"], key["active"] + key["J"] + 1))
    for row in N:
        row[rng.choice(key["active"], 2, replace=False)] = key["tokens"] / 2
    return N


def measure(key: Record) -> Record:
    """Return the best value of each objective, in nats, with what does not depend on u left out."""
    N, alpha, gamma = counts_of(key), key["alpha"], key["gamma"]
    D, K = N.shape[0], N.shape[1] - 1

    def sticks(x: Any) -> tuple[Any, Any]:
        return 1 / (1 + np.exp(-x[:K])), np.exp(x[K:])

    def loss(x: Any, bound: str) -> float:
        rho, omega = sticks(x)
        documents = c_D(alpha * beta_of(rho) + N).sum()
        normaliser = D * expected_log_normaliser(rho, omega, alpha, bound)
        return float(documents - normaliser - stick_term(rho, omega, gamma, bound))

    start = np.concatenate([np.linspace(-1, -2, K), np.full(K, np.log(gamma + D))])
    limits = [(-25, 25)] * K + [(-2, 25)] * K
    best, alone = (minimize(loss, start, (b,), method="L-BFGS-B", bounds=limits) for b in (SURROGATE, POINT))
    rho, omega = sticks(best.x)
    rng = np.random.default_rng(1)
    u = np.stack([rng.beta(a, b, key["draws"]) for a, b in zip(rho * omega, (1 - rho) * omega, strict=True)], axis=-1)
    drawn = c_D(alpha * np.maximum(beta_of(np.clip(u, 1e-12, 1 - 1e-12)), 1e-300))
    exact = -best.fun + D * (drawn.mean() - expected_log_normaliser(rho, omega, alpha))
    error = D * drawn.std() / np.sqrt(drawn.size)
    return {"surrogate": float(-best.fun), "exact": float(exact), "error": float(error), "point": float(-alone.fun)}


def rows(records: list[Record]) -> list[Record]:
    """Return a row for each number of empty topics: what each objective rises by."""
    first = records[0]
    return [
        {
            "empty topics": r["J"],
            "surrogate": f"{r['surrogate'] - first['surrogate']:+.3f}",
            "exact (Monte Carlo)": f"{r['exact'] - first['exact']:+.3f} ({r['error']:.3f})",
            "point estimate": f"{r['point'] - first['point']:+.3f}",
        }
        for r in records
    ]


def rises(name: str, sign: int) -> Any:
    """Return a judge: does an objective rise (1), fall (-1) or stay (0, within two errors) with empty topics."""

    def judge(records: list[Record]) -> Verdict:
        steps = np.array([r[name] - records[0][name] for r in records[1:]])
        text = f"change with {', '.join(str(r['J']) for r in records[1:])} empty topics: "
        text += ", ".join(f"{step:+.2f}" for step in steps) + " nats"
        if sign == 0:
            return text, bool(all(abs(s) < 2 * r["error"] + 0.01 for s, r in zip(steps, records[1:], strict=True)))
        return text, bool((np.sign(steps) == sign).all())

    return judge


def gap(alpha: Any, share: float) -> Any:
    """Return by how much c_D(alpha beta) is above its bound, for K = 1 and beta = (share, 1 - share)."""
    exact = gammaln(alpha) - gammaln(alpha * share) - gammaln(alpha * (1 - share))
    return exact - (np.log(alpha) + np.log(share) + np.log(1 - share))


def bounded(records: list[Record]) -> Verdict:
    """Judge whether the bound holds for all alpha, and is tight for small ones."""
    gaps = np.array([gap(ALPHAS, share) for share in (0.01, 0.1, 0.25, 0.5)])
    text = f"gap from {gaps.min():.1e} to {gaps.max():.2f} nats for alpha from 0.01 to 100, "
    return text + f"at alpha 0.5 at most {gap(0.5, 0.5):.3f}", bool(gaps.min() >= -1e-12)


def draw(records: list[Record], plt: Any) -> Any:
    """Draw the objectives by empty topics, the bound by alpha, and its error."""
    figure, panels = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
    J = [r["J"] for r in records]
    for name in ("surrogate", "exact", "point"):
        panels[0].plot(J, [r[name] - records[0][name] for r in records], marker="o", label=name)
    panels[0].set(xticks=J, xlabel="empty topics", ylabel="change of the objective, nats")
    panels[0].legend(frameon=False)
    bound = np.log(ALPHAS) + 2 * np.log(0.5)
    panels[1].plot(ALPHAS, bound + gap(ALPHAS, 0.5), color="black", label="exact")
    panels[1].plot(ALPHAS, bound, "r--", label="bound")
    panels[1].set(xlabel="alpha", ylabel="c_D", xscale="log")
    panels[1].legend(frameon=False)
    for share in (0.01, 0.1, 0.25, 0.5):
        panels[2].plot(ALPHAS, gap(ALPHAS, share), label=f"beta_1 = {share}")
    panels[2].set(xlabel="alpha", ylabel="error of the bound", xscale="log", yscale="log")
    panels[2].legend(frameon=False)
    return figure


STUDY = Study(
    "hughes_fig2", PAPER, QUICK,
    "The paper does not say how its documents are made: 100 documents of 100 tokens, each with two of four topics.",
    keys, measure, rows,
    (
        Claim("The surrogate objective falls a little with empty topics", "Fig. 2", rises("surrogate", -1)),
        Claim("The exact objective stays the same with empty topics", "Fig. 2", rises("exact", 0),
              "It falls strictly: a topic without tokens costs in every document (see the errata)."),
        Claim("A point estimate of u always favours empty topics", "Fig. 2", rises("point", 1),
              "Each gains log gamma if gamma > 1; with gamma at or below 1 it is otherwise (see the errata)."),
        Claim("The bound on c_D holds, and is tight for small alpha", "Fig. 2, supplement Fig. 2", bounded),
    ),
    draw,
)  # fmt: skip

if __name__ == "__main__":
    main(STUDY, __doc__)
