"""Fitted trees whose nodes have discounts: words, new documents, scores, files, and what is refused."""

import math
import pickle
import signal

import numpy as np
import pytest
from sklearn.base import clone
from tests.prediction import sequences

import stickbreak
from stickbreak import BackoffTreeTopics
from stickbreak.backoff_tree.kernels import fixed as fixed_kernels
from stickbreak.backoff_tree.node_discounts import KINDS, node_discounts
from stickbreak.backoff_tree.state import Scratch
from stickbreak.backoff_tree.taxonomy import taxonomy_of
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.corpus.tokens import Tokens
from stickbreak.exceptions import InputError, ModelFormatError
from stickbreak.fitting.checkpoint import identity_of
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.prediction.words import top_word_indices
from stickbreak.storage.persistence import read_folder, write_folder

from ..sampling.laws import chi_square
from .fits import assert_same, learned
from .test_exact_conditional import Dense

PATHS = ["science/physics/optics", "science/physics/sound", "arts", "science/biology", "sport/ball/foot", "sport/run"]
NODES = {"science": 0.3, "science/physics": {"alpha": 0.05, "eta": 0.4}, "sport": {"eta": 0.01}}
ALARM = 1e-6


class DenseFit:
    """A fitted tree written out: masses of documents, P(w | z) of all words and leaves, as (T11) has it."""

    def __init__(self, fitted):
        model, own = fitted._model, [{}, {}]
        for path, by_kind in fitted.node_discounts_.items():
            for kind, value in by_kind.items():
                own[KINDS.index(kind)][path] = value
        self.tree = Dense(fitted.branching_, fitted.alpha_levels_, own[0])
        words = Dense(fitted.branching_, fitted.eta_levels_, own[1])
        L, W = model.shape.n_leaves, fitted.n_features_in_
        table = np.zeros((W, L), int)
        table[np.repeat(np.arange(W), np.diff(fitted.word_start_)), fitted.word_leaf_] = fitted.word_count_
        A, B = sum(map(words.kept, table)), sum(map(words.smoothing, table))
        self.used, self.frequency = table.sum(axis=0) > 0, table.sum(axis=1) / table.sum()
        peak = model.backoff.peak
        prob = np.where(self.used, A, 1 - words.discount) / (peak - B)
        self.found = np.array([(words.kept(n) / prob + words.smoothing(n)) / peak for n in table])  # (W, L)
        self.lack = np.where(self.used, 0.0, 1 - self.found.sum(axis=0))
        self.new = 0.0 if table.any(axis=1).all() else 1 / (1 + table.sum())
        self.phi = self.found + self.lack * self.frequency[:, None]  # given that a word is known

    def mass(self, z):
        n = np.bincount(z, minlength=self.used.size)
        return self.tree.kept(n) + self.tree.smoothing(n)


@pytest.fixture(scope="module")
def corpus():
    return planted_lda(60, 40, n_topics=6, mean_tokens=50, seed=3)[0]


@pytest.fixture(scope="module")
def fitted(corpus):
    settings = {"learn": ("alpha", "eta"), "learn_every": 3, "n_laps": 12, "random_state": 0}
    return BackoffTreeTopics(branching=PATHS, node_discounts=NODES, **settings).fit(corpus)


@pytest.fixture(scope="module")
def sparse_tree():
    """Few tokens, so that some leaves have none."""
    drawn, _ = planted_lda(3, 8, n_topics=3, mean_tokens=3, seed=0)
    paths = ["a/1", "a/2", "b", "c/1/i", "c/1/ii", "c/2"]
    nodes = {"": 0.2, "c": {"alpha": 0.3}, "c/1": 0.1}
    model = BackoffTreeTopics(branching=paths, node_discounts=nodes, learn=(), n_laps=3, random_state=0).fit(drawn)
    assert DenseFit(model).lack.max() > 0.1
    return model


@pytest.mark.parametrize("of", ["fitted", "sparse_tree"])
def test_words_of_leaves_are_those_of_the_definition(of, request):
    model = request.getfixturevalue(of)
    dense = DenseFit(model)
    np.testing.assert_allclose(dense.phi.sum(axis=0), 1, rtol=1e-12)
    np.testing.assert_allclose(model.topic_word_, dense.phi[:, model.leaves_].T, rtol=1e-10)
    np.testing.assert_array_equal(model.top_word_indices(9), top_word_indices(model.topic_word_, 9))
    for node in model.tree_.walk():
        if node.is_leaf:
            for word, p in node.words(5):
                assert p == pytest.approx(dense.phi[model.vocabulary_.index(word), node.topic], rel=1e-10)


