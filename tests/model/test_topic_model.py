"""The base of the estimators, by a family that learns nothing: topics and weights are given."""

from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.utils.validation import check_is_fitted

from stickbreak.corpus import Corpus
from stickbreak.exceptions import ModelFormatError
from stickbreak.fitting.loop import Trace
from stickbreak.model.topic_estimator import TopicEstimator
from stickbreak.prediction.left_to_right import TopicRule
from stickbreak.storage import persistence

TOPICS = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])


class GivenTopics(TopicEstimator):
    """Two topics; every document has the weights 0.5, 0.25, and 0.25 for the rest."""

    _fitted_arrays: ClassVar[tuple[str, ...]] = ("components_",)
    _fitted_values: ClassVar[tuple[str, ...]] = (
        "note_", "objective_", "n_laps_", "converged_", "stop_reason_", "start_seconds_",
    )  # fmt: skip

    def __init__(self, *, strength: float = 10.0, moves: Any = ("a", "b"), init: Any = None, random_state: Any = None):
        self.strength = strength
        self.moves = moves
        self.init = init
        self.random_state = random_state

    def fit(self, X, y=None):
        corpus = self._corpus(X, reset=True)
        self.components_ = TOPICS * np.nan_to_num(self.strength)
        self.vocabulary_ = corpus.words
        columns = {"lap": [1, 2], "objective": [-2.0, -1.5], "n_topics": [2, 2], "seconds": [0.5, 0.5], "moved": [0, 0]}
        self._record(Trace(columns))
        self.note_ = float("inf")
        self.converged_, self.stop_reason_, self.start_seconds_ = False, "as it was given", 0.0
        return self

    def expected_weights(self, X):
        check_is_fitted(self)
        return np.tile([0.5, 0.25, 0.25], (self._corpus(X).n_documents, 1))

    def _predictive_rule(self):
        return TopicRule(np.vstack([TOPICS, self.rest_word_]), np.array([1.0, 0.5, 0.5]))

    @property
    def topic_word_(self):
        check_is_fitted(self)
        return TOPICS

    @property
    def topic_weights_(self):
        return np.array([0.5, 0.25])

    @property
    def topic_shares_(self):
        return np.array([0.5, 0.5])


@pytest.fixture
def model():
    return GivenTopics().fit(Corpus.from_counts([[2, 0, 1], [0, 4, 3]], vocabulary=["bar", "foo", "qux"]))


def test_score_is_the_completion_by_hand(model):
    counts = Corpus.from_counts([[4, 0, 0], [0, 0, 6]])
    predictive = TOPICS.T @ [2 / 3, 1 / 3]
    by_hand = (2 * np.log(predictive[0]) + 3 * np.log(predictive[2])) / 5
    assert model.score(counts) == pytest.approx(by_hand, rel=1e-14)


def test_corpus_passes_without_a_copy(model):
    corpus = Corpus.from_counts([[1, 2, 3]])
    assert model._corpus(corpus) is corpus


def test_save_and_load_keep_values_that_json_cannot_hold(tmp_path):
    init = np.array([[1.0, np.nan]])
    given = GivenTopics(strength=np.inf, init=init, random_state=np.random.RandomState(0))
    given.fit([[1, 2, 3]]).save(tmp_path / "model")
    loaded = GivenTopics._load(tmp_path / "model")
    assert loaded.strength == np.inf
    assert loaded.moves == ("a", "b")
    np.testing.assert_array_equal(loaded.init, init)
    assert loaded.random_state is None, "a RandomState cannot be saved"
    assert loaded.note_ == np.inf
    assert loaded.trace_["lap"].dtype.kind == "i"
    np.testing.assert_array_equal(loaded.trace_["objective"], [-2.0, -1.5])


@pytest.mark.parametrize("lost", ["parameters", "values", "vocabulary", "feature_names", "n_features"])
def test_model_that_lacks_a_part_is_refused(model, tmp_path, lost):
    model.save(tmp_path / "model")
    arrays, meta = persistence.read_folder(tmp_path / "model")
    del meta[lost]
    persistence.write_folder(tmp_path / "less", kind="GivenTopics", arrays=arrays, meta=meta)
    with pytest.raises(ModelFormatError, match=rf"less lacks '{lost}', .*fit and save it again"):
        GivenTopics._load(tmp_path / "less")


