"""Geweke's joint-distribution test (2004) of every sampler, its concentrations and its split-merge moves.

Drawing state and words from the prior, and letting the chain resample the state and then drawing words given the state,
again and again, must give the same joint law. Nothing else is needed, so every step of a sweep is under test at once.
"""

import numpy as np
import pytest

from stickbreak.corpus.tokens import Tokens
from stickbreak.sampling.chain import Chain
from stickbreak.sampling.concentrations import LEARNABLE, GammaPrior
from stickbreak.sampling.state import Concentrations

from .chains import KINDS, ONE_THREAD, settings
from .laws import z_scores

LENGTHS = np.array([5, 1, 0, 4])
START = np.concatenate(([0], np.cumsum(LENGTHS)))
DOCUMENT = np.repeat(np.arange(LENGTHS.size), LENGTHS)
N_WORDS = 3
PRIORS = {"alpha": GammaPrior(3.0, 2.0), "gamma": GammaPrior(3.0, 2.0), "eta": GammaPrior(3.0, 6.0)}
N_PRIOR, N_SWEEPS = 8000, 2000


def restaurant(n, concentration, rng):
    """Return the tables of n guests of a Chinese restaurant."""
    table = []
    for guest in range(n):
        t = int(rng.random() * (guest + concentration))
        table.append(table[t] if t < guest else max(table, default=-1) + 1)
    return np.array(table, dtype=int)


def draw_words(z, eta, rng):
    """Draw words given topics, the word distributions drawn from their prior."""
    phi = rng.dirichlet(np.full(N_WORDS, eta), size=z.max() + 1)
    return np.minimum((phi.cumsum(axis=1)[z] < rng.random(z.size)[:, None]).sum(axis=1), N_WORDS - 1)


def statistics(z, words, n_tables, now):
    same_topic, same_word = z[:, None] == z[None, :], words[:, None] == words[None, :]
    same_document = DOCUMENT[:, None] == DOCUMENT[None, :]
    K = z.max() + 1
    values = [x for name in LEARNABLE for x in (getattr(now, name), np.log(getattr(now, name)))]
    return [
        *values,
        K,
        K**2,
        n_tables,
        n_tables**2,
        n_tables * np.log(now.alpha),
        K * np.log(now.gamma),
        (same_topic & same_document).sum(),
        (same_topic & ~same_document).sum(),
        same_word.sum(),
        (same_topic & same_word).sum(),
        (same_topic & same_word).sum() * np.log(now.eta),
    ]


@pytest.fixture(scope="module")
def of_the_prior():
    """Statistics of independent draws from the prior: mean, and the variance of the mean."""
    rng, rows = np.random.default_rng(1), []
    for _ in range(N_PRIOR):
        now = Concentrations(**{name: rng.gamma(prior.shape) / prior.rate for name, prior in PRIORS.items()})
        tables = [restaurant(n, now.alpha, rng) for n in LENGTHS]
        n_tables = [table.max(initial=-1) + 1 for table in tables]
        dish = restaurant(sum(n_tables), now.gamma, rng)
        base = np.cumsum([0, *n_tables])
        z = np.concatenate([dish[base[d] + table] for d, table in enumerate(tables)])
        rows.append(statistics(z, draw_words(z, now.eta, rng), sum(n_tables), now))
    return np.mean(rows, axis=0), np.var(rows, axis=0) / N_PRIOR


def tokens_with(words):
    """Return tokens with the given words, and the order in which these stand there."""
    order = np.lexsort((words, DOCUMENT))
    word = words[order].astype(np.int32)
    word_start = np.concatenate(([0], np.cumsum(np.bincount(word, minlength=N_WORDS))))
    return Tokens(START, word, N_WORDS, np.argsort(word, kind="stable"), word_start), order


def alternate(options, n_sweeps, rng):
    """Let a chain sweep, redraw its words, and so on; return the statistics after each pair of steps."""
    tokens, _ = tokens_with(rng.integers(N_WORDS, size=START[-1]))
    start = Concentrations(alpha=1.0, gamma=1.0, eta=0.5)
    chain, rows = Chain(tokens, options, start, 5), []
    chain.begin("single", 1)
    for _ in range(n_sweeps):
        chain.sweep(ONE_THREAD)
        words = draw_words(chain.topics, chain.concentrations.eta, rng)
        rows.append(statistics(chain.topics, words, chain.n_tables, chain.concentrations))
        tokens, order = tokens_with(words)
        arrays, values = chain.snapshot()
        moved = {name: arrays[name][order] for name in ("z", "table") if name in arrays}
        chain = Chain(tokens, options, start, 5)
        chain.restore({**arrays, **moved}, values)
    return np.array(rows)


@pytest.mark.parametrize("trials", [0, 2], ids=["plain", "split-merge"])
@pytest.mark.parametrize("kind", KINDS)
def test_chain_and_prior_have_the_same_joint_law(kind, trials, of_the_prior):
    options = settings(kind, learn=LEARNABLE, priors=PRIORS, split_merge=trials, scans=trials // 2)
    rows = alternate(options, N_SWEEPS, np.random.default_rng(2))
    z = z_scores(rows[20:], *of_the_prior)
    assert np.abs(z).max() < 4.5
    assert np.sqrt(np.mean(z**2)) < 2.0