@pytest.mark.parametrize("of", ["fitted", "sparse_tree"])
def test_score_is_that_of_the_predictive_distribution(of, request):
    model = request.getfixturevalue(of)
    dense, W = DenseFit(model), model.n_features_in_
    drawn, _ = planted_lda(60, W, n_topics=3, mean_tokens=20, seed=1)
    documents = Corpus.from_counts(drawn.counts.toarray() * (dense.frequency > 0))
    observed, held_out = documents.halves(seed=0)
    rows = np.flatnonzero((observed.document_lengths > 0) & (held_out.document_lengths > 0))
    tokens, total = Tokens.from_corpus(observed[rows]), 0.0
    samples = model._model.samples(tokens, ThreadExecutor(1))
    assert of == "fitted" or (dense.lack[samples] > 0).any(), "no leaf without tokens of the fit is meant"
    for d in range(rows.size):
        here = samples[:, tokens.start[d] : tokens.start[d + 1]]
        theta = np.mean([dense.mass(z) for z in here], axis=0) / here.shape[1]
        held = held_out[rows].counts[[d]].toarray().ravel()
        total += held @ np.log(np.maximum(dense.phi @ theta * (1 - dense.new), 1e-300))
    assert model.score(documents) == pytest.approx(total / held_out[rows].counts.sum(), rel=1e-9)


@pytest.mark.parametrize("resample", [True, False])
def test_left_to_right_has_its_exact_mean(sparse_tree, resample):
    dense, words = DenseFit(sparse_tree), np.flatnonzero(DenseFit(sparse_tree).frequency)[:3]
    count = np.zeros(8, int)
    count[words] = [2, 1, 1]

    def rule(z):
        return dense.mass(z) / len(z) if len(z) else np.full(6, 1 / 6)

    in_order, _ = sequences.ordered(count, 0)
    phi = (1 - dense.new) * dense.phi.T
    mean, limit = sequences.propagate(in_order, rule, phi, resample)
    found = sparse_tree.left_to_right([count], n_particles=200_000, resample=resample, random_state=0)
    assert math.exp(found.unbiased_log_p[0]) == pytest.approx(mean, rel=0.005)
    assert math.exp(found.printed_log_p[0]) == pytest.approx(limit, rel=0.005)


def test_new_documents_are_sampled_from_the_conditional(sparse_tree):
    """Two tokens, many times: their joint law after all passes is enumerated."""
    dense, words = DenseFit(sparse_tree), np.flatnonzero(DenseFit(sparse_tree).frequency)[:2]
    L, n = dense.used.size, 4000
    first, second = (np.array([dense.mass([z]) * dense.found[w] for z in range(L)]) for w in words)
    first, second = (p / p.sum(axis=1, keepdims=True) for p in (first, second))  # rows: leaf of the other token
    law = dense.found[words[0]] / dense.found[words[0]].sum()  # of the first token
    for _ in range(30):
        law = law @ second @ first
    tokens = Tokens.from_corpus(Corpus.from_counts(np.isin(np.arange(8), words)[None].astype(int)))
    drawn = np.array([samples_of(sparse_tree._model, tokens, key)[0] for key in range(n)])
    seen = np.bincount(drawn[:, 0] * L + drawn[:, 1], minlength=L * L)
    assert chi_square(seen, (law[:, None] * second).ravel()) > ALARM


def samples_of(model, tokens, key):
    samples = np.zeros((1, tokens.word.size), np.int32)
    fixed_kernels.sample_documents(
        0, 1, tokens.start, tokens.word, model.shape.below, model.of_documents, model.of_words, model.words,
        model.directory, np.uint64(key), 30, samples, Scratch.of(2, model.shape),
    )  # fmt: skip
    return samples


