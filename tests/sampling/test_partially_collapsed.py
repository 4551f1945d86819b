"""Topics and weights sampled, documents in parallel: a sweep is that of its twin, and the rest has its law."""

from collections import Counter

import numpy as np

from stickbreak.sampling.representations import PartiallyCollapsed, Sweep

from . import partially_collapsed_twin as twins
from .chains import ONE_THREAD
from .test_sweeps import CASES, N_WORDS, Case, relabelled


def test_sweep_is_that_of_the_twin():
    paths = Counter()
    for seed in CASES:
        case = Case(seed)
        sampler = PartiallyCollapsed(case.tokens)
        counts = case.start(sampler)
        sampler.beta = np.random.default_rng(seed).dirichlet(np.ones(max(case.z) + 2))
        twin = twins.PartiallyCollapsed(
            case.document.tolist(), case.tokens.word.tolist(), N_WORDS, case.z, sampler.beta, **case.numbers,
            seed=(seed, 1),
        )  # fmt: skip
        twin.run()
        sampler.sweep(counts, Sweep(case.concentrations, case.ratios, (seed, 1), ONE_THREAD))
        assert case.tables(sampler) == relabelled(twin.z, twin.tables())
        paths += twin.paths
    assert min(paths[name] for name in ("document", "corpus", "new", "rest", "again")) > 5
