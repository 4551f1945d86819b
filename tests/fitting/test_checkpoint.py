"""A fit that is cut and resumed ends where an uncut one does, to the last bit."""

import json
import os
import signal

import numpy as np
import pytest

from stickbreak.exceptions import WriteError
from stickbreak.storage import persistence

from .fits import SETTINGS, assert_same, fit

FIT = """
import json, os, signal, sys
import numpy as np
import stickbreak
from stickbreak.corpus import planted_lda
settings, checkpoint, result, kill_at = json.loads(sys.argv[1]), *sys.argv[2:4], int(sys.argv[4])
corpus, _ = planted_lda(60, 40, n_topics=4, seed=1)
def callback(event):
    if event.get("lap") == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)
model = stickbreak.VariationalHDP(**settings).fit(corpus, checkpoint=checkpoint, resume=True, callback=callback)
np.savez(result, components=model.components_, rho=model.rho_, omega=model.omega_,
         objective=model.trace_["objective"], n_topics=model.trace_["n_topics"], merges=model.trace_["merge_accepted"])
"""


@pytest.mark.parametrize(
    "changes",
    [
        {"init": "lda", "init_sweeps": 3},
        {"init": "documents"},
        {"n_batches": 1},
        {"n_batches": 7},  # of unequal sizes
        {"moves": ("reorder",)},
        {"moves": ()},
        {"moves": ["reorder", "merge"]},
        {"moves": ["merge", "delete", "birth", "refine", "reorder"]},
        {"moves": ["delete", "birth"], "restarts": 0, "n_batches": 1},
        {
            "moves": ["refine", "birth", "merge", "delete", "reorder"],
            "learn": ("alpha", "gamma", "eta"),
            "bound": "quadratic",
        },
        {"learn": ["alpha", "gamma", "eta"]},
        {"learn": ("eta",), "n_batches": 7},
        {"learn": ("alpha",), "bound": "quadratic"},
        {"init": np.random.default_rng(0).random((6, 40))},
        {"schedule": "stochastic"},
        {"schedule": "stochastic", "stick_rule": "natural", "moves": (), "n_batches": 7},
    ],
    ids=str,
)
def test_resumed_fit_equals_the_uncut_one_whatever_the_settings(corpus, tmp_path, changes):
    fit(corpus, n_laps=3, checkpoint=tmp_path / "checkpoint", **changes)
    resumed = fit(corpus, n_laps=6, checkpoint=tmp_path / "checkpoint", resume=True, **changes)
    assert_same(resumed, fit(corpus, n_laps=6, **changes))


@pytest.mark.parametrize("cut", [1, 2, 4, 5, 6, 8])
def test_resumed_fit_with_all_moves_equals_the_uncut_one(corpus, whole, tmp_path, cut):
    """What each move remembers of before the cut decides what it tries after it."""
    settings = {"moves": ["merge", "delete", "birth", "refine", "reorder"], "n_topics": 3, "init": "documents"}
    uncut = whole(n_laps=12, **settings)
    for name in ("merge", "delete", "birth", "refine"):
        tried = uncut.trace_[f"{name}_tried"]
        assert tried[1:].sum() > 0, name
    fit(corpus, n_laps=cut, checkpoint=tmp_path / "checkpoint", **settings)
    resumed = fit(corpus, n_laps=12, checkpoint=tmp_path / "checkpoint", resume=True, n_jobs=2, **settings)
    assert_same(resumed, uncut)


@pytest.mark.parametrize("cut", [9, 10, 11])
def test_resumed_fit_recomputes_its_totals_in_the_same_lap(corpus, whole, tmp_path, cut):
    fit(corpus, n_laps=cut, checkpoint=tmp_path / "checkpoint")
    resumed = fit(corpus, n_laps=13, checkpoint=tmp_path / "checkpoint", resume=True)
    assert_same(resumed, whole(n_laps=13))


@pytest.mark.long  # two fresh processes
def test_killed_fit_resumes_in_a_fresh_process_to_the_same_bits(corpus, tmp_path, fresh_python):
    settings = json.dumps({**SETTINGS, "n_laps": 8})
    paths = tmp_path / "checkpoint", tmp_path / "result.npz"
    fresh_python(FIT, settings, *paths, 4, returncode=-signal.SIGKILL)
    assert not paths[1].exists()
    _, meta = persistence.read_folder(paths[0], kind="checkpoint")
    assert len(meta["trace"]["objective"]) == 3
    fresh_python(FIT, settings, *paths, 0)
    uncut = fit(corpus)
    with np.load(paths[1]) as result:
        assert result["merges"][4:].sum() > 0, "no merge after the kill"
        np.testing.assert_array_equal(result["components"], uncut.components_)
        np.testing.assert_array_equal(result["rho"], uncut.rho_)
        np.testing.assert_array_equal(result["omega"], uncut.omega_)
        np.testing.assert_array_equal(result["objective"], uncut.trace_["objective"])
        np.testing.assert_array_equal(result["n_topics"], uncut.trace_["n_topics"])


def test_converged_fit_resumed_with_more_laps_is_still_the_uncut_one(corpus, tmp_path):
    uncut = fit(corpus, n_laps=40, tolerance=1e-3)
    assert uncut.converged_
    fit(corpus, n_laps=40, tolerance=1e-3, checkpoint=tmp_path / "checkpoint")
    for n_laps in (40, 60, uncut.n_laps_):
        resumed = fit(corpus, n_laps=n_laps, tolerance=1e-3, checkpoint=tmp_path / "checkpoint", resume=True)
        assert_same(resumed, uncut)


@pytest.mark.parametrize("place", ["a folder of somebody else", "a file", "no parent"])
def test_place_for_checkpoints_is_checked_before_the_fit(corpus, tmp_path, place):
    target = tmp_path / "place"
    if place == "a folder of somebody else":
        target.mkdir()
        (target / "precious.txt").write_text("mine")
    elif place == "a file":
        target.write_text("mine")
    else:
        target = tmp_path / "missing" / "place"
    events: list[dict] = []
    told = "place.*parent folder does not exist" if place == "no parent" else "place.*or the folder of a checkpoint"
    with pytest.raises(WriteError, match=told):
        fit(corpus, checkpoint=target, callback=events.append)
    assert events == [], "the fit had begun before its checkpoint was refused"
    if place == "a folder of somebody else":
        assert (target / "precious.txt").read_text() == "mine"


def test_disk_full_at_a_checkpoint_keeps_the_one_before(corpus, tmp_path, monkeypatch):
    import errno

    folder = tmp_path / "checkpoint"
    real, calls = persistence._write_arrays, []

    def full(arrays, file):
        calls.append(file)
        if len(calls) == 3:
            file.write_bytes(b"half of what was to be written")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(arrays, file)

    monkeypatch.setattr(persistence, "_write_arrays", full)
    with pytest.raises(WriteError, match="disk is full; free some space"):
        fit(corpus, checkpoint=folder)
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]
    assert_same(fit(corpus, checkpoint=folder, resume=True), fit(corpus))


def test_resume_without_a_seed_takes_that_of_the_checkpoint(corpus, tmp_path):
    fit(corpus, n_laps=3, checkpoint=tmp_path / "checkpoint", random_state=None)
    resumed = fit(corpus, checkpoint=tmp_path / "checkpoint", resume=True, random_state=None)
    assert resumed.n_laps_ == 8
