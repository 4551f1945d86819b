"""Topics that go on as parts of others, or among more documents; and how they are scored: slow twins."""

import numpy as np
import pytest

from stickbreak.collapsed import trial as module
from stickbreak.collapsed.aside import halved
from stickbreak.collapsed.cvb0 import ALONE
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.shards import Aside
from stickbreak.collapsed.state import Priors
from stickbreak.collapsed.trial import Trial
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.sparse_gibbs import priors as chain_priors
from stickbreak.sparse_gibbs.chain import Chain

K = 6
GIVEN = chain_priors.Priors.even(K, 1.0, 0.1)


@pytest.fixture
def corpus(seed):
    """60 documents, some of them without tokens, also the first and the last; one word has no token, one has one."""
    counts = planted_lda(60, 20, n_topics=4, mean_tokens=30, seed=seed)[0].counts.toarray()
    counts[[0, 7, 8, 30, 59]] = 0
    counts[:, 4] = 0
    counts[:, 5] = 0
    counts[11, 5] = 1
    return Corpus.from_counts(counts)


def by_word(corpus):
    """The word and the document of each token, word by word."""
    columns = corpus.counts.tocsc()
    n = columns.data.astype(int)
    word = np.repeat(np.arange(corpus.n_words), np.diff(columns.indptr))
    return np.repeat(word, n), np.repeat(columns.indices, n)


def chain_of(corpus, n_topics=K, seed=3, n_parts=1):
    return Chain(corpus, n_topics, seed, averages=True, n_parts=n_parts)


def counted(corpus, z, n_topics=K, of=True):
    """Counts (W, K) of the tokens of some documents, which `of` says token by token."""
    counts = np.zeros((corpus.n_words, n_topics))
    np.add.at(counts, (by_word(corpus)[0], z), np.broadcast_to(of, z.shape).astype(float))
    return counts


def swept(chain, laps, priors=GIVEN):
    chain.begin_near(np.random.default_rng(0).dirichlet(np.ones(20), K))
    for number in range(1, laps + 1):
        chain.lap(number, priors)
    return chain


PART_OF = np.array([1, 0, 1, -1, 2, 0])


@pytest.fixture
def dead(corpus):
    """A chain in whose last lap topic 3 has no tokens, though some in the mean; there, the one of word 5 has it."""
    chain = swept(chain_of(corpus), 11)
    arrays, values = chain.snapshot()
    z = arrays["z"]
    z[z == 3] = 4
    mean = arrays["mean"]
    mean[5] = 0.0
    mean[5, 3] = 1.0
    assert mean[:, 3].sum() > 10
    chain.restore({"z": z, "mean": mean}, values)
    return chain


def test_topics_go_on_as_parts_of_others(corpus, dead):
    """Each token stays in its topic; the mean has its topics added up, and what is in others shared out by word.

    A word that has nothing in these goes where its tokens are.
    """
    before = dead.snapshot()[0]
    chain = chain_of(corpus, 3)
    chain.begin_with(dead, PART_OF)
    arrays, values = chain.snapshot()
    np.testing.assert_array_equal(arrays["z"], PART_OF[before["z"]])
    assert arrays["z"].dtype == np.uint16
    assert values == {"n_samples": 2, "last_is_sample": False}
    expected, last = np.zeros((20, 3)), counted(corpus, PART_OF[before["z"]], 3)
    assert last[5].sum() == 1
    for w in range(20):
        for k in range(K):
            if PART_OF[k] >= 0:
                expected[w, PART_OF[k]] += before["mean"][w, k]
        if expected[w].any():
            expected[w] *= before["mean"][w].sum() / expected[w].sum()
        else:
            expected[w] = last[w]
    np.testing.assert_allclose(arrays["mean"], expected, rtol=1e-12)
    np.testing.assert_allclose(arrays["mean"].sum(axis=1), np.bincount(by_word(corpus)[0], minlength=20), rtol=1e-9)
    assert (arrays["mean"][4] == 0.0).all()


