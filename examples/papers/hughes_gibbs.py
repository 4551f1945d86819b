"""Hughes, Kim and Sudderth 2015, Fig. 6 and section 6.2: merges and deletes from the sampler's last topics (fromGibbs).

The sampler runs first; from its topics MOdm goes on, which merges and deletes, and MOfix, which does not. All three
are scored by one fixed point.
"""

from __future__ import annotations

import time
from typing import Any

from benchmarks.harness.corpora import load
from benchmarks.harness.fold_in import FoldIn
from benchmarks.harness.records import Record

from stickbreak import VariationalHDP

from .hughes_fig5 import gibbs
from .study import TINY, Claim, Study, Verdict, in_all, main

PAPER = {"corpora": ["nips", "kos"], "alpha": 0.5, "gamma": 10.0, "eta": 0.1, "topics": [100, 200], "batches": 20,
         "laps": 50}  # fmt: skip
QUICK = {"corpora": [TINY], "topics": [8], "batches": 3, "laps": 3}
MOVES: dict[str, Any] = {"MOdm": ("merge", "delete", "reorder"), "MOfix": ("reorder",)}


def keys(settings: Record) -> list[Record]:
    """Return a run for each corpus and number of topics at the start."""
    rest = {name: value for name, value in settings.items() if name not in ("corpora", "topics")}
    return [{**rest, "corpus": c, "K0": K, "seed": 0} for c in settings["corpora"] for K in settings["topics"]]


def measure(key: Record) -> Record:
    """Run the sampler, then both fits from its topics; return topics and held-out score of the three."""
    split, begin = load(key["corpus"]), time.process_time()
    judge: Any = FoldIn(split, key["alpha"])
    chain = gibbs(key).fit(split.train)
    found: Record = {"Gibbs": [int(chain.n_topics_), judge.completion(chain.topic_word_, chain.topic_weights_)]}
    for name, moves in MOVES.items():
        model = VariationalHDP(
            alpha=key["alpha"], gamma=key["gamma"], eta=key["eta"], learn=(), n_topics=None, init=chain.components_,
            moves=moves, n_batches=key["batches"], n_laps=key["laps"], random_state=key["seed"], n_jobs=1,
        ).fit(split.train)  # fmt: skip
        found[name] = [int(model.n_topics_), judge.completion(model.topic_word_, model.topic_weights_)]
    return {**found, "seconds": time.process_time() - begin}


def rows(records: list[Record]) -> list[Record]:
    """Return a row for each run."""
    return [
        {"corpus": r["corpus"], "topics at the start": r["K0"]}
        | {f"{name}: topics": r[name][0] for name in ("Gibbs", *MOVES)}
        | {f"{name}: held-out": f"{r[name][1]:.4f}" for name in ("Gibbs", *MOVES)}
        | {"processor s": f"{r['seconds']:.0f}"}
        for r in records
    ]


def removes(records: list[Record]) -> Verdict:
    """Judge whether MOdm has a tenth fewer topics than the sampler, and predicts better than it and than MOfix."""
    texts, fine = [], []
    for r in records:
        (K, before), (fewer, after), (_, fixed) = r["Gibbs"], r["MOdm"], r["MOfix"]
        texts.append(
            f"{r['corpus']}, {r['K0']}: {K} to {fewer} topics, {after - before:+.3f} beside the sampler, "
            f"{after - fixed:+.3f} beside MOfix"
        )
        fine.append(fewer < 0.9 * K and after > max(before, fixed))
    return "; ".join(texts) + " (nats per token)", in_all(fine)


STUDY = Study(
    "hughes_gibbs", PAPER, QUICK,
    "NIPS is here; KOS takes the place of Wikipedia and Science. A tenth is held out, not a fifth. Merges come from "
    "three lists of pairs, not from correlations alone, and each document is also tried from a fresh start.",
    keys, measure, rows,
    (Claim("From the sampler's topics merges and deletes remove many and improve prediction", "Sec. 6.2", removes,
           "The gain is that of variational updates: MOfix has it, too, to 0.0001. On NIPS two topics go."),),
)  # fmt: skip

if __name__ == "__main__":
    main(STUDY, __doc__)
