"""Each bound with each set of learned hyperparameters: objective, number of topics, held-out completion, seconds."""

from __future__ import annotations

import argparse
import sys

from benchmarks.harness.corpora import load_split
from benchmarks.harness.fits import fit_row
from benchmarks.harness.tables import table
from stickbreak import VariationalHDP


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--splits", nargs="+", default=["kos", "ap", "reuters21578"])
    parser.add_argument("--bounds", nargs="+", default=["surrogate", "quadratic"])
    parser.add_argument("--learn", nargs="+", default=["none", "alpha", "alpha,gamma", "alpha,gamma,eta", "eta"])
    parser.add_argument("--alphas", nargs="+", type=float, default=[0.5])
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--laps", type=int, default=40)
    parser.add_argument("--init", default="lda")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    rows = []
    for name in options.splits:
        split = load_split(name)
        for bound, names, alpha in ((b, n, a) for b in options.bounds for n in options.learn for a in options.alphas):
            learn = () if names == "none" else tuple(names.split(","))
            model = VariationalHDP(
                n_topics=options.topics,
                alpha=alpha,
                bound=bound,
                learn=learn,
                init=options.init,
                n_laps=options.laps,
                random_state=options.seed,
                n_jobs=options.jobs,
            )
            row = {"corpus": name, "bound": bound, "learned": names, **fit_row(model, split)}
            rows.append(row | {name: f"{getattr(model, name + '_'):.3g}" for name in ("alpha", "gamma", "eta")})
            sys.stderr.write(f"{rows[-1]}\n")
    return table(rows)
