"""The sampler of one document: the law that it leaves invariant, draw by draw, and by frequencies."""

import numpy as np
import pytest

from stickbreak.corpus import planted_lda
from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.engine import Engine
from stickbreak.hybrid.document_sampler import SAMPLERS, SweepSettings
from stickbreak.hybrid.estimator import random_state
from stickbreak.hybrid.kernels import documents as kernels
from stickbreak.hybrid.state import Priors
from stickbreak.numerics.stirling import factors_of, stirling_ratios

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


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_threads_and_shards_change_no_bit(sampler):
    corpus, _ = planted_lda(300, 80, n_topics=5, mean_tokens=60, seed=2)
    tokens, priors = Tokens.from_corpus(corpus), Priors(1.0, 1.0, 0.1)
    state = random_state(corpus, 12, 0, 1.0)
    assert tokens.word.size > 3 * 4096, "too few tokens for several shards"
    results = []
    for n_jobs in (1, 3):
        with Engine(n_jobs) as engine:
            results.append(found_under(tokens, state, priors, SweepSettings(2, 2, sampler), KEY, engine))
    np.testing.assert_array_equal(results[0].z, results[1].z)
    np.testing.assert_array_equal(results[0].tables, results[1].tables)
    assert results[0].log_p == results[1].log_p
