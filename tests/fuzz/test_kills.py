"""A small share of the kills, at events that are counted: what is resumed equals what was never cut."""

import os
import random
import signal
import sys

import pytest
from fuzz.forks import Ended, child
from fuzz.injection import Calls, watched
from fuzz.models import FITS, digest

from fuzz import kills

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks processes and kills them")
LEFT = ["checkpoint"]
UNCUT: dict[str, str] = {}


def uncut(name):
    """Return what a fit that was never cut says; the kernels are compiled for the children, too."""
    if name not in UNCUT:
        UNCUT[name] = digest(FITS[name].model().fit(FITS[name].documents()), FITS[name].documents())
    return UNCUT[name]


def fit(name, folder, **options):
    data = FITS[name].documents()
    return FITS[name].model().fit(data, checkpoint=folder / "checkpoint", **options)


def resumed(name, folder):
    return digest(fit(name, folder, resume=True), FITS[name].documents())


def at(stage, number, numbers):
    """Return a callback that sends signals to its own process at the given event of a stage."""
    seen = []

    def callback(event):
        if ("init" if "stage" in event else "lap") == stage:
            seen.append(event)
            if len(seen) == number:
                for each in numbers:
                    os.kill(os.getpid(), each)

    return callback


@pytest.fixture
def ctrl_c():
    """Ctrl-C raises a KeyboardInterrupt, also where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


STARTS = [name for name in FITS if getattr(FITS[name].model(), "init", None) in ("lda", "topic-model", "anchors")]


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("name", STARTS)
def test_start_cut_short_is_not_resumed(name, tmp_path):
    cut = fit(name, tmp_path, callback=at("init", 1, [signal.SIGINT]))
    assert "the start was cut short" in cut.stop_reason_
    assert "No checkpoint was written: a resumed fit begins again." in cut.stop_reason_
    assert cut.n_laps_ == 1
    assert os.listdir(tmp_path) == []
    assert resumed(name, tmp_path) == uncut(name)


# what a Ctrl-C does is the loop's, which all fits share: half of them have one, the others a second one at once
CUTS = [
    *((name, [signal.SIGKILL]) for name in FITS),
    *((name, [signal.SIGINT] * (1 + place % 2)) for place, name in enumerate(FITS)),
]


@pytest.mark.parametrize(("name", "numbers"), CUTS)
def test_fit_that_is_cut_in_a_lap_goes_on_to_the_same_bits(name, numbers, tmp_path):
    expected = uncut(name)
    ended = child(lambda: fit(name, tmp_path, callback=at("lap", 3, numbers)).stop_reason_)
    wanted = {1: "done", 2: "interrupted"}[len(numbers)] if numbers[0] == signal.SIGINT else "killed"
    assert ended.how == wanted, ended
    assert child(lambda: resumed(name, tmp_path)) == Ended("done", expected)
    assert [entry for entry in os.listdir(tmp_path) if not entry.endswith(".tmp")] == LEFT


def fit_with(name, folder, action, at_call):
    """Fit; at a call of the system that a checkpoint makes, do something."""
    with watched(Calls(at_call, action)) as calls:
        fit(name, folder, resume=True)
    return len(calls.names)


@pytest.mark.parametrize("name", ["topics", "tree serial"])
def test_kill_at_any_call_of_a_checkpoint_loses_nothing(name, tmp_path):
    """The calls of the second checkpoint, one in five, and the state after the last."""
    expected = uncut(name)
    (tmp_path / "count").mkdir()
    n = child(lambda: fit_with(name, tmp_path / "count", None, None)).value // FITS[name].n
    for call in range(n, 2 * n + 5, 5):
        folder = tmp_path / str(call)
        folder.mkdir()
        action = lambda _: os.kill(os.getpid(), signal.SIGKILL)  # noqa: E731
        ended = child(lambda folder=folder, call=call, action=action: fit_with(name, folder, action, call))
        assert ended.how == "killed"
        assert child(lambda folder=folder: resumed(name, folder)) == Ended("done", expected), call
        assert [entry for entry in os.listdir(folder) if not entry.endswith(".tmp")] == LEFT, call


def test_trial_of_kills_counts_what_differs(tmp_path):
    def start(place, signals):
        (place / "stray").touch()
        return Ended("done", "other")

    subject = kills.Subject("x", tmp_path, start, "uncut", 0.0, fresh=["ck"])
    found = kills.trial(subject, "KILL", random.Random(0))
    assert (found.equal, found.left) == (False, ["stray"])
    table = kills.Table()
    table.add("x", "KILL", found, "repeat")
    assert table.show() == 1
