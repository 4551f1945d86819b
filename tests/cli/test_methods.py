"""`stickbreak fit --method`: what is set reaches each estimator, and its models work with all commands."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import stickbreak
import stickbreak_baselines
from stickbreak.cli.methods import METHODS
from stickbreak.methods import OWN


def set_all(values):
    """Options that set each of some values."""
    return [word for value in values.split() for word in ("--set", value)]


GIBBS = ["--method", "gibbs", "--laps", "6", "--jobs", "1", "--quiet"]


def test_every_estimator_has_a_method():
    named = [method.estimator for method in METHODS.values()]
    assert len(set(named)) == len(named)
    assert {*(method.estimator for method in OWN.values()), *stickbreak_baselines.__all__} == set(named)


def test_documents_that_no_memory_holds_are_refused_with_the_method_that_holds_few(
    refuse, documents, tmp_path, monkeypatch
):
    monkeypatch.setattr("stickbreak.fitting.requirements.memory_installed", lambda: 5e4)
    line = refuse("fit", documents, "--out", tmp_path / "m", "--topics", "20", "--jobs", "1")
    assert "a fit of 90 documents of 2700 tokens needs about" in line
    assert "fit a sample, or take HybridHDP (--method hybrid)" in line


def test_options_reach_the_sampler(run, documents, tmp_path):
    values = (
        "alpha=0.6 gamma=3.0 eta=0.2 learn=alpha,eta init=random burn_in=2 thin=2 n_chains=2 representation=franchise "
        "split_merge_trials=3 estimate=best"
    )
    options = ("--topics", "7", "--random-state", "5", *set_all(values))
    run("fit", documents, "--out", tmp_path / "m", *GIBBS, *options)
    model = stickbreak.load(tmp_path / "m")
    given = {
        "n_topics": 7, "alpha": 0.6, "gamma": 3.0, "eta": 0.2, "learn": ("alpha", "eta"), "init": "random",
        "n_laps": 6, "burn_in": 2, "thin": 2, "n_chains": 2, "representation": "franchise",
        "split_merge_trials": 3, "estimate": "best", "random_state": 5, "n_jobs": 1,
    }  # fmt: skip
    assert {name: model.get_params()[name] for name in given} == given


def test_options_reach_the_hybrid(run, documents, tmp_path):
    values = (
        "alpha=0.6 gamma=3.0 eta=0.2 learn=alpha,eta init=random learning_decay=0.7 learning_offset=2.0 batch_size=30 "
        "burn_in_sweeps=2 saved_sweeps=3 sampler=dense"
    )
    options = "--topics 7 --laps 2 --random-state 5 --jobs 1 --held-out 0.2"
    place = ("--out", tmp_path / "m", "--method", "hybrid", "--quiet", "--verbose")
    printed = run("fit", documents, *place, *options.split(), *set_all(values)).stdout
    assert "(started with 7)" in printed
    assert "(predictive log-likelihood)" in printed
    given = {
        "n_topics": 7, "alpha": 0.6, "gamma": 3.0, "eta": 0.2, "learn": ("alpha", "eta"), "init": "random", "n_laps": 2,
        "learning_decay": 0.7, "learning_offset": 2.0, "batch_size": 30, "burn_in_sweeps": 2, "saved_sweeps": 3,
        "sampler": "dense", "random_state": 5, "n_jobs": 1,
    }  # fmt: skip
    found = stickbreak.load(tmp_path / "m").get_params()
    assert {name: found[name] for name in given} == given


@pytest.mark.parametrize("number", ["--topics 7", "--set max_topics=9"])
def test_options_reach_the_default(run, documents, tmp_path, number):
    options = f"{number} --laps 2 --random-state 5 --jobs 1 --held-out 0.2"
    values = set_all("alpha=0.6 eta=0.2 learn=alpha,eta tolerance=none")
    place = ("--out", tmp_path / "m", "--method", "topics", "--quiet")
    printed = run("fit", documents, *place, *options.split(), *values, "--verbose").stdout
    assert "(log-likelihood)" in printed
    given = {
        "n_topics": 7 if "7" in number else None, "max_topics": None if "7" in number else 9, "alpha": 0.6,
        "eta": 0.2, "learn": ("alpha", "eta"), "n_laps": 2, "tolerance": None, "random_state": 5, "n_jobs": 1,
    }  # fmt: skip
    model = stickbreak.load(tmp_path / "m")
    assert {name: model.get_params()[name] for name in given} == given
    assert model._kept is None  # the model on disk is not as large as the documents


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--method", "luck"], f"--method is 'luck'; give {', '.join([*METHODS][:-1])} or {[*METHODS][-1]}"),
        ([*GIBBS, "--set", "estimate=mean"], "estimate"),
        ([*GIBBS, "--set", "representation=crf"], "representation"),
        ([*GIBBS, "--set", "burn_in=6"], "burn_in is 6, but n_laps is 6"),
        ([*GIBBS, "--set", "n_chains=0"], "n_chains"),
        (["--method", "nested-crp", "--topics", "3"], "--topics is not for --method nested-crp; its size is --set"),
    ],
)
def test_wrong_value_is_refused(refuse, documents, tmp_path, options, words):
    assert words in refuse("fit", documents, "--out", tmp_path / "m", *options)


def test_commands_work_on_a_sampled_model(run, documents, tmp_path):
    out = tmp_path / "m"
    options = ["--set", "init=sequential", "--set", "n_chains=2", "--held-out", "0.2", "--random-state", "1"]
    result = run("fit", documents, "--out", out, *GIBBS, *options, "--verbose")
    assert "(joint log-likelihood)" in result.stdout
    assert "did all 6 passes" in result.stdout
    assert "started with" not in result.stdout
    topics = json.loads(run("topics", out, "--json").stdout)
    assert topics["n_topics"] == stickbreak.load(out).n_topics_
    assert len(run("transform", out, documents, "--quiet").stdout.splitlines()) == 91
    assert json.loads(run("evaluate", out, documents, "--json").stdout)["completion"]["active"] < 0
    run("report", out, documents, "--out", tmp_path / "report.html", "--quiet")


def test_json_of_a_sampled_model(run, documents, tmp_path):
    options = ["--set", "init=sequential", "--no-report", "--json", "--set", "estimate=best"]
    printed = run("fit", documents, "--out", tmp_path / "m", *GIBBS, *options)
    found = json.loads(printed.stdout)
    model = stickbreak.load(tmp_path / "m")
    assert (found["method"], found["n_topics_start"], found["n_laps"]) == ("gibbs", None, 6)
    assert found["objective"] == model.objective_


def test_interrupted_chain_resumes_from_its_checkpoint(run, documents, tmp_path):
    place = ["--checkpoint", tmp_path / "c", "--no-report", "--set", "burn_in=1"]
    run("fit", documents, "--out", tmp_path / "cut", *GIBBS, *place)
    more = [*GIBBS[:2], "--laps", "9", *GIBBS[4:]]
    run("fit", documents, "--out", tmp_path / "on", *more, *place, "--resume")
    run("fit", documents, "--out", tmp_path / "whole", *more, "--no-report", "--set", "burn_in=1")
    assert stickbreak.load(tmp_path / "on").objective_ == stickbreak.load(tmp_path / "whole").objective_


TREE = ["--method", "tree", "--laps", "4", "--jobs", "1", "--quiet"]


def test_options_reach_the_tree(run, documents, tmp_path):
    options = ("--topics", "7", "--random-state", "5", "--held-out", "0.2")
    values = set_all("alpha=0.6 eta=0.2 learn=eta branching=2,3,3 stages=() updates=serial")
    run("fit", documents, "--out", tmp_path / "m", *TREE, *options, *values)
    given = {
        "n_topics": 7, "alpha": 0.6, "eta": 0.2, "learn": ("eta",), "branching": (2, 3, 3), "stages": (),
        "updates": "serial", "n_laps": 4, "random_state": 5, "n_jobs": 1,
    }  # fmt: skip
    found = stickbreak.load(tmp_path / "m").get_params()
    assert {name: found[name] for name in given} == given
    assert '"tree":{"branching":[2,3,3]' in (tmp_path / "m" / "report.html").read_text(encoding="utf-8")


def test_tree_is_printed_and_its_weights_are_written_sparse(run, refuse, documents, tmp_path):
    done = json.loads(run("fit", documents, "--out", tmp_path / "m", *TREE, "--topics", "18", "--json").stdout)
    assert "gamma" not in done
    assert 0 < done["n_topics"] <= 18
    assert sum(topic["share"] for topic in done["topics"]) == pytest.approx(1)
    printed = json.loads(run("topics", tmp_path / "m", "--json").stdout)
    assert printed["topics"] == done["topics"]
    run("transform", tmp_path / "m", documents, "--out", tmp_path / "w.npz", "--quiet")
    with np.load(tmp_path / "w.npz") as rows:
        assert rows["shape"].tolist() == [rows["names"].size, 18]
        assert rows["data"].sum() == pytest.approx(np.count_nonzero(np.diff(rows["indptr"])))
    weights = stickbreak.load(tmp_path / "m").transform(stickbreak.corpus.read(documents))
    np.testing.assert_array_equal(sparse.load_npz(tmp_path / "w.npz").toarray(), weights.toarray())
    (tmp_path / "new.jsonl").write_text('{"text": "zzz yyy"}\n{"text": "ship sail"}\n')
    run("transform", tmp_path / "m", tmp_path / "new.jsonl", "--out", tmp_path / "new.npz", "--quiet")
    np.testing.assert_allclose(sparse.load_npz(tmp_path / "new.npz").sum(axis=1).ravel(), [[0, 1]])
    for kind in ("csv", "jsonl", "parquet"):
        run("transform", tmp_path / "m", documents, "--out", tmp_path / f"w.{kind}", "--quiet")
        read = {"csv": pd.read_csv, "jsonl": partial(pd.read_json, lines=True), "parquet": pd.read_parquet}[kind]
        table = read(tmp_path / f"w.{kind}")
        assert table.columns.tolist() == ["document", "topic", "weight"]
        assert table["topic"].tolist() == weights.tocoo().col.tolist()
        np.testing.assert_allclose(table["weight"], weights.data, rtol=1e-9)
    none = run("transform", tmp_path / "m", tmp_path / "new.jsonl", "--quiet").stdout.splitlines()
    assert none[0] == "document,topic,weight"
    assert {row.split(",")[0] for row in none[1:]} == {"1"}
    assert "topics of a tree are rows" in refuse("transform", tmp_path / "m", documents, "--labels")
    run("report", tmp_path / "m", documents, "--out", tmp_path / "r.html", "--quiet")
    assert f'"n_topics":{done["n_topics"]},"n_nodes":' in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert json.loads(run("evaluate", tmp_path / "m", documents, "--json").stdout)


def test_documents_of_links_keep_the_names_of_pages(run, refuse, tmp_path):
    subjects = (["Isle_of_Man", "Douglas,_Isle_of_Man", "TT"], ["Common_law", "Magna_Carta", "High_Court_(England)"])
    pages = [subjects[i % 2][i // 2 % 3 :] + subjects[i % 2] for i in range(60)]
    file = tmp_path / "links.jsonl"
    file.write_text("".join(json.dumps({"id": f"Page_{i}", "text": " ".join(p)}) + "\n" for i, p in enumerate(pages)))
    place = [file, "--out", tmp_path / "m", *TREE, "--set", "branching=2,2", "--no-report"]
    run("fit", *place, "--stop-words", "none", *set_all(r"lowercase=no token_pattern=\S+"), "--max-df", "1.0")
    model = stickbreak.load(tmp_path / "m")
    assert set(model.vocabulary_) == {*subjects[0], *subjects[1]}
    assert model.leaf_tokens_.sum() == sum(len(links) for links in pages)
    file.write_text('{"text": "Isle_of_Man Isle, TT"}\n' * 60)
    assert "raise max_df, or find other words with token_pattern" in refuse("fit", *place, "--force")


def test_tree_takes_the_paths_of_a_file(run, documents, tmp_path):
    file = tmp_path / "taxonomy.txt"
    file.write_text("\ufeffsky/stars\n\nsky / moon, full\nsea\n", encoding="utf-8")
    place = [documents, "--out", tmp_path / "m", *TREE, "--set", f"branching=@{file}", "--laps", "3"]
    run("fit", *place)
    model = stickbreak.load(tmp_path / "m")
    assert model.branching_ == ["sky/stars", "sky/moon, full", "sea"]
    printed = run("ask", tmp_path / "m", "tree").stdout
    assert all(name in printed for name in ("0 sky", "0.0 stars", "0.1 moon, full", "1 sea"))
    shown = json.loads(run("ask", tmp_path / "m", "tree", "--json", "--depth", "1", "--children", "9").stdout)["tree"]
    assert (shown["name"], {child["name"] for child in shown["children"]}) == (None, {"sky", "sea"})
    assert '"name":"stars"' in (tmp_path / "m" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "branching"),
        (b"a\xff/b\nc\n", "give a text file in UTF-8"),
        (b"a\na/b\n", "'a' as a leaf and 'a/b' below it"),
        (b"a/b\nc\na/b\n", "the path 'a/b' twice"),
        (None, "cannot be read"),
    ],
)
def test_bad_taxonomy_is_refused(refuse, documents, tmp_path, content, words):
    file = tmp_path / "taxonomy.txt"
    file.mkdir() if content is None else file.write_bytes(content)
    line = refuse("fit", documents, "--out", tmp_path / "m", *TREE, "--set", f"branching=@{file}")
    assert words in line
