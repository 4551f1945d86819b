"""Left-to-right likelihood of documents under given topics."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from tests.prediction import sequences

from stickbreak.corpus import Corpus
from stickbreak.evaluation import left_to_right
from stickbreak.exceptions import InputError, InvalidCorpus
from stickbreak.prediction import left_to_right as module

CASES = json.loads((Path(__file__).parents[1] / "data" / "evaluation.json").read_text())["left_to_right"]
DENSE = [case for case in CASES if "a" in case]
Z = 4.5  # standard errors that a mean may be off


def problem(seed, n_topics=5, n_words=12, n_documents=9):
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(n_words, 0.3), size=n_topics)
    counts = rng.poisson(0.7, size=(n_documents, n_words))
    counts[3] = 0
    return phi, rng.gamma(1.0, 0.4, size=n_topics), counts


def count_of(words, n_words):
    return np.bincount(words, minlength=n_words)


def assert_mean(found, exact):
    error = found.std(ddof=1) / math.sqrt(found.size)
    assert abs(found.mean() - exact) < Z * error


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
def test_mean_of_products_is_unbiased(case, resample):
    phi, count = np.array(case["phi"]), count_of(case["words"], 3)
    options = {"n_particles": 500, "resample": resample}
    scores = [left_to_right(phi, case["a"], [count], **options, random_state=s) for s in range(300)]
    assert_mean(np.exp([score.unbiased_log_p[0] for score in scores]), math.exp(case["exact_log_p"]))


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


def test_bias_of_the_printed_form_is_that_of_the_specification():
    case = DENSE[0]
    rule, exact = sequences.dirichlet_rule(case["a"]), math.exp(case["exact_log_p"])
    bias = [sequences.propagate(case["words"], rule, np.array(case["phi"]), r)[1] / exact - 1 for r in (True, False)]
    np.testing.assert_allclose(bias, [0.103, 0.151], atol=5e-4)


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


def test_topics_of_zero_prior_are_never_drawn():
    """The last one, too, although the draw by running sums ends there."""
    phi = np.array([[0.5, 0.5], [0.3, 0.7]])
    found = left_to_right(phi, [0.4, 0.0], [[3, 4]], n_particles=500)
    assert found.unbiased_log_p[0] == pytest.approx(7 * math.log(0.5), rel=1e-12)
    assert found.printed == pytest.approx(math.log(0.5), rel=1e-12)


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


def test_one_token_is_exact(seed):
    phi, a, _ = problem(seed)
    found = left_to_right(phi, a, np.eye(12, dtype=int), n_particles=3)
    expected = np.log(a @ phi / a.sum())
    np.testing.assert_allclose(found.printed_log_p, expected, rtol=1e-12)
    np.testing.assert_allclose(found.unbiased_log_p, expected, rtol=1e-12)


def test_scores_are_sums_over_documents(seed):
    phi, a, counts = problem(seed)
    found = left_to_right(phi, a, counts)
    assert (found.n_tokens, found.n_documents) == (counts.sum(), 8)
    assert found.printed_log_p[3] == found.unbiased_log_p[3] == 0.0
    assert found.printed == pytest.approx(found.printed_log_p.sum() / counts.sum(), rel=1e-14)
    assert found.unbiased == pytest.approx(found.unbiased_log_p.sum() / counts.sum(), rel=1e-14)
    assert found.perplexity == pytest.approx(math.exp(-found.unbiased))
    assert found.printed_perplexity == pytest.approx(math.exp(-found.printed))
    assert found.printed != found.unbiased


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


def test_seeds_change_the_order_and_the_samples(seed):
    phi, a, counts = problem(seed)
    scores = [left_to_right(phi, a, counts, random_state=s).unbiased for s in (0, 1, np.random.RandomState(0))]
    assert len(set(scores)) == 3
    orders = {tuple(sequences.ordered([3, 2, 4], s)[0]) for s in range(50)}
    assert len(orders) > 40


def test_order_is_uniform():
    from scipy import stats

    n = np.zeros(6)
    orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    start, content = np.array([0, 3], np.int64), np.empty(1, np.uint64)
    for key in range(6000):
        word = np.arange(3, dtype=np.int32)
        module.sequence_kernels.order_words(start, word, np.uint64(key), content)
        n[orders.index(tuple(word.tolist()))] += 1
    assert stats.chisquare(n).pvalue > 1e-6


def test_word_of_no_topic_makes_its_document_impossible():
    phi = [[0.5, 0.5, 0.0], [0.2, 0.8, 0.0]]
    found = left_to_right(phi, [1.0, 1.0], [[1, 1, 0], [1, 0, 2]])
    assert np.isfinite(found.printed_log_p[0])
    assert found.printed_log_p[1] == found.unbiased_log_p[1] == found.unbiased == -math.inf
    assert found.perplexity == found.printed_perplexity == math.inf


def test_all_kinds_of_counts_give_the_same(seed):
    phi, a, counts = problem(seed)
    expected = left_to_right(phi, a, counts).unbiased
    for X in (Corpus.from_counts(counts), sparse.csr_array(counts), sparse.coo_matrix(counts), counts * 1.0):
        assert left_to_right(phi, a, X).unbiased == expected


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"topic_word": [0.5, 0.5]}, "a row of word probabilities"),
        ({"prior": [1.0]}, "a concentration for each topic"),
        ({"prior": [1.0, -1.0]}, "a negative or infinite number"),
        ({"prior": [0.0, 0.0]}, "only zeros"),
        ({"prior": [1.0, np.inf]}, "finite"),
        ({"topic_word": [[0.5, 0.5], [0.5, 0.6]]}, "row 1 of topic_word .* 1.1"),
        ({"topic_word": [[1.5, -0.5], [0.5, 0.5]]}, "row 0 of topic_word"),
        ({"topic_word": [[np.nan, 0.5], [0.5, 0.5]]}, "row 0 of topic_word"),
        ({"X": [[1, 2, 3]]}, "2 words, but the documents have 3"),
        ({"X": [[0, 0]]}, "no document has a token"),
        ({"X": [[0.5, 1]]}, "whole numbers"),
        ({"n_particles": 0}, "n_particles is 0"),
        ({"n_particles": 2.0}, "n_particles is 2.0"),
        ({"n_particles": 10**15}, "GiB of this machine; give a smaller number"),
        ({"n_particles": True}, "n_particles is True"),
        ({"n_jobs": 0}, "n_jobs is 0"),
    ],
)
def test_what_makes_no_sense_is_refused(changes, words):
    given = {"topic_word": [[0.5, 0.5], [0.1, 0.9]], "prior": [1.0, 1.0], "X": [[1, 2]], **changes}
    with pytest.raises((InputError, InvalidCorpus), match=words):
        left_to_right(**given)
