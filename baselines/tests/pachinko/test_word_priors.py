"""Seeds, and eta by word or by topic, in Pachinko allocation: exact, and with topics that keep their numbers."""

import numpy as np
import pytest
from scipy import sparse
from tests.sampling.laws import ALARM, chi_square
from tests.topics.reference import by_word

from stickbreak.corpus import Corpus, planted_lda
from stickbreak.numerics.streams import key_of
from stickbreak_baselines.pachinko.gibbs import Gibbs
from stickbreak_baselines.pachinko.state import Priors

from . import reference
from .test_gibbs import KINDS, chain_at, numbers, shape_of, uneven


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


def known(paths, n_words, seed):
    """Return priors with an eta for each word and pseudo-counts of the first two sub-topics."""
    rng, given = np.random.default_rng(seed), uneven(paths, seed)
    table = np.zeros((n_words, paths.n_above + 2))
    table[:, paths.n_above :] = rng.gamma(0.5, 6.0, (n_words, 2)) * (rng.random((n_words, 2)) < 0.5)
    return Priors(given.a, given.b, rng.gamma(1.0, 0.2, n_words) + 0.05, sparse.csr_array(table))


def test_sweeps_draw_what_the_twin_draws(kind, seed):
    corpus, _ = planted_lda(20, 30, n_topics=5, mean_tokens=60, seed=seed)
    word, document = by_word(corpus)
    paths = kind(3, 12)
    priors = known(paths, 30, seed)
    chain = Gibbs(corpus, paths, seed, "last", priors.pseudo)
    chain.begin()
    z = numbers(chain)
    assert np.isin(z, paths.numbers()).all()
    for number in (1, 2):
        key = key_of(seed, number, "sweep of Pachinko")
        z, log_p = reference.sweep(word, document, z, paths, shape_of(corpus, paths), priors, key)
        key = key_of(seed, number, "exchange of Pachinko")
        z = reference.exchange(document, z, paths, shape_of(corpus, paths), priors, key)
        assert chain.lap(number, priors) == pytest.approx(log_p, rel=1e-5)
        np.testing.assert_array_equal(numbers(chain), z)


def test_a_lap_leaves_the_exact_posterior_as_it_is(kind):
    corpus, paths = Corpus.from_counts(np.array([[2, 1], [0, 1]])), kind(2, 2)
    priors = known(paths, 2, 3)
    states, p = reference.posterior(*by_word(corpus), paths, shape_of(corpus, paths), priors)
    rng, seen, place = np.random.default_rng(1), np.zeros(len(states)), {z.tobytes(): i for i, z in enumerate(states)}
    chain = chain_at(corpus, paths, states[0])
    for number in range(10_000):
        chain._take(states[rng.choice(len(states), p=p)].astype(np.uint32))
        chain.lap(number + 1, priors)
        seen[place[numbers(chain).astype(states.dtype).tobytes()]] += 1
    assert chi_square(seen, p) > ALARM
