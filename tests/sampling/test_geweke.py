"""Geweke's joint-distribution test of every sampler, its concentrations and its moves."""

import numpy as np
import pytest

from stickbreak.fitting.hyperparameters import LEARNABLE, GammaPrior
from stickbreak.sampling.checks import REPRESENTATIONS

from .chains import settings
from .geweke import Joint
from .laws import largest_z, z_scores

PRIORS = {"alpha": GammaPrior(3.0, 2.0), "gamma": GammaPrior(3.0, 2.0), "eta": GammaPrior(3.0, 6.0)}
FIXED = Joint(np.array([5, 1, 0, 4]), 3, PRIORS)
N_PRIOR, N_SWEEPS = 4000, 1200
MOVES = {
    "plain": {},
    "split-merge": {"split_merge": 2, "scans": 1},
    "sub-topics": {"subtopic_trials": 3, "subtopic_passes": 3},
}


@pytest.fixture(scope="module")
def of_the_prior():
    return FIXED.of_the_prior(N_PRIOR, np.random.default_rng(1))


@pytest.mark.parametrize("moves", MOVES)
@pytest.mark.parametrize("kind", REPRESENTATIONS)
def test_chain_and_prior_have_the_same_joint_law(kind, moves, of_the_prior):
    options = settings(kind, learn=LEARNABLE, priors=PRIORS, **MOVES[moves])
    rows = FIXED.alternate(options, N_SWEEPS, np.random.default_rng(2))
    z = z_scores(rows[20:], *of_the_prior)
    assert np.abs(z).max() < 4.5
    assert np.sqrt(np.mean(z**2)) < 1.6  # three tenths too much of the concentration have 1.95


def random_joint(rng):
    """Documents, lengths, words and priors drawn at random; concentrations are seldom extreme."""
    lengths = rng.integers(0, 8, size=rng.integers(1, 7))
    lengths[rng.integers(lengths.size)] += 2
    means = {"alpha": rng.uniform(0.3, 3.0), "gamma": rng.uniform(0.3, 3.0), "eta": rng.uniform(0.2, 1.5)}
    shapes = {name: rng.uniform(2.5, 5.0) for name in means}
    priors = {name: GammaPrior(shapes[name], shapes[name] / mean) for name, mean in means.items()}
    return Joint(lengths, int(rng.integers(2, 7)), priors)


def scores_of_random_sizes(seed, kind, n_prior=4000, n_sweeps=1000):
    """Return z-scores of all statistics."""
    rng = np.random.default_rng(seed)
    joint = random_joint(rng)
    trials = int(rng.integers(3))
    subtopics = {"subtopic_trials": int(rng.integers(4)), "subtopic_passes": int(rng.integers(1, 6))}
    moves = {"split_merge": trials, "scans": trials // 2, **subtopics}
    chosen = settings(kind, learn=LEARNABLE, priors=joint.priors, **moves)
    rows = joint.alternate(chosen, n_sweeps, rng)
    return z_scores(rows[20:], *joint.of_the_prior(n_prior, rng))


@pytest.mark.parametrize("kind", REPRESENTATIONS)
def test_joint_law_holds_for_any_number_of_documents_words_and_tokens(kind, seed):
    z = scores_of_random_sizes(10 * seed + REPRESENTATIONS.index(kind), kind)
    assert np.abs(z).max() < largest_z(z.size)
    assert np.sqrt(np.mean(z**2)) < 2.0
