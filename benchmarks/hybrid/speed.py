"""What a token costs the hybrid, by the sparse and by the dense sampler, as the number of topics grows.

The model learns some laps from the training documents first, since a document has fewer topics then. After that the
two samplers take turns on the same minibatches under the same globals, round by round; the table has the least
processor nanoseconds of a round for each token that is resampled. "weights" is what the minibatch costs before its
first token (weights of topics and of its words), "step" what it costs after its last.
"""

from __future__ import annotations

import argparse
import time
from copy import deepcopy

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.harness.corpora import Split, load_split
from benchmarks.harness.tables import table
from stickbreak.corpus import Corpus
from stickbreak.corpus.sources import Held
from stickbreak.corpus.tokens import written_out
from stickbreak.fitting.engine import Engine
from stickbreak.hybrid.document_sampler import SAMPLERS, SweepSettings, TableFactors, in_own_words, sample
from stickbreak.hybrid.estimator import random_state
from stickbreak.hybrid.global_step import take_step
from stickbreak.hybrid.laps import HybridLaps, HybridSteps, StepScratch, StepSettings
from stickbreak.hybrid.state import HybridState, Priors
from stickbreak.hybrid.word_weights import Tables, weigh

PRIORS = Priors(1.0, 1.0, 0.1, "mean_field", "ratio")
BURN_IN, SAVED = 5, 5


def learned(corpus: Corpus, n_topics: int, laps: int, engine: Engine) -> HybridState:
    """Return the globals after some laps from a random start."""
    rules = StepSettings(PRIORS, SweepSettings(BURN_IN, SAVED), 0.6, 1.0, 0)
    steps = HybridSteps(rules, engine, StepScratch())
    shape = corpus.n_documents, corpus.n_words
    work = HybridLaps(steps, Held(corpus), shape, 100, 1, lambda report, stop: random_state(corpus, n_topics, 0, 1.0))
    work.begin(lambda event: None, lambda: False)
    further = work.laps(0)
    for _ in range(laps):
        next(further)
    return work.state


class Costs:
    """Processor nanoseconds of the parts of a step, for each token that is resampled."""

    def __init__(self, state: HybridState, corpus: Corpus, batch_size: int, engine: Engine) -> None:
        rows = range(0, min(corpus.n_documents, 1000), batch_size)
        self._state, self._engine, self._factors, self._tables = state, engine, TableFactors(), Tables()
        self._minibatches = [in_own_words(*written_out(corpus[begin : begin + batch_size])) for begin in rows]
        self._n_resampled = sum(tokens.word.size for _, tokens in self._minibatches) * (BURN_IN + SAVED)
        self.topics_of_a_token = 0.0

    def round(self, sampler: str) -> dict[str, float]:
        """Return the cost of one pass; the globals stay as they are."""
        spent = dict.fromkeys(("weights", "sampling", "step"), 0.0)
        there, n_tokens = 0, 0
        for number, (words, tokens) in enumerate(self._minibatches):
            began = time.process_time()
            weights = weigh(words, self._state, PRIORS, self._tables, self._engine, sparse=sampler == "sparse")
            weighed = time.process_time()
            sweeps, key = SweepSettings(BURN_IN, SAVED, sampler), np.uint64(number)
            found = sample(tokens, tokens.word, weights, PRIORS.alpha, self._factors, sweeps, key, self._engine)
            copied, state = time.process_time(), deepcopy(self._state)
            sampled = time.process_time()
            self._tables.give_back(weights, self._engine)
            take_step(state, tokens, words, found, 1.0, 1e-12, key)
            spent["weights"] += weighed - began
            spent["sampling"] += copied - weighed
            spent["step"] += time.process_time() - sampled
            document = np.repeat(np.arange(tokens.n_documents), tokens.lengths)
            pairs = np.unique(document * self._state.n_topics + found.z[-1]) // self._state.n_topics
            there += int(np.bincount(pairs, minlength=tokens.n_documents) @ tokens.lengths)
            n_tokens += tokens.word.size
        self.topics_of_a_token = there / n_tokens
        return {name: 1e9 * seconds / self._n_resampled for name, seconds in spent.items()}


def speed(split: Split, options: argparse.Namespace) -> list[dict[str, object]]:
    """Return the rows of a corpus: cost by number of topics, minibatch and sampler."""
    rows: list[dict[str, object]] = []
    with Engine(1) as engine:
        for n_topics in options.topics:
            state = learned(split.train, n_topics, options.laps, engine)
            for batch_size in options.batch_sizes:
                costs = Costs(state, split.train, batch_size, engine)
                rounds: dict[str, list[dict[str, float]]] = {sampler: [] for sampler in SAMPLERS}
                # The first compiles.
                for _ in range(options.rounds + 1):
                    for sampler in SAMPLERS:
                        rounds[sampler].append(costs.round(sampler))
                for sampler, found in rounds.items():
                    least = {part: min(row[part] for row in found[1:]) for part in found[0]}
                    rows.append(
                        {
                            "corpus": split.name,
                            "K": n_topics,
                            "documents of a minibatch": batch_size,
                            "sampler": sampler,
                            "topics of a document": f"{costs.topics_of_a_token:.1f}",
                            **{f"{part}, ns": f"{value:.0f}" for part, value in least.items()},
                            "all, ns": f"{sum(least.values()):.0f}",
                        }
                    )
    return rows


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--splits", nargs="+", default=["kos"])
    parser.add_argument("--topics", nargs="+", type=int, default=[100, 1000])
    parser.add_argument("--batch-sizes", nargs="+", type=int, default=[100, 1000])
    parser.add_argument("--laps", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)


@threadpool_limits.wrap(limits=1, user_api="blas")
def run(options: argparse.Namespace) -> str:
    """Return the table."""
    return table([row for name in options.splits for row in speed(load_split(name), options)])
