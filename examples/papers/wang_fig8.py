"""Wang and Blei 2012, Fig. 8: similarities of pairs of topics, eta 0.5.

The paper ranks its corpora by them and says that split-merge moves help where topics are similar. Cosines of the
expected word distributions of the last of 500 sweeps of the franchise.
"""

from __future__ import annotations

import json
import time
from itertools import pairwise
from typing import Any

import numpy as np
from benchmarks.harness.corpora import load
from benchmarks.harness.records import Record

from stickbreak import GibbsHDP

from .study import RESULTS, TINY, Claim, Study, Verdict, main, number

PAPER = {"corpora": ["ap", "kos", "nips"], "eta": 0.5, "sweeps": 500, "runs": 1}
QUICK = {"corpora": [TINY], "sweeps": 5}


def keys(settings: Record) -> list[Record]:
    """Return a run for each corpus and seed."""
    rest = {"eta": settings["eta"], "sweeps": settings["sweeps"]}
    return [{"corpus": c, **rest, "seed": seed} for c in settings["corpora"] for seed in range(settings["runs"])]


def measure(key: Record) -> Record:
    """Run one chain; return the cosines of all pairs of its topics."""
    train, begin = load(key["corpus"]).train, time.process_time()
    model = GibbsHDP(
        eta=key["eta"], representation="franchise", init="sequential", subtopic_trials=0, estimate="last",
        n_laps=key["sweeps"], random_state=key["seed"], n_jobs=1,
    ).fit(train)  # fmt: skip
    unit = model.topic_word_ / np.linalg.norm(model.topic_word_, axis=1, keepdims=True)
    pairs = (unit @ unit.T)[np.tril_indices(len(unit), k=-1)]
    return {"K": model.n_topics_, "cosines": np.sort(pairs)[::-1].round(4).tolist(),
            "seconds": time.process_time() - begin}  # fmt: skip


def rows(records: list[Record]) -> list[Record]:
    """Return a row for each run."""
    return [
        {
            "corpus": r["corpus"],
            "topics": r["K"],
            "pairs with a cosine above 0.5": sum(c > 0.5 for c in r["cosines"]),
            "of pairs": len(r["cosines"]),
            "largest": f"{max(r['cosines'], default=0):.3f}",
        }
        for r in records
    ]


def gains(eta: float) -> dict[str, float]:
    """Return what split-merge gains at the end on each corpus, of the runs of Fig. 5 that are kept, if any are."""
    path = RESULTS / "wang_fig5.json"
    kept = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []
    return {row["corpus"]: number(row["gain in mode, the end"]) for row in kept if row["eta"] == eta}


def ranked(records: list[Record]) -> Verdict:
    """Judge whether corpora that gain more by split-merge are those with more pairs that are alike."""
    share = {r["corpus"]: np.mean(np.array(r["cosines"]) > 0.5) for r in records if r["cosines"]}
    gain = gains(records[0]["eta"])
    both = sorted(share.keys() & gain.keys(), key=lambda name: share[name])
    text = "share of pairs above 0.5: " + ", ".join(f"{name} {value:.1%}" for name, value in share.items())
    if len(both) < 2:
        return text, None
    text += "; gain in the mode: " + ", ".join(f"{name} {gain[name]:+.4f}" for name in reversed(both))
    return text, all(gain[more] > max(gain[less], 0.0) for less, more in pairwise(both))


def draw(records: list[Record], plt: Any) -> Any:
    """Draw a dot for each pair of topics, a line of dots for each corpus."""
    figure, panel = plt.subplots(figsize=(6, 2.4), layout="constrained")
    rng = np.random.default_rng(0)
    for i, r in enumerate(records):
        panel.plot(r["cosines"], i + 0.3 * rng.uniform(-1, 1, len(r["cosines"])), ".", markersize=2, rasterized=True)
    panel.set(yticks=range(len(records)), yticklabels=[r["corpus"] for r in records], xlabel="cosine of two topics")
    return figure


STUDY = Study(
    "wang_fig8", PAPER, QUICK,
    "AP, KOS and full NIPS papers in place of the paper's three collections of abstracts.",
    keys, measure, rows,
    (
        Claim(
            "Corpora whose topics are more alike are those where split-merge helps", "Fig. 8", ranked,
            "The gains are means of five pairs of runs with this eta (Fig. 6), none of them far from zero. The paper's "
            "corpora are not here.",
        ),
    ),
    draw,
)  # fmt: skip

if __name__ == "__main__":
    main(STUDY, __doc__)
