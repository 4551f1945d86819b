"""A saved model with a parameter that a fit would refuse is refused when it is loaded."""

import json

import pytest
from tests.contract.small import SMALL, data_of, unfitted

import stickbreak
from stickbreak.exceptions import ModelFormatError

BAD = {
    "TopicModel": {"learn": ["gamma"], "max_topics": 0, "n_topics": 0},
    "VariationalHDP": {"learn": ["eta", "eta"], "moves": ["split"], "restarts": -1, "init": "luck"},
    "GibbsHDP": {
        "gamma_prior": [[], 1.0], "alpha_prior": [1.0], "eta_prior": [0.0, 1.0], "learn": ["delta"], "burn_in": 99,
        "init": "luck",
    },
    "HybridHDP": {"learn": ["delta"], "init": "luck", "eta": 0.0},
    "OnlineHDP": {"n_tables": 0, "table_start": "odd", "merge_threshold": 2.0, "init": "luck", "local_sweeps": 0},
    "SplitMergeOnlineHDP": {"gamma": 0.5, "max_topics": 0, "split_trials": -1, "merge_trials": -1},
    "NestedHDP": {"branching": [3, 0], "level_mean": 1.0, "document_nodes": 0, "batch_size": 0, "eta": -1.0},
    "BackoffTreeTopics": {"branching": [1, 2], "alpha": 1.5, "eta": [0.1], "stages": [9], "learn": ["gamma"]},
    "GaussianHDP": {"learn": ["eta"], "moves": ["split"], "likelihood": "round", "init": "luck"},
    "GaussianDPMixture": {"moves": ["split"], "likelihood": "round", "init": "luck"},
}  # fmt: skip


@pytest.mark.parametrize(("name", "parameter"), [(name, key) for name in SMALL for key in BAD.get(name, {})])
def test_bad_parameter_of_a_saved_model_is_refused(name, parameter, tmp_path):
    unfitted(name).fit(data_of(name)).save(tmp_path / "m")
    stickbreak.load(tmp_path / "m")
    file = tmp_path / "m" / "model.json"
    content = json.loads(file.read_text())
    head = content["meta"]
    assert parameter in head["parameters"]
    head["parameters"][parameter] = BAD[name][parameter]
    file.write_text(json.dumps(content))
    with pytest.raises(ModelFormatError, match=parameter):
        stickbreak.load(tmp_path / "m")


@pytest.mark.parametrize("value", [3e7, 1e-20, -1.0])
@pytest.mark.parametrize("name", ["VariationalHDP", "HybridHDP", "GibbsHDP"])
def test_learned_value_beyond_its_range_is_refused(name, value, tmp_path):
    unfitted(name, learn=["alpha"]).fit(data_of(name)).save(tmp_path / "m")
    file = tmp_path / "m" / "model.json"
    content = json.loads(file.read_text())
    content["meta"]["values"]["alpha_"] = value
    file.write_text(json.dumps(content))
    with pytest.raises(ModelFormatError, match="alpha_"):
        stickbreak.load(tmp_path / "m")


@pytest.mark.parametrize(
    "identity", [None, [], {}, {"random_state": "7"}, {"random_state": 2**32}, {"random_state": -1}]
)
@pytest.mark.parametrize("name", ["TopicModel", "GibbsHDP", "BackoffTreeTopics"])
def test_kept_state_without_its_fit_is_refused(name, identity, tmp_path):
    unfitted(name).fit(data_of(name)).save(tmp_path / "m")
    file = tmp_path / "m" / "model.json"
    content = json.loads(file.read_text())
    content["meta"]["kept"]["identity"] = identity
    file.write_text(json.dumps(content))
    with pytest.raises(ModelFormatError):
        stickbreak.load(tmp_path / "m")
