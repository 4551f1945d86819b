"""Downey, Bhagavatula and Yang 2015, Fig. 3: the time of passes by the number of topics, from random starts.

Trees, LDA, Pachinko allocation, hierarchical Pachinko allocation and nested HDPs. As in the paper, few passes stand for
many where a system is slow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from benchmarks.harness.corpora import load
from benchmarks.harness.records import Record
from benchmarks.harness.units import processor_seconds

from stickbreak.corpus import planted_lda

from .downey_small import PACHINKO, SYSTEMS, mean, model_of
from .study import NOT_RUN, TINY, Claim, Study, Verdict, in_all, main, number

PAPER = {
    "corpora": ["reuters21578"],
    "topics": [18, 108, 972, 8748, 104_976],
    "systems": SYSTEMS,
    "lda_most": 8748,
    "others_most": 972,
    "super": 10,
    "passes": 100,
    "runs": 1,
}
QUICK = {"corpora": [TINY], "topics": [6, 18], "passes": 2, "super": 2}
LARGE = 972  # topics: where the paper finds an order of magnitude


def keys(settings: Record) -> list[Record]:
    """Return a run for each corpus, system, number of topics and seed."""
    most = {"LDA": settings["lda_most"], **dict.fromkeys([*PACHINKO, "NestedHDP"], settings["others_most"])}
    return [
        {"corpus": c, "system": s, "topics": K, "super": settings["super"], "passes": settings["passes"], "seed": seed}
        for c in settings["corpora"]
        for s in settings["systems"]
        for K in settings["topics"]
        for seed in range(settings["runs"])
        if most.get(s, K) >= K
    ]


def measure(key: Record) -> Record:
    """Fit one model; return the processor seconds of all its passes."""
    train = load(key["corpus"]).train
    tiny, _ = planted_lda(20, 30, n_topics=3, seed=0)
    model_of({**key, "topics": 6, "super": 2}, 2).fit(tiny)  # compilation is not on the clock
    model = model_of(key, key["passes"])
    return {"seconds": processor_seconds(lambda: model.fit(train))}


def rows(records: list[Record]) -> list[Record]:
    """Return a row for each system: the seconds of a pass by the number of topics, with its share of the start."""
    topics = sorted({r["topics"] for r in records})
    passes = records[0]["passes"]
    return [
        {"system": system} | {f"{K} topics": f"{found[K] / passes:.2f}" if K in found else "" for K in topics}
        for system in dict.fromkeys(r["system"] for r in records)
        for found in [mean(records, system, "seconds")]
    ]


def sublinear(records: list[Record]) -> Verdict:
    """Judge whether the time of both trees grows by less than the square root of the number of topics."""
    texts, fine = [], []
    for system in ("wide", "tall"):
        seconds = mean(records, system, "seconds")
        K, most = min(seconds), max(seconds)
        texts.append(f"{system}: {seconds[most] / seconds[K]:.1f} times the time for {most // K} times the topics")
        fine.append(seconds[most] / seconds[K] < np.sqrt(most / K))
    return "; ".join(texts), in_all(fine)


def costlier(*systems: str) -> Any:
    """Return a judge: do systems take ten times as long as the slower tree with 972 topics or more?"""

    def judge(records: list[Record]) -> Verdict:
        texts, large = [], []
        trees = [mean(records, system, "seconds") for system in ("wide", "tall")]
        for system in systems:
            for K, seconds in mean(records, system, "seconds").items():
                ratio = seconds / max(tree[K] for tree in trees)
                texts.append(f"{system}, {K} topics: {ratio:.1f} times a tree's time")
                large += [ratio >= 10] if K >= LARGE else []
        return ("; ".join(texts), in_all(large) if large else None) if texts else (NOT_RUN, None)

    return judge


def twelve_times(rows: list[Record]) -> Verdict:
    """Judge whether twelve times the topics take below 1.7 times the time, from a random start, in both trees."""
    texts, fine = [], []
    for shape in ("wide", "tall"):
        passes = {
            int(number(row["topics"])): number(row["mean pass, s"])
            for row in rows
            if (row["system"], row["shape"]) == ("random start", shape)
        }
        for K, seconds in passes.items():
            if 12 * K in passes:
                texts.append(f"{shape}, {K:,} to {12 * K:,}: {passes[12 * K] / seconds:.2f}")
                fine.append(passes[12 * K] / seconds < 1.7)
    return "times the time: " + "; ".join(texts), in_all(fine)


def draw(records: list[Record], plt: Any) -> Any:
    """Draw the seconds of a pass by the number of topics, with the square root as a reference."""
    figure, panel = plt.subplots(figsize=(5.2, 3.4), layout="constrained")
    passes = records[0]["passes"]
    for system in dict.fromkeys(r["system"] for r in records):
        found = mean(records, system, "seconds")
        panel.plot(list(found), [s / passes for s in found.values()], marker="o", label=system)
    found = mean(records, "wide", "seconds")
    K = np.array(sorted(found))
    panel.plot(K, found[K[0]] / passes * np.sqrt(K / K[0]), ":", color="grey", label="square root")
    panel.set(xlabel="topics", ylabel="seconds of a pass", xscale="log", yscale="log")
    figure.legend(loc="outside right", frameon=False, fontsize=8)
    return figure


STUDY = Study(
    "downey_fig3", PAPER, QUICK,
    "Reuters-21578 takes the place of RCV1s; processor seconds of one thread, not 15 threads on the clock. Both "
    "Pachinkos are ours, which follow the tokens, and not MALLET's; so is the nested HDP. The trees begin with all "
    "leaves.",
    keys, measure, rows,
    (
        Claim("Trees take less than the square root of the number of topics longer", "Fig. 3", sublinear),
        Claim("With the most topics, twelve times the topics take below 1.7 times the time", "Sec. 5.1", twelve_times,
              "Trees of 21 November, before crowded documents were drawn level by level.",
              parts=("tree-passes",)),
        Claim("Hierarchical Pachinko allocation takes ten times as long as trees, or more", "Fig. 3",
              costlier("HierarchicalPachinko"),
              "Ours takes less time than a tree; the paper has MALLET's.", "passes=10"),
        Claim("Nested HDPs take ten times as long as trees, or more", "Fig. 3", costlier("NestedHDP"),
              "Longer, but three times. Two passes of each, with its start.", "passes=10"),
    ),
    draw,
)  # fmt: skip

if __name__ == "__main__":
    main(STUDY, __doc__)
