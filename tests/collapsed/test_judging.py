"""Documents that are completed once, and score topics of which some are one: a slow twin, token by token."""

import numpy as np
import pytest

from stickbreak.collapsed import judging
from stickbreak.collapsed.aside import halved
from stickbreak.collapsed.cvb0 import ALONE
from stickbreak.collapsed.judging import EVERY, LEAST, SWEEPS, Judged, Judges, words_of
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.shards import Aside, Shard, Shares
from stickbreak.collapsed.state import Priors
from stickbreak.collapsed.trial import Trial
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.executor import ThreadExecutor

K, W = 11, 90  # some words are in no document
ETAS = [0.1, np.linspace(0.02, 0.3, W)]


@pytest.fixture(scope="module")
def ways():
    """Documents set apart, halved in two ways; one has no token left in the first way, and none held out."""
    counts = planted_lda(300, 80, n_topics=4, mean_tokens=30, alpha=0.2, seed=1)[0].counts.toarray()
    documents = InMemory(Corpus.from_counts(np.pad(counts, ((0, 0), (0, 10)))))
    documents.set_aside(Aside(apart=0.2, apart_seed=5), ALONE)
    found = [list(documents.walk(ALONE, halved, turn).listed) for turn in (0, 1)]
    first = found[0][0]
    own = slice(first.indptr[2], first.indptr[3])
    first.held[own] += first.count[own]
    first.count[own] = 0.0
    assert len(found[0]) > 1
    return found


def judged(ways, eta, seed, *, alpha=0.8):
    """Some topics, of which several are nearly empty."""
    rng = np.random.default_rng(seed)
    counts = (rng.dirichlet(np.full(W, 0.2), K).T * rng.choice([3, 200, 900], K)).astype(np.float32)
    words = words_of(ways)
    assert words.size < W
    weights = rng.dirichlet(np.ones(K)) * 0.9
    return Judged(
        words, counts[words], counts.sum(axis=0, dtype=np.float64), weights, Priors(alpha, 1.0, eta), W
    ), counts


def phi_of(counts, eta):
    phi = counts + np.reshape(eta, (-1, 1))
    return phi / phi.sum(axis=0)


def complete(shard, d, phi, prior, least):
    """Tokens of a document in the topics, (K,): each word has shares of all topics that the document has not left."""
    own = range(shard.indptr[d], shard.indptr[d + 1])
    r, kept = {p: np.zeros(K) for p in own if shard.count[p] > 0}, np.ones(K, bool)
    for s in range(1, SWEEPS + 1):
        for p in r:
            c = shard.count[p]
            n = sum((shard.count[q] * r[q] for q in r), np.zeros(K)) - min(c, 1.0) * r[p]
            value = np.where(kept, phi[shard.word[p]] * (n + prior), 0.0)
            r[p] = value / value.sum()
        if s % EVERY == 0 and s < SWEEPS:
            n = sum((shard.count[q] * r[q] for q in r), np.zeros(K))
            kept &= n >= least * n[kept].sum() / kept.sum()
            r = {p: np.where(kept, r[p], 0.0) for p in r}
    return sum((shard.count[q] * r[q] for q in r), np.zeros(K))


def twin(ways, of, counts, part_of, least=LEAST):
    """The log probability of the tokens held out of each document, in the mean of the ways."""
    member = np.eye(part_of.max() + 1)[part_of]
    prior, eta = of.priors.alpha * of.weights, of.priors.eta
    phi, merged = phi_of(counts, eta), phi_of(counts @ member, eta)
    found = []
    for way in ways:
        found.append([])
        for shard in way:
            for d in range(shard.indptr.size - 1):
                theta = complete(shard, d, phi, prior, least) + prior
                own = slice(shard.indptr[d], shard.indptr[d + 1])
                p = merged[shard.word[own]] @ (theta @ member) / theta.sum()
                found[-1].append(shard.held[own] @ np.log(p))
    return np.mean(found, axis=0)


@pytest.mark.parametrize("eta", ETAS, ids=["one eta", "eta by word"])
@pytest.mark.parametrize("least", [LEAST, 0.5, 0.0])
def test_scores_are_those_of_the_twin(eta, least, ways, seed, monkeypatch):
    """Of all topics, and of fewer; documents leave few of them, many or none."""
    monkeypatch.setattr(judging, "LEAST", least)
    of, counts = judged(ways, eta, seed)
    judges = Judges(ways, of, ALONE)
    for part_of in (np.arange(K), np.arange(K) % 3, np.array([1, 0, 2, 1, 0, 2, 3, 3, 3, 0, 4]), np.zeros(K, int)):
        np.testing.assert_allclose(judges.scores(part_of), twin(ways, of, counts, part_of, least), rtol=1e-6)


