import json
import re

import pytest

import stickbreak
from stickbreak.comparison import found_again


def test_the_report_is_one_file_with_texts(run, model, documents, tmp_path):
    out = tmp_path / "report.html"
    run("report", model, documents, "--out", out, "--title", "Ships & <courts>")
    page = out.read_text(encoding="utf-8")
    assert "<title>Ships &amp; &lt;courts&gt;" in page
    assert '"snippet":"' in page
    assert list(tmp_path.iterdir()) == [out]


def test_a_later_report_has_the_held_out_score_of_the_fit(run, model, documents, tmp_path):
    out = tmp_path / "report.html"
    run("report", model, documents, "--out", out)
    held_out = data_of(out)["held_out"]
    assert held_out == data_of(model / "report.html")["held_out"]
    assert held_out["active"] == pytest.approx(stickbreak.load(model).held_out_.value, abs=1e-5)
    assert held_out["unigram"] < held_out["active"]


def test_the_map_alone_is_one_file(run, refuse, model, documents, tmp_path):
    out, again = tmp_path / "map.html", tmp_path / "again.html"
    told = run("report", model, documents, "--map", "--out", out, "--title", "Ships & <courts>")
    assert "report written to" in told.stderr
    run("report", model, documents, "--map", "--out", again, "--title", "Ships & <courts>", "--quiet")
    assert out.read_bytes() == again.read_bytes()
    assert "<title>Ships &amp; &lt;courts&gt;" in out.read_text(encoding="utf-8")
    assert data_of(out)["document_map"]["n_shown"] == 90
    assert "--map writes no shares" in refuse("report", model, documents, "--map", "--by", "year", "--out", out)


@pytest.fixture(scope="module")
def dated(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("dated") / "dated.jsonl"
    rows = [{**one, "day": f"20{10 + i // 9}-03-01", "kind": "xy"[i % 2]} for i, one in enumerate(records)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def data_of(page):
    return json.loads(re.search(r'id="report-data">(.*?)</script>', page.read_text(encoding="utf-8"))[1])


def test_the_report_groups_by_the_columns_of_the_input(run, model, dated, tmp_path):
    out = tmp_path / "report.html"
    run("report", model, dated, "--out", out)
    data = data_of(out)
    assert data["columns"] == ["day", "kind"]
    assert (data["time"]["by"], len(data["time"]["shares"]["groups"])) == ("year", 10)
    assert [one["column"] for one in data["classes"]] == ["kind"]
    run("report", model, dated, "--out", out, "--dates", "day", "--by", "year", "--classes", "none")
    data = data_of(out)
    assert (data["time"]["by"], data["classes"]) == ("year", [])
    run("report", model, dated, "--out", out, "--dates", "none", "--classes", "day,kind")
    data = data_of(out)
    assert data["time"] is None
    assert [one["column"] for one in data["classes"]] == ["day", "kind"]


def test_the_report_is_of_the_documents_of_some_days(run, refuse, model, dated, tmp_path):
    out = tmp_path / "report.html"
    run("report", model, dated, "--out", out, "--since", "2012", "--until", "2014-12-31")
    data = data_of(out)
    assert data["span"] == {
        "column": "day",
        "since": "2012-01-01",
        "until": "2014-12-31",
        "n_documents": 27,
        "n_empty": 0,
        "n_undated": 0,
    }
    assert {one["values"][0][:4] for one in data["documents"]} == {"2012", "2013", "2014"}
    assert data["time"]["shares"]["groups"] == ["2012-01-01", "2013-01-01", "2014-01-01"]
    out.unlink()
    assert "--since is 'soon', which is not a day" in refuse("report", model, dated, "--out", out, "--since", "soon")
    assert not out.exists()


def test_a_column_that_is_not_there_leaves_no_report(refuse, model, dated, tmp_path):
    told = refuse("report", model, dated, "--out", tmp_path / "r.html", "--classes", "sort", "--quiet")
    assert "'sort'" in told
    assert list(tmp_path.iterdir()) == []


def test_the_report_says_how_often_topics_come_again_in_other_fits(run, refuse, model, documents, tmp_path):
    out, other = tmp_path / "report.html", tmp_path / "other"
    run("fit", documents, "--out", other, "--random-state", "7", "--laps", "2", "--topics", "2", "--no-report")
    run("report", model, documents, "--out", out, "--other", other, "--other", model)
    found = [topic["found"] for topic in data_of(out)["topics"]]
    assert set(found) <= {0.5, 1}  # each is found again in the model itself
    assert sum(one == 1 for one in found) <= 2  # the other fit has two topics
    assert "no-model" in refuse("report", model, documents, "--out", out, "--other", tmp_path / "no-model")


def test_the_report_says_how_often_topics_come_again_from_other_seeds(run, refuse, model, documents, tmp_path):
    out = tmp_path / "report.html"
    told = run("report", model, documents, "--out", out, "--stability", "2")
    assert re.search(
        r"Fitting again with 2 other seeds: about (a second|\d+ s, as the fit took \d+ s) \.\.\.", told.stderr
    )
    found = data_of(out)
    expected = found_again(stickbreak.load(model), 2, stickbreak.corpus.read(documents))
    assert found["n_other_fits"] == 2
    assert [topic["found"] for topic in found["topics"]] == expected["found"].tolist()
    assert [topic["similarity"] for topic in found["topics"]] == pytest.approx(
        expected["similarity"].tolist(), rel=1e-5
    )
    both = ("--stability", "2", "--other", model)
    assert "give one of them" in refuse("report", model, documents, "--out", out, *both)