def test_levels_are_learned_beside_the_nodes(fitted, corpus):
    assert fitted.node_discounts_ == {
        "science": {"alpha": 0.3, "eta": 0.3},
        "science/physics": {"alpha": 0.05, "eta": 0.4},
        "sport": {"eta": 0.01},
    }
    assert len(set(fitted.trace_["alpha"])) > 1
    assert len(set(fitted.trace_["eta"])) > 1
    both = node_discounts(fitted.node_discounts_, fitted._model.shape)
    for delta, own in zip((fitted.alpha_levels_, fitted.eta_levels_), both, strict=True):
        assert own.above(fitted._model.shape).largest(delta) <= 0.95 + 1e-9
    levels = BackoffTreeTopics(branching=PATHS, n_laps=12, learn_every=3, random_state=0).fit(corpus)
    assert (levels.word_leaf_.size, levels.node_discounts_) != (fitted.word_leaf_.size, {})


def test_saved_model_is_the_same_and_goes_on(fitted, corpus, tmp_path):
    fitted.save(tmp_path / "m")
    loaded = stickbreak.load(tmp_path / "m")
    for again in (loaded, pickle.loads(pickle.dumps(fitted))):
        assert_same(again, fitted)
        assert again.node_discounts_ == fitted.node_discounts_
        assert again.get_params() == fitted.get_params()
        assert (again.transform(corpus) != fitted.transform(corpus)).nnz == 0
        assert again.score(corpus) == fitted.score(corpus)
    longer = clone(fitted).set_params(n_laps=15).fit(corpus)
    loaded.continue_fit(corpus, n_laps=3)
    np.testing.assert_array_equal(loaded.word_leaf_, longer.word_leaf_)
    np.testing.assert_array_equal(loaded.trace_["objective"], longer.trace_["objective"])


@pytest.mark.parametrize("updates", ["parallel", "serial"])
def test_threads_files_and_checkpoints_change_no_number(corpus, tmp_path, updates):
    settings = {
        "branching": PATHS, "node_discounts": NODES, "stages": (1, 2), "stage_sweeps": 2, "learn_every": 2,
        "random_state": 0, "updates": updates,
    }  # fmt: skip
    whole = BackoffTreeTopics(n_laps=8, **settings).fit(corpus)
    for cut in (5, 7):
        place = tmp_path / str(cut)
        BackoffTreeTopics(n_laps=cut, **settings).fit(corpus, checkpoint=place)
        resumed = BackoffTreeTopics(n_laps=8, **settings).fit(corpus, checkpoint=place, resume=True)
        assert_same(resumed, whole)
    in_files = BackoffTreeTopics(n_laps=8, n_jobs=2, scratch=tmp_path / "leaves", **settings).fit(corpus)
    assert_same(in_files, whole)


def test_coarse_tree_of_a_fit_that_was_cut_has_its_nodes_alone(corpus, tmp_path):
    """After Ctrl-C in the first two levels, where "science/physics" is a leaf; a later pass gives it its own."""

    def stop(event):
        if event.get("lap") == 2:
            signal.raise_signal(signal.SIGINT)

    settings = {"branching": PATHS, "node_discounts": NODES, "stages": (2,), "stage_sweeps": 3, "random_state": 0}
    model = BackoffTreeTopics(n_laps=6, **settings).fit(corpus, callback=stop)
    assert set(model.node_discounts_) == {"science", "sport"}
    model.save(tmp_path / "m")
    loaded = stickbreak.load(tmp_path / "m").continue_fit(corpus, n_laps=4)
    assert set(loaded.node_discounts_) == set(NODES)
    whole = BackoffTreeTopics(n_laps=6, **settings).fit(corpus)
    np.testing.assert_array_equal(loaded.trace_["objective"], whole.trace_["objective"])


def test_expanded_tree_keeps_them(fitted, corpus):
    grown = pickle.loads(pickle.dumps(fitted)).expand(corpus, 2, n_laps=2)
    assert grown.node_discounts_ == fitted.node_discounts_
    np.testing.assert_allclose(DenseFit(grown).phi[:, grown.leaves_].T, grown.topic_word_, rtol=1e-10)
    shape = grown._model.shape
    for delta, own in zip(
        (grown.alpha_levels_, grown.eta_levels_), node_discounts(grown.node_discounts_, shape), strict=True
    ):
        assert own.above(shape).largest(delta) <= 0.95 + 1e-9


def test_checkpoints_of_before_go_on_without():
    """What a fit must agree with says nothing of the parameter at its default, as it did not before."""
    assert "node_discounts" not in identity_of(BackoffTreeTopics(), {}, 0, free=())
    assert "node_discounts" in identity_of(BackoffTreeTopics(node_discounts={"a": 0.1}), {}, 0, free=())


