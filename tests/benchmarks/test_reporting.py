"""The generated parts of the pages of side by side, and their pictures."""

import json

import numpy as np
import pytest
from benchmarks.harness import systems
from benchmarks.side_by_side import groups, plots, report, summary


def part(docs, name):
    """Return a generated part."""
    return (docs / "generated" / f"{name}.md").read_text(encoding="utf-8")


def write(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_report_writes_the_parts_and_their_pictures(tmp_path, make_record, make_cost):
    pytest.importorskip("matplotlib")
    runs = [make_record(K=k, seed=s) for k in (10, 20) for s in (0, 1)] + [make_record("tomotopy-lda", completion=-5.5)]
    costs = [make_cost(K=k, cpu_seconds_of_a_pass=k / 1000) for k in (50, 100, 200)]
    files = [write(tmp_path / "runs.jsonl", runs), write(tmp_path / "cost.jsonl", costs)]
    assert [path.name for path in report.write(files, tmp_path)] == ["run.md", "cost.md"]
    run, cost = (part(tmp_path, name) for name in ("run", "cost"))
    assert run.startswith("- machine: none, 2 cores, 8 GiB")
    assert "| 10 | topics | 2 | -5.0000 | -5.200 | 9 | 10 |" in run
    assert "| topics | 50.0 | 100.0 | 200.0 |" in cost
    for name in ("seconds", "topics", "coherence", "cost"):
        assert f"(pictures/side_by_side_{name}.png)" in run + cost
        assert (tmp_path / "pictures" / f"side_by_side_{name}.png").read_bytes().startswith(b"\x89PNG")


def test_report_leaves_alone_what_it_has_nothing_for(tmp_path, make_cost):
    pytest.importorskip("matplotlib")
    written = report.write([write(tmp_path / "cost.jsonl", [make_cost(), make_cost(words=1000)])], tmp_path)
    assert [path.name for path in written] == ["cost.md"]
    assert "against words" in part(tmp_path, "cost")
    assert "against threads" not in part(tmp_path, "cost")


def test_file_without_runs_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="There is no run"):
        report.write([write(tmp_path / "empty.jsonl", [])], tmp_path)


def test_equal_time_compares_the_best_of_both_sides(make_record):
    ours = [[1.0, 1.0, -5.4], [9.0, 9.0, -5.2]]
    slow, quick = [[9.0, 8.0, -5.1]], [[3.0, 3.0, -5.5], [20.0, 20.0, -5.3]]
    records = [
        make_record(trajectory=ours),
        make_record("tomotopy-lda", trajectory=slow),
        make_record("gensim-lda", trajectory=quick),
    ]
    lines = summary.equal_time(groups.groups_of(records)).splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells == [
        ["planted", "10", "1", "-5.4000 topics", "", ""],
        ["planted", "10", "3", "-5.3000 topics", "-5.5000 gensim LDA", "+0.2000"],
        ["planted", "10", "10", "-5.2000 topics", "-5.1000 tomotopy LDA", "-0.1000"],
        ["planted", "10", "30", "-5.2000 topics", "-5.1000 tomotopy LDA", "-0.1000"],
    ]


def test_score_at_a_time_is_the_median_of_runs_that_all_have_one(make_record):
    runs = [make_record(seed=i, trajectory=[[1.0, 1.0 + i, -5.0 - i], [9.0, 9.0, -4.0]]) for i in range(3)]
    (group,) = groups.groups_of(runs)
    assert summary.at_time(group, 2.5) is None  # the third has none yet
    assert summary.at_time(group, 3.0) == pytest.approx(-4 - 2 * np.log(9 / 3) / np.log(9 / 2))  # of the second
    assert summary.at_time(group, 9.0) == summary.at_time(group, 90.0) == -4.0


