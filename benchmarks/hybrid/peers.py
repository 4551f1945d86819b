"""Tokens a second of the hybrid beside tomotopy and gensim at the same number of topics, one thread.

Each system first learns for some passes, since its cost changes as topics form; then the systems take turns in one
process, a pass each (gensim: some minibatches), and the best of the rounds counts, by the processor's clock. The hybrid
draws each token ten times in a pass (5 + 5 sweeps), the samplers of tomotopy once; gensim does about as many rounds of
variational updates as a document needs. So there are two columns: tokens of the collection, and tokens drawn.
"""

from __future__ import annotations

import argparse
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.harness.corpora import Split, load_split
from benchmarks.harness.matched import Hybrid
from benchmarks.harness.peers import ALPHA, GensimHDP, TomotopyHDP, TomotopyLDA
from benchmarks.harness.tables import table

ETA = 0.1
# Of a document of the hybrid.
SWEEPS = 10


def systems_of(split: Split, n_topics: int, batch_sizes: list[int]) -> dict[str, tuple[Any, float, int, int]]:
    """Return each system with its units of work: tokens of a unit, draws of a token, units before it is timed."""
    corpus, key = split.train, {"K": n_topics, "eta": ETA, "seed": 0}
    n_tokens, n_documents = float(corpus.n_tokens), corpus.n_documents
    out: dict[str, tuple[Any, float, int, int]] = {}
    for size in batch_sizes:
        per_unit = n_tokens * min(size, n_documents) / n_documents
        hybrid = Hybrid(corpus, {**key, "batch": size})
        out[f"hybrid, {size} documents"] = hybrid.work(), per_unit, SWEEPS, -(-3 * n_documents // size)
    # The same total concentration as the others have.
    lda = TomotopyLDA(corpus, {**key, "settings": {"alpha": ALPHA / n_topics}}, unit=1, fixed=True)
    out["tomotopy LDA"] = lda.work(), n_tokens, 1, 30
    out["tomotopy HDP"] = TomotopyHDP(corpus, key, unit=1, fixed=True).work(), n_tokens, 1, 30
    gensim = GensimHDP(corpus, {**key, "batch": 100})
    out["gensim HDP, 100 documents"] = gensim.work(), n_tokens * 100 / n_documents, 0, 10
    return out


def rates(split: Split, n_topics: int, batch_sizes: list[int], rounds: int) -> list[dict[str, object]]:
    """Return the rows of a corpus."""
    systems = systems_of(split, n_topics, batch_sizes)
    for work, _, _, warm in systems.values():
        for _ in range(warm):
            next(work)
    seconds: dict[str, list[float]] = {name: [] for name in systems}
    for _ in range(rounds):
        for name, (work, tokens, _, _) in systems.items():
            units = max(1, round(split.train.n_tokens / tokens / (1 if name.startswith("hybrid") else 5)))
            seconds[name].append(sum(next(work) for _ in range(units)) / (units * tokens))
    return [
        {
            "corpus": split.name,
            "K": n_topics,
            "system": name,
            "tokens of the collection a second": f"{1 / min(found):,.0f}",
            "tokens drawn a second": f"{systems[name][2] / min(found):,.0f}" if systems[name][2] else "",
        }
        for name, found in seconds.items()
    ]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--splits", nargs="+", default=["kos", "nips"])
    parser.add_argument("--topics", nargs="+", type=int, default=[100, 1000])
    parser.add_argument("--batch-sizes", nargs="+", type=int, default=[100, 1000])
    parser.add_argument("--rounds", type=int, default=3)


@threadpool_limits.wrap(limits=1, user_api="blas")
def run(options: argparse.Namespace) -> str:
    """Return the table."""
    rows: list[dict[str, object]] = []
    for name in options.splits:
        for n_topics in options.topics:
            rows += rates(load_split(name), n_topics, options.batch_sizes, options.rounds)
    return table(rows)
