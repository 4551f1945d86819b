import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

import stickbreak
from stickbreak.corpus import read


def test_csv_is_printed_with_a_row_for_each_document(run, model, documents, records):
    result = run("transform", model, documents)
    header, *rows = csv.reader(io.StringIO(result.stdout))
    fitted = stickbreak.load(model)
    assert header == ["document", *(f"topic_{k}" for k in range(fitted.n_topics_))]
    assert [row[0] for row in rows] == [record["id"] for record in records]
    weights = np.array([[float(x) for x in row[1:]] for row in rows])
    assert np.array_equal(weights, fitted.transform(read(documents)))
    assert "90 documents" in result.stderr


def test_a_file_is_written_and_summed_up(run, model, documents, tmp_path):
    out = tmp_path / "weights.npz"
    found = json.loads(run("transform", model, documents, "--out", out, "--json").stdout)
    assert (found["out"], found["n_documents"], found["n_tokens_outside_vocabulary"]) == (str(out), 90, 0)
    with np.load(out) as written:
        assert written["weights"].shape == (90, found["n_topics"])


def test_documents_of_unknown_or_no_words_are_kept(run, model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text('name,text\na,"ship zebra giraffe"\nb,"zebra"\nc,\n')
    result = run("transform", model, path, "--json")
    weights = [json.loads(line)["weights"] for line in result.stdout.splitlines()]
    assert weights[1] is weights[2] is None
    assert sum(weights[0]) == pytest.approx(1)
    labels = stickbreak.load(model).labelled_topics().labels
    (head, first, *empty) = csv.reader(run("transform", model, path, "--label-columns").stdout.splitlines())
    assert head == ["document", *labels]
    assert [float(weight) for weight in first[1:]] == weights[0]
    assert empty == [[name, *[""] * len(labels)] for name in "bc"]
    run("transform", model, path, "--label-columns", "--out", tmp_path / "w.parquet")
    table = pd.read_parquet(tmp_path / "w.parquet")
    assert table.columns.tolist() == head
    assert table.iloc[1:, 1:].isna().all(axis=None)
    said = " ".join(result.stderr.split())
    assert "3 words (75.0%) are not in the model's vocabulary" in said
    assert "2 documents have no word of the model, and so no weights" in said


def test_another_ending_is_refused_before_the_work(refuse, model, tmp_path):
    path = tmp_path / "new.jsonl"
    path.write_text("{")  # which is not read
    assert ".parquet" in refuse("transform", model, path, "--out", tmp_path / "weights.xlsx")


def test_bad_documents_leave_no_file(refuse, model, tmp_path):
    path = tmp_path / "new.jsonl"
    path.write_text('{"text": "ship"}\n{\n')
    assert "line 2" in refuse("transform", model, path, "--out", tmp_path / "w.csv")
    assert [entry.name for entry in tmp_path.iterdir()] == ["new.jsonl"]


def test_model_of_a_stream_whose_words_have_grown_is_read_by_every_command(run, documents, tmp_path):
    corpus = read(documents)
    counts, words = corpus.counts.toarray(), np.array(corpus.words)
    model = stickbreak.HybridHDP(n_topics=4, grow_vocabulary=True, random_state=0)
    for columns in (np.arange(12), np.arange(words.size)[::-1]):
        model.partial_fit(corpus.from_counts(counts[:, columns], [str(word) for word in words[columns]]))
    model.save(tmp_path / "grown")
    assert set(model.vocabulary_) == set(corpus.words) != set(corpus.words[:12])
    found = json.loads(run("topics", tmp_path / "grown", "--words", 5, "--json").stdout)
    shown = {topic["id"]: [word["word"] for word in topic["words"]] for topic in found["topics"]}
    assert [shown[k] for k in range(model.n_topics_)] == model.top_words(5)
    lines = [json.loads(line) for line in run("transform", tmp_path / "grown", documents, "--json").stdout.splitlines()]
    np.testing.assert_array_equal([line["weights"] for line in lines], model.transform(corpus))
    run("evaluate", tmp_path / "grown", documents)
    run("report", tmp_path / "grown", documents, "--out", tmp_path / "grown.html")
