"""Left-to-right likelihood of documents under given topics."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from tests.prediction import sequences

from stickbreak.evaluation import left_to_right
from stickbreak.prediction import left_to_right as module

CASES = json.loads((Path(__file__).parents[1] / "data" / "evaluation.json").read_text())["left_to_right"]
DENSE = [case for case in CASES if "a" in case]


def problem(seed, n_topics=5, n_words=12, n_documents=9):
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(n_words, 0.3), size=n_topics)
    counts = rng.poisson(0.7, size=(n_documents, n_words))
    counts[3] = 0
    return phi, rng.gamma(1.0, 0.4, size=n_topics), counts


def count_of(words, n_words):
    return np.bincount(words, minlength=n_words)


@pytest.mark.parametrize("case", CASES)
def test_enumeration_has_the_probability_of_the_oracle(case):
    phi = np.array(case["phi"])
    if "a" in case:
        rule = sequences.dirichlet_rule(case["a"])
    else:
        from tests.backoff_tree.sequences import tree_rule

        rule = tree_rule(case["branching"], case["delta_by_depth"])
    found = math.log(sequences.probability(case["words"], rule, phi))
    assert found == pytest.approx(case["exact_log_p"], abs=case["tol"])


@pytest.mark.parametrize("resample", [True, False])
@pytest.mark.parametrize("case", DENSE)
def test_product_of_means_tends_to_its_biased_limit(case, resample):
    phi, rule, exact = np.array(case["phi"]), sequences.dirichlet_rule(case["a"]), math.exp(case["exact_log_p"])
    count, bias = count_of(case["words"], 3), []
    for random_state in range(3):  # three orders of the words
        words, _ = sequences.ordered(count, random_state)
        mean, limit = sequences.propagate(words, rule, phi, resample)
        assert mean == pytest.approx(exact, rel=1e-10)
        found = left_to_right(
            phi, case["a"], [count], n_particles=100_000, resample=resample, random_state=random_state
        )
        assert math.exp(found.printed_log_p[0]) == pytest.approx(limit, rel=5e-3)
        bias.append(abs(limit / exact - 1))
    assert max(bias) > 0.02, "this form is meant to be biased here"


@pytest.mark.parametrize("resample", [True, False])
def test_twin_draws_the_same_topics(seed, resample):
    phi, a, counts = problem(seed)
    a[2] = phi[0, 4] = 0.0
    phi[0] /= phi[0].sum()
    found = left_to_right(phi, a, counts, n_particles=4, resample=resample, random_state=seed)
    for d, count in enumerate(counts):
        p = sequences.particles(count, sequences.DirichletStep(a, phi), 4, resample, seed)
        expected = sequences.estimates(p)
        np.testing.assert_allclose([found.printed_log_p[d], found.unbiased_log_p[d]], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("uniform", [0, 1])
def test_draws_at_the_ends_have_positive_probability(seed, uniform):
    """By the lowest and the highest random number: topics without prior or without the word stand at both ends."""
    from stickbreak.numerics.kernel_random import uniform as next_uniform

    assert next_uniform(sequences.state_before(uniform)) == (1 - 2.0**-53 if uniform else 0.0)
    rng = np.random.default_rng(seed)
    for _ in range(300):
        a, phi = rng.gamma(1.0, size=6), rng.random((1, 6))
        a[[0, 5]] = 0.0
        phi[0, 4] = 0.0
        running = np.cumsum(phi * a, axis=1)
        topic, n = np.array([4, 2, 3]), np.array([2.0, 1.0, 3.0])
        for n_here in (0, 3):
            state = sequences.state_before(uniform)
            k, mass = module.sequence_kernels.draw_topic(0, n_here, topic, n, phi, running, state)
            here = dict(zip(topic[:n_here].tolist(), n.tolist(), strict=False))
            assert (a[k] + here.get(k, 0.0)) * phi[0, k] > 0
            assert mass == pytest.approx((a + [here.get(j, 0.0) for j in range(6)]) @ phi[0])


def test_document_is_scored_alone_as_among_others(seed):
    phi, a, counts = problem(seed)
    together = left_to_right(phi, a, counts)
    backwards = left_to_right(phi, a, counts[::-1])
    np.testing.assert_array_equal(backwards.unbiased_log_p[::-1], together.unbiased_log_p)
    alone = left_to_right(phi, a, counts[5:6])
    np.testing.assert_array_equal(alone.printed_log_p, together.printed_log_p[5:6])


@pytest.mark.parametrize("limit", ["_SHARD_DRAWS", "_SHARD_NUMBERS"])
def test_shards_and_threads_change_no_bit(seed, monkeypatch, limit):
    phi, a, counts = problem(seed)
    expected = left_to_right(phi, a, counts)
    monkeypatch.setattr(module, limit, 50)
    seen = []
    kernel = module.sequence_kernels.score_documents
    monkeypatch.setattr(
        module.sequence_kernels, "score_documents", lambda *x: (seen.append(x[0].content.size), kernel(*x))
    )
    for n_jobs in (1, 3):
        found = left_to_right(phi, a, counts, n_jobs=n_jobs)
        np.testing.assert_array_equal(found.printed_log_p, expected.printed_log_p)
        np.testing.assert_array_equal(found.unbiased_log_p, expected.unbiased_log_p)
        assert found.printed == expected.printed
    assert len(seen) > 8


def test_word_of_no_topic_makes_its_document_impossible():
    phi = [[0.5, 0.5, 0.0], [0.2, 0.8, 0.0]]
    found = left_to_right(phi, [1.0, 1.0], [[1, 1, 0], [1, 0, 2]])
    assert np.isfinite(found.printed_log_p[0])
    assert found.printed_log_p[1] == found.unbiased_log_p[1] == found.unbiased == -math.inf
    assert found.perplexity == found.printed_perplexity == math.inf
