"""The likelihoods of counts: Bernoulli words and Poisson counts, zeros included."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.integrate import quad
from scipy.stats import beta, gamma, nbinom, poisson

from stickbreak.exceptions import InputError
from stickbreak.likelihoods import BetaBernoulli, GammaPoisson
from stickbreak.numerics.ranges import ETA_LIMITS

MEANS = np.array([0.3, 0.02, 0.9])
FAMILIES = [BetaBernoulli(0.4, MEANS), GammaPoisson(0.4, 3 * MEANS)]
ids = lambda family: type(family).__name__  # noqa: E731


def cells(family, seed=0, n_documents=7, n_topics=4):
    """Counts of every word in every document, with responsibilities; the last topic is empty."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(1.2, (n_documents, family.n_words)).astype(float)
    R = rng.dirichlet(np.ones(n_topics - 1), X.size)
    words = np.tile(np.arange(family.n_words, dtype=np.int32), n_documents)
    return words, X.ravel(), np.column_stack([R, np.zeros(X.size)])


def statistics(family, words, X, R):
    return family.statistics(words, X, R), R.sum(axis=0)


def of_documents(family, X):
    """Return S and N of one topic that has all of some documents, (D, W)."""
    words = np.tile(np.arange(family.n_words, dtype=np.int32), len(X))
    return statistics(family, words, np.asarray(X, float).ravel(), np.ones((np.size(X), 1)))


def test_evidence_of_bernoulli_words_is_a_distribution_over_all_collections():
    family = BetaBernoulli(0.4, MEANS[:2])
    total = 0.0
    for outcome in product((0, 1), repeat=6):
        total += np.exp(family.evidence(*of_documents(family, np.reshape(outcome, (3, 2))))[0])
    assert total == pytest.approx(1.0, rel=1e-12)


def test_evidence_of_bernoulli_words_is_the_integral_over_the_prior():
    family = BetaBernoulli(0.7, MEANS[:1])
    prior = beta(0.7, 0.7 * (1 - 0.3) / 0.3)
    assert prior.mean() == pytest.approx(0.3)
    value, _ = quad(lambda phi: prior.pdf(phi) * phi**2 * (1 - phi), 0, 1)
    found = family.evidence(*of_documents(family, [[1], [5], [0]]))[0]
    assert found == pytest.approx(np.log(value), rel=1e-7)


def test_evidence_of_poisson_counts_is_the_integral_over_the_prior():
    family = GammaPoisson(0.7, MEANS[2:])
    prior = gamma(0.7, scale=0.9 / 0.7)
    assert prior.mean() == pytest.approx(0.9)
    value, _ = quad(lambda rate: prior.pdf(rate) * poisson.pmf([2, 0, 5], rate).prod(), 0, 60, limit=200)
    found = family.evidence(*of_documents(family, [[2], [0], [5]]))[0]
    assert found == pytest.approx(np.log(value), rel=1e-6)


def test_evidence_of_poisson_counts_is_the_chain_of_negative_binomials():
    family = GammaPoisson(0.7, np.array([0.9, 0.2]))
    X = np.array([[2, 0], [0, 1], [5, 0], [1, 3]])
    chain = 0.0
    for w, mean in enumerate(family.means):
        shape, rate = 0.7, 0.7 / mean
        for x in X[:, w]:
            chain += nbinom.logpmf(x, shape, rate / (rate + 1))
            shape, rate = shape + x, rate + 1
    assert family.evidence(*of_documents(family, X))[0] == pytest.approx(chain, rel=1e-12)


@pytest.mark.parametrize("family", FAMILIES, ids=ids)
def test_evidence_is_the_objective_at_the_posterior_and_its_largest_value(family):
    S, N = statistics(family, *cells(family))
    q, best = family.posterior(S, N), family.evidence(S, N)
    np.testing.assert_allclose(family.objective(S, N, q), best, rtol=1e-11, atol=1e-12)
    assert best[-1] == pytest.approx(0.0, abs=1e-12), "the empty topic"
    for field in range(2):
        for factor in (0.9, 1.1):
            other = q._replace(**{q._fields[field]: factor * q[field]})
            assert (family.objective(S, N, other) < best).all()


