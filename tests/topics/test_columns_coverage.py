"""Intervals of the effects of columns on topics hold planted effects at their rate."""

import numpy as np
import pytest
from benchmarks.questions.prevalence import EFFECTS, drawn, estimates


@pytest.mark.parametrize(("topics", "n", "least", "attenuation"), [("known", 24, 0.93, 0.05), ("eta", 10, 0.9, 0.1)])
def test_intervals_cover_planted_effects(topics: str, n: int, least: float, attenuation: float) -> None:
    found = [estimates(*drawn(200, 50.0, 0.2, seed), 30, seed, topics) for seed in range(n)]
    kept = [one for one in found if one is not None]
    assert len(kept) >= 0.8 * n
    estimate, reach = (np.array(part) for part in zip(*kept, strict=True))
    assert least < (np.abs(estimate - EFFECTS) <= reach).mean() < 0.99
    assert (estimate.mean(axis=0) * EFFECTS).sum() / (EFFECTS**2).sum() == pytest.approx(1.0, abs=attenuation)
