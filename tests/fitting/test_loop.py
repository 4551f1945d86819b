import os
import signal

import pytest

from stickbreak import VariationalHDP
from stickbreak.corpus import planted_lda
from stickbreak.fitting.loop import Interruption, Lap, Trace, drive


def rising(*objectives, moved=(), n_topics=3.0):
    """Laps with given objectives; those whose number (from 1) is in `moved` changed the topics."""
    for number, objective in enumerate(objectives, 1):
        yield Lap(
            float(objective), n_topics, number in moved, {"merge_tried": 2, "merge_accepted": float(number in moved)}
        )


def run(laps, *, trace=None, n_laps=100, tolerance=0.01, **options):
    trace = Trace() if trace is None else trace
    outcome = drive(laps, trace, n_laps=n_laps, tolerance=tolerance, interruption=Interruption(), **options)
    return outcome, trace


def fit(callback, seed=0, **parameters):
    corpus, _ = planted_lda(20, 15, n_topics=3, mean_tokens=20, seed=seed)
    model = VariationalHDP(n_topics=3, n_laps=6, tolerance=0.0, init="near-uniform", random_state=0, **parameters)
    return model.fit(corpus, callback=callback), corpus


def at_lap(number, action):
    def callback(event):
        if event.get("lap") == number:
            action()

    return callback


def press_ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


def test_noisy_objective_is_judged_by_means():
    noisy = [-9, -5, -6, -4, -5, -4.02, -5.02, -4, -5]
    outcome, trace = run(rising(*noisy), window=2)
    assert outcome == (
        True,
        "converged after 7 passes: the objective rose by less than 0.01 nats per token per pass over the last 4 "
        "passes.",
    )
    assert len(trace) == 7  # (-4.02 - 5.02) / 2 is below (-4 - 5) / 2
    for rise, converged in ((0.009, True), (0.011, False)):  # of each pass
        assert run(rising(*(rise * lap for lap in range(8))), window=2, n_laps=8)[0].converged == converged


def test_loop_stops_when_the_objective_rises_by_less_than_the_tolerance():
    outcome, trace = run(rising(-5, -4, -3.995, -2), tolerance=0.01)
    assert outcome.converged
    assert "converged after 3 passes" in outcome.reason
    assert "0.01 nats per token" in outcome.reason
    assert len(trace) == 3


def test_loop_goes_on_while_moves_change_the_topics():
    outcome, trace = run(rising(-5, -4, -4, -4, -4, moved=(3, 4)))
    assert outcome.converged
    assert len(trace) == 5


def test_second_ctrl_c_interrupts_at_once():
    before = signal.getsignal(signal.SIGINT)
    with Interruption() as interruption:
        press_ctrl_c()
        assert interruption.requested
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_ends_a_fit_after_the_lap_with_a_usable_model(tmp_path):
    before = signal.getsignal(signal.SIGINT)
    model, corpus = fit(at_lap(2, press_ctrl_c))
    assert signal.getsignal(signal.SIGINT) is before
    assert model.n_laps_ == 2
    assert not model.converged_
    assert model.stop_reason_ == "interrupted: stopped after pass 2 of 6; the model is usable."
    assert model.transform(corpus).shape == (20, model.n_topics_)
    model.save(tmp_path / "model")
    uncut, _ = fit(None)
    assert uncut.n_laps_ == 6
    assert model.trace_["objective"].tolist() == uncut.trace_["objective"][:2].tolist()


def test_ctrl_c_during_the_start_ends_a_fit_after_its_first_lap():
    def callback(event):
        if event.get("stage") == "init" and event["done"] == 1:
            press_ctrl_c()

    corpus, _ = planted_lda(20, 15, n_topics=3, mean_tokens=20, seed=0)
    model = VariationalHDP(n_topics=3, n_laps=6, tolerance=0.0, init_sweeps=3, random_state=0)
    model.fit(corpus, callback=callback)
    assert model.n_laps_ == 1
    told = "interrupted: the start was cut short; stopped after pass 1 of 6; the model is usable."
    assert model.stop_reason_ == told
    model.set_params(n_laps=1).fit(corpus, callback=callback)
    assert model.stop_reason_ == told.replace("6", "1"), "the limit of laps is not why it stopped"
