"""Each start on each split: objective, number of topics, held-out completion, seconds.

python benchmarks/starts.py [--splits kos nips ...] [--topics 100] [--laps 50] [--seeds 1] [--no-moves]
"""

from __future__ import annotations

import argparse

import numpy as np

from corpora import SPLITS, load_split, table
from fits import fit_row
from stickbreak import VariationalHDP


def main() -> None:
    """Run and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", nargs="+", default=list(SPLITS))
    parser.add_argument("--starts", nargs="+", default=["collapsed", "near-uniform", "documents", "anchors"])
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--laps", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--no-moves", action="store_true")
    options = parser.parse_args()
    moves = {"moves": ("reorder",)} if options.no_moves else {}
    rows = []
    for name in options.splits:
        split = load_split(name)
        for start in options.starts:
            for seed in range(options.seeds):
                model = VariationalHDP(
                    n_topics=options.topics,
                    learn=(),
                    init=start,
                    n_laps=options.laps,
                    **moves,
                    random_state=seed,
                    n_jobs=options.jobs,
                )
                row = {"corpus": name, "start": start, "seed": seed, **fit_row(model, split)}
                rows.append({**row, "merges": int(np.sum(model.trace_.get("merge_accepted", 0)))})
                print(rows[-1], flush=True)
    print(table(rows))


if __name__ == "__main__":
    main()
