"""What learning the hyperparameters of collapsed inference changes."""

from __future__ import annotations

import argparse

from benchmarks.collapsed.fits import fit_of, model_answer, splits_and_topics
from benchmarks.harness.corpora import load_split
from benchmarks.harness.scores import completion
from benchmarks.harness.tables import table


def learning(names: list[str], topics: list[int]) -> list[dict[str, object]]:
    """Return what learning the hyperparameters changes: held-out completion with the concentrations at the end."""
    rows: list[dict[str, object]] = []
    for name in names:
        split = load_split(name)
        for n_topics in topics:
            for learn in ((), ("alpha",), ("eta",), ("alpha", "eta"), ("alpha", "gamma", "eta")):
                model = fit_of(n_topics=n_topics, learn=learn, n_jobs=1).fit(split.train)
                rows.append(
                    {
                        "corpus": name,
                        "K at the start": n_topics,
                        "learned": ", ".join(learn) or "none",
                        "completion": f"{completion(split, *model_answer(model)):.4f}",
                        "K": model.n_topics_,
                        "alpha": f"{model.alpha_:.2f}",
                        "gamma": f"{model.gamma_:.2f}",
                        "eta": f"{model.eta_:.3f}",
                    }
                )
    return rows


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    splits_and_topics(parser, splits=["kos"], topics=[100])


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    return table(learning(options.splits, options.topics))
