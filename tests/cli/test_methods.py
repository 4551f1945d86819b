"""`stickbreak fit --method`: options of each family reach its estimator, those of another are refused."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import stickbreak
import stickbreak_baselines
from stickbreak.cli.methods import METHODS
from stickbreak.cli.model_options import model_options
from stickbreak.initialization import STARTS as FOUND
from stickbreak.initialization.streams import RANDOM
from stickbreak.methods import OWN
from stickbreak.sampling.requirements import CHAIN_STARTS, TOPIC_MODEL

GIBBS = ["--method", "gibbs", "--laps", "6", "--jobs", "1", "--quiet"]


def test_every_estimator_has_a_method():
    named = [method.estimator for method in METHODS.values()]
    assert len(set(named)) == len(named)
    assert {*(method.estimator for method in OWN.values()), *stickbreak_baselines.__all__} == set(named)


def test_help_says_what_each_method_is_for_and_with_how_many_topics_it_starts(run, monkeypatch):
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 200)
    text = " ".join(run("fit", "--help-all").stdout.replace("│", " ").split())
    for name, method in METHODS.items():
        alike = [other for other, one in METHODS.items() if one.purpose == method.purpose]
        assert f"{', '.join(alike)}: {method.purpose}" in text
        model = method.load()()
        given = model.get_params()
        if not {"n_topics", "n_components"} & set(given):
            continue  # it takes no number
        n_topics = given.get("n_topics", given.get("n_components")) or model.default_topics
        said = {"topics": "it is found for topics", "split-merge-online": "1 for split-merge-online"}
        usual = f"{n_topics} for {name}" if n_topics != 100 else "100 for the others"
        assert said.get(name, usual) in text


def test_option_of_another_family_without_a_method_names_the_one_that_it_needs(refuse, documents, tmp_path):
    line = refuse("fit", documents, "--out", tmp_path / "m", "--bound", "quadratic")
    needs = "--bound needs --method variational or gaussian-hdp, but the method is topics"
    assert line == f"Error: {needs}; give one of them, or leave --bound out"
    line = refuse("fit", documents, "--out", tmp_path / "m", "--document-weights", "collapsed")
    needs = "--document-weights needs --method variational, but the method is topics"
    assert line == f"Error: {needs}; give that method, or leave --document-weights out"
    line = refuse("fit", documents, "--out", tmp_path / "m", "--init", "anchors")
    methods = "variational, gibbs, hybrid, online-hdp or split-merge-online"
    needs = f"--init needs --method {methods}, but the method is topics"
    assert line == f"Error: {needs}; give one of them, or leave --init out"


def test_documents_that_no_memory_holds_are_refused_with_the_method_that_holds_few(
    refuse, documents, tmp_path, monkeypatch
):
    monkeypatch.setattr("stickbreak.fitting.requirements.memory_installed", lambda: 5e4)
    line = refuse("fit", documents, "--out", tmp_path / "m", "--topics", "20", "--jobs", "1")
    assert "a fit of 90 documents of 2700 tokens needs about" in line
    assert "fit a sample, or take HybridHDP (--method hybrid)" in line


def test_starts_are_those_of_the_estimators():
    init = model_options()["init"]
    assert set(init.parameters["variational"].names) == set(FOUND)
    assert set(init.parameters["gibbs"].names) == {TOPIC_MODEL, *FOUND, *CHAIN_STARTS} == set(init.choices)
    assert set(init.parameters["hybrid"].names) == {*FOUND, RANDOM}


def test_options_reach_the_sampler(run, documents, tmp_path):
    options = (
        "--topics 7 --alpha 0.6 --gamma 3 --eta 0.2 --learn alpha,eta --init random --burn-in 2 --thin 2 --chains 2 "
        "--representation franchise --split-merge 3 --topics-from best --seed 5"
    )
    run("fit", documents, "--out", tmp_path / "m", *GIBBS, *options.split())
    model = stickbreak.load(tmp_path / "m")
    given = {
        "n_topics": 7, "alpha": 0.6, "gamma": 3.0, "eta": 0.2, "learn": ("alpha", "eta"), "init": "random",
        "n_laps": 6, "burn_in": 2, "thin": 2, "n_chains": 2, "representation": "franchise",
        "split_merge_trials": 3, "estimate": "best", "random_state": 5, "n_jobs": 1,
    }  # fmt: skip
    assert {name: model.get_params()[name] for name in given} == given


def test_options_reach_the_hybrid(run, documents, tmp_path):
    options = (
        "--topics 7 --alpha 0.6 --gamma 3 --eta 0.2 --learn alpha,eta --init random --laps 2 "
        "--learning-decay 0.7 --learning-offset 2 "
        "--batch-size 30 --burn-in-sweeps 2 --saved-sweeps 3 --sampler dense --seed 5 --jobs 1 --held-out 0.2"
    )
    place = ("--out", tmp_path / "m", "--method", "hybrid", "--quiet", "--verbose")
    printed = run("fit", documents, *place, *options.split()).stdout
    assert "(started with 7)" in printed
    assert "(predictive log-likelihood)" in printed
    given = {
        "n_topics": 7, "alpha": 0.6, "gamma": 3.0, "eta": 0.2, "learn": ("alpha", "eta"), "init": "random", "n_laps": 2,
        "learning_decay": 0.7, "learning_offset": 2.0, "batch_size": 30, "burn_in_sweeps": 2, "saved_sweeps": 3,
        "sampler": "dense", "random_state": 5, "n_jobs": 1,
    }  # fmt: skip
    found = stickbreak.load(tmp_path / "m").get_params()
    assert {name: found[name] for name in given} == given


@pytest.mark.parametrize("number", ["--topics 7", "--max-topics 9"])
def test_options_reach_the_default(run, documents, tmp_path, number):
    options = (
        f"{number} --alpha 0.6 --eta 0.2 --learn alpha,eta --laps 2 --tolerance none --seed 5 --jobs 1 --held-out 0.2"
    )
    place = ("--out", tmp_path / "m", "--method", "topics", "--quiet")
    printed = run("fit", documents, *place, *options.split(), "--verbose").stdout
    assert "(log-likelihood)" in printed
    given = {
        "n_topics": 7 if "7" in number else None, "max_topics": None if "7" in number else 9, "alpha": 0.6,
        "eta": 0.2, "learn": ("alpha", "eta"), "n_laps": 2, "tolerance": None, "random_state": 5, "n_jobs": 1,
    }  # fmt: skip
    model = stickbreak.load(tmp_path / "m")
    assert {name: model.get_params()[name] for name in given} == given
    assert model._kept is None  # the model on disk is not as large as the documents


def refused_options(method):
    """One option in four for each method, by turns, and those that few methods refuse: one line refuses them all."""
    shift, refused = list(METHODS).index(method), []
    for place, option in enumerate(model_options().values()):
        by_turns = (place + shift) % 4 == 0 or len(METHODS) - len(option.parameters) < 7
        if method not in option.parameters and by_turns:
            refused.append(option)
    return refused


def test_each_option_is_refused_by_some_method():
    tried = {option.names[0] for method in METHODS for option in refused_options(method)}
    assert tried == {option.names[0] for option in model_options().values() if len(option.parameters) < len(METHODS)}


@pytest.mark.parametrize("method", METHODS)
def test_option_of_another_method_is_refused(refuse, documents, tmp_path, method):
    refused = refused_options(method)
    assert len(refused) > 5
    for option in refused:
        name, value = option.names[0], (*option.choices, "1")[0]
        line = refuse("fit", documents, "--out", tmp_path / "m", "--method", method, name, value)
        owners = list(option.parameters)
        owners = " or ".join(filter(None, (", ".join(owners[:-1]), owners[-1])))
        assert line.startswith(f"Error: {name} needs --method {owners}, but the method is {method}; give ")
        assert line.endswith(f", or leave {name} out")
    assert not (tmp_path / "m").exists()


def test_start_of_another_method_is_refused(refuse, documents, tmp_path):
    line = refuse("fit", documents, "--out", tmp_path / "m", "--method", "variational", "--init", "single")
    assert "--init is 'single', which --method variational does not know; give lda" in line


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--method", "luck"], f"--method is 'luck'; give {', '.join([*METHODS][:-1])} or {[*METHODS][-1]}"),
        ([*GIBBS, "--topics-from", "mean"], "--topics-from is 'mean'; give last, best or average"),
        ([*GIBBS, "--representation", "crf"], "--representation is 'crf'"),
        ([*GIBBS, "--burn-in", "6"], "burn_in is 6, but n_laps is 6"),
        ([*GIBBS, "--chains", "0"], "--chains"),
    ],
)
def test_wrong_value_is_refused(refuse, documents, tmp_path, options, words):
    assert words in refuse("fit", documents, "--out", tmp_path / "m", *options)


def test_commands_work_on_a_sampled_model(run, documents, tmp_path):
    out = tmp_path / "m"
    options = ["--init", "sequential", "--chains", "2", "--held-out", "0.2", "--seed", "1"]
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
    options = ["--init", "sequential", "--no-report", "--json", "--topics-from", "best"]
    printed = run("fit", documents, "--out", tmp_path / "m", *GIBBS, *options)
    found = json.loads(printed.stdout)
    model = stickbreak.load(tmp_path / "m")
    assert (found["method"], found["n_topics_start"], found["n_laps"]) == ("gibbs", None, 6)
    assert found["objective"] == model.objective_


def test_interrupted_chain_resumes_from_its_checkpoint(run, documents, tmp_path):
    place = ["--checkpoint", tmp_path / "c", "--no-report", "--burn-in", "1"]
    run("fit", documents, "--out", tmp_path / "cut", *GIBBS, *place)
    more = [*GIBBS[:2], "--laps", "9", *GIBBS[4:]]
    run("fit", documents, "--out", tmp_path / "on", *more, *place, "--resume")
    run("fit", documents, "--out", tmp_path / "whole", *more, "--no-report", "--burn-in", "1")
    assert stickbreak.load(tmp_path / "on").objective_ == stickbreak.load(tmp_path / "whole").objective_


TREE = ["--method", "tree", "--laps", "4", "--jobs", "1", "--quiet"]


def test_options_reach_the_tree(run, documents, tmp_path):
    options = "--topics 7 --alpha 0.6 --eta 0.2 --learn eta --branching 2,3,3 --stages none --updates serial --seed 5"
    run("fit", documents, "--out", tmp_path / "m", *TREE, *options.split(), "--held-out", "0.2")
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
    place = [file, "--out", tmp_path / "m", *TREE, "--branching", "2,2", "--no-report"]
    run("fit", *place, "--stop-words", "none", "--keep-case", "--token-pattern", r"\S+", "--max-df", "1.0")
    model = stickbreak.load(tmp_path / "m")
    assert set(model.vocabulary_) == {*subjects[0], *subjects[1]}
    assert model.leaf_tokens_.sum() == sum(len(links) for links in pages)
    file.write_text('{"text": "Isle_of_Man Isle, TT"}\n' * 60)
    assert "raise max_df, or find other words with token_pattern" in refuse("fit", *place, "--force")


def test_tree_takes_only_a_shape_or_numbers_of_children(refuse, documents, tmp_path):
    line = refuse("fit", documents, "--out", tmp_path / "m", *TREE, "--branching", "bushy")
    assert "give wide or tall, or whole numbers, as 3,6,6, or a file with one path of names a line" in line


def test_tree_takes_the_paths_of_a_file(run, documents, tmp_path):
    file = tmp_path / "taxonomy.txt"
    file.write_text("\ufeffsky/stars\n\nsky / moon, full\nsea\n", encoding="utf-8")
    place = [documents, "--out", tmp_path / "m", *TREE, "--branching", file, "--laps", "3"]
    run("fit", *place)
    model = stickbreak.load(tmp_path / "m")
    assert model.branching_ == ["sky/stars", "sky/moon, full", "sea"]
    file.unlink()  # the options of the fit have its paths
    run("fit", "--config", tmp_path / "m" / "fit.toml", "--out", tmp_path / "again")
    assert stickbreak.load(tmp_path / "again").branching_ == model.branching_
    printed = run("tree", tmp_path / "m").stdout
    assert all(name in printed for name in ("0 sky", "0.0 stars", "0.1 moon, full", "1 sea"))
    shown = json.loads(run("tree", tmp_path / "m", "--json", "--depth", "1", "--children", "9").stdout)["tree"]
    assert (shown["name"], {child["name"] for child in shown["children"]}) == (None, {"sky", "sea"})
    assert '"name":"stars"' in (tmp_path / "m" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "has no path; write one path of names a line"),
        (b"a\xff/b\nc\n", "is not UTF-8 text"),
        (b"a\na/b\n", "'a' as a leaf and 'a/b' below it"),
        (b"a/b\nc\na/b\n", "the path 'a/b' twice"),
        (None, "cannot be read"),
    ],
)
def test_bad_taxonomy_is_refused(refuse, documents, tmp_path, content, words):
    file = tmp_path / "taxonomy.txt"
    file.mkdir() if content is None else file.write_bytes(content)
    line = refuse("fit", documents, "--out", tmp_path / "m", *TREE, "--branching", file)
    assert words in line


def test_another_family_is_one_row(fresh_python):
    code = """
