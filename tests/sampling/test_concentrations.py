"""Steps of the concentrations against exact moments: stored ones, and quadrature."""

import numpy as np
import pytest

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.hyperparameters import GammaPrior
from stickbreak.sampling import chain as module
from stickbreak.sampling.chain import WordLikelihood, resample_alpha, resample_gamma
from stickbreak.sampling.state import DocumentTopics, TopicCounts, count_topics

from . import reference
from .enumeration import EXACT

TABLE = np.array([[5, 0, 1, 0, 0], [0, 2, 0, 0, 1], [1, 1, 0, 0, 0]])  # n_kw
LIMIT = 4.0  # of |z|; all seeds are fixed


def run(step, n_steps, first=1.0):
    x = np.empty(n_steps)
    now = first
    for i in range(n_steps):
        now = x[i] = step(now)
    return x[n_steps // 50 :]


def z_scores(x, mean, mean_log):
    """z of the mean and of the mean logarithm, their errors from 40 batches."""
    out = []
    for values, exact in ((x, mean), (np.log(x), mean_log)):
        batches = values[: values.size // 40 * 40].reshape(40, -1).mean(axis=1)
        out.append((batches.mean() - exact) / (batches.std(ddof=1) / np.sqrt(40)))
    return np.abs(out)


def topic_counts(table, m):
    """The counts of topics whose tokens are a document each; behind them the arrays hold what is not to be read."""
    K = len(table)
    tokens = Tokens.from_corpus(Corpus.from_counts(table))
    z = np.repeat(np.arange(K, dtype=np.int32), table.sum(axis=1))
    counts = count_topics(tokens, z, DocumentTopics.empty(tokens), K)
    return TopicCounts(K, np.append(counts.n, 55), np.append(m, 66), counts.words)


@pytest.mark.parametrize("case", EXACT["concentrations"], ids=lambda case: f"{case['which']}-{case['M']}")
def test_step_has_the_stored_moments(case):
    rng, prior, M = np.random.default_rng(11), GammaPrior(case["a"], case["b"]), case["M"]
    if case["which"] == "gamma":
        x = run(lambda now: resample_gamma(now, prior, case["K"], M, rng), 100000)
    else:
        lengths = np.array([0, *case["n_j"], 0])
        x = run(lambda now: resample_alpha(now, prior, M, lengths, rng), 60000)
    assert z_scores(x, case["mean"], case["mean_log"]).max() < LIMIT


@pytest.mark.parametrize("prior", [GammaPrior(1.0, 1.0), GammaPrior(0.3, 0.1)])
def test_eta_has_the_moments_of_quadrature(prior):
    words = WordLikelihood.of(topic_counts(TABLE, np.array([2, 2, 1])))
    x = np.linspace(-14.0, 8.0, 4001)
    rows = [np.repeat(np.arange(5), row) for row in TABLE]
    log_p = np.array([sum(reference.log_f(row, eta, 5) for row in rows) for eta in np.exp(x)])
    log_p += prior.shape * x - prior.rate * np.exp(x)
    p = np.exp(log_p - log_p.max()) / np.exp(log_p - log_p.max()).sum()
    rng = np.random.default_rng(12)
    found = run(lambda now: module.resample_eta(now, prior, words, rng), 12000)
    assert z_scores(found, p @ np.exp(x), p @ x).max() < LIMIT
