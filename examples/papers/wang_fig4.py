"""Wang and Blei 2012, Figs. 3 and 4: two topics that are hard to tell apart, with and without split-merge moves.

100 documents of 50 words over 12 types, five topics, two of them alike (section 4.1); eta 0.5; alpha and gamma under
Gamma(0.1, 1); one trial after each of 1000 sweeps; sequential start.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from benchmarks.harness.records import Record
from benchmarks.samplers import twins

from .study import Claim, Study, Verdict, main

PAPER = {"own": 0.5, "other": 0.02, "trials": 1, "sweeps": 1000, "runs": 20}
QUICK = {"sweeps": 10, "runs": 1}
DRAWN = 40  # sweeps, evenly on the axis


def keys(settings: Record) -> list[Record]:
    """Return a pair of runs, without and with split-merge, for each seed."""
    return [
        {
            "own": settings["own"], "other": settings["other"], "representation": "franchise", "scans": 0,
            "until": None, "sweeps": settings["sweeps"], "trials": trials, "seed": seed,
        }
        for seed in range(settings["runs"])
        for trials in (0, settings["trials"])
    ]  # fmt: skip


def measure(key: Record) -> Record:
    """Run one chain; return its topics, the best joint log-likelihood and who separates the twins, by sweep."""
    return twins.measure(key)


def rows(records: list[Record]) -> list[Record]:
    """Return a row without split-merge moves, and one with them."""
    out = []
    for trials in dict.fromkeys(r["trials"] for r in records):
        runs = [r for r in records if r["trials"] == trials]
        out.append(
            {
                "split-merge trials a sweep": trials,
                "runs": len(runs),
                "twins apart in the best state": sum(r["in best"][-1] for r in runs),
                "apart in some state": sum(1 in r["separated"] for r in runs),
                "best joint, nats per token": f"{np.mean([r['best'][-1] for r in runs]):.4f}",
                "topics at the end": f"{min(r['K'][-1] for r in runs)} to {max(r['K'][-1] for r in runs)}",
                "accepted": f"{sum(r['accepted'] for r in runs)} of {sum(r['tried'] for r in runs)}",
                "processor s": f"{np.mean([r['seconds'] for r in runs]):.1f}",
            }
        )
    return out


def better_mode(records: list[Record]) -> Verdict:
    """Judge whether split-merge finds the better mode in most runs (the paper's Eq. 8 at the end)."""
    gain = np.array([b["best"][-1] - a["best"][-1] for a, b in zip(records[::2], records[1::2], strict=True)])
    text = f"best with less best without: mean {gain.mean():+.4f}, above zero in {(gain > 0).sum()} of {gain.size} runs"
    return text, bool((gain > 0).mean() > 0.5)


def only_with(records: list[Record]) -> Verdict:
    """Judge whether the twins are apart in the best state with moves in most runs, without them in few."""
    n, without, found = len(records) // 2, records[::2], records[1::2]
    a, b = (sum(r["in best"][-1] for r in runs) for runs in (without, found))
    return f"apart in the best state: {b} of {n} with, {a} of {n} without", b > n / 2 > a


def cheap(records: list[Record]) -> Verdict:
    """Judge whether moves cost less than a tenth of the time."""
    plain, moved = (sum(r["seconds"] for r in runs) for runs in (records[::2], records[1::2]))
    return f"{moved / plain - 1:+.1%} processor seconds", moved / plain < 1.1


def draw(records: list[Record], plt: Any) -> Any:
    """Draw the difference of the best log-likelihoods by sweep (Fig. 4 a) and the topics by sweep."""
    figure, panels = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    at = np.unique(np.geomspace(1, len(records[0]["K"]), DRAWN).astype(int)) - 1
    for a, b in zip(records[::2], records[1::2], strict=True):
        panels[0].plot(at + 1, np.subtract(b["best"], a["best"])[at], color="#b5203f", linewidth=0.7)
        panels[1].plot(at + 1, np.array(a["K"])[at], color="grey", linewidth=0.5)
        panels[1].plot(at + 1, np.array(b["K"])[at], color="#b5203f", linewidth=0.5)
    panels[0].axhline(0, color="black", linewidth=0.6)
    panels[0].set(xlabel="sweep", ylabel="best with less best without", xscale="log")
    panels[1].set(xlabel="sweep", ylabel="topics (red: with split-merge)", xscale="log")
    return figure


STUDY = Study(
    "wang_fig4", PAPER, QUICK,
    "The paper shows the probabilities of the words as dots: ours are those of `planted_twins`.",
    keys, measure, rows,
    (
        Claim("Split-merge finds a better mode than Gibbs sampling alone", "Fig. 4a", better_mode),
        Claim(
            "Only with split-merge are the two similar topics told apart", "Fig. 4b to d", only_with,
            "Gibbs sampling alone tells them apart in most runs, too. The paper shows one run of each.",
        ),
        Claim("The additional cost is negligible", "Sec. 4.1", cheap),
    ),
    draw,
)  # fmt: skip

if __name__ == "__main__":
    main(STUDY, __doc__)
