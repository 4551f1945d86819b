"""Runs: their keys, records and costs, and that none is made twice."""

import argparse
import json
import math
import sys

import numpy as np
import pytest
from benchmarks.harness.pages import Incomplete
from benchmarks.side_by_side import measure, points, report, run

FIELDS = {
    "title", "documents", "words", "tokens", "seconds", "cpu_seconds", "passes", "tokens_per_second", "peak_mib",
    "start_mib", "K_at_the_end", "topics", "completion", "trajectory", "left_to_right", "left_to_right_documents",
    "umass", "umass_held_out", "npmi", "npmi_held_out", "machine", "versions", "commit",
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_splits(monkeypatch):
    monkeypatch.delenv("STICKBREAK_DATA", raising=False)


def options_of(path, *, systems=("topics:n_laps=12",), **changes):
    given = {"topics": [5], "seconds": 5.0, "seeds": [0], "repeats": 1, **changes}
    return argparse.Namespace(corpora=["planted:80:50:3:30"], systems=list(systems), out=path, **given)


def test_record_has_all_fields(monkeypatch):
    monkeypatch.setattr(measure, "LOOKS", tuple(1e-5 * i for i in range(1, 1_000_000)))  # after every unit of work
    key = {"corpus": "planted:500:300:8:60", "system": "topics", "settings": {}, "K": 8, "seed": 0, "limit": 60.0}
    record = measure.run(key)
    assert set(record) == FIELDS
    assert record["documents"] == 400
    assert record["tokens_per_second"] == pytest.approx(record["tokens"] * record["passes"] / record["seconds"])
    assert 70 <= record["passes"] < 200  # converged
    assert 0 < record["topics"] <= record["K_at_the_end"] <= 9  # 8 are planted
    seconds, processor, scores = np.array(record["trajectory"]).T
    assert (np.diff(seconds) > 0).all()
    assert (np.diff(processor) > 0).all()
    assert scores.size == 2 + math.ceil(record["passes"] / 10)  # after 2, 5, 10, 20, ... passes and the last one
    assert scores[-1] == record["completion"] > scores[0] + 0.01
    assert record["peak_mib"] >= record["start_mib"] > 10
    assert record["versions"]["python"].startswith("3.")
    assert set(record["machine"]) == {"processor", "cores", "memory_gib", "system"}
    json.dumps(record)


def test_run_ends_with_the_unit_that_passes_the_limit():
    key = {"corpus": "planted:80:50:3:30", "system": "topics", "settings": {}, "K": 5, "seed": 0, "limit": 1e-9}
    record = measure.run(key)
    assert record["passes"] == 2
    assert len(record["trajectory"]) == 1


@pytest.mark.slow
def test_run_is_made_once(tmp_path):
    options = options_of(tmp_path / "runs.jsonl")
    printed = run.run(options)
    text = options.out.read_text(encoding="utf-8")
    assert len(text.splitlines()) == 1
    assert FIELDS <= set(json.loads(text))
    assert "| 5 | topics, n_laps=12 | 1 |" in printed
    assert run.run(options) == printed
    assert options.out.read_text(encoding="utf-8") == text


def test_systems_take_turns(tmp_path):
    options = options_of(tmp_path / "x", systems=("topics", "tree"), seeds=[0, 1], repeats=2)
    keys = run.run_keys(options)
    turns = [(key["repeat"], key["seed"], key["system"]) for key in keys]
    assert turns == [(r, s, name) for r in (0, 1) for s in (0, 1) for name in ("topics", "tree")]
    assert all(key["limit"] == 5.0 and key["kind"] == "run" for key in keys)


def test_failure_is_named_and_the_rest_goes_on(tmp_path, monkeypatch, capfd):
    def failing(key):
        if key["system"] == "tree":
            raise ValueError("too many leaves")
        return {"completion": -5.0}

    monkeypatch.setattr(measure, "measure", failing)
    monkeypatch.setattr(report, "quality", lambda records: str(len(records)))
    options = options_of(tmp_path / "runs.jsonl", systems=("tree", "topics"))
    with pytest.raises(Incomplete, match=r"^1$"):
        run.run(options)
    assert "ValueError: too many leaves" in capfd.readouterr().err


def test_cost_counts_units_after_the_first():
    key = {"system": "topics", "settings": {}, "K": 5, "words": 100, "documents": 50, "threads": 2, "seed": 0}
    record = points.point({**key, "limit": 0.0})
    assert record["passes"] == 3  # from the second lap to the fifth
    assert record["seconds_of_a_pass"] > 0
    assert record["start_seconds"] > 0


def test_points_on_several_axes_are_measured_once():
    chosen = [{"system": name, "settings": {}} for name in ("topics", "gensim-lda")]
    keys = points.keys(chosen, {"K": (50, 100), "threads": (1, 2)}, repeats=2, limit=1.0)
    found = [(k["repeat"], k["K"], k["threads"], k["system"]) for k in keys]
    one = [(50, 1, "topics"), (50, 1, "gensim-lda"), (100, 1, "topics"), (100, 1, "gensim-lda")]
    assert found == [(r, *p) for r in (0, 1) for p in [*one, (100, 2, "topics")]]


PEAK = """
import numpy as np
from benchmarks.harness import machine

before = np.ones(60 * 2**17)  # 60 MiB
del before
peak = machine.PeakMemory()
inside = np.ones(40 * 2**17)
peak.end()
del inside
peak.begin()
outside = np.ones(20 * 2**17)
peak.end()
print(peak.mebibytes - peak.start)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not forget a peak")
def test_peak_memory_forgets_what_was_before(fresh_python):
    """In a process of its own: what other tests leave in the memory of theirs would move the peak."""
    assert 35 < float(fresh_python(PEAK).stdout) < 55


def test_a_pass_is_timed_once_topics_have_formed():
    """Units of 2, 3, 5 and 10 passes: those up to pass ten do not count, nor does a first unit, however long."""
    rows = [(2.0, 9.0, 9.0), (3.0, 8.0, 8.0), (5.0, 7.0, 7.0), (10.0, 0.2, 0.1)]
    assert points._counted(rows) == rows[3:]
    assert points._counted([(20.0, 9.0, 9.0)]) == []
    assert not points._enough(rows, limit=99.0)
    assert points._enough([*rows, (10.0, 0.2, 0.1)], limit=99.0)
    assert points._enough(rows, limit=24.0)
