"""Intervals of effects hold planted effects at their rate."""

import numpy as np
from benchmarks.questions.effects import EFFECTS, drawn, estimates
from scipy import stats


def test_intervals_cover_planted_effects():
    n, inside = 40, []
    for seed in range(n):
        phi, corpus, design = drawn(150, 40.0, 5.0, 0.3, seed)
        found, reach = estimates("effects", phi, corpus, design, 5.0, 10, seed)
        inside.append((np.abs(found - EFFECTS) <= reach)[1:])
    covered = np.sum(inside)
    assert covered >= stats.binom.ppf(0.001, n * 4, 0.95) / (n * 4) * np.size(inside)  # topics of a term depend
    assert covered < np.size(inside)
