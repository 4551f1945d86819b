"""`--metadata`: dates and categories in a table beside documents that are counts."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

from stickbreak.cli.app import app
from stickbreak.corpus import planted_lda


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Counts of 90 documents, a table of their days and kinds in three forms, and tables that do not fit."""
    folder, rng = tmp_path_factory.mktemp("counts"), np.random.default_rng(0)
    sp.save_npz(folder / "a.npz", planted_lda(90, 40, n_topics=3, mean_tokens=30.0, seed=0)[0].counts)
    days = pd.date_range("2001-01-01", periods=90, freq="20D")
    table = pd.DataFrame({"day": days.strftime("%Y-%m-%d"), "kind": rng.choice(["prose", "verse"], 90)})
    table.to_csv(folder / "table.csv", index=False)
    table.to_csv(folder / "table.tsv", index=False, sep="\t")
    table.assign(day=days.date).to_parquet(folder / "table.parquet")
    table[:80].to_csv(folder / "short.csv", index=False)
    lines = (folder / "table.csv").read_text().splitlines()
    (folder / "cut.csv").write_text("\n".join([lines[0], "2001-01-01", *lines[2:]]))
    (folder / "latin.csv").write_text("\n".join([*lines[:-1], "2001-01-01,für"]), encoding="latin-1")
    (folder / "table.foo").write_text("day and kind")
    (folder / "twice.csv").write_text("a,a\n" + "1,2\n" * 90)
    table.to_json(folder / "table.jsonl", orient="records", lines=True)
    return folder


@pytest.fixture(scope="module")
def model(counts: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("model") / "m"
    given = ["--method", "lda", "--topics", "3", "--no-path", "--metadata", counts / "table.csv", "--dates", "day"]
    arguments = ["fit", str(counts / "a.npz"), "--out", str(out), *map(str, given)]
    told = CliRunner().invoke(app, arguments, prog_name="stickbreak", catch_exceptions=False)
    assert told.exit_code == 0, told.stderr
    return out, told.stdout


def data_of(page: Path) -> dict:
    found = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page.read_text(), re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_the_report_of_a_fit_of_counts_has_time_and_classes(model, counts):
    out, told = model
    data = data_of(out / "report.html")
    assert data["time"]["shares"]["column"] == "day"
    assert [one["column"] for one in data["classes"]] == ["kind"]
    assert f"stickbreak ask {out} trends {counts / 'a.npz'} --metadata {counts / 'table.csv'}" in told


@pytest.mark.parametrize("name", ["table.csv", "table.tsv", "table.parquet"])
def test_a_question_takes_the_table_in_each_form(run, model, counts, name):
    given = [counts / "a.npz", "--metadata", counts / name]
    trends = json.loads(run("ask", model[0], "trends", *given, "--json").stdout)
    assert len(trends["rows"] if isinstance(trends, dict) else trends) == 3
    by = run("ask", model[0], "by", *given, "--column", "kind", "--csv").stdout
    assert "prose" in by
    assert "verse" in by


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("short.csv", "short.csv has 80 rows for 90 documents; give one row for each document"),
        ("twice.csv", "has several columns 'a'"),
        ("table.jsonl", "is of format 'jsonl'; give a table with a row for each document, as CSV or Parquet"),
        (
            "table.foo",
            "is not clear from its name or content; give a table with a row for each document, as CSV or Par",
        ),
        ("cut.csv", "line 2 has 1 fields but the header names 2, with ',' between them; complete the row\n"),
        (
            "latin.csv",
            "line 91 is not UTF-8 (byte 0xfc); name its encoding with --encoding (in Python: encoding), such",
        ),
        ("latin.csv", "if all that is read has it, or save this file as UTF-8\n"),
        ("none.csv", "none.csv"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(refuse, model, counts, name, words):
    assert words in refuse("ask", model[0], "trends", counts / "a.npz", "--metadata", counts / name) + "\n"


def test_the_encoding_of_a_table_can_be_named(run, model, counts):
    given = ["--metadata", counts / "latin.csv", "--encoding", "latin-1", "--column", "kind", "--csv"]
    assert "für" in run("ask", model[0], "by", counts / "a.npz", *given).stdout


def test_a_column_of_counts_is_in_a_table(refuse, model, counts, tmp_path):
    for name, asked in (
        ("day", ["ask", model[0], "trends", counts / "a.npz", "--dates", "day"]),
        ("kind", ["ask", model[0], "by", counts / "a.npz", "--column", "kind"]),
        ("kind", ["fit", counts / "a.npz", "--out", tmp_path / "m", "--labels", "kind"]),
    ):
        told = refuse(*asked)
        assert f"which has no columns beside the documents, but {name!r} is asked for; give a table of them" in told
        assert told.endswith("or leave this column out")
    assert "the documents have no columns; give a table of them with --metadata TABLE" in refuse(
        "ask", model[0], "trends", counts / "a.npz"
    )
