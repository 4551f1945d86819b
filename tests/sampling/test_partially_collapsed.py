"""Topics and weights sampled, documents in parallel: a sweep is that of its twin, and the rest has its law."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import beta as beta_law
from scipy.stats import kstest

from stickbreak.sampling.kernels import partially_collapsed as kernels
from stickbreak.sampling.representations import PartiallyCollapsed, Sweep, draw_topics
from stickbreak.sampling.state import Concentrations

from . import partially_collapsed_twin as twins
from .chains import ONE_THREAD
from .laws import ALARM
from .test_sweeps import CASES, N_WORDS, Case, relabelled

OTHER = np.zeros(1, np.uint64)


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


def rest_of(gamma, eta, n_words, seed):
    """Return the rest of a corpus without topics, alpha 1: a Dirichlet process of concentration gamma."""
    now = Concentrations(1.0, gamma, eta)
    words = Case(0).start(PartiallyCollapsed(Case(0).tokens)).words
    words = words._replace(size=np.zeros(n_words, np.int32), start=np.zeros(n_words + 1, np.int64))
    return draw_topics(words, np.ones(1), Sweep(now, Case(0).ratios, (seed, 1), ONE_THREAD)).rest


@pytest.mark.parametrize("gamma", [0.4, 1.0, 2.5, 9.0])
def test_rest_has_the_weights_of_a_dirichlet_process(gamma):
    """A topic drawn by weight has weight ~ Beta(1, gamma), its mean that of sum_e beta_e^2 = 1 / (1 + gamma)."""
    found = []
    for seed in range(1500):
        rest = rest_of(gamma, 1.0, 4, seed)
        e = kernels.topic_at(rest, np.random.default_rng(seed).random(), OTHER)
        found.append(kernels.weight_of(rest, e, OTHER))
    assert kstest(found, beta_law(1.0, gamma).cdf).pvalue > ALARM


@pytest.mark.parametrize("n_words", [1, 2, 5, 13])
def test_words_of_the_rest_have_the_dirichlet_law(n_words):
    eta = 0.4
    rest = rest_of(2.5, eta, n_words, 1)
    phi = np.array([[kernels.word_of(rest, e, w, OTHER) for w in range(n_words)] for e in range(3000)])
    np.testing.assert_allclose(phi.sum(axis=1), 1.0, rtol=1e-12)
    if n_words > 1:
        for w in range(n_words):
            assert kstest(phi[:, w], beta_law(eta, eta * (n_words - 1)).cdf).pvalue > ALARM
        products = np.array([phi[:, v] * phi[:, w] for v in range(n_words) for w in range(v)])
        expected = eta / (n_words * (n_words * eta + 1.0))  # the same for words near and far in the tree
        error = products.std(axis=1) / np.sqrt(phi.shape[0])
        assert (np.abs(products.mean(axis=1) - expected) / error).max() < 4.5
