"""The held-out score of a fit stays with every model, saved too, until its topics change."""

import json

import numpy as np
import pytest
from tests.contract.small import OF_WORDS, SMALL, data_of, fitted

import stickbreak
from stickbreak.evaluation import Completion
from stickbreak.exceptions import ModelFormatError, WriteError
from stickbreak.model.estimator import save_held_out
from stickbreak.prediction.completion import HeldOutScore

SCORE = HeldOutScore(Completion(-6.25, -6.5, 120.0, 12), -7.5)


def noted(name):
    return fitted(name).note_held_out(SCORE.score, unigram=SCORE.unigram)


@pytest.mark.parametrize("name", SMALL)
def test_score_is_saved_and_a_call_that_changes_topics_drops_it(name, tmp_path):
    model = noted(name)
    model.save(tmp_path / "m")
    again = stickbreak.load(tmp_path / "m")
    assert model.held_out_ == again.held_out_ == SCORE
    assert again.continue_fit(data_of(name), n_laps=1).held_out_ is None
    again.save(tmp_path / "on")
    assert stickbreak.load(tmp_path / "on").held_out_ is None


def test_score_is_added_to_a_saved_model(tmp_path):
    model = fitted("GaussianHDP")
    model.save(tmp_path / "m")
    save_held_out(model, tmp_path / "m")
    assert stickbreak.load(tmp_path / "m").held_out_ is None
    model.note_held_out(np.float64(-3.5))
    save_held_out(model, tmp_path / "m")
    assert stickbreak.load(tmp_path / "m").held_out_ == HeldOutScore(-3.5)
    with pytest.raises((ModelFormatError, WriteError)):
        save_held_out(model, tmp_path / "none")


@pytest.mark.parametrize(
    "change",
    [
        {"active": None},
        {"active": {"$float": "nan"}},
        {"n_tokens": -1},
        {"unigram": "low"},
        {"more": 1},
        {"unigram": True},
    ],
)
def test_damaged_score_of_a_saved_model_is_refused(tmp_path, change):
    noted(OF_WORDS[0]).save(tmp_path / "m")
    file = tmp_path / "m" / "model.json"
    head = json.loads(file.read_text())
    for damage in ({**head["meta"]["held_out"], **change}, [], None, {"score": -1.0}):
        head["meta"]["held_out"] = damage
        file.write_text(json.dumps(head))
        with pytest.raises(ModelFormatError):
            stickbreak.load(tmp_path / "m")
