"""Learning eta of LDA from its expected counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stickbreak.collapsed.learning import eta_without_seeds
from stickbreak.numerics.arrays import Float
from stickbreak.sparse_gibbs.priors import Priors

LEARNABLE = ("alpha", "eta")


def with_eta_of(priors: Priors, S: Float) -> Priors:
    """Return the priors with the eta that maximises its posterior for expected counts S (W, K).     math.md (C7)

    Topics with pseudo-counts say nothing of it.
    """
    assert not isinstance(priors.eta, np.ndarray)
    return replace(priors, eta=eta_without_seeds(S, S.sum(axis=0), priors.n_kept, priors.eta))
