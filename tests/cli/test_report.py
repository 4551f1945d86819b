import json


def test_the_report_is_one_file_with_texts(run, model, documents, tmp_path):
    out = tmp_path / "report.html"
    run("report", model, documents, "--out", out, "--title", "Ships & <courts>")
    page = out.read_text(encoding="utf-8")
    assert "<title>Ships &amp; &lt;courts&gt;" in page
    assert '"snippet":"' in page
    assert list(tmp_path.iterdir()) == [out]


def test_json_says_where_it_is(run, model, documents, tmp_path):
    result = run("report", model, documents, "--out", tmp_path / "r.html", "--json", "--quiet")
    assert json.loads(result.stdout) == {
        "report": str(tmp_path / "r.html"),
        "n_documents": 90,
        "n_tokens": 2700,
        "n_tokens_outside_vocabulary": 0,
    }
    assert result.stderr == ""


def test_bad_documents_leave_no_report(refuse, model, tmp_path):
    assert "does not exist" in refuse("report", model, tmp_path / "no.jsonl", "--out", tmp_path / "r.html")
    assert list(tmp_path.iterdir()) == []
