"""Files that hold no document: a table without rows from transform, a sentence from the others."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from stickbreak.corpus import read
from stickbreak.exceptions import NoDocuments


def nothing(kind, folder):
    """A file without documents."""
    path = folder / f"none.{kind}"
    if kind == "parquet":
        pq.write_table(pa.table({"text": pa.array([], pa.string())}), path)
    elif kind == "npz":
        sp.save_npz(path, sp.csr_matrix((0, 3)))
    else:
        path.write_text({"csv": "name,text\n"}.get(kind, ""))
    return path


KINDS = ("csv", "jsonl", "parquet", "npz")


@pytest.mark.parametrize("kind", KINDS)
def test_transform_prints_a_header(run, model, tmp_path, kind):
    result = run("transform", model, nothing(kind, tmp_path))
    assert len(result.stdout.splitlines()) == 1
    assert result.stdout.startswith("document,topic_0")
    assert result.stderr.startswith("0 documents")
    assert run("transform", model, nothing(kind, tmp_path), "--json").stdout == ""


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "npz", "parquet"])
def test_transform_writes_a_table_without_rows(run, model, tmp_path, suffix):
    out = tmp_path / f"weights.{suffix}"
    found = json.loads(run("transform", model, nothing("csv", tmp_path), "--out", out, "--json").stdout)
    assert (found["n_documents"], found["n_tokens"]) == (0, 0)
    if suffix == "npz":
        with np.load(out) as written:
            assert written["weights"].shape == (0, found["n_topics"])
            assert written["names"].shape == (0,)
    elif suffix == "parquet":
        table = pq.read_table(out)
        assert (table.num_rows, table.num_columns) == (0, found["n_topics"] + 1)
    else:
        assert len(out.read_text().splitlines()) == (1 if suffix == "csv" else 0)


def test_transform_of_a_tree_writes_a_table_without_rows(run, tree_model, tmp_path):
    run("transform", tree_model, nothing("csv", tmp_path), "--out", tmp_path / "w.npz")
    assert sp.load_npz(tmp_path / "w.npz").shape == (0, 24)


@pytest.mark.parametrize("kind", KINDS)
def test_other_commands_refuse_it(refuse, model, tmp_path, kind):
    path = nothing(kind, tmp_path)
    for command in (
        ["fit", path, "--out", tmp_path / "m"],
        ["evaluate", model, path],
        ["report", model, path, "--out", tmp_path / "r"],
    ):
        assert str(path) in refuse(*command)
    with pytest.raises(NoDocuments):
        read(path)
