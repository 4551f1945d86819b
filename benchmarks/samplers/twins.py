"""Two topics that are hard to tell apart (Wang and Blei 2012, section 4.1 and Fig. 4): who separates them, and when?

100 documents of 50 words over 12 types from five topics, two of which share seven words, for each seed
(`planted_twins`); eta 0.5, alpha and gamma sampled under Gamma(0.1, 1) from the prior's mean 0.1 on
(where the authors' program begins), sequential start. A state separates the twins if the five true topics can be paired
one to one with five topics of the state (least sum of distances) such that each pair is less than 0.15 apart (total
variation, of expected word distributions), each of the five holds at least a twentieth of all tokens, and of the two
words that tell the twins apart each twin's topic gives at least three quarters to its own. Asked are the best state so
far (the one with the highest joint log-likelihood) and the current one.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmarks.harness.chains import make_chain, sweeps
from benchmarks.harness.records import Record, Records
from benchmarks.harness.tables import table
from stickbreak.corpus import Corpus, PlantedTopics
from stickbreak.corpus.examples.generators import draw, few_topics
from stickbreak.sampling.chain import Chain

ETA = 0.5
PRIOR = (0.1, 1.0)
# Of alpha and gamma.
BEGIN = PRIOR[0] / PRIOR[1]
# Total variation of a topic and its true one.
NEAR = 0.15
# Of all tokens.
LEAST_SHARE = 0.05
# Of the tokens of words 1 and 2 in a twin's topic, those of its own word.
TELLING = 0.75


class Run(NamedTuple):
    """Which moves a chain makes."""

    representation: str
    trials: int = 0
    until: int | None = None  # the last sweep with trials; None: all have them
    scans: int = 0


RUNS = [
    *(
        Run(name, trials, until)
        for name in ("franchise", "indicator")
        for trials, until in ((0, None), (1, None), (10, None), (1, 50), (10, 50))
    ),
    *(Run("franchise", trials, None, 2) for trials in (1, 10)),
]


def planted_twins(*, own: float = 0.5, other: float = 0.02, seed: int = 0) -> tuple[Corpus, PlantedTopics]:
    """Draw 100 documents of 50 words; words are named "word 1" to "word 12", and the twins are the first topics.

    The twins share words 3 to 9, each with the same highest probability; topic 1 gives word 1 much and word 2 little,
    topic 2 the reverse. Topics 3 to 5 have words 10 to 12 only. A document has one or two topics. The paper shows the
    probabilities only as dots of different sizes. The choices here: the twins give words 1 and 2 `own` and `other`
    times the probability of a shared word (with the defaults the distance of the twins, half the sum of absolute
    differences, is 0.064); topics 3 to 5 give 0.8 to a word of their own and 0.1 to each of the other two; one topic or
    two is equally likely; the topics are drawn uniformly, and the proportions of two from Dirichlet(1, 1).
    """
    rng = np.random.default_rng(seed)
    topic_word = np.zeros((5, 12))
    topic_word[:2, :2] = (own, other), (other, own)
    topic_word[:2, 2:9] = 1.0
    topic_word[2:, 9:] = 0.1 + 0.7 * np.eye(3)
    topic_word /= topic_word.sum(axis=1, keepdims=True)
    weights = few_topics(100, 5, (1, 2), rng)
    counts, used = draw(np.full(100, 50), weights, topic_word, rng)
    words = tuple(f"word {w}" for w in range(1, 13))
    return Corpus.from_counts(counts, words), PlantedTopics(topic_word, weights, used)


def separates(chain: Chain, truth: np.ndarray) -> bool:
    """Return whether the state of a chain tells the twins apart: see the head of this file."""
    counts = chain.topic_word_counts().toarray()
    if counts.shape[0] < truth.shape[0]:
        return False
    words = (counts + ETA) / (counts + ETA).sum(axis=1, keepdims=True)
    distance = np.abs(truth[:, None] - words[None]).sum(axis=2) / 2
    true, found = linear_sum_assignment(distance)
    shares = counts[found].sum(axis=1) / counts.sum()
    own = words[found[:2], [0, 1]] / words[found[:2], :2].sum(axis=1)
    return bool(distance[true, found].max() < NEAR and shares.min() >= LEAST_SHARE and own.min() >= TELLING)


def measure(key: Record) -> Record:
    """Run one chain; return what it found, sweep by sweep."""
    corpus, truth = planted_twins(own=key["own"], other=key["other"], seed=key["seed"])
    chain = make_chain(
        corpus,
        seed=key["seed"],
        concentrations=(key.get("fixed") or BEGIN, key.get("fixed") or BEGIN, ETA),
        learn=() if key.get("fixed") else ("alpha", "gamma"),
        prior=PRIOR,
        representation=key["representation"],
        split_merge=key["trials"],
        split_merge_sweeps=key["until"],
        scans=key["scans"],
    )
    best, in_best, tried = -np.inf, False, np.zeros(4, dtype=int)
    columns: dict[str, list[Any]] = {"K": [], "best": [], "separated": [], "in best": []}
    seconds = 0.0
    steps = sweeps(chain, key["sweeps"])
    while True:
        begin = time.process_time()
        trials = next(steps, None)
        seconds += time.process_time() - begin
        if trials is None:
            break
        tried += np.array(trials)
        separated, log_joint = separates(chain, truth.topic_word), chain.log_joint() / corpus.n_tokens
        if log_joint > best:
            best, in_best = log_joint, separated
        for column, value in zip(columns.values(), (chain.n_topics, best, int(separated), int(in_best)), strict=True):
            column.append(value)
    return {"tried": int(tried[0] + tried[2]), "accepted": int(tried[1] + tried[3]), "seconds": seconds, **columns}


def summary(run: Run, records: list[Record], looks: list[int]) -> Record:
    """Return the row of a run."""
    n, last = len(records), looks[-1] - 1
    first = [r["separated"].index(1) + 1 for r in records if 1 in r["separated"]]
    K = [r["K"][last] for r in records]
    tried = sum(r["tried"] for r in records)
    half = [np.mean(r["separated"][last // 2 :]) for r in records]
    row: Record = {"representation": run.representation, "trials a sweep": run.trials}
    row["in sweeps"] = "" if not run.trials else f"1 to {run.until}" if run.until else "all"
    row["scans"] = run.scans if run.trials else ""
    for look in looks:
        row[f"best of {look} sweeps separates"] = f"{sum(r['in best'][look - 1] for r in records)} of {n}"
        row[f"state at {look} does"] = f"{sum(r['separated'][look - 1] for r in records)} of {n}"
    return row | {
        "first in sweep, median": f"{np.median(first):g}" if 2 * len(first) > n else f"only {len(first)} ever",
        "later half of the sweeps that do": f"{100 * np.mean(half):.0f} %",
        "K at the end": f"{np.median(K):g} ({min(K)} to {max(K)})",
        "best joint log-likelihood": f"{np.mean([r['best'][last] for r in records]):.4f}",
        "accepted": f"{100 * sum(r['accepted'] for r in records) / tried:.1f} %" if tried else "",
        "CPU ms a sweep": f"{1000 * np.mean([r['seconds'] for r in records]) / (last + 1):.2f}",
    }


COLOURS = {"franchise": "#b5203f", "indicator": "#5560b5"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--sweeps", type=int, default=1000)
    parser.add_argument("--own", type=float, default=0.5, help="see planted_twins")
    parser.add_argument("--other", type=float, default=0.02)
    parser.add_argument("--only", nargs="+", default=list(COLOURS), choices=list(COLOURS), help="representations")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/twins.jsonl"), help="runs done, kept")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    runs = [run for run in RUNS if run.representation in options.only]
    data = {"own": options.own, "other": options.other, "sweeps": options.sweeps}
    keys = [{**run._asdict(), **data, "seed": seed} for run in runs for seed in range(options.seeds)]
    records = Records(options.out).run(measure, keys, options.processes)
    results = {run: records[i * options.seeds : (i + 1) * options.seeds] for i, run in enumerate(runs)}
    looks = [look for look in (100, options.sweeps) if look <= options.sweeps]
    return table([summary(run, done, looks) for run, done in results.items()])
