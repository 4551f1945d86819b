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

GIBBS = ["--method", "gibbs", "--laps", "6", "--jobs", "1", "--quiet"]


def test_every_estimator_has_a_method():
    named = [method.estimator for method in METHODS.values()]
    assert len(set(named)) == len(named)
    assert {*(method.estimator for method in OWN.values()), *stickbreak_baselines.__all__, "StickyHDPHMM"} == set(named)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--method", "luck"], f"--method is 'luck'; give {', '.join([*METHODS][:-1])} or {[*METHODS][-1]}"),
        ([*GIBBS, "--set", "estimate=mean"], "estimate"),
        ([*GIBBS, "--set", "burn_in=6"], "burn_in is 6, but n_laps is 6"),
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


TREE = ["--method", "tree", "--laps", "4", "--jobs", "1", "--quiet"]


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
    assert "topics of a tree are rows" in refuse("transform", tmp_path / "m", documents, "--label-columns")
    run("report", tmp_path / "m", documents, "--out", tmp_path / "r.html", "--quiet")
    assert f'"n_topics":{done["n_topics"]},"n_nodes":' in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert json.loads(run("evaluate", tmp_path / "m", documents, "--json").stdout)


def test_tree_takes_the_paths_of_a_file(run, documents, tmp_path):
    file = tmp_path / "taxonomy.txt"
    file.write_text("\ufeffsky/stars\n\nsky / moon, full\nsea\n", encoding="utf-8")
    place = [documents, "--out", tmp_path / "m", *TREE, "--set", f"branching=@{file}", "--laps", "3"]
    run("fit", *place)
    model = stickbreak.load(tmp_path / "m")
    assert model.branching_ == ["sky/stars", "sky/moon, full", "sea"]
    printed = run("ask", tmp_path / "m", "tree").stdout
    assert all(name in printed for name in ("0 sky", "0.0 stars", "0.1 moon, full", "1 sea"))
    shown = json.loads(run("ask", tmp_path / "m", "tree", "--json", "--depth", "1", "--children", "9").stdout)["rows"]
    assert {row["name"] for row in shown} == {None, "sky", "sea"}
    assert '"name":"stars"' in (tmp_path / "m" / "report.html").read_text(encoding="utf-8")
