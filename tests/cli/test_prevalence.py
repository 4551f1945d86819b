"""A fit with --set prevalence reads the columns of its formula; so do the commands that ask its model."""

import json

import numpy as np
import pandas as pd

from stickbreak.cli.settings import values_set


def test_the_command_line_keeps_the_columns_of_the_formula(run, tmp_path):
    rng = np.random.default_rng(0)
    words = ["bread oven flour", "ship sea sail"]
    rows = [(f"{' '.join(rng.choice(words[d % 2].split(), 12))}", 2000 + d % 2 * 10 + d % 5) for d in range(60)]
    pd.DataFrame(rows, columns=["text", "year"]).to_csv(tmp_path / "d.csv", index=False)
    given = ("--set", "prevalence=year", "--topics", "2", "--laps", "12", "--min-df", "1", "--max-df", "1.0")
    out = tmp_path / "m"
    fit = run("fit", tmp_path / "d.csv", "--text", "text", *given, "--out", out, "--no-report", "--no-path", "--quiet")
    assert f"stickbreak ask {out} prevalence" in fit.stdout
    told = json.loads(run("ask", out, "prevalence", "--json").stdout)["rows"]
    assert [row["term"] for row in told] == ["year", "year"]
    pd.DataFrame({"text": ["bread ship", "bread ship"], "year": [2000, 2014]}).to_csv(tmp_path / "new.csv", index=False)
    weights = tmp_path / "w.csv"
    run("transform", out, tmp_path / "new.csv", "--text", "text", "--out", weights, "--quiet")
    found = pd.read_csv(weights).select_dtypes("number").to_numpy()
    assert np.abs(found[0] - found[1]).max() > 0.1
    pd.DataFrame({"text": ["bread oven"]}).to_csv(tmp_path / "plain.csv", index=False)
    run("transform", out, tmp_path / "plain.csv", "--text", "text", "--out", tmp_path / "p.csv", "--quiet")
    pd.DataFrame({"text": ["bread ship", "bread ship"]}).to_csv(tmp_path / "bare.csv", index=False)
    beside = ("--metadata", tmp_path / "new.csv")
    run("transform", out, tmp_path / "bare.csv", "--text", "text", *beside, "--out", weights, "--quiet")
    np.testing.assert_allclose(pd.read_csv(weights).select_dtypes("number").to_numpy(), found)


def test_columns_are_refused_where_no_model_asks_for_them(run, refuse, documents, tmp_path):
    run("fit", documents, "--out", tmp_path / "m", "--topics", "2", "--laps", "2", "--no-report", "--no-path")
    for command in ("transform", "evaluate"):
        assert "only a model fitted with prevalence" in refuse(
            command, tmp_path / "m", documents, "--metadata", documents
        )


def test_a_formula_keeps_its_commas():
    for text in ("poly(year, degree=2) + b", '"poly(year, degree=2) + b"'):
        assert values_set([f"prevalence={text}"]) == {"prevalence": "poly(year, degree=2) + b"}
