"""`stickbreak reduce`, and what a fit says of fewer topics."""

import json
import re
import shlex
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import stickbreak
from stickbreak.cli.job import _other_numbers


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


@pytest.mark.parametrize("wrong", ["0", "-3", "2.5", "many", ""])
def test_what_is_no_number_of_topics_is_refused(refuse, model, tmp_path, wrong):
    assert "give a number of topics, overview, best or within-one-error" in refuse(
        "reduce", model, f"--topics={wrong}", "--out", tmp_path / "m"
    )


def test_more_topics_than_there_are_is_refused(refuse, model, fitted, tmp_path):
    K = fitted.n_topics_
    assert f"the model has {K} topics; give a number from 1 to {K}" in refuse(
        "reduce", model, "--topics", "99", "--out", tmp_path / "m"
    )


def test_model_without_a_path_says_how_to_find_one(refuse, fitted, tmp_path):
    fitted._path = None
    fitted.save(tmp_path / "without")
    assert "call find_path with the documents of its fit" in refuse(
        "reduce", tmp_path / "without", "--out", tmp_path / "m"
    )
    assert not (tmp_path / "m").exists()


def test_tree_cannot_be_reduced(refuse, tree_model, tmp_path):
    assert "the topics of this BackoffTreeTopics cannot be joined" in refuse(
        "reduce", tree_model, "--out", tmp_path / "m"
    )


def test_components_of_vectors_cannot_be_joined(run, refuse, tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "vectors.npy", rng.normal(size=(80, 2)))
    fit = ("fit", tmp_path / "vectors.npy", "--method", "gaussian-mixture", "--laps", "2", "--no-report")
    run(*fit, "--out", tmp_path / "mixture")
    assert "the components of a GaussianDPMixture cannot be joined" in refuse(
        "reduce", tmp_path / "mixture", "--out", tmp_path / "m"
    )


def test_another_model_is_replaced_only_if_asked(run, refuse, model, tmp_path):
    run("reduce", model, "--topics", "2", "--out", tmp_path / "m")
    assert "already exists" in refuse("reduce", model, "--topics", "3", "--out", tmp_path / "m")
    run("reduce", model, "--topics", "3", "--out", tmp_path / "m", "--force")
    assert stickbreak.load(tmp_path / "m").n_topics_ == 3


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


def result_of(path, method="topics"):
    """The result of a fit that found the number of its topics (lda: that was given it)."""
    return SimpleNamespace(
        path=path, job=SimpleNamespace(out=Path("m"), method=method, repeat=None), model=SimpleNamespace(n_topics=None)
    )


@pytest.mark.parametrize(
    ("n_topics", "best", "number", "said"),
    [
        (150, 146, 20, "20 for an overview; 146 predict held-out words better than all"),
        (150, 150, 20, "20 for an overview"),
        (12, 1, 1, "1 predicts held-out words better than all"),
    ],
)
def test_a_smaller_number_is_named_only_where_it_predicts_better(n_topics, best, number, said):
    path = SimpleNamespace(scores=np.zeros(n_topics), best=best, overview=min(20, n_topics))
    [told] = _other_numbers(result_of(path))
    command = ["stickbreak", "reduce", "m", "--topics", str(number), "--out", f"m-{number}"]
    assert told == (f"join these {n_topics} topics to fewer ({said})", command)


def test_nothing_is_said_of_fewer_topics_where_none_predict_better_and_all_are_read_at_a_glance():
    path = SimpleNamespace(scores=np.zeros(12), best=12, smallest_within_one_error=9, overview=12)
    for method in ("topics", "lda"):
        assert not list(_other_numbers(result_of(path, method)))


def test_fit_of_a_tree_has_no_path(run, tmp_path, documents):
    options = ["--method", "tree", "--set", "branching=2,2", "--laps", "2", "--no-report", "--out", tmp_path / "m"]
    assert "topics to fewer" not in run("fit", documents, *options).stdout
    assert json.loads(run("fit", documents, *options, "--force", "--json").stdout)["path"] is None


def test_interrupted_path_leaves_the_model(run, documents, tmp_path, fast, monkeypatch):
    monkeypatch.setattr(
        "stickbreak.TopicModel.find_path", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt), raising=False
    )
    told = run("fit", documents, "--out", tmp_path / "m", "--no-report", *fast)
    assert "interrupted: the model is written, without a path of joined topics" in told.stderr
    assert stickbreak.load(tmp_path / "m").n_topics_ >= 1
    assert "join topics" not in told.stdout
