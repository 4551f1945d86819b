"""`--vectors`: topics of texts by their vectors, in a column or a file."""

import numpy as np
import pandas as pd
import pytest

import stickbreak

WORDS = {"bakery": "bread butter salt soup", "harbour": "ship sea sail wave"}
FIT = ("--text", "text", "--min-df", "2", "--max-df", "0.9", "--no-report")


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    kind = rng.choice(list(WORDS), 120)
    texts = [" ".join([*rng.choice(WORDS[one].split(), 3), str(rng.choice(["day", "year", "people"]))]) for one in kind]
    vectors = np.where(kind[:, None] == "bakery", [[1.0, 0.0, 0.2]], [[0.0, 1.0, 0.2]]) + rng.normal(0, 0.1, (120, 3))
    return pd.DataFrame({"text": texts, "embedding": vectors.tolist(), "kind": kind})


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl", "npy"])
def test_topics_of_vectors_have_the_words_of_their_texts(run, frame, tmp_path, suffix):
    texts, vectors = tmp_path / f"texts.{suffix if suffix != 'npy' else 'csv'}", "embedding"
    if suffix == "npy":
        vectors = tmp_path / "vectors.npy"
        np.save(vectors, np.array(frame.pop("embedding").tolist()))
    if suffix == "jsonl":
        frame.to_json(texts, orient="records", lines=True)
    elif suffix == "parquet":
        frame.to_parquet(texts)
    else:
        frame.to_csv(texts, index=False)
    model = tmp_path / "model"
    done = run("fit", texts, "--vectors", vectors, "--out", model, *FIT)
    assert "2 topics in 120 documents" in done.stdout
    again = ["--vectors", vectors] if suffix == "npy" else []  # a column is remembered
    run("ask", model, "by", texts, "--column", "kind", "--out", tmp_path / "by.csv", *again)
    found = pd.read_csv(tmp_path / "by.csv")
    large = found[found["mean_weight"] > 0.95]
    largest = dict(zip(large["category"], large["topic"], strict=True))
    top = stickbreak.load(model).top_words(4)
    assert {kind: set(top[k]) for kind, k in largest.items()} == {kind: set(own.split()) for kind, own in WORDS.items()}
    if suffix == "npy":
        assert "give stickbreak.corpus.count_texts" in run("transform", model, texts, code=2).stderr
    if suffix != "parquet":
        return
    assert len(run("transform", model, texts).stdout.splitlines()) == 1 + len(frame)
    assert "nats per vector" in run("evaluate", model, texts).stdout
    run("report", model, texts, "--out", tmp_path / "report.html")
    run("report", model, texts, "--map", "--out", tmp_path / "map.html")
    assert '"embedding"' not in (tmp_path / "report.html").read_text()  # no column of numbers beside the documents


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--vectors", "other"], "--vectors is 'other', which is no column of the documents; give one, or FILE.npy"),
        (["--method", "vectors"], "--method vectors needs a vector of each document"),
        (["--method", "hybrid", "--vectors", "embedding"], "--vectors is for --method vectors, but --method is hybrid"),
        (["--vectors", "embedding", "--held-out", "0.1"], "--held-out predicts words"),
        (["--vectors", "kind"], "the vector of document 0 is"),
        (["--vectors", "few.npy"], "there are 5 vectors for 120 documents"),
    ],
)
def test_vectors_that_cannot_be_are_refused(run, frame, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    frame.to_csv("texts.csv", index=False)
    np.save("few.npy", np.ones((5, 3)))
    assert message in run("fit", "texts.csv", "--out", "model", *FIT, *options, code=2).stderr


def test_a_file_of_vectors_is_read_in_the_encoding_that_is_named(run, frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    vectors = pd.DataFrame(frame.pop("embedding").tolist(), columns=["x", "y", "größe"])
    frame.to_csv("texts.csv", index=False)
    vectors.to_csv("vectors.csv", index=False, encoding="latin-1")
    given = ["fit", "texts.csv", "--vectors", "vectors.csv", "--out", "model", *FIT]
    refused = run(*given, code=2).stderr
    assert "vectors.csv, line 1 is not UTF-8 (byte 0xf6); name its encoding with --encoding" in refused
    assert refused.endswith("or save this file as UTF-8\n")
    assert run(*given, "--encoding", "latin-1").exit_code == 0


def test_counts_have_no_column_of_vectors(run, tmp_path):
    (tmp_path / "d.ldac").write_text("2 0:1 1:2\n" * 9)
    refused = run("fit", tmp_path / "d.ldac", "--vectors", "embedding", "--out", tmp_path / "model", *FIT, code=2)
    assert "--vectors is 'embedding', which is no column of the documents; give one, or FILE.npy" in refused.stderr


def test_a_model_of_words_takes_no_vectors(run, frame, tmp_path):
    frame.to_csv(tmp_path / "texts.csv", index=False)
    run("fit", tmp_path / "texts.csv", "--out", tmp_path / "model", *FIT, "--laps", "3")
    refused = run("transform", tmp_path / "model", tmp_path / "texts.csv", "--vectors", "embedding", code=2)
    assert "--vectors is for models of --method vectors" in refused.stderr
