"""`stickbreak count`: the words of `fit`, columns that are kept, options that do not go together."""

import gzip
import json

import pytest

from stickbreak.corpus import open_corpus, read


@pytest.fixture
def dated(tmp_path, records):
    """The documents as two packed files, with dates."""
    paths = []
    for half in (0, 1):
        path = tmp_path / f"part-{half}.jsonl.gz"
        some = [record | {"date": f"2024-{1 + number % 12:02d}-01"} for number, record in enumerate(records)][half::2]
        path.write_bytes(gzip.compress("".join(json.dumps(record) + "\n" for record in some).encode()))
        paths.append(path)
    return paths


def test_counts_are_those_that_fit_reads(run, documents, tmp_path):
    result = run("count", documents, "--out", tmp_path / "counts")
    expected = read(documents)
    found = open_corpus(tmp_path / "counts")
    assert found.words == expected.words
    assert found.names == expected.names
    assert (found.counts != expected.counts).nnz == 0
    assert result.stdout == ""
    assert "90 documents, 2,700 words, 30 of them different, written to" in result.stderr


def test_patterns_and_columns(run, dated, tmp_path):
    result = run("count", tmp_path / "part-*.gz", "--out", tmp_path / "counts", "--keep", "date, id", "--json", "-q")
    told = json.loads(result.stdout)
    assert told == {
        "out": str(tmp_path / "counts"),
        "n_documents": 90,
        "n_words": 30,
        "n_tokens": 2700,
        "n_jobs": 1,
        "n_jobs_done_before": 0,
    }
    found = open_corpus(tmp_path / "counts")
    assert found.metadata.column_names == ["date", "id"]
    assert str(found.metadata["date"].type) == "date32[day]"
    assert tuple(found.metadata["id"].to_pylist()) == found.names
    assert result.stderr == ""


def test_a_folder_is_replaced_only_if_asked(run, refuse, documents, tmp_path):
    run("count", documents, "--out", tmp_path / "counts")
    assert "already exists. Add --force" in refuse("count", documents, "--out", tmp_path / "counts")
    run("count", documents, "--out", tmp_path / "counts", "--force")


def test_what_is_done_is_told(run, documents, tmp_path, monkeypatch):
    from stickbreak.counting import count_files

    module = __import__("sys").modules[count_files.__module__]
    with monkeypatch.context() as patch:
        patch.setattr(module, "add_parts", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run("count", documents, "--out", tmp_path / "counts")
    assert "(1 of 1 jobs were done before)" in run("count", documents, "--out", tmp_path / "counts").stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--workers", "none"], "give a number of processes or an address"),
        (["--keep", "colour"], "has no field 'colour'"),
        (["--workers", "tcp://127.0.0.1:9"], "no Dask scheduler answers"),
    ],
)
def test_what_cannot_be_is_refused(refuse, documents, tmp_path, options, message, monkeypatch):
    monkeypatch.setattr("stickbreak.fitting.cluster.ANSWER", 1)
    assert message in refuse("count", documents, "--out", tmp_path / "counts", *options)
    assert not (tmp_path / "counts").exists()