def test_nothing_named_is_a_fit_without(corpus):
    settings = {"branching": PATHS, "n_laps": 3, "random_state": 0}
    without = BackoffTreeTopics(**settings).fit(corpus)
    named = BackoffTreeTopics(node_discounts={}, **settings).fit(corpus)
    for name, value in learned(without).items():
        np.testing.assert_array_equal(learned(named)[name], value, err_msg=name)


def test_large_discount_of_words_smooths_below_its_node(corpus):
    """What the discounts are for: leaves below a node share their words as much as the node says."""
    found = []
    for value in (0.001, 0.9):
        nodes = {"science": {"eta": value}}
        settings = {"branching": PATHS, "eta": (0.02, 0.02, 0.02), "learn": (), "n_laps": 30, "random_state": 0}
        model = BackoffTreeTopics(node_discounts=nodes, **settings).fit(corpus)
        below = [z for z in model.leaves_ if model.branching_[z].startswith("science")]
        smoothing = model._model.backoff.smoothing / model._model.backoff.peak
        found.append(smoothing[below].mean())
    assert found[1] > 3 * found[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"node_discounts": {"music": 0.1}}, "the path 'music', which is not that of a node above leaves"),
        ({"node_discounts": {"arts": 0.1}}, "the path 'arts', which is not that of a node above leaves"),
        ({"node_discounts": {3: 0.1}}, "the path 3"),
        ({"node_discounts": {"sport": 0.1, " sport": 0.2}}, "the node 'sport' twice"),
        ({"node_discounts": {"sport": -0.1}}, r"node_discounts\['sport'\] is -0.1; give a positive number below 1"),
        ({"node_discounts": {"sport": 1.0}}, "give a positive number below 1"),
        ({"node_discounts": {"sport": float("nan")}}, "give a positive number below 1"),
        ({"node_discounts": {"sport": True}}, "give a positive number below 1"),
        ({"node_discounts": {"sport": "much"}}, "give a positive number below 1"),
        ({"node_discounts": {"sport": {}}}, "give a positive number below 1"),
        ({"node_discounts": {"sport": {"beta": 0.1}}}, "'alpha': 0.1"),
        (
            {"node_discounts": {"sport": 0.5, "sport/ball": 0.45}},
            "sum to 0.95 .alpha. above the leaf 'sport/ball/foot'",
        ),
        ({"node_discounts": {"sport": 0.8}}, "alpha and node_discounts sum to 1.133 above the leaf 'sport/ball/foot'"),
        ({"node_discounts": {"sport": {"eta": 0.8}}}, "eta and node_discounts sum to 1.133"),
        ({"node_discounts": {"sport": 0.1}, "branching": (2, 3)}, "this tree has no names; give branching the paths"),
        ({"node_discounts": {"sport": 0.1}, "branching": "wide"}, "this tree has no names"),
    ],
)
def test_what_cannot_be_is_refused(corpus, change, words):
    with pytest.raises(InputError, match=words):
        BackoffTreeTopics(**{"branching": PATHS, **change}).fit(corpus)


@pytest.mark.parametrize(
    "damage",
    [{"music": {"alpha": 0.1}}, {"science": {"alpha": 0.1, "eta": 7}}, ["science"], {"science": {"eta": 0.89}}],
)
def test_damaged_model_is_refused(fitted, tmp_path, damage):
    fitted.save(tmp_path / "model")
    arrays, meta = read_folder(tmp_path / "model", kind="BackoffTreeTopics")
    values = next(of for of in [meta, *meta.values()] if isinstance(of, dict) and "node_discounts_" in of)
    values["node_discounts_"] = damage
    arrays["eta_levels_"] = np.full(3, 0.1)
    write_folder(tmp_path / "model", kind="BackoffTreeTopics", arrays=arrays, meta=meta, overwrite=True)
    with pytest.raises(ModelFormatError):
        stickbreak.load(tmp_path / "model")


def test_root_is_named_by_the_empty_path():
    shape = taxonomy_of(PATHS)
    both = node_discounts({"": 0.2, "science": {"eta": 0.1}}, shape)
    assert both.documents.above(shape).own[:, 0].tolist() == [0.2] * 6
    assert both.words.above(shape).own[:, 1].tolist() == [0.1] * 3 + [0.0] * 3
    assert both.documents.above(shape).levels().tolist() == [1, 2]
