"""Hughes, Kim and Sudderth 2015, section 4.5: what a document costs, direct assignment O(N K), franchise O(N K J).

Seconds of a pass of stochastic steps over a collection, with K topics; in the franchise (`OnlineHDP`) a document has J
tables. No move, no restart; the same minibatches.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from benchmarks.harness.corpora import load
from benchmarks.harness.records import Record
from benchmarks.harness.units import processor_seconds

from stickbreak import VariationalHDP
from stickbreak.corpus import Corpus, planted_lda
from stickbreak_baselines import OnlineHDP

from .study import TINY, Claim, Study, Verdict, in_all, main

PAPER = {"corpora": ["kos"], "topics": [50, 100, 200], "tables": [10, 20, 40], "batches": 20, "laps": 2}
QUICK = {"corpora": [TINY], "topics": [4, 8], "tables": [2, 4], "batches": 3}
DIRECT = "direct assignment"


def keys(settings: Record) -> list[Record]:
    """Return a run for each corpus, number of topics and of tables; 0 tables stand for direct assignment."""
    return [
        {"corpus": c, "K": K, "J": J, "batches": settings["batches"], "laps": settings["laps"], "seed": 0}
        for c in settings["corpora"]
        for K in settings["topics"]
        for J in (0, *settings["tables"])
    ]


def model_of(key: Record, documents: int) -> Any:
    """Return the model of a key."""
    shared: Record = {"alpha": 0.5, "gamma": 10.0, "eta": 0.1, "learning_decay": 0.5, "learning_offset": 1.0,
                      "n_topics": key["K"], "total_documents": documents, "random_state": key["seed"],
                      "n_jobs": 1}  # fmt: skip
    if key["J"]:
        return OnlineHDP(n_tables=key["J"], table_start="even", **shared)
    start: Record = {"init": "near-uniform", "schedule": "stochastic", "moves": ("reorder",), "learn": (),
                     "restarts": 0}  # fmt: skip
    return VariationalHDP(**start, **shared)


def measure(key: Record) -> Record:
    """Take the steps of one model; return the processor seconds of the last pass."""
    train, rng = load(key["corpus"]).train, np.random.default_rng(key["seed"])
    tiny, _ = planted_lda(20, 30, n_topics=3, seed=0)
    model_of({**key, "K": 4, "J": min(key["J"], 4)}, 20).partial_fit(tiny)  # compilation is not on the clock
    model, seconds = model_of(key, train.n_documents), []
    for _ in range(key["laps"]):
        batches = [train[rows] for rows in np.array_split(rng.permutation(train.n_documents), key["batches"])]
        model.n_documents_seen_ = 0
        seconds.append(processor_seconds(partial(_steps, model, batches)))
    return {"seconds": sum(seconds), "last": seconds[-1]}


def _steps(model: Any, batches: list[Corpus]) -> None:
    """Take a step on each batch."""
    for batch in batches:
        model.partial_fit(batch)


def table_of(records: list[Record]) -> dict[tuple[str, int], dict[int, float]]:
    """Return the seconds of the last pass of each corpus and number of topics, by the number of tables."""
    found: dict[tuple[str, int], dict[int, float]] = {}
    for r in records:
        found.setdefault((r["corpus"], r["K"]), {})[r["J"]] = r["last"]
    return found


def rows(records: list[Record]) -> list[Record]:
    """Return a row for each corpus and number of topics: seconds of a pass."""
    return [
        {"corpus": corpus, "topics": K} | {f"{J} tables" if J else DIRECT: f"{s:.2f}" for J, s in found.items()}
        for (corpus, K), found in table_of(records).items()
    ]


def costs_more(records: list[Record]) -> Verdict:
    """Judge whether the franchise costs more with every number of tables, the more the more tables."""
    texts, fine = [], []
    for (corpus, K), found in table_of(records).items():
        direct, tables = found[0], {J: s for J, s in found.items() if J}
        few, many = min(tables), max(tables)
        texts.append(f"{corpus}, {K}: " + ", ".join(f"{s / direct:.1f} with {J}" for J, s in tables.items()))
        fine.append(min(tables.values()) > direct and tables[many] / tables[few] > np.sqrt(many / few))
    return f"times the seconds of {DIRECT}, by topics and tables: {'; '.join(texts)}", in_all(fine)


STUDY = Study(
    "hughes_cost", PAPER, QUICK,
    "The paper counts operations and times one pair of programs; here both are ours, on KOS. Sweeps until documents "
    "settle are in the seconds.",
    keys, measure, rows,
    (Claim("The franchise costs more, the more tables a document has: O(N K J), not O(N K)", "Sec. 4.5", costs_more),),
)  # fmt: skip

if __name__ == "__main__":
    main(STUDY, __doc__)