@pytest.mark.parametrize("part", ["components_", "note_"])
def test_model_that_lacks_a_fitted_attribute_is_refused(model, tmp_path, part):
    model.save(tmp_path / "model")
    arrays, meta = persistence.read_folder(tmp_path / "model")
    (arrays if part in arrays else meta["values"]).pop(part)
    persistence.write_folder(tmp_path / "less", kind="GivenTopics", arrays=arrays, meta=meta)
    with pytest.raises(ModelFormatError, match=part):
        GivenTopics._load(tmp_path / "less")


def _change(model, folder, change):
    """Save a model whose arrays and meta `change` has edited; the folder itself is sound."""
    model.save(folder / "model")
    arrays, meta = persistence.read_folder(folder / "model")
    change(arrays, meta)
    persistence.write_folder(folder / "changed", kind=type(model).__name__, arrays=arrays, meta=meta)
    return folder / "changed"


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays, meta: meta.update(parameters=5),
        lambda arrays, meta: meta.update(values=[]),
        lambda arrays, meta: meta.update(vocabulary=3),
        lambda arrays, meta: meta.update(vocabulary=["a", "b"]),
        lambda arrays, meta: meta.update(vocabulary=["a", "b", 3]),
        lambda arrays, meta: meta.update(n_features="many"),
        lambda arrays, meta: meta.update(n_features=float("inf")),
        lambda arrays, meta: meta.update(n_features=4),
        lambda arrays, meta: meta.update(feature_names=["a"]),
        lambda arrays, meta: meta["parameters"].update(moves={"tuple": 5}),
        lambda arrays, meta: meta["parameters"].update(init={"array": ["x"]}),
        lambda arrays, meta: arrays.update(components_=np.ones(3)),
        lambda arrays, meta: arrays.update(components_=np.ones((2, 4))),
        lambda arrays, meta: arrays.update(components_=np.ones((0, 3))),
        lambda arrays, meta: arrays.update(components_=np.ones((2, 3), dtype=np.int64)),
        lambda arrays, meta: arrays.update(components_=np.full((2, 3), np.nan)),
        lambda arrays, meta: arrays.update({"trace.lap": np.array([1, 2, 3])}),
        lambda arrays, meta: arrays.pop("trace.moved"),
        lambda arrays, meta: meta["values"].update(n_laps_=2**31),
        lambda arrays, meta: meta["values"].update(objective_=[-1.5]),
        lambda arrays, meta: meta["values"].update(start_seconds_=float("nan")),
        lambda arrays, meta: meta["values"].update(converged_=None),
        lambda arrays, meta: meta["values"].update(stop_reason_=3),
        lambda arrays, meta: meta.update(feature_names={"": None}),
        lambda arrays, meta: meta.update(feature_names=[[], [], []]),
        lambda arrays, meta: meta.update(vocabulary="abc"),
    ],
)
def test_model_whose_parts_do_not_fit_is_refused_in_one_sentence(model, tmp_path, change):
    folder = _change(model, tmp_path, change)
    with pytest.raises(ModelFormatError, match=r"changed (is damaged|lacks) .*; fit and save it again\.$"):
        GivenTopics._load(folder)


def _poke(name, index, value):
    def change(arrays, meta):
        arrays[name][index] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays, meta: arrays.update(rho_=arrays["rho_"][:-1]),
        lambda arrays, meta: arrays.update(omega_=arrays["omega_"][:-1]),
        lambda arrays, meta: arrays.update(rho_=arrays["rho_"].astype(np.float32)),
        lambda arrays, meta: arrays.update(components_=arrays["components_"][:-1]),
        lambda arrays, meta: arrays.update(components_=arrays["components_"][:, :-1]),
        _poke("rho_", 0, 1.0),
        _poke("rho_", 0, 0.0),
        _poke("rho_", 0, np.nan),
        _poke("omega_", 0, -1.0),
        _poke("omega_", 0, np.inf),
        _poke("components_", (0, 0), 0.0),
        _poke("components_", (0, 0), np.inf),
        lambda arrays, meta: meta["parameters"].update(alpha=-1.0),
        lambda arrays, meta: meta["parameters"].update(alpha="half"),
        lambda arrays, meta: meta["parameters"].update(n_jobs=[1]),
    ],
)
def test_variational_model_whose_parts_do_not_fit_is_refused(tmp_path, change):
    import stickbreak

    counts = np.random.default_rng(0).poisson(2, size=(12, 5))
    fitted = stickbreak.VariationalHDP(n_topics=3, n_laps=1, moves=(), random_state=0).fit(counts)
    folder = _change(fitted, tmp_path, change)
    assert stickbreak.load(tmp_path / "model").n_topics_ == 3
    with pytest.raises(ModelFormatError, match=r"changed is damaged \(.*\); fit and save it again\.$"):
        stickbreak.load(folder)
