import pytest

from stickbreak.cli.progress import FitProgress

START = {"stage": "init", "done": 3, "total": 30}
LAP = {"lap": 2, "n_laps": 9, "objective": -7.5, "n_topics": 12, "merge_tried": 4, "merge_accepted": 1}


def on_a_terminal(monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")  # else rich trusts the stream less than the test does


def test_a_terminal_sees_the_laps_on_stderr(capsys, monkeypatch):
    on_a_terminal(monkeypatch)
    with FitProgress() as progress:
        progress.update(START)
        progress.update(LAP)
    captured = capsys.readouterr()
    assert captured.out == ""
    for part in ("3/30", "2/9", "-7.5000 nats/token, 12 topics, merge 1/4"):
        assert part in captured.err


@pytest.mark.parametrize("quiet", [True, False])
def test_nothing_is_shown_if_quiet_or_no_terminal(capsys, monkeypatch, quiet):
    monkeypatch.setattr("sys.stderr.isatty", lambda: quiet)
    with FitProgress(quiet=quiet) as progress:
        progress.update(START)
        progress.update(LAP)
    assert capsys.readouterr() == ("", "")


def test_the_bar_ends_when_the_fit_fails(capsys, monkeypatch):
    on_a_terminal(monkeypatch)
    with pytest.raises(KeyError), FitProgress() as progress:
        progress.update({"lap": 1})
    assert capsys.readouterr().out == ""