def test_documents_leave_topics_of_which_they_have_little(ways, seed):
    """Their tokens are in the others, and the predictions hardly change."""
    of, _ = judged(ways, 0.1, seed)
    few = Judges(ways, of, ALONE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "LEAST", 0.0)
        all_of_them = Judges(ways, of, ALONE)
    start = few._ways[0][0].start
    assert start[3] == start[2]  # it has no tokens
    n_topics = []
    for way, other in zip(few._ways, all_of_them._ways, strict=True):
        for document, same in zip(way, other, strict=True):
            n_topics += [*np.diff(document.start)]
            assert set(np.diff(same.start)) <= {0, K}
            length = np.add.reduceat(document.shard.count, document.shard.indptr[:-1])
            sums = [document.weight[a:b].sum() for a, b in zip(document.start, document.start[1:], strict=False)]
            np.testing.assert_allclose(sums, length)
    assert 0.5 < np.mean(n_topics) < 0.7 * K
    before, after = (judges.scores(np.arange(K)) for judges in (all_of_them, few))
    assert after.sum() == pytest.approx(before.sum(), rel=2e-3)


@pytest.mark.parametrize("n_topics", [7, 8, 9, 16, 17])
def test_any_number_of_topics_is_padded_alike(n_topics):
    """One word with two tokens: its shares are known."""
    shard = Shard(0, np.array([0, 1]), np.array([3], np.int32), np.array([2.0]), Shares.none(1), np.array([1.0]))
    rng = np.random.default_rng(n_topics)
    counts, weights = rng.gamma(1.0, 3.0, (5, n_topics)).astype(np.float32), rng.dirichlet(np.ones(n_topics))
    sums = counts.sum(axis=0, dtype=np.float64)
    of = Judged(np.array([3]), counts[[3]], sums, weights, Priors(2.0, 1.0, 0.5), 5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "LEAST", 0.0)
        patch.setattr(judging, "SWEEPS", 2)
        document = Judges([[shard]], of, ALONE)._ways[0][0]
    phi = (counts[3].astype(np.float64) + 0.5) / (sums + 2.5)
    r = phi * 2.0 * weights / (phi @ (2.0 * weights))
    r = phi * (r + 2.0 * weights)
    np.testing.assert_allclose(document.weight, 2.0 * r / r.sum(), rtol=1e-12)
    np.testing.assert_array_equal(document.topic, np.arange(n_topics))


def test_threads_find_the_same_bits(ways):
    of, _ = judged(ways, 0.1, 3)
    one, three = (Judges(ways, of, Engine(ThreadExecutor(n))).scores(np.arange(K) // 2) for n in (1, 3))
    np.testing.assert_array_equal(one, three)


@pytest.mark.parametrize("last", [6, 4])
def test_trials_are_judged_by_the_topics_in_use(last, ways):
    """Also where some topics have no tokens in the last pass, but some in the mean; and where that is not a sample."""
    corpus = planted_lda(300, W, n_topics=4, mean_tokens=40, seed=2)[0]
    trial = Trial(corpus, 6, Priors(1.3, 1.0, 0.1), 0).begin(np.random.default_rng(0).dirichlet(np.full(W, 0.3), 6))
    for turn in range(11):
        trial.go_on()
        if turn in (9, 10):
            z = trial._chain.snapshot()[0]["z"]
            z[z < 6 - last] = 5
            trial._chain.take(z)
            k, counts = trial.in_use, trial._chain.counts()
            assert k.size == last
            judges = trial.judged_by(ways, ALONE)
            of = Judged(
                np.arange(W),
                counts[:, k].astype(np.float32),
                counts[:, k].sum(axis=0),
                trial.weights[k],
                trial.priors,
                W,
            )
            part_of = np.arange(last) % 3
            expected = Judges(ways, of, ALONE).scores(part_of)
            assert expected.size > 30
            np.testing.assert_allclose(judges.scores(part_of), expected, rtol=1e-12)
            of_last, lists = trial.in_topics(0.2), trial._chain._tokens.documents(trial._chain._lists)
            np.testing.assert_array_equal(of_last.counts, trial._chain.last()[:, k])
            np.testing.assert_array_equal(k[of_last.topic], lists[1])
            assert of_last.eta == 0.2
            np.testing.assert_allclose(of_last.a, trial.priors.alpha * trial.weights[k], rtol=1e-12)
            assert np.ptp(of_last.a) > 0.0
            np.testing.assert_array_equal(
                np.add.reduceat(of_last.tokens, of_last.start[:-1]), trial._chain._tokens.lengths
            )
