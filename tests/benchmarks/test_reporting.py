"""Tables and plots in the documentation."""

import json

import numpy as np
import pytest

PAGE = """# Page

<!-- begin side-by-side-runs -->
old
<!-- end side-by-side-runs -->

between

<!-- begin side-by-side-settings -->
<!-- end side-by-side-settings -->
<!-- begin side-by-side-cost -->
<!-- end side-by-side-cost -->
after
"""


@pytest.fixture
def report(harness):
    return harness("harness.report")


@pytest.fixture
def docs(tmp_path):
    (tmp_path / "benchmarks.md").write_text(PAGE, encoding="utf-8")
    return tmp_path


def write(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_report_writes_between_the_markers(report, docs, make_record, make_cost):
    pytest.importorskip("matplotlib")
    runs = [make_record(K=k, seed=s) for k in (10, 20) for s in (0, 1)] + [make_record("tomotopy-lda", completion=-5.5)]
    costs = [make_cost(K=k, cpu_seconds_of_a_pass=k / 1000) for k in (50, 100, 200)]
    files = [write(docs / "runs.jsonl", runs), write(docs / "cost.jsonl", costs)]
    report.write(files, docs)
    text = (docs / "benchmarks.md").read_text(encoding="utf-8")
    assert text.startswith("# Page\n\n<!-- begin side-by-side-runs -->\n\n- machine: none, 2 cores, 8 GiB")
    assert text.endswith("<!-- end side-by-side-cost -->\nafter\n")
    assert "old" not in text
    assert "\nbetween\n" in text
    assert "| 10 | collapsed | 2 | -5.0000 | -5.200 | 9 | 10 |" in text
    assert "| collapsed | 50.0 | 100.0 | 200.0 |" in text
    for name in ("seconds", "topics", "coherence", "cost"):
        assert f"(side_by_side_{name}.png)" in text
        assert (docs / f"side_by_side_{name}.png").read_bytes().startswith(b"\x89PNG")
    report.write(files, docs)
    assert (docs / "benchmarks.md").read_text(encoding="utf-8") == text


def test_report_leaves_alone_what_it_has_nothing_for(report, docs, make_cost):
    pytest.importorskip("matplotlib")
    report.write([write(docs / "cost.jsonl", [make_cost(), make_cost(words=1000)])], docs)
    text = (docs / "benchmarks.md").read_text(encoding="utf-8")
    assert "old" in text
    assert "against words" in text
    assert "against threads" not in text


@pytest.mark.parametrize("page", ["", "<!-- end x --><!-- begin x -->", "<!-- begin x -->"])
def test_page_without_markers_is_refused(page, report):
    with pytest.raises(SystemExit, match="it lacks <!-- begin x --> before <!-- end x -->"):
        report.write_between(page, "x", "content")


def test_file_without_runs_is_refused(report, docs):
    with pytest.raises(SystemExit, match="There is no run"):
        report.write([write(docs / "empty.jsonl", [])], docs)


def test_equal_time_compares_the_best_of_both_sides(harness, make_record):
    summary, groups = harness("harness.summary"), harness("harness.groups")
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
        ["planted", "10", "1", "-5.4000 collapsed", "", ""],
        ["planted", "10", "3", "-5.3000 collapsed", "-5.5000 gensim LDA", "+0.2000"],
        ["planted", "10", "10", "-5.2000 collapsed", "-5.1000 tomotopy LDA", "-0.1000"],
        ["planted", "10", "30", "-5.2000 collapsed", "-5.1000 tomotopy LDA", "-0.1000"],
    ]


def test_score_at_a_time_is_the_median_of_runs_that_all_have_one(harness, make_record):
    summary, groups = harness("harness.summary"), harness("harness.groups")
    runs = [make_record(seed=i, trajectory=[[1.0, 1.0 + i, -5.0 - i], [9.0, 9.0, -4.0]]) for i in range(3)]
    (group,) = groups.groups_of(runs)
    assert summary.at_time(group, 2.5) is None  # the third has none yet
    assert summary.at_time(group, 3.0) == pytest.approx(-4 - 2 * np.log(9 / 3) / np.log(9 / 2))  # of the second
    assert summary.at_time(group, 9.0) == summary.at_time(group, 90.0) == -4.0


