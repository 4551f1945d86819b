"""The exact comparisons of tests/ over many seeds: hybrid documents, trees, left-to-right, Geweke with random sizes."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from tests.backoff_tree import test_exact_conditional as tree
from tests.hybrid import test_exact_documents as hybrid
from tests.prediction import test_unbiased_families as families
from tests.sampling import test_geweke as geweke
from tests.sampling.laws import ALARM, BLOCKS, largest_z

from stickbreak.sampling.checks import REPRESENTATIONS

Scores = Callable[[int], np.ndarray]

PROOFS: dict[str, tuple[int | None, dict[str, Scores]]] = {
    "hybrid": (
        BLOCKS,
        {
            f"{sampler} {weight}": lambda seed, sampler=sampler, weight=weight: hybrid.scores(seed, sampler, weight)
            for sampler in hybrid.SAMPLERS
            for weight in hybrid.G_WEIGHTS
        },
    ),
    "tree": (
        None,
        {
            name: lambda seed, at_once=at_once: tree.scores(seed, at_once)
            for name, at_once in (("serial", True), ("parallel", False))
        },
    ),
    "left-to-right": (
        BLOCKS,
        {
            **{
                f"{name}, {'resampled' if resample else 'plain'}": lambda seed, name=name, resample=resample: (
                    families.topic_scores(seed, name, resample)
                )
                for name in families.FAMILIES
                for resample in (True, False)
            },
            "tree, plain": families.tree_scores,
        },
    ),
    "geweke": (
        BLOCKS,
        {
            kind: lambda seed, kind=kind: geweke.scores_of_random_sizes(seed, kind, 8000, 2000)
            for kind in REPRESENTATIONS
        },
    ),
}
"""What is proved -> blocks that its errors come from, and the z-scores of a seed by the name of the case."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this mode."""
    parser.add_argument("--only", choices=list(PROOFS), help="one of the proofs; all if left out")
    parser.add_argument("--seeds", type=int, default=50, help="how many; each draws corpora and settings anew")
    parser.add_argument("--seed", type=int, default=0, help="the first one")


def run(arguments: argparse.Namespace) -> int:
    """Compare all cases over all seeds; print a row for each and every score that is too large; return their number."""
    seeds = range(arguments.seed, arguments.seed + arguments.seeds)
    proofs = PROOFS if arguments.only is None else {arguments.only: PROOFS[arguments.only]}
    n_failures = 0
    print(f"{'proof':<46}{'scores':>8}{'rms':>7}{'max |z|':>9}{'allowed':>9}")
    for proof, (blocks, cases) in proofs.items():
        for case, scores in cases.items():
            found = [scores(seed) for seed in seeds]
            z = np.concatenate(found)
            allowed = largest_z(z.size, blocks)
            rms, largest = np.sqrt(np.mean(z**2)), np.abs(z).max()
            print(f"{f'{proof}: {case}':<46}{z.size:>8}{rms:>7.2f}{largest:>9.2f}{allowed:>9.2f}", flush=True)
            for seed, of_seed in zip(seeds, found, strict=True):
                bad = int((np.abs(of_seed) > allowed).sum())
                n_failures += bad
                if bad:
                    print(
                        f"  seed {seed}: {bad} scores are too large: python -m fuzz exactness --seeds 1 --seed {seed}"
                    )
    print(f"{n_failures} scores of {len(seeds)} seeds are too large; {ALARM:g} is the chance of one in a right row")
    return n_failures
