"""Corpora by their names."""

import json

import numpy as np
import pytest
from benchmarks.harness import corpora


@pytest.fixture(autouse=True)
def no_splits(monkeypatch):
    monkeypatch.delenv("STICKBREAK_DATA", raising=False)


@pytest.fixture
def reviews(tmp_path):
    """A file of 50 short texts."""
    path = tmp_path / "reviews.v2.jsonl"
    words = "bread soup wine fish cake tea rice salt".split()
    texts = [" ".join(words[(i * j) % 8] for j in range(1, 12)) for i in range(1, 51)]
    path.write_text(
        "".join(json.dumps({"id": f"r{i}", "text": text}) + "\n" for i, text in enumerate(texts)), encoding="utf-8"
    )
    return path


def test_planted_topics_have_the_sizes_of_their_name():
    split = corpora.load("planted:200:90:4:30")
    assert split.name == "planted:200:90:4:30"
    assert (split.train.n_documents, split.observed.n_documents, split.held_out.n_documents) == (160, 40, 40)
    assert split.train.n_words == 90
    assert 25 < split.train.n_tokens / 160 < 35
    assert corpora.planted("planted").n_documents == 1000


def test_file_is_cut_into_train_and_halves(reviews):
    split = corpora.load(str(reviews))
    assert split.name == "reviews"
    assert (split.train.n_documents, split.observed.n_documents) == (40, 10)
    lengths = split.observed.document_lengths - split.held_out.document_lengths
    assert set(lengths.tolist()) <= {0, 1}
    assert set(split.train.document_names).isdisjoint(split.observed.document_names)


def test_split_is_taken_as_it_is(monkeypatch, tmp_path):
    import scipy.sparse as sp

    folder = tmp_path / "splits" / "tiny"
    folder.mkdir(parents=True)
    for part, rows in (("train", 5), ("observed", 2), ("heldout", 2)):
        sp.save_npz(folder / f"{part}.npz", sp.csr_array(np.full((rows, 3), 2)))
    (folder / "vocab.txt").write_text("a\nb\nc", encoding="utf-8")
    monkeypatch.setenv("STICKBREAK_DATA", str(tmp_path))
    assert corpora.names(["planted", "present"]) == ["planted", "tiny"]
    split = corpora.load("tiny")
    assert (split.name, split.train.n_documents, split.held_out.n_documents) == ("tiny", 5, 2)


def test_fingerprint_changes_with_the_documents(reviews):
    before = corpora.fingerprint(str(reviews))
    assert before == corpora.fingerprint(str(reviews)) != ""
    reviews.write_text(reviews.read_text(encoding="utf-8") + '{"text": "salt"}\n', encoding="utf-8")
    assert corpora.fingerprint(str(reviews)) != before
    assert corpora.fingerprint("planted") == ""


@pytest.mark.parametrize("name", ["nowhere.jsonl", "planted:x", "planted:1:2:3:4:5", "planted:0"])
def test_wrong_names_end_before_the_first_run(name):
    with pytest.raises(SystemExit, match=name):
        corpora.names(["planted", name])


def test_docstrings_are_the_documents_of_the_demo():
    split = corpora.load("docstrings")
    assert split.name == "docstrings"
    assert corpora.fingerprint("docstrings") == ""
    assert split.train.n_documents > 3 * split.held_out.n_documents > 300
    assert "file" in split.train.vocabulary
    assert "the" not in split.train.vocabulary  # a stop word
    assert "python" not in split.train.vocabulary  # of this documentation