def test_settings_stand_below_the_defaults_of_the_same_runs(tmp_path, make_record):
    varied = [make_record(settings={"eta": 0.3}, completion=-4.9), make_record("gibbs", settings={"alpha": 5.0})]
    rest = [
        make_record(),
        make_record(limit=9.0, repeat=1, completion=-9.0),
        make_record(seed=1, completion=-9.0),
        make_record("gibbs"),
        make_record("tomotopy-lda"),
    ]
    report.write([write(tmp_path / "runs.jsonl", [*varied, *rest])], tmp_path)
    text = part(tmp_path, "settings")
    rows = [line.split("|")[2].strip() for line in text.splitlines() if line.startswith("| 10")]
    assert rows == ["topics", "topics, eta=0.3", "Gibbs", "Gibbs, alpha=5.0"]
    assert text.count("-5.0000") == 3
    assert text.count("-4.9000") == 1
    assert "eta=0.3" not in part(tmp_path, "run")


def test_later_run_takes_the_place_of_an_earlier(tmp_path, make_record):
    old = make_record(code="old", limit=1.0, completion=-6.0)
    others = [make_record(seed=1), make_record(settings={"eta": 0.3}), make_record(repeat=1), make_record(K=20)]
    found = report.latest([write(tmp_path / "runs.jsonl", [old, *others, make_record(code="new", limit=2.0)])])
    assert len(found) == 5
    assert {record["code"] for record in found} == {"abc", "new"}


def test_spread_is_median_and_range(make_record):
    seconds = (3.0, 1.0, 2.04)
    group = report.Group("planted", 10, "topics", [make_record(seed=i, seconds=s) for i, s in enumerate(seconds)])
    assert report.spread(group, "seconds", "{:.1f}".format) == "2.0 (1.0 to 3.0)"
    assert report.spread(group, "topics", "{:.0f}".format) == "9"
    empty = report.Group("planted", 10, "topics", [make_record(npmi_held_out=None)])
    assert report.spread(empty, "npmi_held_out", "{:.1f}".format) == ""


def test_time_to_quality_is_that_of_the_course(make_record):
    good = make_record(trajectory=[[0.4, 0.3, -5.3], [0.9, 0.7, -5.015], [1.5, 1.2, -5.0]])
    rows = report.quality_rows(report.groups_of([good, make_record("tomotopy-lda", completion=-5.5)]))
    column = "processor seconds to 0.02 below the best"
    assert [(row["system"], row[column]) for row in rows] == [("topics", "0.7"), ("tomotopy LDA", "")]


def test_axis_holds_the_others_fixed(make_cost):
    records = [make_cost(), make_cost(repeat=1, cpu_seconds_of_a_pass=0.3), make_cost(K=50)]
    records += [make_cost(words=1000, K=50, cpu_seconds_of_a_pass=0.9), make_cost(threads=2, seconds_of_a_pass=0.15)]
    assert report.axis_points(records, "K") == {"topics": {50: pytest.approx(100.0), 100: pytest.approx(200.0)}}
    assert report.axis_points(records, "threads") == {"topics": {1: pytest.approx(200.0), 2: pytest.approx(150.0)}}


def test_colours_belong_to_systems_and_lines_to_sides():
    labels = [kind.title for kind in systems.SYSTEMS.values()] + [
        "topics, eta=0.3",
        "variational, stochastic, eta=1",
    ]
    styles = plots.Styles(labels)
    for name, kind in systems.SYSTEMS.items():
        look = styles.of(kind.title)
        assert look["color"] == plots.COLOURS[name]
        assert look["linestyle"] == ("-" if kind.package == "stickbreak" else "--")
    assert len(set(plots.COLOURS.values())) == len(systems.SYSTEMS)
    other = styles.of("topics, eta=0.3")
    assert other["color"] == plots.COLOURS["topics"]
    assert other["marker"] != styles.of("topics")["marker"]
    assert styles.of("variational, stochastic, eta=1")["color"] == plots.COLOURS["variational-stochastic"]
