import pytest

from stickbreak import VariationalHDP
from stickbreak.corpus import toy_bars
from stickbreak.fitting.progress import FitProgress, progress_bar

LAP = {"lap": 2, "n_laps": 9, "objective": -7.25, "n_topics": 93, "merge_tried": 50, "merge_accepted": 7}
START = {"stage": "init", "done": 3, "total": 5}


def test_progress_that_is_on_writes_to_standard_error_alone(capsys):
    with FitProgress(True) as progress:
        progress.update(START)
        progress.update(LAP)
    out, err = capsys.readouterr()
    assert out == ""
    assert "-7.2500 nats per token, 93 topics" in err


@pytest.mark.parametrize("shown", [True, False])
def test_progress_remembers_the_first_number_of_topics(shown, capsys):
    with FitProgress(shown) as progress:
        progress.update(START)
        assert progress.first_n_topics is None
        progress.update(LAP)
        progress.update({**LAP, "lap": 3, "n_topics": 80})
    assert progress.first_n_topics == 93


@pytest.mark.parametrize("shown", [True, False])
def test_progress_bar_hands_every_event_on(shown, capsys):
    events = []
    with progress_bar(shown, events.append) as report:
        report(START)
        report(LAP)
    assert events == [START, LAP]


def test_progress_bar_ends_with_an_error(capsys):
    with pytest.raises(KeyError, match="objective"), progress_bar(True, None) as report:
        report({"lap": 1, "n_topics": 3})
    with progress_bar(True, None) as report:  # rich allows one live display: the first one was ended
        report(LAP)


def test_fit_is_silent_unless_asked(capfd):
    corpus, _ = toy_bars(10, seed=0)
    model = VariationalHDP(n_topics=2, n_laps=2, init_sweeps=2, random_state=0)
    model.fit(corpus)
    assert capfd.readouterr() == ("", "")


def test_verbose_fit_shows_the_laps_on_standard_error_alone(capsys):
    corpus, _ = toy_bars(10, seed=0)
    VariationalHDP(n_topics=2, n_laps=2, init_sweeps=2, random_state=0, verbose=True).fit(corpus)
    out, err = capsys.readouterr()
    assert out == ""
    assert "nats per token" in err
    assert "2/2" in err
