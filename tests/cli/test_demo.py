import json

import pytest

import stickbreak
from stickbreak.cli.demo import DOCSTRING_STOP_WORDS, english_and
from stickbreak.corpus import count_texts


@pytest.fixture
def small_library(monkeypatch, records):
    """Stand in for the standard library, which takes seconds to parse."""

    def docstrings():
        return [r["id"] for r in records], [r["text"] for r in records]

    monkeypatch.setattr("stickbreak.corpus.examples.standard_library.standard_library_docstrings", docstrings)


def test_the_demo_tells_its_steps_and_what_to_type_next(run, tmp_path, small_library):
    out = tmp_path / "demo"
    result = run("demo", "--out", out, "--topics", "4", "--laps", "3")
    for step in ("1. ", "2. ", "3. ", "90 documents", "starting with 4", "stickbreak fit mine.csv"):
        assert step in result.stderr
    assert all(word in result.stderr for word in DOCSTRING_STOP_WORDS)
    for part in ("share  words", "Fitted 4 topics", "Each held-out word", str(out / "report.html")):
        assert part in result.stdout
    assert "<html" in (out / "report.html").read_text(encoding="utf-8")
    model = stickbreak.load(out)
    assert (model.n_topics, model.trace_["n_topics"][0]) == (4, 4)


def test_a_demo_replaces_an_earlier_demo_but_no_other_model(run, refuse, tmp_path, model, small_library):
    out = tmp_path / "demo"
    for seed in (0, 1):
        run("demo", "--out", out, "--topics", "2", "--laps", "2", "--random-state", seed)
    assert "already exists" in refuse("demo", "--out", model)


def test_json_is_the_result_of_the_fit(run, tmp_path, small_library):
    result = run("demo", "--out", tmp_path / "d", "--topics", "3", "--laps", "2", "--json", "--quiet")
    assert json.loads(result.stdout)["n_documents"] == 90
    assert result.stderr == ""


def test_new_text_meets_the_words_of_the_demo(run, tmp_path, small_library):
    run("demo", "--out", tmp_path / "d", "--topics", "3", "--laps", "2", "--quiet")
    path = tmp_path / "new.txt"
    path.write_text("ship sail the argument anchor")
    assert "0 words (0.0%)" in run("transform", tmp_path / "d", path).stderr  # both are stop words there


def test_the_report_is_opened_only_if_asked(run, tmp_path, small_library, monkeypatch):
    opened = []
    monkeypatch.setattr("typer.launch", opened.append)
    run("demo", "--out", tmp_path / "d", "--topics", "3", "--laps", "2")
    assert opened == []
    run("demo", "--out", tmp_path / "d", "--topics", "3", "--laps", "2", "--open")
    assert opened == [(tmp_path / "d" / "report.html").as_uri()]


def test_the_sample_is_a_csv_file_that_fit_reads(run, tmp_path, records, monkeypatch):
    names, texts = [r["id"] for r in records], [r["text"] for r in records]
    monkeypatch.setattr("stickbreak.corpus.examples.sample_file.standard_library_docstrings", lambda: (names, texts))
    path = tmp_path / "sample.csv"
    result = run("demo", "--write-sample", path)
    assert "90 documentation strings" in result.stderr
    assert result.stdout == ""
    corpus = stickbreak.corpus.read(path)
    assert list(corpus.names) == names
    assert corpus.n_tokens == 90 * 30


def test_the_sample_of_a_large_library_is_spread_over_it(run, tmp_path, monkeypatch):
    names = [f"m{i:04}" for i in range(4100)]
    monkeypatch.setattr("stickbreak.corpus.examples.sample_file.standard_library_docstrings", lambda: (names, names))
    run("demo", "--write-sample", tmp_path / "sample.csv", "--quiet")
    rows = (tmp_path / "sample.csv").read_text(encoding="utf-8").splitlines()
    assert rows[:3] == ["title,text", "m0000,m0000", "m0003,m0003"]
    assert rows[-1] == "m4098,m4098"


def test_the_sample_replaces_a_file_only_if_asked(run, refuse, tmp_path, records, monkeypatch):
    monkeypatch.setattr("stickbreak.corpus.examples.sample_file.standard_library_docstrings", lambda: (["a"], ["b"]))
    path = tmp_path / "sample.csv"
    path.write_text("mine")
    assert "--force" in refuse("demo", "--write-sample", path)
    assert path.read_text() == "mine"
    run("demo", "--write-sample", path, "--force")
    assert path.read_text() == "title,text\na,b\n"


def test_stop_words_join_the_english_ones_that_text_knows():
    joined = english_and(["ship"])
    assert {"ship", "the", "don"} <= set(joined)
    text = ["the ship don't sail", "a sail"]
    without = count_texts(text).words
    from stickbreak.corpus import TextOptions

    assert set(without) - set(count_texts(text, TextOptions(stop_words=joined)).words) == {"ship"}
