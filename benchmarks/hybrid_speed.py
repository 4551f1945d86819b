"""What a token costs the hybrid, sparse beside dense, as topics grow in number; and what it predicts beside others.

Speed: the model learns some laps from the training documents first, since a document has fewer topics then. After that
the two samplers take turns on the same minibatches under the same globals, round by round; the table has the least
processor nanoseconds of a round for each token that is resampled. "weights" is what the minibatch costs before its
first token (weights of topics and of its words), "step" what it costs after its last.

With --held-out instead: document completion after some laps, and processor seconds of the fit, beside the others. With
--stream: generated documents through `partial_fit`, K topics of 30,000 words; the resident memory and the rate, by
tenths of the stream (Linux only).

    python benchmarks/hybrid_speed.py [--splits kos] [--topics 100 1000] [--batch-sizes 100 1000] [--laps 5]
        [--rounds 3] [--held-out] [--stream] [--tokens 10000000]
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from corpora import Split, load_split, table
from stickbreak import GibbsHDP, HybridHDP, VariationalHDP
from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import Tokens
from stickbreak.evaluation import document_completion
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.fitting.hyperparameters import LEARNABLE
from stickbreak.hybrid.document_sampler import SAMPLERS, Sweeps, TableFactors, sample, words_of
from stickbreak.hybrid.global_step import take_step
from stickbreak.hybrid.laps import HybridLaps, Room, Rules, Steps
from stickbreak.hybrid.starts import random_state
from stickbreak.hybrid.state import HybridState, Priors
from stickbreak.hybrid.word_weights import Tables, weigh

PRIORS = Priors(1.0, 1.0, 0.1, "mean_field", "ratio")
BURN_IN, SAVED = 5, 5
PAPER: dict[str, Any] = {"alpha": 1.0, "gamma": 1.0, "eta": 0.1, "init": "random", "learning_offset": 1.0, "n_laps": 10}
RANDOM = {**PAPER, "alpha": 5.0, "eta": 0.02}
HYBRIDS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "defaults, 10 laps": {"n_laps": 10},
    "defaults, 30 laps": {"n_laps": 30},
    "defaults, 10 laps, φ mean field": {"n_laps": 10, "phi_weight": "mean_field"},
    "defaults, 10 laps, all learned": {"n_laps": 10, "learn": LEARNABLE},
    "defaults, 10 laps, α = 1, η = 0.1": {"n_laps": 10, "alpha": 1.0, "eta": 0.1},
    "random start": RANDOM,
    "random start, 40 laps": {**RANDOM, "n_laps": 40},
    "random start, all learned": {**RANDOM, "learn": LEARNABLE},
    "random start, α = 1, η = 0.1": PAPER,
    "random start, α = 1, η = 0.1, 40 laps": {**PAPER, "n_laps": 40},
    "random start, α = 1, η = 0.1, all learned": {**PAPER, "learn": LEARNABLE},
    "random start, α = 1, η = 0.1, φ mean field": {**PAPER, "phi_weight": "mean_field"},
    "unbounded": {"top_level": "unbounded"},
    **{
        f"random start, α = 1, η = 0.1, unbounded from {n_topics}, γ = {gamma:g}, decay {decay:g}": {
            **PAPER, "n_topics": n_topics, "top_level": "unbounded", "gamma": gamma, "g_weight": "ratio",
            "learning_decay": decay,
        }
        for n_topics in (1, 20, 100)
        for gamma, decay in ((1.0, 0.6), (10.0, 0.6), (10.0, 0.3))
    },
}  # fmt: skip
OTHERS: dict[str, Callable[[], Any]] = {
    "variational": lambda: VariationalHDP(
        learn=(), n_topics=100, n_laps=40, document_weights="collapsed", random_state=0
    ),
    "Gibbs": lambda: GibbsHDP(eta=0.1, random_state=0),
}
FITS: dict[str, Callable[[], Any]] = {
    **{
        f"hybrid, {name}": partial(HybridHDP, **{"n_topics": 100, "random_state": 0, **settings})
        for name, settings in HYBRIDS.items()
    },
    **OTHERS,
}


def learned(corpus: Corpus, n_topics: int, laps: int, executor: ThreadExecutor) -> HybridState:
    """Return the globals after some laps from a random start."""
    rules = Rules(PRIORS, Sweeps(BURN_IN, SAVED), 0.6, 1.0, 0)
    steps = Steps(rules, executor, Room())
    work = HybridLaps(steps, corpus, 100, lambda report, stop: random_state(corpus, n_topics, 0, 1.0))
    work.begin(lambda event: None, lambda: False)
    further = work.laps(0)
    for _ in range(laps):
        next(further)
    return work.state


class Costs:
    """Processor nanoseconds of the parts of a step, for each token that is resampled."""

    def __init__(self, state: HybridState, corpus: Corpus, batch_size: int, executor: ThreadExecutor) -> None:
        rows = range(0, min(corpus.n_documents, 1000), batch_size)
        self._state, self._executor, self._factors, self._tables = state, executor, TableFactors(), Tables()
        self._minibatches = [Tokens.from_corpus(corpus[begin : begin + batch_size]) for begin in rows]
        self._n_resampled = sum(tokens.word.size for tokens in self._minibatches) * (BURN_IN + SAVED)
        self.topics_of_a_token = 0.0

    def round(self, sampler: str) -> dict[str, float]:
        """Return the cost of one pass; the globals stay as they are."""
        spent = dict.fromkeys(("weights", "sampling", "step"), 0.0)
        there, n_tokens = 0, 0
        for number, tokens in enumerate(self._minibatches):
            words, word = words_of(tokens)
            began = time.process_time()
            weights = weigh(words, self._state, PRIORS, self._tables, self._executor, sparse=sampler == "sparse")
            weighed = time.process_time()
            sweeps, key = Sweeps(BURN_IN, SAVED, sampler), np.uint64(number)
            found = sample(tokens, word, weights, PRIORS.alpha, self._factors, sweeps, key, self._executor)
            copied, state = time.process_time(), deepcopy(self._state)
            sampled = time.process_time()
            self._tables.give_back(weights, self._executor)
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
    with ThreadExecutor(1) as executor:
        for n_topics in options.topics:
            state = learned(split.train, n_topics, options.laps, executor)
            for batch_size in options.batch_sizes:
                costs = Costs(state, split.train, batch_size, executor)
                rounds: dict[str, list[dict[str, float]]] = {sampler: [] for sampler in SAMPLERS}
                for _ in range(options.rounds + 1):  # the first compiles
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


def predictions(split: Split) -> list[dict[str, object]]:
    """Return the rows of a corpus: how well the families predict, and what they cost."""
    rows: list[dict[str, object]] = []
    for name, make in FITS.items():
        began = time.process_time()
        model = make().fit(split.train)
        seconds = time.process_time() - began
        done = document_completion(model, split.observed, split.held_out, seen=split.seen)
        rows.append(
            {
                "corpus": split.name,
                "fit": name,
                "held-out": f"{done.active:.4f}",
                "topics": model.n_topics_,
                "α, γ, η at the end": f"{model.alpha_:.2g}, {model.gamma_:.2g}, {model.eta_:.2g}",
                "processor seconds": f"{seconds:.0f}",
            }
        )
        print(rows[-1], flush=True)
    return rows


def resident() -> float:
    """Return the resident memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def generated(n_words: int, n_documents: int, seed: int) -> Iterator[Corpus]:
    """Yield minibatches without end: 150 tokens a document, of three out of 50 topics."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_words, 0.05), 50)
    edges = np.cumsum(topics, axis=1)
    while True:
        rows, words = [], []
        for d in range(n_documents):
            for k in rng.choice(50, 3, replace=False):
                found = np.searchsorted(edges[k], rng.random(50))
                words.append(np.minimum(found, n_words - 1))
                rows.append(np.full(50, d))
        pairs = np.concatenate(rows), np.concatenate(words)
        ones = np.ones(pairs[0].size, dtype=np.int64)
        yield Corpus.from_counts(sp.coo_matrix((ones, pairs), shape=(n_documents, n_words)).tocsr())


def stream(n_topics: int, n_tokens: int) -> list[dict[str, object]]:
    """Return the rows of a stream, a tenth each."""
    n_documents = 200
    per_step = n_documents * 150
    model = HybridHDP(
        n_topics=n_topics,
        alpha=5.0,
        eta=0.02,
        init="random",
        total_documents=n_tokens // 150 + n_documents,
        random_state=0,
    )
    minibatches = generated(30_000, n_documents, 0)
    rows: list[dict[str, object]] = []
    for tenth in range(1, 11):
        seconds = 0.0
        for _ in range(n_tokens // per_step // 10):
            minibatch = next(minibatches)
            began = time.process_time()
            model.partial_fit(minibatch)
            seconds += time.process_time() - began
        done = n_tokens // per_step // 10 * per_step
        rows.append(
            {
                "K": n_topics,
                "tokens so far": f"{tenth * done:,}",
                "tokens a second": f"{done / seconds:,.0f}",
                "memory, MiB": f"{resident():.0f}",
                "predictive, nats": f"{model.objective_:.3f}",
                "topics": model.n_topics_,
            }
        )
    return rows


def main() -> None:
    """Run and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", nargs="+", default=["kos"])
    parser.add_argument("--topics", nargs="+", type=int, default=[100, 1000])
    parser.add_argument("--batch-sizes", nargs="+", type=int, default=[100, 1000])
    parser.add_argument("--laps", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--stream", action="store_true")
    parser.add_argument("--tokens", type=int, default=10_000_000)
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    for name in options.splits if not options.stream else ():
        split = load_split(name)
        rows += predictions(split) if options.held_out else speed(split, options)
    for n_topics in options.topics if options.stream else ():
        rows += stream(n_topics, options.tokens)
    print(table(rows))


if __name__ == "__main__":
    with threadpool_limits(1, user_api="blas"):
        main()
