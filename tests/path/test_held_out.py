"""Documents apart: how many, which tokens of them are held out, and that they and the others are all there are."""

import numpy as np
import pytest

from stickbreak.corpus import planted_lda
from stickbreak.path import evidence
from stickbreak.path.evidence import hold_out_documents


@pytest.fixture(scope="module")
def corpus():
    return planted_lda(400, 50, n_topics=5, mean_tokens=60.0, seed=0)[0]


def dense(tokens, n_words):
    found = np.zeros((tokens.n_documents, n_words))
    found[tokens.document, tokens.words[tokens.word]] = tokens.count
    return found


def both(part):
    return part.choosing, part.scoring


def test_documents_apart_are_whole_and_none_of_the_others(corpus):
    parts = hold_out_documents(corpus, seed=1)
    assert len(parts) == 5
    for part in parts:
        apart = np.setdiff1d(np.arange(400), part.others)
        whole = np.vstack([each.observed.counts.toarray() + dense(each.held_out, 50) for each in both(part)])
        assert sorted(map(tuple, whole)) == sorted(map(tuple, corpus.counts.toarray()[apart]))
        assert [each.held_out.n_documents for each in both(part)] == [40, 40]
        assert sum(each.held_out.n_tokens for each in both(part)) == pytest.approx(whole.sum() / 2, rel=0.02)
    everywhere = np.concatenate([np.setdiff1d(np.arange(400), part.others) for part in parts])
    assert sorted(everywhere.tolist()) == list(range(400))


def test_parts_are_set_apart_until_half_of_the_tokens_are_held_out_of_either_kind(corpus, monkeypatch):
    monkeypatch.setattr(evidence, "MOST_TOKENS", 4000)
    parts = hold_out_documents(corpus, seed=1)
    assert len(parts) == 2  # some 1,200 tokens of either kind are held out of each
    monkeypatch.setattr(evidence, "MOST_TOKENS", 1500)
    assert len(hold_out_documents(corpus, seed=1)) == 1


def test_same_seed_sets_the_same_documents_apart(corpus):
    first, again, other = (hold_out_documents(corpus, seed=seed)[0] for seed in (1, 1, 2))
    for one, same in zip(both(first), both(again), strict=True):
        np.testing.assert_array_equal(dense(one.held_out, 50), dense(same.held_out, 50))
    assert first.others.tolist() != other.others.tolist()
