"""URLs on the command line: read where documents are, and refused where something is written."""

import json

import numpy as np
import pytest

from stickbreak import load
from stickbreak.corpus import write_corpus
from stickbreak.corpus.reading.readers import read

from .conftest import FAST

fsspec = pytest.importorskip("fsspec")
MEMORY = fsspec.filesystem("memory")


@pytest.fixture
def url(documents):
    MEMORY.put(str(documents), "memory://cli/documents.jsonl")
    yield "memory://cli/documents.jsonl"
    MEMORY.rm("/cli", recursive=True)


def test_a_fit_to_a_url_is_that_to_the_file_(run, url, documents, tmp_path):
    assert "reading memory://cli/documents.jsonl" in run("fit", url, "--out", tmp_path / "model", *FAST).stderr
    run("fit", documents, "--out", tmp_path / "other", *FAST)
    assert np.array_equal(load(tmp_path / "model").components_, load(tmp_path / "other").components_)
    found = run("transform", tmp_path / "model", url).stdout
    assert found == run("transform", tmp_path / "model", documents).stdout


def test_a_corpus_folder_at_a_url_is_fitted_and_texts_are_counted(run, url, documents, tmp_path):
    told = json.loads(run("count", url, "--out", tmp_path / "counts", "--json", "-q").stdout)
    assert told["n_documents"] == 90
    write_corpus(read(documents), tmp_path / "corpus")
    MEMORY.put(f"{tmp_path}/corpus/", "memory://cli/corpus", recursive=True)
    run("fit", "memory://cli/corpus", "--out", tmp_path / "model", *FAST)
    run("fit", documents, "--out", tmp_path / "other", *FAST)
    assert np.array_equal(load(tmp_path / "model").components_, load(tmp_path / "other").components_)


def test_vectors_at_a_url_and_outputs_are_refused(refuse, url, documents, tmp_path):
    told = refuse("fit", url, "--out", tmp_path / "model", "--method", "gaussian-mixture")
    assert "memory://cli/documents.jsonl is a URL, but vectors are read from disks only" in told
    scratch = ("--method", "variational", "--scratch", "s3://key:secret@bucket/scratch")
    told = refuse("fit", documents, "--out", tmp_path / "model", *scratch)
    assert "is a URL" in told
    assert "secret" not in told
