"""Burkhardt and Kramer 2017, Sec. 4.5: as many topics as allowed from the first update, or growth from one topic.

Minibatches, steps and priors of Fig. 1. One hybrid begins with the topics of the truncation, the other with one topic
and no truncation.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from benchmarks.harness.corpora import load
from benchmarks.harness.fold_in import FoldIn
from benchmarks.harness.matched import Hybrid
from benchmarks.harness.peers import ALPHA
from benchmarks.harness.records import Record

from stickbreak.corpus import planted_lda

from .study import TINY, Claim, Study, Verdict, in_all, main

PAPER = {"corpora": ["nips", "kos"], "eta": 0.01, "topics": 100, "batch": 100, "updates": 1000, "runs": 1}
QUICK = {"corpora": [TINY], "topics": 8, "batch": 40, "updates": 4}
SYSTEMS: dict[str, Any] = {"truncated": Hybrid, "from one topic": partial(Hybrid, top_level="unbounded", n_topics=1)}


def keys(settings: Record) -> list[Record]:
    """Return a run for each corpus, system and seed."""
    return [
        {"corpus": c, "system": s, "batch": settings["batch"], "K": settings["topics"], "eta": settings["eta"],
         "updates": settings["updates"], "seed": seed}
        for c in settings["corpora"]
        for s in SYSTEMS
        for seed in range(settings["runs"])
    ]  # fmt: skip


@cache
def compile_kernels(system: str) -> None:
    """Take two steps on a tiny collection: compilation is not on the clock."""
    tiny, _ = planted_lda(20, 30, n_topics=3, seed=0)
    steps = SYSTEMS[system](tiny, {"K": 3, "batch": 10, "eta": 0.1, "seed": 0}).work()
    next(steps), next(steps)


def measure(key: Record) -> Record:
    """Make the updates of one run; return its scores after the last."""
    compile_kernels(key["system"])
    split = load(key["corpus"])
    system, seconds = SYSTEMS[key["system"]](split.train, key), 0.0
    for _, spent in zip(range(key["updates"]), system.work(), strict=False):
        seconds += spent
    judge: Any = FoldIn(split, ALPHA)
    answer = system.answer()
    per_word, used = judge.per_word(*answer)
    return {"per word": per_word, "completion": judge.completion(*answer), "used": used, "seconds": seconds,
            "topics": len(answer[0]), "passes": system.passes}  # fmt: skip


def rows(records: list[Record]) -> list[Record]:
    """Return a row for each run."""
    return [
        {
            "corpus": r["corpus"],
            "system": r["system"],
            "topics": r["topics"],
            "topics (99 % of tokens)": r["used"],
            "per-word log-likelihood": f"{r['per word']:.3f}",
            "completion": f"{r['completion']:.3f}",
            "passes": f"{r['passes']:.1f}",
            "processor s": f"{r['seconds']:.0f}",
        }
        for r in records
    ]


def truncated_ahead(records: list[Record]) -> Verdict:
    """Judge whether the truncated hybrid is ahead of the one that grows, in both scores and in every run."""
    grown = {(r["corpus"], r["seed"]): r for r in records if r["system"] != "truncated"}
    texts, fine = [], []
    for a in (r for r in records if r["system"] == "truncated"):
        b = grown[a["corpus"], a["seed"]]
        gains = [a[score] - b[score] for score in ("per word", "completion")]
        texts.append(f"{a['corpus']}: {gains[0]:+.2f}, completion {gains[1]:+.2f}, {a['used']} and {b['used']} topics")
        fine += [gain > 0 for gain in gains]
    return f"truncated less grown, nats a word, topics with 99 % of the tokens: {'; '.join(texts)}", in_all(fine)


STUDY = Study(
    "burkhardt_growth", PAPER, QUICK,
    "The paper has no run of growth: it says so of Wang and Blei's truncation-free method, whose sampler is another. "
    "Both sides are our hybrid.",
    keys, measure, rows,
    (Claim("To begin with as many topics as allowed is better than to grow from one", "Sec. 4.5", truncated_ahead),),
)  # fmt: skip

if __name__ == "__main__":
    main(STUDY, __doc__)
