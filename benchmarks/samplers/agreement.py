"""Do two representations visit the same posterior on real documents?

100 documents of AP, cut to their most frequent words: few enough that a chain forgets its start (the rows of both
starts show whether it has). All hyperparameters fixed. Each chain gives the mean over its sweeps after burn-in of the
number of topics and of the joint log-likelihood; a row has the mean over chains of different seeds with its standard
error from the spread of the chains (half of them start from "random", half from "sequential"). z compares it with the
franchise with split-merge moves: beyond 3 something is wrong, or a chain has not forgotten its start.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.harness.chains import make_chain, monte_carlo_error, sweeps
from benchmarks.harness.corpora import load_split
from benchmarks.harness.records import Record, Records
from benchmarks.harness.tables import table
from stickbreak.corpus import Corpus

STARTS = ("random", "sequential")
# Alpha, gamma, eta.
CONCENTRATIONS = (5.0, 1.0, 1.0)
START_TOPICS = 30


class Run(NamedTuple):
    """What makes the chain."""

    representation: str
    trials: int


RUNS = [
    Run("franchise", 10),
    Run("franchise", 0),
    Run("indicator", 10),
    Run("indicator", 0),
]


def sample(n_documents: int, n_words: int) -> Corpus:
    """Return some documents of AP with the words that are most frequent in them."""
    train = load_split("ap").train
    rows = np.sort(np.random.default_rng(0).choice(train.n_documents, n_documents, replace=False))
    counts = train.counts[rows]
    frequent = np.argsort(-np.asarray(counts.sum(axis=0)).ravel(), kind="stable")[:n_words]
    return Corpus.from_counts(counts[:, np.sort(frequent)])


def measure(key: Record) -> Record:
    """Run one chain; return means after burn-in and their Monte Carlo errors."""
    corpus = sample(key["documents"], key["words"])
    chain = make_chain(
        corpus,
        seed=key["seed"],
        concentrations=CONCENTRATIONS,
        init=STARTS[key["seed"] % 2],
        n_topics=START_TOPICS,
        representation=key["representation"],
        split_merge=key["trials"],
        split_merge_sweeps=None,
    )
    values = np.array([(chain.n_topics, chain.log_joint(), chain.n_tables) for _ in sweeps(chain, key["sweeps"])])
    after = values[key["sweeps"] // 3 :] / (1, corpus.n_tokens, 1)
    K, log_joint, tables = after.T
    return {
        "K": K.mean(),
        "sd of K": K.std(),
        "log_joint": log_joint.mean(),
        "tables": tables.mean(),
        "K, error in the chain": monte_carlo_error(K),
        "log_joint, error in the chain": monte_carlo_error(log_joint),
    }


def mean_and_error(records: list[Record], column: str) -> tuple[float, float]:
    """Return the mean over chains and its standard error."""
    values = np.array([record[column] for record in records])
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))


def summary(run: Run, records: list[Record], reference: list[Record]) -> Record:
    """Return the row of a run."""
    row: Record = {"representation": run.representation, "trials": run.trials}
    for column, name, form in (("K", "K", ".2f"), ("tables", "tables", ".1f"), ("log_joint", "joint", ".4f")):
        mean, error = mean_and_error(records, column)
        of_reference, its_error = mean_and_error(reference, column)
        row[name] = f"{mean:{form}} ± {error:{form}}"
        same = records is reference
        row[f"z of {name}"] = "" if same else f"{(mean - of_reference) / np.hypot(error, its_error):+.1f}"
    for start in STARTS:
        ours = [r for r in records if STARTS[r["seed"] % 2] == start]
        row[f"K, joint from {start}"] = (
            f"{mean_and_error(ours, 'K')[0]:.2f}, {mean_and_error(ours, 'log_joint')[0]:.4f}"
        )
    row["error of K within a chain"] = f"{np.mean([r['K, error in the chain'] for r in records]):.2f}"
    row["sd of K"] = f"{np.mean([r['sd of K'] for r in records]):.2f}"
    return row


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--sweeps", type=int, default=6000, help="the first third is burn-in")
    parser.add_argument("--words", type=int, default=100)
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/agreement.jsonl"), help="runs done, kept")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    data = {"sweeps": options.sweeps, "words": options.words, "documents": options.documents}
    keys = [{**run._asdict(), **data, "seed": seed} for run in RUNS for seed in range(options.seeds)]
    records = Records(options.out).run(measure, keys, options.processes)
    results = [records[i * options.seeds : (i + 1) * options.seeds] for i in range(len(RUNS))]
    corpus = sample(options.documents, options.words)
    rows = [summary(run, done, results[0]) for run, done in zip(RUNS, results, strict=True)]
    sizes = f"{corpus.n_documents} documents, {corpus.n_words} words, {corpus.n_tokens} tokens"
    return f"{sizes}\n\n{table(rows)}"
