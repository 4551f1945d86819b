"""`stickbreak reduce`, and what a fit says of fewer topics."""

import json
import re
import shlex

import numpy as np
import pytest

import stickbreak


@pytest.fixture
def fitted(model):
    return stickbreak.load(model)


def test_model_with_fewer_topics_works_with_all_commands(run, model, documents, fitted, tmp_path):
    out = tmp_path / "three"
    told = run("reduce", model, "--topics", "3", "--out", out)
    assert told.stderr.splitlines() == [f"{fitted.n_topics_} topics became 3, numbered by size, written to {out}"]
    assert stickbreak.load(out).n_topics_ == 3
    np.testing.assert_array_equal(stickbreak.load(out).topic_word_, fitted.reduced(3).topic_word_)
    assert len(run("topics", out).stdout.splitlines()) == 4
    assert run("transform", out, documents, "--quiet").stdout.count("\n") == 91
    assert "held-out" in run("evaluate", out, documents).stdout
    run("report", out, documents, "--out", tmp_path / "report.html")
    assert stickbreak.load(out)._reading["settings"] == stickbreak.load(model)._reading["settings"]
    run("reduce", out, "--topics", "2", "--out", tmp_path / "two")
    assert stickbreak.load(tmp_path / "two").n_topics_ == 2


@pytest.mark.parametrize(
    ("word", "attribute"),
    [("best", "best"), ("within-one-error", "smallest_within_one_error"), ("overview", "overview")],
)
def test_words_stand_for_numbers_of_the_path(run, model, fitted, tmp_path, word, attribute):
    found = json.loads(run("reduce", model, "--topics", word, "--out", tmp_path / "m", "--json").stdout)
    n = getattr(fitted.path_, attribute)
    assert found == {"model": str(tmp_path / "m"), "n_topics_before": fitted.n_topics_, "n_topics": n}


def test_topics_are_merged_and_dropped_by_number(run, refuse, model, documents, fitted, tmp_path):
    named = tmp_path / "named"
    fitted.label({3: "harbour", 4: "bread"}).save(named)
    told = run("reduce", named, "--merge", "1,3", "--drop", "0", "--drop", "2", "--out", tmp_path / "m", "--json")
    number, after = json.loads(told.stdout)["numbers"], stickbreak.load(tmp_path / "m")
    assert [number[k] for k in "02"] == [None, None]
    assert number["1"] == number["3"]
    assert after.labels_ == {number["3"]: "harbour", number["4"]: "bread"}
    rows = map(json.loads, run("transform", tmp_path / "m", documents, "--json").stdout.splitlines())
    np.testing.assert_allclose([sum(row["weights"]) for row in rows], 1)
    options = ("--merge", "1,3", "--drop", "0", "--drop", "2")
    merged, *dropped, last = run("reduce", named, *options, "--out", tmp_path / "n").stderr.splitlines()
    assert merged.startswith("Topics 1 (")
    assert merged.endswith(f") and 3 (harbour) are now topic {number['3']} (harbour).")
    assert [line.split(" (")[0] for line in dropped] == ["Topic 0", "Topic 2"]
    assert f"{fitted.n_topics_} topics became {fitted.n_topics_ - 3}, numbered by size" in last
    for wrong, message in (
        (("--merge", "harbour"), "--merge is 'harbour'; give numbers of topics, such as 3,7"),
        (("--drop", "99"), "give a list of numbers from 0 to"),
        (("--merge", "1,2", "--drop", "2"), "topic 2 stands twice"),
        (("--drop", "1", "--topics", "3"), "--topics is given with --merge or --drop"),
    ):
        assert message in refuse("reduce", named, *wrong, "--out", tmp_path / "x")


def test_model_without_a_path_says_how_to_get_fewer_topics(run, refuse, fitted, tmp_path):
    fitted._path = None
    fitted.save(tmp_path / "without")
    told = refuse("reduce", tmp_path / "without", "--out", tmp_path / "m")
    assert f"{tmp_path / 'without'} has no path of joined topics (it was fitted with --no-path" in told
    assert told.endswith("fit again without --no-path, or name topics with --merge and --drop")
    assert not (tmp_path / "m").exists()
    run("reduce", tmp_path / "without", "--merge", "0,1", "--out", tmp_path / "m")


def test_fit_names_the_numbers_of_topics_and_a_command_that_runs(run, records, tmp_path):
    many = tmp_path / "many.jsonl"
    rng = np.random.default_rng(0)
    words = [f"{record['id'].split('-')[0]}{a}{b}" for record in records[:3] for a in "abcdef" for b in "qrstuvwx"]
    texts = (" ".join(rng.choice(words, 40)) for _ in range(200))
    many.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    out = tmp_path / "m"
    fit = ("fit", many, "--out", out, "--topics", "25", "--laps", "3", "--random-state", "1", "--no-report")
    lines = run(*fit).stdout.splitlines()
    path = stickbreak.load(out).path_
    assert lines[-4].startswith("Next   ")
    told = re.fullmatch(r" {7}join these \d+ topics to fewer \((.*)\): (stickbreak reduce .*)", lines[-3])
    assert path.best == 1  # the words are random
    assert told[1] == "20 for an overview; 1 predicts held-out words better than all"
    run(*shlex.split(told[2])[1:])
    assert stickbreak.load(tmp_path / "m-20").n_topics_ == 20
    found = json.loads(run(*fit, "--force", "--json").stdout)
    assert (found["path"]["best"], found["path"]["overview"]) == (path.best, 20)
    assert len(found["path"]["scores"]) == found["n_topics"]


def test_as_many_topics_as_there_are_write_nothing(run, model, fitted):
    there = set(model.parent.iterdir())
    n = fitted.n_topics_
    told = run("reduce", model, "--topics", n).stderr
    assert told.splitlines() == [f"--topics {n} is {n}, and {model} has as many topics: nothing is written"]
    assert set(model.parent.iterdir()) == there