def test_settings_stand_below_the_defaults_of_the_same_runs(report, docs, make_record):
    varied = [make_record(settings={"eta": 0.3}, completion=-4.9), make_record("gibbs", settings={"alpha": 5.0})]
    rest = [
        make_record(),
        make_record(limit=9.0, repeat=1, completion=-9.0),
        make_record(seed=1, completion=-9.0),
        make_record("gibbs"),
        make_record("tomotopy-lda"),
    ]
    report.write([write(docs / "runs.jsonl", [*varied, *rest])], docs)
    text = (docs / "benchmarks.md").read_text(encoding="utf-8")
    begin, end = (text.index(f"<!-- {word} side-by-side-settings -->") for word in ("begin", "end"))
    rows = [line.split("|")[2].strip() for line in text[begin:end].splitlines() if line.startswith("| 10")]
    assert rows == ["collapsed", "collapsed, eta=0.3", "Gibbs", "Gibbs, alpha=5.0"]
    assert text[begin:end].count("-5.0000") == 3
    assert text[begin:end].count("-4.9000") == 1
    assert "eta=0.3" not in text[:begin] + text[end:]


def test_page_of_the_documentation_has_the_markers(report):
    from pathlib import Path

    text = (Path(__file__).parents[2] / "docs" / report.PAGE).read_text(encoding="utf-8")
    for name in ("side-by-side-runs", "side-by-side-settings", "side-by-side-cost"):
        assert text.count(f"<!-- begin {name} -->") == text.count(f"<!-- end {name} -->") == 1
        report.write_between(text, name, "")


def test_later_run_takes_the_place_of_an_earlier(report, tmp_path, make_record):
    old = make_record(code="old", limit=1.0, completion=-6.0)
    others = [make_record(seed=1), make_record(settings={"eta": 0.3}), make_record(repeat=1), make_record(K=20)]
    found = report.latest([write(tmp_path / "runs.jsonl", [old, *others, make_record(code="new", limit=2.0)])])
    assert len(found) == 5
    assert {record["code"] for record in found} == {"abc", "new"}


def test_spread_is_median_and_range(report, make_record):
    seconds = (3.0, 1.0, 2.04)
    group = report.Group("planted", 10, "collapsed", [make_record(seed=i, seconds=s) for i, s in enumerate(seconds)])
    assert report.spread(group, "seconds", "{:.1f}".format) == "2.0 (1.0 to 3.0)"
    assert report.spread(group, "topics", "{:.0f}".format) == "9"
    empty = report.Group("planted", 10, "collapsed", [make_record(npmi_held_out=None)])
    assert report.spread(empty, "npmi_held_out", "{:.1f}".format) == ""


def test_time_to_quality_is_that_of_the_course(report, make_record):
    good = make_record(trajectory=[[0.4, 0.3, -5.3], [0.9, 0.7, -5.015], [1.5, 1.2, -5.0]])
    rows = report.quality_rows(report.groups_of([good, make_record("tomotopy-lda", completion=-5.5)]))
    column = "processor seconds to 0.02 below the best"
    assert [(row["system"], row[column]) for row in rows] == [("collapsed", "0.7"), ("tomotopy LDA", "")]


def test_axis_holds_the_others_fixed(report, make_cost):
    records = [make_cost(), make_cost(repeat=1, cpu_seconds_of_a_pass=0.3), make_cost(K=50)]
    records += [make_cost(words=1000, K=50, cpu_seconds_of_a_pass=0.9), make_cost(threads=2, seconds_of_a_pass=0.15)]
    assert report.axis_points(records, "K") == {"collapsed": {50: pytest.approx(100.0), 100: pytest.approx(200.0)}}
    assert report.axis_points(records, "threads") == {"collapsed": {1: pytest.approx(200.0), 2: pytest.approx(150.0)}}


def test_colours_belong_to_systems_and_lines_to_sides(harness):
    plots, systems = harness("harness.plots"), harness("harness.systems")
    labels = [kind.title for kind in systems.SYSTEMS.values()] + [
        "collapsed, eta=0.3",
        "variational, stochastic, eta=1",
    ]
    styles = plots.Styles(labels)
    for name, kind in systems.SYSTEMS.items():
        look = styles.of(kind.title)
        assert look["color"] == plots.COLOURS[name]
        assert look["linestyle"] == ("-" if kind.package == "stickbreak" else "--")
    assert len(set(plots.COLOURS.values())) == len(systems.SYSTEMS)
    other = styles.of("collapsed, eta=0.3")
    assert other["color"] == plots.COLOURS["collapsed"]
    assert other["marker"] != styles.of("collapsed")["marker"]
    assert styles.of("variational, stochastic, eta=1")["color"] == plots.COLOURS["variational-stochastic"]
