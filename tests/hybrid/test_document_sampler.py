"""The sampler of one document: the law that it leaves invariant, draw by draw, and by frequencies."""

import numpy as np
import pytest

from stickbreak.corpus import planted_lda
from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.hybrid.document_sampler import SAMPLERS, Scratch, SweepSettings, TableFactors
from stickbreak.hybrid.estimator import random_state
from stickbreak.hybrid.kernels import documents as kernels
from stickbreak.hybrid.kernels.documents import _sweep
from stickbreak.hybrid.state import Priors
from stickbreak.numerics.stirling import factors_of, stirling_ratios

from ..sampling.laws import ALARM, chi_square
from ..sampling.reference import Stream
from . import reference
from .problems import EXACT, found_under, sample_copies, weights_of

FACTORS = factors_of(stirling_ratios(200, 200))
KEY = 77


@pytest.mark.parametrize("row", EXACT["stirling"], ids=lambda row: f"{row['n']}-{row['m']}")
def test_factors_are_those_of_exact_stirling_numbers(row):
    n, m = row["n"], row["m"]
    np.testing.assert_allclose(FACTORS[n, m, 0], row["open"] * (m + 1) / (n + 1), rtol=1e-11)
    np.testing.assert_allclose(FACTORS[n, m, 1], row["sit"] * (n - m + 1) / (n + 1), rtol=1e-11)


def draws(e, phi_w, coef, here, n_draws, *, sparse):
    """Draw topics for a word of a document whose topics `here` have the weights `coef`; return how often each came.

    The document also has a token of its own topic, the last one, which is taken out before each draw.
    """
    K, h = e.size, len(here)
    e, phi_w = np.append(e, 0.0), np.append(phi_w, 1.0)
    weights = weights_of(e, np.column_stack([phi_w, 0.5 * phi_w]))
    fresh = Scratch.of(K + 1, 1)
    topics = np.append(np.array(here, dtype=np.int64), K)
    fresh.topic[: h + 1], fresh.n[: h + 1], fresh.m[: h + 1] = topics, 1, 1
    fresh.place[topics] = np.arange(h + 1)
    fresh.coef[:h], fresh.own_e[: h + 1] = coef, e[topics]
    fresh.own_base[: h + 1], fresh.at[: h + 1] = weights.of_topics.base[topics], topics
    fresh.now[0], fresh.rng[0] = K, Stream(0, 0).state
    scratch = Scratch(*(array.copy() for array in fresh))
    seen, word = np.zeros(K + 1, int), np.zeros(1, np.int32)
    for _ in range(n_draws):
        for array, source in zip(scratch[:-1], fresh[:-1], strict=True):  # all but the random numbers
            array[:] = source
        _sweep(word, h + 1, weights, FACTORS, sparse, scratch)
        seen[scratch.now[0]] += 1
    assert seen[K] == 0
    return seen[:K]


@pytest.mark.parametrize("small", [0.3, 1e-3, 1e-14], ids=["rejections", "guard", "tiny rest"])
def test_topics_that_are_not_there_are_drawn_exactly_however_little_they_weigh(small):
    e = np.array([1.0, small, 3 * small, 2 * small])
    phi_w = np.array([0.5, 0.5, 0.2, 0.1])
    coef = np.array([small])  # the topic that is there weighs as little, though nearly all of Q_w is its
    seen = draws(e, phi_w, coef, [0], 10_000, sparse=True)
    weight = np.array([small * 0.5, *(e * phi_w)[1:]])
    assert chi_square(seen, weight / weight.sum()) > ALARM


@pytest.mark.parametrize("sparse", [True, False], ids=["sparse", "dense"])
def test_kernel_draws_what_its_twin_draws(sparse, seed):
    rng = np.random.default_rng(seed)
    K, W, alpha = 6, 5, 1.4
    e, phi = alpha * rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(W), K) + 0.01
    words = np.sort(rng.integers(W, size=25)).tolist()
    found, order = sample_copies(words, e, phi, 3, SweepSettings(2, 2, "sparse" if sparse else "dense"), KEY)
    weights = weights_of(e, phi)
    of_topics, of_words = weights.of_topics, weights.of_words
    for d in range(3):
        stream = Stream(KEY, d)

        def draw_other(w, there, u, stream=stream):
            own, smooth = of_words.own[w], of_topics.smooth[0]
            if not sparse:
                absent = [k for k in range(K) if k not in there]
                mass = [e[k] * phi[k, w] for k in absent]
                u = stream.uniform() * sum(mass) if u is None else u
                return absent[int(np.searchsorted(np.cumsum(mass), u, side="right"))]
            for _ in range(kernels.REJECTIONS):
                v = stream.uniform() * (own + smooth)
                if v < own:
                    k = int(np.searchsorted(of_words.sum[K * w : K * w + K], v, side="right"))
                else:
                    x = stream.uniform() * K
                    k = int(x)
                    k = k if x - k < of_topics.prob[k] else int(of_topics.alias[k])
                if k not in there:
                    return k
            raise AssertionError("this seed needs the guard, which the twin has not")

        twin = reference.Document(order.tolist(), e, phi, stream, draw_other, FACTORS)
        twin.start()
        for sweep in range(4):
            twin.sweep()
            if sweep >= 2:
                np.testing.assert_array_equal(found.z[sweep - 2, d * 25 : d * 25 + 25], twin.z)


def test_tables_beyond_the_factors_change_no_draw():
    words, e, phi = [0] * 150 + [1] * 150, np.array([60.0, 20.0]), np.array([[0.6, 0.4], [0.3, 0.7]])
    narrow, _ = sample_copies(words, e, phi, 4, SweepSettings(3, 2), KEY)
    wide = TableFactors()
    wide.for_documents(300)
    for _ in range(3):
        wide.wider()
    other, _ = sample_copies(words, e, phi, 4, SweepSettings(3, 2), KEY, tables=wide)
    assert narrow.tables.sum() > 2 * 4 * 2 * 33, "no topic has more tables than 32 columns know"
    np.testing.assert_array_equal(narrow.z, other.z)
    np.testing.assert_array_equal(narrow.tables, other.tables)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_threads_and_shards_change_no_bit(sampler):
    corpus, _ = planted_lda(300, 80, n_topics=5, mean_tokens=60, seed=2)
    tokens, priors = Tokens.from_corpus(corpus), Priors(1.0, 1.0, 0.1)
    state = random_state(corpus, 12, 0, 1.0)
    assert tokens.word.size > 3 * 4096, "too few tokens for several shards"
    results = []
    for n_jobs in (1, 3):
        with ThreadExecutor(n_jobs) as executor:
            results.append(found_under(tokens, state, priors, SweepSettings(2, 2, sampler), KEY, executor))
    np.testing.assert_array_equal(results[0].z, results[1].z)
    np.testing.assert_array_equal(results[0].tables, results[1].tables)
    assert results[0].log_p == results[1].log_p
