"""The example of a likelihood of one's own."""

import numpy as np


def statistics(family, X, R):
    return family.statistics(X, R), R.sum(axis=0)


def test_objective_is_largest_at_the_posterior(example):
    X, _, _ = example.planted(40, 5)
    family = example.BetaBernoulli(5)
    S, N = statistics(family, X, np.random.default_rng(0).dirichlet(np.ones(3), 40))
    q = family.posterior(S, N)
    best = family.evidence(S, N)
    np.testing.assert_allclose(family.objective(S, N, q), best, rtol=1e-12)
    for factor in (0.9, 1.1):
        assert (family.objective(S, N, example.BetaPosterior(q.a * factor, q.b)) < best).all()
    assert (family.expected_log(q, X) < family.predictive_log(q, X)).all()
    np.testing.assert_allclose(np.exp(family.predictive_log(q, X[:1]))[0, 0], _bernoulli(family.mean(q)[0], X[0]))
    drawn = family.sample(q, 1, 20_000, np.random.default_rng(1))
    np.testing.assert_allclose(drawn.mean(axis=0), family.mean(q)[1], atol=0.02)
    assert family.with_hyperparameters({"a": 2.0, "b": 3.0}).hyperparameters == {"a": 2.0, "b": 3.0}


def _bernoulli(p, x):
    return np.prod(np.where(x == 1, p, 1 - p))


def test_the_example_finds_what_was_planted(example, capsys):
    example.main()
    printed = capsys.readouterr().out
    assert "components: 3 (planted: 3)" in printed
    share = float(printed.rsplit(" ", 1)[1].rstrip("%\n"))
    assert share > 99