import stickbreak_baselines

from stickbreak.cli.methods import METHODS, Method

class Toy:
    '''A toy.

    Parameters
    ----------
    n_dice : int, default=2
        Dice that are thrown [by hand]. They are fair.
    sides : {"six", "twenty"}, default="six"
        Sides of a die.
    loaded : bool, default=False
        Whether the dice are loaded.
    alpha : float, default=0.25
        Concentration of the topic weights of a document.
    secret : callable
        Nothing that a command line could give.
    '''

    def __init__(self, *, n_dice=2, sides="six", loaded=False, alpha=0.25, secret=None):
        pass

METHODS["toy"] = Method("__main__", "Toy", "tries things.", "more")
from stickbreak.cli.app import app
from stickbreak.cli.model_options import parameters_of
print(parameters_of("toy", {"dice": "3", "sides": "twenty", "loaded": "yes", "alpha": "0.5"}))
app(["fit", "--help-all"], standalone_mode=False)
"""
    printed = fresh_python(code).stdout.splitlines()
    assert printed[0] == "{'alpha': 0.5, 'n_dice': 3, 'sides': 'twenty', 'loaded': True}"
    text = " ".join(" ".join(printed).replace("│", " ").split())
    assert "toy: tries things." in text
    assert "--dice NUMBER Dice that are thrown [by hand]. Default: 2. Method: toy." in text
    assert "0.25 for toy" in text
    assert "--secret" not in text
