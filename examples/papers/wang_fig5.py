"""Wang and Blei 2012, Figs. 5, 6 and 7: the franchise with and without split-merge moves on real documents.

Sequential start; alpha and gamma under Gamma(1, 1); split-merge trials in the first 50 of 500 sweeps; runs with and
without them start in the same state. Compared are the modes (the best joint log-likelihood so far) and the held-out
completion at equal processor time.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from benchmarks.harness.records import Record
from benchmarks.samplers import split_merge
from benchmarks.samplers.split_merge import at_time

from .study import TINY, Claim, Study, Verdict, in_all, main, number

PAPER = {"corpora": ["ap", "kos", "nips"], "eta": [0.1, 0.2, 0.5], "sweeps": 500, "trials": 1, "runs": 20}
QUICK = {"corpora": [TINY], "eta": [0.5], "sweeps": 5, "runs": 1}


def keys(settings: Record) -> list[Record]:
    """Return a pair of runs, without and with split-merge, for each corpus, eta and seed."""
    return [
        {
            "corpus": corpus, "eta": eta, "trials": trials, "sweeps": settings["sweeps"],
            "representation": "franchise", "seed": seed,
        }
        for corpus in settings["corpora"]
        for eta in settings["eta"]
        for seed in range(settings["runs"])
        for trials in (0, settings["trials"])
    ]  # fmt: skip


@cache
def compile_kernels() -> None:
    """Run a chain over a few documents: compilation is not on the clock."""
    split_merge.measure({**keys({**PAPER, **QUICK})[1], "sweeps": 3})


def measure(key: Record) -> Record:
    """Run one chain; return what it reached at each look, with the best joint log-likelihood so far."""
    compile_kernels()
    found = split_merge.measure(key)
    return {**found, "mode": np.maximum.accumulate(found["joint"]).tolist(), "at": found["seconds"],
            "seconds": found["seconds"][-1]}  # fmt: skip


def pairs(records: list[Record]) -> dict[tuple[str, float], list[tuple[Record, Record]]]:
    """Return the pairs of runs without and with split-merge, of each corpus and eta."""
    found: dict[tuple[str, float], list[tuple[Record, Record]]] = {}
    for plain, moved in zip(records[::2], records[1::2], strict=True):
        found.setdefault((plain["corpus"], plain["eta"]), []).append((plain, moved))
    return found


def gains(both: list[tuple[Record, Record]], column: str, share: float) -> Any:
    """Return what split-merge gains at a share of the time of the shorter run, for each pair."""
    out = []
    for plain, moved in both:
        end = share * min(plain["at"][-1], moved["at"][-1])
        one, other = ({**record, "seconds": record["at"]} for record in (plain, moved))
        out.append(at_time(other, column, end) - at_time(one, column, end))
    return np.array(out)


def rows(records: list[Record]) -> list[Record]:
    """Return a row for each corpus and eta: gains of split-merge, the means and the range over seeds."""
    out = []
    for (corpus, eta), both in pairs(records).items():
        row: Record = {"corpus": corpus, "eta": eta, "runs": len(both)}
        for column in ("mode", "held-out"):
            for share, when in ((0.1, "a tenth of the time"), (1.0, "the end")):
                gain = gains(both, column, share)
                row[f"gain in {column}, {when}"] = f"{gain.mean():+.4f} ({gain.min():+.4f} to {gain.max():+.4f})"
        tried, accepted = (sum(moved[name] for _, moved in both) for name in ("tried", "accepted"))
        row["accepted"] = f"{accepted} of {tried}"
        for i, name in enumerate(("without", "with")):
            row[f"topics {name}"] = f"{np.mean([pair[i]['K'][-1] for pair in both]):.0f}"
        row["processor s"] = f"{np.mean([record['seconds'] for pair in both for record in pair]):.0f}"
        out.append(row)
    return out


def enough(records: list[Record]) -> bool:
    """Return whether there are several pairs of runs for each corpus and eta."""
    return min(len(both) for both in pairs(records).values()) > 1


def never_worse(records: list[Record]) -> Verdict:
    """Judge whether split-merge is at least as good at the end; one pair of runs is too few."""
    found = {name: gains(both, "mode", 1.0).mean() for name, both in pairs(records).items()}
    text = "; ".join(f"{corpus}, eta {eta:g}: {gain:+.4f}" for (corpus, eta), gain in found.items())
    return f"gain in the mode at the end, nats per token: {text}", (
        in_all([gain >= 0 for gain in found.values()]) if enough(records) else None
    )


def sometimes_faster(records: list[Record]) -> Verdict:
    """Judge whether split-merge is ahead early for some corpus and eta, in all runs; one pair of runs is too few."""
    found = {name: gains(both, "mode", 0.1) for name, both in pairs(records).items()}
    text = "; ".join(f"{corpus}, eta {eta:g}: {gain.mean():+.4f}" for (corpus, eta), gain in found.items())
    ahead = any(gain.min() > 0 and gain.mean() > 0.005 for gain in found.values())
    return f"gain in the mode after a tenth of the time: {text}", ahead if enough(records) else None


def accepted(rows: list[Record]) -> Verdict:
    """Judge whether 2 to 4 % of the moves are accepted on each corpus, in the mean of the values of eta."""
    found = {row["corpus"]: [number(r["accepted"]) for r in rows if r["corpus"] == row["corpus"]] for row in rows}
    text = "; ".join(f"{corpus} {np.mean(shares):.1f} %" for corpus, shares in found.items())
    return text, in_all([2 <= np.mean(shares) <= 4 for shares in found.values()])


def draw(records: list[Record], plt: Any) -> Any:
    """Draw what split-merge gains in the mode and in held-out score, against processor seconds: two rows a corpus."""
    found = pairs(records)
    corpora, etas = (list(dict.fromkeys(name[i] for name in found)) for i in (0, 1))
    size = (2.8 * len(etas), 4.2 * len(corpora))
    figure, panels = plt.subplots(2 * len(corpora), len(etas), figsize=size, layout="constrained", squeeze=False)
    shares = np.geomspace(0.01, 1, 30)
    for (corpus, eta), both in found.items():
        row = 2 * corpora.index(corpus)
        column = panels[row : row + 2, etas.index(eta)]
        end = np.mean([min(plain["at"][-1], moved["at"][-1]) for plain, moved in both])
        for panel, name in zip(column, ("mode", "held-out"), strict=True):
            values = np.array([gains(both, name, share) for share in shares])
            panel.plot(shares * end, values, color="lightgrey", linewidth=0.8)
            panel.plot(shares * end, values.mean(axis=1), color="#b5203f")
            panel.axhline(0, color="black", linewidth=0.6)
            panel.set_xscale("log")
        column[0].set_title(f"{corpus}, eta {eta:g}", fontsize=9)
        column[1].set_xlabel("processor s")
    for panel, name in zip(panels[:, 0], ("gain in the mode", "gain held out") * len(corpora), strict=True):
        panel.set_ylabel(name)
    return figure


STUDY = Study(
    "wang_fig5", PAPER, QUICK,
    "The paper's abstracts (ARXIV, ML+IR, NIPS abstracts) are not here: AP, KOS and full NIPS papers, a tenth held out "
    "instead of a fifth.",
    keys, measure, rows,
    (
        Claim(
            "With split-merge, the sampler is never worse at the end", "Figs. 6, 7", never_worse,
            "Means of five pairs of runs. On AP the best joint is that of one of the first sweeps, and lower with "
            "split-merge. Held out, the ends differ by 0.015 at most.",
        ),
        Claim(
            "With some settings split-merge reaches a better mode sooner", "Fig. 6", sometimes_faster,
            "In all runs of a setting, and by 0.005 in the mean: in none. On KOS with eta 0.5 it is ahead in the mean.",
        ),
        Claim(
            "About 3 % of the split-merge moves are accepted", "Sec. 4.2", accepted,
            "Table indicators, ten trials in each of the first 50 sweeps. With the franchise and one trial 31 of "
            "1,500 were (AP 23, KOS 8).",
            parts=("split-merge", "split-merge-reuters"),
        ),
    ),
    draw,
)  # fmt: skip

if __name__ == "__main__":
    main(STUDY, __doc__)
