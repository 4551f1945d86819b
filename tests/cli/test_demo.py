import pytest

import stickbreak
from stickbreak.corpus.examples.standard_library import DOCSTRING_STOP_WORDS

SAMPLE = "stickbreak.corpus.examples.standard_library"


@pytest.fixture
def small_library(monkeypatch, records):
    """Stand in for the standard library, which takes seconds to parse."""

    def docstrings():
        return [r["id"] for r in records], [r["text"] for r in records]

    monkeypatch.setattr(f"{SAMPLE}.standard_library_docstrings", docstrings)


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


def test_the_sample_is_a_csv_file_that_fit_reads(run, tmp_path, records, monkeypatch):
    names, texts = [r["id"] for r in records], [r["text"] for r in records]
    monkeypatch.setattr(f"{SAMPLE}.standard_library_docstrings", lambda: (names, texts))
    path = tmp_path / "sample.csv"
    result = run("demo", "--write-sample", path)
    assert "90 documentation strings" in result.stderr
    assert result.stdout == ""
    corpus = stickbreak.corpus.read(path)
    assert list(corpus.names) == names
    assert corpus.n_tokens == 90 * 30


def test_the_sample_replaces_a_file_only_if_asked(run, refuse, tmp_path, records, monkeypatch):
    monkeypatch.setattr(f"{SAMPLE}.standard_library_docstrings", lambda: (["a"], ["b"]))
    path = tmp_path / "sample.csv"
    path.write_text("mine")
    assert "--force" in refuse("demo", "--write-sample", path)
    assert path.read_text() == "mine"
    run("demo", "--write-sample", path, "--force")
    assert path.read_text() == "title,text\na,b\n"
