"""Topics of every family joined: by a path, to a number of them, by hand; and models that say why theirs cannot be."""

import copy
from functools import cache

import numpy as np
import pytest
from scipy.cluster.hierarchy import is_monotonic, is_valid_linkage
from tests.contract.small import OF_WORDS, TREES, bits, data_of, fitted, frozen, unfitted

import stickbreak
from stickbreak.exceptions import InputError, NoPath
from stickbreak.fitting.engine import Engine
from stickbreak.path.evidence import unseen_evidence

JOINING = tuple(name for name in OF_WORDS if name not in TREES)
TABLES = {"HybridHDP", "OnlineHDP", "SplitMergeOnlineHDP", "GibbsHDP"}


SEVERAL = {
    "VariationalHDP": {"moves": ()},
    "GibbsHDP": {"init": "random", "gamma": 5.0, "learn": (), "estimate": "last", "split_merge_trials": 0},
}


@cache
def _fitted_with_several(name):
    return unfitted(name, **SEVERAL[name]).fit(data_of(name))


def several_topics(name):
    """Return a fitted model of several topics; some of the small fits of the contract have one in the end."""
    return copy.deepcopy(_fitted_with_several(name)) if name in SEVERAL else fitted(name)


@pytest.fixture(params=JOINING)
def name(request):
    return request.param


@pytest.fixture
def model(name):
    found = several_topics(name)
    found.find_path(data_of(name))
    return found


def counts(model):
    return model.components_ - model.eta_


def test_path_leads_from_all_topics_to_one(model):
    path = model.path_
    assert path.n_topics.tolist() == list(range(model.n_topics_, 0, -1))
    assert path.joins.shape == (model.n_topics_ - 1, 2)
    assert is_valid_linkage(model.hierarchy_)
    assert is_monotonic(model.hierarchy_)


def test_statistics_of_joined_topics_are_sums(name, model):
    for n in (2, 3, model.n_topics_):
        reduced, groups = model.reduced(n), model.path_.groups(n)
        assert reduced.n_topics_ == n == len(reduced.top_words(3))
        sums = np.array([counts(model)[group].sum(axis=0) for group in groups])
        order = np.argsort(-sums.sum(axis=1), kind="stable")
        np.testing.assert_allclose(counts(reduced), sums[order], atol=1e-9)
        weights = np.array([model.topic_weights_[group].sum() for group in groups])[order]
        np.testing.assert_allclose(reduced.topic_weights_, weights, rtol=1e-9)
        shares = np.array([model.topic_shares_[group].sum() for group in groups])[order]
        np.testing.assert_allclose(reduced.topic_shares_, shares, rtol=1e-9)
        if name in TABLES:
            tables = np.array([model.tables_[group].sum() for group in groups])[order]
            np.testing.assert_allclose(reduced.tables_, tables, rtol=1e-9)


def test_scores_along_the_path_are_those_of_the_reduced_models(name, model):
    """Each half that is held out is scored by the topics of the groups, learned without its document."""
    corpus, (S, eta) = model._corpus(data_of(name)), model._expected_counts()
    seed = model.random_state or 0
    with Engine(1) as engine:
        _, evidence = unseen_evidence(S, eta, model._document_prior()[:-1], corpus, seed, engine)
    for n in model.path_.n_topics:
        groups, total = model.path_.groups(int(n)), 0.0
        for part in evidence:
            tau = np.array([(part.tau[group] - eta).sum(axis=0) + eta for group in groups])
            mass = np.array([(part.mass[group] - S.shape[1] * eta).sum() for group in groups]) + S.shape[1] * eta
            of_groups = np.column_stack([part.theta[:, group].sum(axis=1) for group in groups])
            p = (of_groups @ (tau / mass[:, None]))[part.tokens.document, part.tokens.word]
            total += (part.tokens.count * np.log(p)).sum()
        expected = total / sum(part.tokens.n_tokens for part in evidence)
        assert model.path_.scores[model.n_topics_ - n] == pytest.approx(expected, rel=1e-9)


def test_reduced_model_does_all_that_a_model_does(name, model, tmp_path):
    reduced = model.reduced(3)
    documents = data_of(name)
    assert reduced.transform(documents).shape == (documents.n_documents, 3)
    assert np.isfinite(reduced.score(documents))
    assert "reduced to 3" in reduced.stop_reason_
    reduced.save(tmp_path / "three")
    again = stickbreak.load(tmp_path / "three")
    assert type(again) is type(model)
    assert bits(again, name) == bits(reduced, name)
    np.testing.assert_array_equal(again.path_.scores, reduced.path_.scores)
    assert reduced.get_params() == model.get_params()
    if hasattr(reduced, "partial_fit"):
        assert again.partial_fit(documents).n_topics_ >= 1


def test_topics_joined_by_hand_are_the_groups_that_were_named(model):
    K = model.n_topics_
    joined = model.joined([[1, 3], [K - 1, 0]])
    assert joined.n_topics_ == K - 2
    wanted = [counts(model)[[1, 3]].sum(axis=0), counts(model)[[K - 1, 0]].sum(axis=0)]
    for row in wanted:
        assert np.abs(counts(joined) - row).sum(axis=1).min() < 1e-9
    with pytest.raises(NoPath):
        joined.path_  # noqa: B018
    assert model.joined([]).n_topics_ == model.joined([[2], []]).n_topics_ == K


def test_dropped_topics_are_forgotten_and_labels_stay_with_theirs(name, model, tmp_path):
    K, documents = model.n_topics_, data_of(name)
    model.label({0: "first", K - 1: "last"})
    found = model.joined([[1, 0]], drop=[2])
    assert found.n_topics_ == K - 2
    kept = [counts(model)[[0, 1]].sum(axis=0), *counts(model)[3:]]
    order = np.argsort([-row.sum() for row in kept], kind="stable")
    np.testing.assert_allclose(counts(found), np.array(kept)[order], atol=1e-9)
    number = {int(old): new for new, old in enumerate(order)}
    assert found.labels_ == {number[0]: "first", **({number[K - 3]: "last"} if K > 3 else {})}
    assert found.topic_shares_.sum() == pytest.approx(1)
    assert found.topic_weights_.sum() <= 1 + 1e-9
    np.testing.assert_allclose(found.transform(documents).sum(axis=1), 1, rtol=1e-6)
    found.save(tmp_path / "dropped")
    again = stickbreak.load(tmp_path / "dropped")
    assert again.labels_ == found.labels_
    assert bits(again, name) == bits(found, name)
    assert np.isfinite(again.score(documents))
    with pytest.raises(InputError, match="keep at least one"):
        model.joined(drop=range(K))


def test_path_is_saved_and_another_fit_forgets_it(name, model, tmp_path):
    model.save(tmp_path / "model")
    again = stickbreak.load(tmp_path / "model")
    assert frozen(again.path_) == frozen(model.path_)
    assert bits(again.reduced(2), name) == bits(model.reduced(2), name)
    model.continue_fit(data_of(name), n_laps=1)
    with pytest.raises(NoPath, match="no path of joins yet; call find_path"):
        model.path_  # noqa: B018
    assert not hasattr(model, "path_")
