"""A pass over documents by shards, and the order of the steps of a sweep."""

from itertools import pairwise

import numpy as np
import pytest

from stickbreak.corpus import Corpus, planted_lda
from stickbreak.corpus.sources import Held
from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.fitting.hyperparameters import GammaPrior
from stickbreak.numerics.keys import key_of
from stickbreak.sampling.chain import Chain, ChainSettings
from stickbreak.sampling.counts import count_topics
from stickbreak.sampling.shard_jobs import Job, state_of
from stickbreak.sampling.state import Concentrations, DocumentTopics
from stickbreak.sampling.sweeping import cut, run_pass

ONE_THREAD = ThreadExecutor(1)


@pytest.fixture
def tokens(seed):
    return Tokens.from_corpus(planted_lda(60, 40, n_topics=4, mean_tokens=31, seed=seed)[0])


@pytest.mark.parametrize("n_shards", [1, 2, 3, 8])
def test_documents_are_cut_into_as_many_shards_as_asked(tokens, n_shards):
    parts = cut(tokens, n_shards)
    assert len(parts) == n_shards
    assert parts[0][0] == 0
    assert parts[-1][1] == tokens.n_documents
    assert all(left[1] == right[0] for left, right in pairwise(parts))
    sizes = [tokens.start[last] - tokens.start[first] for first, last in parts]
    assert max(sizes) - min(sizes) <= 2 * tokens.lengths.max()


def test_no_shard_is_empty_where_documents_are_fewer():
    tokens = Tokens.from_corpus(Corpus.from_counts(np.array([[5, 0], [1, 1]])))
    assert cut(tokens, 7) == [(0, 1), (1, 2)]


def test_new_topics_of_different_shards_stay_different(tokens):
    """A kernel that gives each shard's first token a new topic: one number a shard, on top of the old topics."""
    z = np.zeros(tokens.word.size, np.int32)
    counts = count_topics(tokens, z, DocumentTopics.empty(tokens), 1)

    def kernel(first, last, words, topics, reuse):
        z[tokens.start[first]] = topics.totals[0]
        topics.totals[0] += 1
        return last

    n_numbers, parts = run_pass(tokens, counts, np.zeros(1), kernel, 3, ONE_THREAD)
    assert n_numbers == 4
    new = [int(part.label[z[tokens.start[part.first]]]) for part in parts]
    assert new == [1, 2, 3]
    assert all(part.label[0] == 0 for part in parts)


def test_corpus_weights_follow_the_new_concentrations_and_tables(tokens):
    """Direct assignment draws its weights last: given the tables and the gamma that the sweep ends with."""
    prior = {"gamma": GammaPrior(1.0, 1.0)}
    chain = Chain(tokens, ChainSettings("direct", learn=("gamma",), priors=prior), Concentrations(1.0, 50.0, 0.1), 3)
    chain.begin("sequential", 5)
    chain.sweep(ONE_THREAD)
    assert abs(chain.concentrations.gamma - 50) > 10, "the old gamma would not be told from the new one"
    rng = np.random.Generator(np.random.Philox(key=int(key_of(3, 1, "corpus weights"))))
    mass = rng.standard_gamma(np.append(chain.tables, chain.concentrations.gamma))
    np.testing.assert_allclose(chain.snapshot()[0]["beta"], mass / mass.sum(), rtol=1e-12)


def test_only_the_first_token_of_all_has_the_place_0_in_a_job():
    """Kernels that go on within a document take 0 for its beginning."""
    source = Held(planted_lda(60, 40, n_topics=4, mean_tokens=31, seed=0)[0])
    tokens = Tokens.from_corpus(source.corpus)
    state = state_of(np.zeros(tokens.word.size, np.int32), DocumentTopics.empty(tokens))
    for first, last in cut(tokens, 3):
        start, word, opened = Job.of(tokens, state, source, (first, last)).opened()
        assert start[first] == (first > 0)
        np.testing.assert_array_equal(np.diff(start[first:]), tokens.lengths[first:last])
        np.testing.assert_array_equal(word[start[first] :], tokens.word[tokens.start[first] : tokens.start[last]])
        assert word.size == opened.token.size == start[-1]
