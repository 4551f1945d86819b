"""Every system of the harness learns in units, and says what it has learned as distributions."""

from importlib.util import find_spec

import numpy as np
import pytest
from benchmarks.harness import systems

from stickbreak import BackoffTreeTopics, GibbsHDP, HybridHDP, TopicModel, VariationalHDP
from stickbreak.corpus import planted_lda
from stickbreak_baselines import (
    HierarchicalPachinko,
    NestedCRP,
    NestedHDP,
    OnlineHDP,
    Pachinko,
    SplitMergeOnlineHDP,
)

OURS = (
    "variational",
    "variational-stochastic",
    "topics",
    "hybrid",
    "gibbs",
    "tree",
    "lda",
    "online-hdp",
    "split-merge-online",
    "pachinko",
    "hierarchical-pachinko",
    "nested-crp",
    "nested-hdp",
)
PEERS = (
    "sklearn-batch",
    "sklearn-online",
    "gensim-lda",
    "gensim-hdp",
    "tomotopy-lda",
    "tomotopy-hdp",
)
K = 6


@pytest.fixture
def corpus():
    return planted_lda(60, 50, n_topics=3, mean_tokens=40, seed=1)[0]


@pytest.fixture
def make(corpus):
    """Return a function from a name and settings to a system on the corpus."""

    def make(name, **settings):
        if find_spec(systems.SYSTEMS[name].package) is None:
            pytest.skip(f"{systems.SYSTEMS[name].package} is not installed (it is one of the development requirements)")
        return systems.make(corpus, {"system": name, "K": K, "seed": 3, "settings": settings})

    return make


# What K at the start means where it is not `n_topics`; trees have none.
TOPICS_OF = {"topics": {}, "split-merge-online": {"n_topics": 1, "max_topics": K}, "nested-crp": {}, "nested-hdp": {}}
# Which have no concentration that is one of plain topics.
WITHOUT_ALPHA = ("tree", "pachinko", "hierarchical-pachinko", "nested-crp", "nested-hdp")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OURS + PEERS)
def test_answer_is_a_distribution(name, make, corpus):
    system = make(name)
    assert system.passes == 0
    before = 0.0
    for _, seconds in zip(range(3), system.work(), strict=False):
        assert seconds >= 0
        assert system.passes > before
        before = system.passes
        topic_word, prior = system.answer()
        assert topic_word.shape == (prior.size, corpus.n_words)
        assert (topic_word >= 0).all()
        np.testing.assert_allclose(topic_word.sum(axis=1), 1.0, atol=1e-6)
        assert np.isfinite(prior).all()
        assert (prior >= 0).all()
        assert 0 < prior.sum() < 100


@pytest.mark.parametrize(
    ("name", "kind", "settings"),
    [
        ("variational", VariationalHDP, {"n_laps": 12}),
        ("variational-stochastic", VariationalHDP, {"n_laps": 12, "schedule": "stochastic"}),
        ("topics", TopicModel, {"n_laps": 60}),
        ("hybrid", HybridHDP, {"n_laps": 6}),
        ("gibbs", GibbsHDP, {"n_laps": 60}),
        ("gibbs", GibbsHDP, {"n_laps": 45, "burn_in": 15}),
        ("tree", BackoffTreeTopics, {"n_laps": 12}),
        ("online-hdp", OnlineHDP, {"batch_size": 20}),
        ("split-merge-online", SplitMergeOnlineHDP, {"batch_size": 20}),
        ("pachinko", Pachinko, {"n_laps": 60, "n_super": 2}),
        ("hierarchical-pachinko", HierarchicalPachinko, {"n_laps": 12, "n_super": 2}),
        ("nested-crp", NestedCRP, {"n_laps": 12}),
        ("nested-hdp", NestedHDP, {"n_laps": 4, "batch_size": 20, "branching": (4, 2)}),
    ],
)
def test_units_of_work_add_up_to_one_fit(name, kind, settings, make, corpus):
    system = make(name, **settings)
    units = list(system.work())
    model = kind(**TOPICS_OF.get(name, {"n_topics": K}), random_state=3, **settings).fit(corpus)
    assert len(units) > 1
    assert system.passes == model.n_laps_
    np.testing.assert_array_equal(system.answer()[0], model.topic_word_)
    alpha = 5.0 if name in WITHOUT_ALPHA else model.alpha_
    np.testing.assert_array_equal(system.answer()[1], alpha * model.topic_weights_)


def test_processes_of_a_peer_end_with_its_work(corpus):
    from joblib.externals.loky import reusable_executor

    system = systems.make(corpus, {"system": "sklearn-batch", "K": K, "seed": 3, "threads": 2})
    units = system.work()
    next(units)
    workers = list(reusable_executor._executor._processes.values())
    assert len(workers) == 2
    units.close()
    assert not any(worker.is_alive() for worker in workers)
