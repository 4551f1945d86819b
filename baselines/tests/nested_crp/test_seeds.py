"""Seeds in the tree of nested Chinese restaurants: the exact posterior, and nodes that keep their numbers and names."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from tests.sampling.laws import ALARM, chi_square

from stickbreak.corpus import Corpus, planted_lda
from stickbreak.numerics.streams import key_of
from stickbreak_baselines.nested_crp.gibbs import Chain
from stickbreak_baselines.nested_crp.state import Tree

from . import reference
from .test_gibbs import priors_of, state


@pytest.mark.parametrize(("n_levels", "n_words"), [(2, None), (3, 15), (4, None)])
def test_sweeps_draw_what_the_twin_draws(n_levels: int, n_words: int | None, seed: int) -> None:
    corpus, _ = planted_lda(12, 15, n_topics=4, mean_tokens=12, seed=seed)
    known = corpus.counts[:2].toarray()  # seeds that documents go to
    priors = priors_of(n_levels, n_words=n_words)
    chain = Chain(corpus, n_levels, seed, sparse.csr_array(known.T.astype(float)))
    chain.begin(priors)
    tokens = chain._tokens
    path, z = state(chain)
    assert np.isin(path[:, 1], (1, 2)).any()
    for number in (1, 2, 3):
        key = key_of(seed, number, "sweep of NestedCRP")
        z, path, log_p = reference.sweep(tokens.word, tokens.start, z, path, 15, priors, key, known=known)
        assert chain.lap(number, priors) == pytest.approx(log_p, rel=1e-9)
        for found, expected in zip(state(chain), (path, z), strict=True):
            np.testing.assert_array_equal(found, expected)
    again = Tree.of(tokens, *state(chain))
    for name in ("level", "n_documents", "n_tokens"):
        np.testing.assert_array_equal(getattr(chain.tree, name), getattr(again, name))


@pytest.mark.parametrize(
    ("counts", "n_levels", "known"),
    [([[1, 1], [0, 2]], 3, [[2, 0]]), ([[1, 1, 0], [0, 1, 1]], 2, [[0, 0, 3], [1, 1, 0]])],
)
def test_a_sweep_leaves_the_exact_posterior_as_it_is(counts: Any, n_levels: int, known: Any) -> None:
    corpus, priors, n_kept = Corpus.from_counts(np.array(counts)), priors_of(n_levels), len(known)
    chain = Chain(corpus, n_levels, 0, sparse.csr_array(np.array(known, float).T))
    word = chain._tokens.word
    document = np.repeat(np.arange(corpus.n_documents), np.diff(chain._tokens.start))
    states, p = reference.posterior(
        word, document, corpus.n_documents, n_levels, corpus.n_words, priors, np.array(known, float)
    )
    place, seen = {one: i for i, one in enumerate(states)}, np.zeros(len(states))
    rng = np.random.default_rng(1)
    for number, at in enumerate(rng.choice(len(states), p=p, size=6_000)):
        path, z = states[at]
        names = {(0,): 0, **{(0, k): 1 + k for k in range(n_kept)}}
        nodes = np.array([[names.setdefault(row[: h + 1], len(names)) for h in range(n_levels)] for row in path])
        chain.restore({"path": nodes, "z": np.array(z, np.int8)}, {})
        chain.lap(number + 1, priors)
        nodes, found = state(chain)
        nodes[:, 1] -= 1  # node 1 is that of seed 0
        seen[place[reference.canonical(nodes, n_kept), tuple(found.tolist())]] += 1
    assert chi_square(seen, p) > ALARM


def test_gamma_beside_seeds_maximises_the_probability_of_the_paths(seed: int) -> None:
    corpus, _ = planted_lda(60, 30, n_topics=6, mean_tokens=20, seed=seed)
    pseudo = np.zeros((30, 2))
    pseudo[0, 0] = pseudo[1, 1] = 5.0
    priors, chain = priors_of(3), Chain(corpus, 3, seed, sparse.csr_array(pseudo))
    chain.begin(priors)
    for number in range(1, 10):
        chain.lap(number, priors)
    for _ in range(200):
        priors = chain.learned(priors, ("gamma",), 10)
    path = state(chain)[0]
    path[:, 1] -= 1

    def log_posterior(gamma: float) -> float:
        return float(reference.log_paths(path, gamma, 2) + np.log(gamma) - gamma)

    best = log_posterior(priors.gamma)
    assert log_posterior(priors.gamma * 0.99) < best > log_posterior(priors.gamma * 1.01)