def test_a_chain_whose_topics_went_on_sweeps_like_any_other(corpus, dead):
    chain, twin = chain_of(corpus, 3), chain_of(corpus, 3)
    chain.begin_with(dead, PART_OF)
    twin.restore(*chain.snapshot())
    priors = chain_priors.Priors.even(3, 1.0, 0.1)
    for number in range(12, 17):
        assert chain.lap(number, priors) == twin.lap(number, priors)
    for name, value in twin.snapshot()[0].items():
        np.testing.assert_array_equal(chain.snapshot()[0][name], value)


@pytest.mark.parametrize("laps", [4, 5])
def test_samples_go_on_with_the_topics(laps, corpus):
    """Before the first there is no mean; a last lap that is a sample is not counted twice."""
    before, chain = swept(chain_of(corpus), laps), chain_of(corpus)
    order = np.array([2, 0, 1, 5, 4, 3])
    chain.begin_with(before, order)
    assert chain.snapshot()[1] == before.snapshot()[1] == {"n_samples": laps // 5, "last_is_sample": laps == 5}
    np.testing.assert_allclose(chain.counts()[:, order], before.counts(), rtol=1e-12)
    np.testing.assert_array_equal(chain.in_use, np.sort(order[before.in_use]))


@pytest.mark.parametrize("n_parts", [1, 3])
@pytest.mark.parametrize("laps", [3, 11])
def test_documents_join_those_whose_tokens_keep_their_topics(laps, n_parts, corpus, seed):
    took_part = np.random.default_rng(seed).random(60) < 0.7
    took_part[[0, 7, 59]], took_part[[8, 30]] = True, False  # without tokens
    some = swept(chain_of(corpus[np.flatnonzero(took_part)]), laps)
    topics = np.random.default_rng(1).dirichlet(np.ones(20), K)
    chain = chain_of(corpus, n_parts=n_parts)
    chain.begin_among(some, took_part, chain.near(topics))
    z, before = chain.snapshot()[0]["z"], took_part[by_word(corpus)[1]]
    assert 100 < np.count_nonzero(~before) < before.size / 2
    np.testing.assert_array_equal(z[before], some.snapshot()[0]["z"])
    np.testing.assert_array_equal(z[~before], chain.near(topics)[~before])
    assert chain.snapshot()[1] == some.snapshot()[1]
    if laps == 3:
        np.testing.assert_array_equal(chain.counts(), counted(corpus, z))
        return
    joined = counted(corpus, z, of=~before)
    np.testing.assert_allclose(chain.snapshot()[0]["mean"] - some.snapshot()[0]["mean"], joined, atol=1e-9)
    np.testing.assert_allclose(chain.counts().sum(axis=1), np.bincount(by_word(corpus)[0], minlength=20), rtol=1e-9)
    np.testing.assert_array_equal(chain._n, np.bincount(z, minlength=K))


def test_tokens_that_join_are_drawn_near_the_topics(corpus):
    """Where a word has weight in one topic alone, its tokens go there."""
    took_part = np.arange(60) % 2 == 0
    some, chain, topics = swept(chain_of(corpus[::2]), 2), chain_of(corpus), np.zeros((K, 20))
    topics[np.arange(20) % K, np.arange(20)] = 0.3
    chain.begin_among(some, took_part, chain.near(topics))
    word, document = by_word(corpus)
    new = document % 2 == 1
    np.testing.assert_array_equal(chain.snapshot()[0]["z"][new], word[new] % K)


PRIORS = Priors(1.3, 1.0, 0.1)
BY_WORD = Priors(1.3, 1.0, np.linspace(0.02, 0.3, 80))


@pytest.fixture(scope="module")
def judged():
    """Documents that take part, and those set apart, halved in two ways."""
    documents = InMemory(planted_lda(500, 80, n_topics=4, mean_tokens=40, seed=1)[0])
    documents.set_aside(Aside(apart=0.2, apart_seed=5), ALONE)
    taking = np.flatnonzero(documents.lengths(ALONE))
    return documents.chosen(taking), [list(documents.walk(ALONE, halved, turn).listed) for turn in (0, 1)]


def trial_of(corpus, priors, *, laps=11, last=K):
    """Topics after some passes; tokens of the last ones were put into the first, if `last` says so."""
    trial = Trial(corpus, K, priors, 0).begin(np.random.default_rng(0).dirichlet(np.full(80, 0.3), K))
    for _ in range(laps):
        trial.go_on()
    z = trial._chain.snapshot()[0]["z"]
    z[z >= last] = 0
    trial._chain.take(z)
    return trial


def test_a_trial_goes_on_with_parts_of_topics(judged):
    """Their weights are added up; those without tokens leave theirs."""
    trial = trial_of(judged[0], PRIORS, last=5)
    part_of = np.array([0, 1, 2, 1, 0, -1])
    after = Trial(judged[0], 3, PRIORS, 0).begin_with(trial, part_of)
    a = trial.weights * trial.priors.alpha
    assert after.priors.alpha == pytest.approx(a[:5].sum())
    np.testing.assert_allclose(after.weights * after.priors.alpha, [a[0] + a[4], a[1] + a[3], a[2]])
    assert (after.passes, after.objective, after.n_topics) == (trial.passes, trial.objective, 3)
    np.testing.assert_array_equal(after._chain.last(), trial._chain.last()[:, :5] @ np.eye(3)[part_of[:5]])


def test_a_trial_goes_on_among_more_documents(judged):
    """With the topics, the weights and the alpha that it has; others are drawn near its mean, with eta."""
    took_part = np.arange(judged[0].n_documents) % 3 > 0
    trial = trial_of(judged[0][np.flatnonzero(took_part)], BY_WORD)
    after = Trial(judged[0], K, BY_WORD, 0).begin_among(trial, took_part)
    np.testing.assert_allclose(after.weights, trial.weights)
    assert after.priors.alpha == pytest.approx(trial.priors.alpha)
    assert (after.passes, after.objective) == (trial.passes, trial.objective)
    twin = Chain(judged[0], K, 0, averages=True)
    twin.begin_among(trial._chain, took_part, twin.near(trial._chain.counts().T + BY_WORD.eta))
    np.testing.assert_array_equal(after._chain.snapshot()[0]["z"], twin.snapshot()[0]["z"])
    assert after._chain.last().sum() == judged[0].n_tokens


def test_a_trial_of_one_topic_keeps_its_mean(judged):
    """Which others read, and a state that is taken up again must have all tokens."""
    took_part = np.arange(judged[0].n_documents) % 3 > 0
    trial = Trial(judged[0][np.flatnonzero(took_part)], 1, PRIORS, 0).begin(np.ones((1, judged[0].n_words)))
    while trial.passes < 5:
        trial.go_on()
    assert trial.topics().sum() == pytest.approx(trial._chain.mean().sum() + PRIORS.eta * judged[0].n_words)
    after = Trial(judged[0], 1, PRIORS, 0).begin_among(trial, took_part)
    assert after._chain.mean().sum() == pytest.approx(judged[0].n_tokens)
    Trial(judged[0], 1, PRIORS, 0).restore(*after.packed())


def test_topics_are_judged_with_the_weights_that_they_have_learned(monkeypatch):
    corpus, truth = planted_lda(300, 500, n_topics=12, mean_tokens=60, alpha=0.1, seed=2)
    trial = Trial(corpus, 12, Priors(2.0, 1.0, 0.05), 0).begin(truth.topic_word + 0.001)
    told = []
    monkeypatch.setattr(module, "scores", lambda *these: told.append(these) or np.zeros(1))
    for n in (9, 10):
        while trial.passes < n:
            trial.go_on()
        trial.scores([], 0, ALONE)
    (_, _, even, before, *_), (_, counts, learned, after, *_) = told
    np.testing.assert_allclose(even, 1 / 12)
    assert before.alpha == 2.0
    assert after.alpha != 2.0
    assert learned.sum() == pytest.approx(1.0)
    assert np.corrcoef(learned, counts.sum(axis=0))[0, 1] > 0.4  # common topics weigh more
