"""A fit that cannot be written, or that is interrupted: one sentence, and nothing half-written is left."""

import subprocess
import sys

import pytest

import stickbreak
from stickbreak.cli.documents import Documents
from stickbreak.fitting.progress import StageProgress


def test_the_output_is_checked_before_the_input_is_read(refuse, tmp_path):
    (tmp_path / "m").write_text("a file")
    (tmp_path / "damaged.jsonl").write_text("{")
    assert "m already exists" in refuse("fit", tmp_path / "damaged.jsonl", "--out", tmp_path / "m")
    assert "parent folder" in refuse("fit", tmp_path / "damaged.jsonl", "--out", tmp_path / "no" / "m")


def test_an_output_that_may_not_be_written_is_told(refuse, documents, tmp_path, unprivileged):
    tmp_path.chmod(0o500)
    assert "permission denied" in refuse("fit", documents, "--out", tmp_path / "m")


def test_a_full_disk_is_one_sentence_and_leaves_nothing(documents, tmp_path, fast):
    program = (
        "import resource, signal, sys\n"
        "from stickbreak.cli import main\n"
        "import stickbreak.topics\n"
        "class TopicModel(stickbreak.topics.TopicModel):\n"
        "    def save(self, path, **options):\n"
        "        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "        resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))\n"
        "        super().save(path, **options)\n"
        "stickbreak.topics.TopicModel = TopicModel\n"
        "main()\n"
    )
    pytest.importorskip("resource")
    done = fit_in_process(program, documents, "--out", tmp_path / "m", *fast)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.splitlines()[-1].startswith("Error: cannot write")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts are sent otherwise there")
def test_ctrl_c_ends_after_the_lap_and_the_model_is_written(documents, tmp_path):
    program = _INTERRUPTED.format(kills=1)
    done = fit_in_process(program, documents, "--out", tmp_path / "m", "--no-report", "--topics", "5")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    model = stickbreak.load(tmp_path / "m")
    assert model.n_laps_ == 3
    assert not model.converged_
    assert "Note   the fit was stopped after pass 3 of 1000." in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts are sent otherwise there")
def test_a_second_ctrl_c_ends_at_once_and_writes_nothing(documents, tmp_path):
    program = _INTERRUPTED.format(kills=2)
    done = fit_in_process(program, documents, "--out", tmp_path / "m", "--no-report", "--topics", "5")
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.splitlines()[-1].startswith("Error: interrupted")
    assert list(tmp_path.iterdir()) == []


def test_the_model_is_written_before_its_topics_are_joined(run, documents, tmp_path, fast, monkeypatch):
    there = []

    def find_path(material, model, callback):
        there.append(stickbreak.load(tmp_path / "m").n_topics_)
        raise KeyboardInterrupt

    monkeypatch.setattr(Documents, "find_path", find_path)
    told = run("fit", documents, "--out", tmp_path / "m", "--no-report", *fast)
    assert there == [stickbreak.load(tmp_path / "m").n_topics_]
    assert "interrupted: the model is written, without a path" in told.stderr
    told = run("fit", documents, "--out", tmp_path / "n", "--no-report", "--no-path", *fast)
    assert len(there) == 1
    assert "joining" not in told.stderr


def test_joins_and_documents_of_the_report_are_told_as_they_are_done(run, documents, tmp_path, fast, monkeypatch):
    told = []
    monkeypatch.setattr(StageProgress, "update", lambda self, event: told.append(event))
    run("fit", documents, "--out", tmp_path / "m", *fast)
    done = {event["stage"]: event for event in told}
    assert [done[stage]["done"] for stage in ("join", "report")] == [
        done[stage]["total"] for stage in ("join", "report")
    ]
    told.clear()
    run("report", tmp_path / "m", documents, "--out", tmp_path / "r.html")
    assert {event["stage"] for event in told} == {"report"}


def fit_in_process(program, *arguments):
    command = [sys.executable, "-c", program, "fit", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=1200)


# A fit that is interrupted in its third lap, `kills` times.
_INTERRUPTED = """
import os, signal
import stickbreak.topics
from stickbreak.cli import main

class TopicModel(stickbreak.topics.TopicModel):
    def fit(self, X, y=None, *, callback=None, **options):
        def told(event):
            callback(event)
            if event.get("lap") == 3:
                for _ in range({kills}):
                    os.kill(os.getpid(), signal.SIGINT)
        return super().fit(X, y, callback=told, **options)

stickbreak.topics.TopicModel = TopicModel
main()
"""
