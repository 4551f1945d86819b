import json

import pytest

import stickbreak
from stickbreak.cli.stop_words import DOCSTRING_STOP_WORDS, english_and
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
    for step in ("1. ", "2. ", "3. ", "90 documents", "at first 4", "stickbreak fit mine.csv"):
        assert step in result.stderr
    assert all(word in result.stderr for word in DOCSTRING_STOP_WORDS)
    for part in ("topic   weight  words", "(started with 4)", "held-out", str(out / "report.html")):
        assert part in result.stdout
    assert "<html" in (out / "report.html").read_text(encoding="utf-8")
    assert stickbreak.load(out).n_topics_ <= 4


def test_a_demo_replaces_an_earlier_demo_but_no_other_model(run, refuse, tmp_path, model, small_library):
    out = tmp_path / "demo"
    for seed in (0, 1):
        run("demo", "--out", out, "--topics", "2", "--laps", "2", "--seed", seed)
    assert "already exists" in refuse("demo", "--out", model)


def test_json_is_the_result_of_the_fit(run, tmp_path, small_library):
    result = run("demo", "--out", tmp_path / "d", "--topics", "3", "--laps", "2", "--json", "--quiet")
    assert json.loads(result.stdout)["n_documents"] == 90
    assert result.stderr == ""


def test_new_text_meets_the_words_of_the_demo(run, tmp_path, small_library):
    run("demo", "--out", tmp_path / "d", "--topics", "3", "--laps", "2", "--quiet")
    path = tmp_path / "new.txt"
    path.write_text("ship sail the argument anchor")
    assert "0 tokens (0.0%)" in run("transform", tmp_path / "d", path).stderr  # both are stop words there


def test_the_report_is_opened_only_if_asked(run, tmp_path, small_library, monkeypatch):
    opened = []
    monkeypatch.setattr("typer.launch", opened.append)
    run("demo", "--out", tmp_path / "d", "--topics", "3", "--laps", "2")
    assert opened == []
    run("demo", "--out", tmp_path / "d", "--topics", "3", "--laps", "2", "--open")
    assert opened == [(tmp_path / "d" / "report.html").as_uri()]


def test_stop_words_join_the_english_ones_that_text_knows():
    joined = english_and(["ship"])
    assert {"ship", "the", "don"} <= set(joined)
    text = ["the ship don't sail", "a sail"]
    without = count_texts(text).words
    from stickbreak.corpus import TextOptions

    assert set(without) - set(count_texts(text, TextOptions(stop_words=joined)).words) == {"ship"}
