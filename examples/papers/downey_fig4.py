"""Downey, Bhagavatula and Yang 2015, Figs. 4 and 5: do the topics of a subtree belong together?

The paper shows some topics of one subtree. Here leaves that share their parent are compared with leaves at random: the
overlap of their most probable words, over all pairs of leaves with enough tokens. The table shows one family.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from benchmarks.harness.corpora import load
from benchmarks.harness.records import Record

from stickbreak import BackoffTreeTopics
from stickbreak.backoff_tree.shape import shape_of

from .study import TINY, Claim, Study, Verdict, in_all, main

PAPER = {"corpora": ["reuters21578"], "shape": "tall", "topics": 8748, "passes": 100, "tokens": 20, "words": 20}
QUICK = {"corpora": [TINY], "topics": 54, "passes": 4, "tokens": 5}


def keys(settings: Record) -> list[Record]:
    """Return a run for each corpus."""
    rest = {name: value for name, value in settings.items() if name != "corpora"}
    return [{"corpus": corpus, **rest} for corpus in settings["corpora"]]


def measure(key: Record) -> Record:
    """Fit a tree; return the cosine of pairs of leaves with the same parent, and of pairs at random."""
    train, begin = load(key["corpus"]).train, time.process_time()
    shape = shape_of(key["shape"], key["topics"])
    model = BackoffTreeTopics(branching=shape.branching, n_laps=key["passes"], random_state=0).fit(train)
    enough = model.leaf_tokens_ >= key["tokens"]
    leaves, rng = model.leaves_[enough], np.random.default_rng(0)
    table: Any = model.leaf_word_.tocsr()[np.flatnonzero(enough)]
    norm = np.sqrt(np.asarray(table.multiply(table).sum(axis=1), np.float64)).ravel()
    families: dict[int, list[int]] = {}
    for place, leaf in enumerate(leaves):
        families.setdefault(int(leaf) // int(shape.branching[-1]), []).append(place)
    related = np.array([(a, b) for f in families.values() for i, a in enumerate(f) for b in f[:i]]).reshape(-1, 2)
    others = rng.integers(leaves.size, size=(max(len(related), 1), 2))
    others = others[others[:, 0] != others[:, 1]]

    def cosines(pairs: Any) -> list[float]:
        products = np.asarray(table[pairs[:, 0]].multiply(table[pairs[:, 1]]).sum(axis=1)).ravel()
        found: list[float] = (products / (norm[pairs[:, 0]] * norm[pairs[:, 1]])).tolist()
        return found

    return {"leaves": int(leaves.size), "siblings": cosines(related), "others": cosines(others),
            "seconds": time.process_time() - begin}  # fmt: skip


def rows(records: list[Record]) -> list[Record]:
    """Return a row for each corpus."""
    return [
        {
            "corpus": r["corpus"],
            "leaves with enough tokens": r["leaves"],
            "pairs with the same parent": len(r["siblings"]),
            "mean cosine": f"{np.mean(r['siblings']):.3f}",
            "at random": f"{np.mean(r['others']):.3f}",
        }
        for r in records
    ]


def related(records: list[Record]) -> Verdict:
    """Judge whether siblings are at least twice as alike as leaves at random."""
    found = {r["corpus"]: (float(np.mean(r["siblings"])), float(np.mean(r["others"]))) for r in records}
    text = "; ".join(f"{corpus}: {a:.3f} with the same parent, {b:.3f} at random" for corpus, (a, b) in found.items())
    return f"mean cosine of the words of two leaves: {text}", in_all([a > 2 * b for a, b in found.values()])


def draw(records: list[Record], plt: Any) -> Any:
    """Draw how many pairs of leaves are at least as alike as a cosine says, a panel for each corpus."""
    figure, panels = plt.subplots(
        1, len(records), figsize=(4.4 * len(records), 3.2), layout="constrained", squeeze=False
    )
    at = np.linspace(0.0, 1.0, 101)
    for panel, r in zip(panels[0], records, strict=True):
        for column, label in (("siblings", "the same parent"), ("others", "at random")):
            share = 1 - np.searchsorted(np.sort(r[column]), at) / max(len(r[column]), 1)
            panel.plot(at, share, label=label)
        panel.set(title=r["corpus"], xlabel="cosine of two leaves, or more", ylabel="share of pairs", yscale="log")
        panel.legend(frameon=False)
    return figure


STUDY = Study(
    "downey_fig4", PAPER, QUICK,
    "Reuters-21578 takes the place of RCV1 and Wikipedia's links; a measure over all leaves, not one subtree by eye.",
    keys, measure, rows,
    (Claim("Leaves of the same subtree are about related things", "Figs. 4, 5", related,
           "Of all leaves, in a tree that grew a level at a time. One that began with all leaves, with discounts that "
           "collapsed, had 0.032 and 0.028."),),
    draw,
)  # fmt: skip

if __name__ == "__main__":
    main(STUDY, __doc__)
