"""Merges beside a threshold: topics with few expected tables are dropped after a fit without merges."""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.collapsed.fits import fit_of, model_answer, splits_and_topics
from benchmarks.harness.corpora import load_split
from benchmarks.harness.scores import completion
from benchmarks.harness.tables import table

LEAST_TABLES = (0, 50, 100, 150, 200, 300)


def prune(names: list[str], topics: list[int]) -> list[dict[str, object]]:
    """Return what merges leave, and what is left of a fit without merges where topics with few tables are dropped.

    The weights of the topics that stay are scaled to the sum of all.
    """
    rows: list[dict[str, object]] = []
    for name in names:
        split = load_split(name)
        for n_topics in topics:
            fits = {laps: fit_of(n_topics=n_topics, n_laps=60, merge_laps=laps, n_jobs=1) for laps in (0, 50)}
            for model in fits.values():
                model.fit(split.train)
            merged, whole = fits[50], fits[0]
            found = {"merges": model_answer(merged)}
            large = {least: whole.tables_ >= least for least in LEAST_TABLES}
            kept = {f"{least:g} tables or more": stay for least, stay in large.items() if stay.any()}
            as_many = np.argsort(np.argsort(-whole.tables_, kind="stable")) < merged.n_topics_
            kept[f"the {merged.n_topics_} with the most tables"] = as_many
            topic_word, prior = model_answer(whole)
            for rule, stay in kept.items():
                found[rule] = topic_word[stay], prior[stay] * (prior.sum() / prior[stay].sum())
            rows += [
                {
                    "corpus": name,
                    "K at the start": n_topics,
                    "topics that stay": rule,
                    "K": len(answer[1]),
                    "completion": f"{completion(split, *answer):.4f}",
                }
                for rule, answer in found.items()
            ]
    return rows


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    splits_and_topics(parser, splits=["kos"], topics=[200])


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    return table(prune(options.splits, options.topics))