@pytest.mark.parametrize("family", FAMILIES, ids=ids)
def test_objective_is_what_expected_logs_and_divergences_sum_to(family):
    """L_data = sum r E log p(x | phi) - KL(q || p), the divergence by quadrature."""
    words, X, R = cells(family)
    S, N = statistics(family, words, X, R)
    rng = np.random.default_rng(3)
    q = type(family.posterior(S, N))(*rng.uniform(0.5, 3.0, (2, *R[:, :].shape[1:], 3)).transpose(0, 2, 1))
    want = (R * family.expected_log(q, words, X)).sum(axis=0)
    prior = family.posterior(np.zeros_like(S), N)
    make = beta if isinstance(family, BetaBernoulli) else (lambda shape, rate: gamma(shape, scale=1 / rate))
    for w, k in product(range(3), range(4)):
        a, b = make(q[0][w, k], q[1][w, k]), make(*(np.broadcast_to(x, q[0].shape)[w, k] for x in prior))
        want[k] -= quad(lambda x, a=a, b=b: a.pdf(x) * (a.logpdf(x) - b.logpdf(x)), *a.support(), limit=400)[0]
    np.testing.assert_allclose(family.objective(S, N, q), want, rtol=1e-6)


@pytest.mark.parametrize("family", FAMILIES, ids=ids)
def test_slope_of_the_evidence_equals_central_differences(family):
    S, N = statistics(family, *cells(family))
    for eta in (0.05, 0.4, 3.0):
        at = [family.with_hyperparameters({"eta": eta * f}).evidence(S, N).sum() for f in (1 - 1e-5, 1 + 1e-5)]
        slope = family.with_hyperparameters({"eta": eta}).evidence_slope(S)
        assert slope == pytest.approx((at[1] - at[0]) / (2e-5 * eta), rel=1e-5)


@pytest.mark.parametrize("family", FAMILIES, ids=ids)
def test_learned_eta_has_the_largest_evidence(family):
    S, N = statistics(family, *cells(family, n_documents=60))
    best = family.learned(S, N)
    assert ETA_LIMITS[0] < best.eta < ETA_LIMITS[1]
    for factor in (0.9, 1.1):
        other = best.with_hyperparameters({"eta": factor * best.eta})
        assert other.evidence(S, N).sum() < best.evidence(S, N).sum()


@pytest.mark.parametrize("family", FAMILIES, ids=ids)
def test_statistics_count_their_observations_and_add_up(family):
    words, X, R = cells(family)
    S, N = statistics(family, words, X, R)
    np.testing.assert_allclose(family.table_totals(S), N)
    halves = [statistics(family, words[part], X[part], R[part])[0] for part in (slice(9), slice(9, None))]
    np.testing.assert_allclose(sum(halves), S)


def test_bernoulli_words_see_only_whether_a_word_is_there():
    family = FAMILIES[0]
    words, X, R = cells(family)
    np.testing.assert_array_equal(family.statistics(words, X, R), family.statistics(words, np.sign(X), R))
    q = family.posterior(family.statistics(words, X, R), R.sum(axis=0))
    np.testing.assert_array_equal(family.expected_log(q, words, X), family.expected_log(q, words, np.sign(X)))


@pytest.mark.parametrize("family", [BetaBernoulli, GammaPoisson])
def test_prior_from_counts_has_their_means(family):
    X = sparse.csr_matrix(np.random.default_rng(0).poisson(MEANS, (5000, 3)).astype(float))
    made = family.from_counts(X, 0.2)
    want = np.asarray((X > 0).mean(axis=0) if family is BetaBernoulli else X.mean(axis=0)).ravel()
    np.testing.assert_allclose(made.means, want, rtol=0.02)
    prior = made.posterior(np.zeros((made.n_rows, 1)), np.zeros(1))
    np.testing.assert_allclose(made.mean(prior)[:, 0], made.means)
    np.testing.assert_allclose(made.prior_words(), made.means / made.means.sum())


@pytest.mark.parametrize("family", FAMILIES, ids=ids)
def test_start_has_the_mean_counts_of_its_documents(family):
    counts, documents = np.array([[4.0, 0.0], [1.0, 2.0], [0.0, 9.0]]), np.array([8.0, 10.0])
    S, N = family.started(counts, documents)
    np.testing.assert_allclose(S[:3], counts)
    np.testing.assert_allclose(family.table_totals(S), N)
    np.testing.assert_allclose(N, 3 * documents)


@pytest.mark.parametrize(
    ("family", "given", "message"),
    [
        (BetaBernoulli, (0.0, MEANS), "eta is 0.0; give a positive number"),
        (BetaBernoulli, (0.1, [0.5, 1.0]), "not between 0 and 1"),
        (GammaPoisson, (0.1, [0.5, 0.0]), "not positive"),
        (GammaPoisson, (0.1, [np.nan]), "NaN"),
        (GammaPoisson, (0.1, [[1.0]]), "of shape"),
    ],
)
def test_priors_that_are_none_are_refused(family, given, message):
    with pytest.raises(InputError, match=message):
        family(*given)
