"""Tokens a second of the hybrid beside tomotopy and gensim at the same number of topics, one thread.

Each system first learns for some passes, since its cost changes as topics form; then the systems take turns in one
process, a pass each (gensim: some minibatches), and the best of the rounds counts, by the processor's clock. The hybrid
draws each token ten times in a pass (5 + 5 sweeps), the samplers of tomotopy once; gensim does about as many rounds of
variational updates as a document needs. So there are two columns: tokens of the collection, and tokens drawn.

    python benchmarks/hybrid_peers.py [--splits kos nips] [--topics 100 1000] [--batch-sizes 100 1000] [--rounds 3]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from typing import Any

from threadpoolctl import threadpool_limits

from contenders import ALPHA, Gensim, Hybrid, Tomotopy, add_documents, processor_seconds
from corpora import Split, load_split, table
from stickbreak.corpus import Corpus

ETA = 0.1
SWEEPS = 10  # of a document of the hybrid


class TomotopyLDA:
    """tomotopy's LDAModel, one thread, with the same total concentration."""

    def __init__(self, corpus: Corpus, n_topics: int) -> None:
        import tomotopy

        self._model = tomotopy.LDAModel(k=n_topics, alpha=ALPHA / n_topics, eta=ETA, seed=0)
        self._model.optim_interval = 0
        add_documents(self._model, corpus)

    def work(self) -> Iterator[float]:
        while True:
            yield processor_seconds(partial(self._model.train, 1, workers=1))


def contenders(split: Split, n_topics: int, batch_sizes: list[int]) -> dict[str, tuple[Any, float, int, int]]:
    """Return each system with its units of work: tokens of a unit, draws of a token, units before it is timed."""
    corpus, settings = split.train, {"eta": ETA, "seed": 0}
    n_tokens, n_documents = float(corpus.n_tokens), corpus.n_documents
    out: dict[str, tuple[Any, float, int, int]] = {}
    for size in batch_sizes:
        per_unit = n_tokens * min(size, n_documents) / n_documents
        hybrid = Hybrid(corpus, n_topics, batch_size=min(size, n_documents), **settings)
        out[f"hybrid, {size} documents"] = hybrid.work(), per_unit, SWEEPS, -(-3 * n_documents // size)
    out["tomotopy LDA"] = TomotopyLDA(corpus, n_topics).work(), n_tokens, 1, 30
    out["tomotopy HDP"] = Tomotopy(corpus, n_topics, fixed=True, **settings).work(), n_tokens, 1, 30
    gensim = Gensim(corpus, n_topics, batch_size=100, **settings)
    out["gensim HDP, 100 documents"] = gensim.work(), n_tokens * 100 / n_documents, 0, 10
    return out


def rates(split: Split, n_topics: int, batch_sizes: list[int], rounds: int) -> list[dict[str, object]]:
    """Return the rows of a corpus."""
    systems = contenders(split, n_topics, batch_sizes)
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


def main() -> None:
    """Run and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", nargs="+", default=["kos", "nips"])
    parser.add_argument("--topics", nargs="+", type=int, default=[100, 1000])
    parser.add_argument("--batch-sizes", nargs="+", type=int, default=[100, 1000])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    for name in options.splits:
        for n_topics in options.topics:
            rows += rates(load_split(name), n_topics, options.batch_sizes, options.rounds)
    print(table(rows))


if __name__ == "__main__":
    with threadpool_limits(1, user_api="blas"):
        main()
