"""A fit of the tree that was cut or saved goes on as if it never was, and is refused when damaged."""

import numpy as np
import pytest

import stickbreak
from stickbreak import BackoffTreeTopics
from stickbreak.exceptions import ModelFormatError
from stickbreak.storage.persistence import read_folder, write_folder

from .fits import SMALL, assert_same


def test_interrupted_within_a_stage_goes_on_there(corpus, tmp_path):
    make = {**SMALL, "stages": (1,), "stage_sweeps": 3, "n_laps": 7}
    whole = BackoffTreeTopics(**make).fit(corpus)

    def stop(event):
        if event["lap"] == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        BackoffTreeTopics(**make).fit(corpus, checkpoint=tmp_path / "c", callback=stop)
    assert_same(BackoffTreeTopics(**make).fit(corpus, checkpoint=tmp_path / "c", resume=True), whole)
    assert whole.trace_["n_leaves"].tolist() == [2, 2, 2, 6, 6, 6, 6]
    assert whole.trace_["moved"].tolist() == [0, 0, 0, 1, 0, 0, 0]


@pytest.mark.parametrize(
    "change",
    [
        {"branching": [2, 3], "stages": [1], "stage_sweeps": 2, "learn": []},
        {"stages": [], "learn": ["eta"], "alpha": [0.2, 0.1], "eta": (0.1, 0.3)},
        {"branching": np.array([2, 3]), "learn": (), "alpha": np.array([0.2, 0.1])},
        {"smoothing_share": 0.3, "stages": [1], "stage_sweeps": 2},
    ],
)
def test_saved_model_keeps_its_parameters_as_they_were_given_and_goes_on(corpus, tmp_path, change):
    whole = BackoffTreeTopics(**{**SMALL, **change, "n_laps": 5}).fit(corpus)
    model = BackoffTreeTopics(**{**SMALL, **change}).fit(corpus)
    model.save(tmp_path / "model")
    loaded = stickbreak.load(tmp_path / "model")
    for name, value in model.get_params().items():
        assert type(loaded.get_params()[name]) is type(value), name
        np.testing.assert_array_equal(loaded.get_params()[name], value, err_msg=name)
    loaded.continue_fit(corpus, n_laps=1)
    np.testing.assert_array_equal(loaded.word_leaf_, whole.word_leaf_)
    np.testing.assert_array_equal(loaded.trace_["objective"], whole.trace_["objective"])


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("z.0", lambda a: a + 6, "outside the tree"),
        ("z.0", lambda a: a[1:], "each token"),
        ("delta_doc", lambda a: -a, "positive"),
        ("delta_word", lambda a: a[1:], "level"),
    ],
)
def test_damaged_checkpoint_is_refused(corpus, tmp_path, name, change, words):
    place = tmp_path / "checkpoint"
    BackoffTreeTopics(**SMALL).fit(corpus, checkpoint=place)
    arrays, meta = read_folder(place, kind="checkpoint")
    arrays[name] = change(arrays[name])
    write_folder(place, kind="checkpoint", arrays=arrays, meta=meta, overwrite=True)
    with pytest.raises(ModelFormatError, match=words):
        BackoffTreeTopics(**SMALL).fit(corpus, checkpoint=place, resume=True)
