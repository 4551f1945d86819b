import io
import json
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickbreak.corpus import Corpus, array_files, folder, open_corpus, read, write_corpus
from stickbreak.exceptions import ReadError, WriteError


def small_corpus():
    return Corpus.from_counts([[2, 0, 1], [0, 0, 0], [0, 3, 4]], ["foo", "bar", "qux"], ["a", "b\nc", "\u2028é"])


def assert_same(corpus, other):
    assert corpus.counts.shape == other.counts.shape
    assert corpus.counts.dtype == other.counts.dtype
    assert (corpus.counts != other.counts).nnz == 0
    assert corpus.vocabulary == other.vocabulary
    assert corpus.names == other.names


def test_corpus_folder_round_trip(tmp_path):
    write_corpus(small_corpus(), tmp_path / "c")
    assert_same(open_corpus(tmp_path / "c"), small_corpus())
    assert_same(read(tmp_path / "c"), small_corpus())


@given(
    st.lists(st.lists(st.sampled_from([0, 0, 1, 7, 0.25]), min_size=3, max_size=3), min_size=1, max_size=6),
    st.lists(st.text(), min_size=3, max_size=3, unique=True),
)
def test_corpus_folder_keeps_any_counts_and_words(tmp_path_factory, table, words):
    corpus = Corpus.from_counts(np.array(table), words)
    path = tmp_path_factory.mktemp("folder") / "c"
    write_corpus(corpus, path)
    assert_same(open_corpus(path), corpus)


def test_corpus_folder_keeps_unpaired_surrogates(tmp_path):
    corpus = Corpus.from_counts([[1]], ["\ud800"])
    write_corpus(corpus, tmp_path / "c")
    assert open_corpus(tmp_path / "c").words == ("\ud800",)


@given(st.lists(st.text() | st.sampled_from(["\ud800", 'a"b\n\\', "é\0"]), max_size=9), st.integers(1, 4))
def test_strings_that_are_written_many_at_once_are_json_lines(strings, at_once):
    written = io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(array_files, "_AT_ONCE", at_once)
        array_files.append_strings(written, iter(strings))
    rows = written.getvalue().split(b"\n")
    assert rows.pop() == b""
    assert [json.loads(row) for row in rows] == strings
    assert rows == [array_files.json_line(string).rstrip(b"\n") for string in strings]


def test_opened_corpus_stays_on_disk(tmp_path):
    write_corpus(small_corpus(), tmp_path / "c")
    corpus = open_corpus(tmp_path / "c")
    for array in (corpus.counts.data, corpus.counts.indices, corpus.counts.indptr):
        assert isinstance(array.base, np.memmap)
        assert not array.flags.writeable
    assert isinstance(corpus[1:].counts.data.base, np.memmap | np.ndarray)
    assert np.shares_memory(corpus[1:].counts.data, corpus.counts.data)
    np.testing.assert_array_equal(corpus[[2, 0]].counts.toarray(), [[0, 3, 4], [2, 0, 1]])
    assert corpus.halves()[0].n_tokens == 2 + 4
    assert Corpus.from_counts(corpus.counts).n_tokens == 10


def test_write_refuses_what_is_there(tmp_path):
    write_corpus(small_corpus(), tmp_path / "c")
    with pytest.raises(WriteError, match="already exists"):
        write_corpus(small_corpus(), tmp_path / "c")
    write_corpus(small_corpus()[:1], tmp_path / "c", overwrite=True)
    assert open_corpus(tmp_path / "c").names == ("a",)
    (tmp_path / "thesis").mkdir()
    with pytest.raises(WriteError, match="not a corpus folder"):
        write_corpus(small_corpus(), tmp_path / "thesis", overwrite=True)
    assert sorted(os.listdir(tmp_path)) == ["c", "thesis"]


def test_failed_write_leaves_nothing(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array_header_1_0", full)
    with pytest.raises(WriteError, match="disk is full"):
        write_corpus(small_corpus(), tmp_path / "c")
    assert os.listdir(tmp_path) == []


def _change_meta(folder, **changes):
    meta = json.loads((folder / "corpus.json").read_text())
    (folder / "corpus.json").write_text(json.dumps(meta | changes))


def _save(folder, name, values, dtype=np.int32):
    np.save(folder / f"{name}.npy", np.array(values, dtype=dtype))


@pytest.mark.parametrize("block", [1, 2, 3, 7])
def test_open_accepts_a_sound_folder_in_blocks_of_any_size(tmp_path, monkeypatch, block):
    monkeypatch.setattr(folder, "_BLOCK", block)
    corpus = Corpus.from_counts(np.random.default_rng(0).poisson(0.7, size=(20, 6)))
    write_corpus(corpus, tmp_path / "c")
    assert_same(open_corpus(tmp_path / "c"), corpus)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "corpus.json").write_text("{"), "is damaged"),
        (lambda f: (f / "corpus.json").write_text("[]"), "is damaged"),
        (lambda f: _change_meta(f, version=99), "version 99; this stickbreak reads"),
        (lambda f: _change_meta(f, kind="model"), "kind 'model'"),
        (lambda f: _change_meta(f, n_documents=2), "do not match"),
        (lambda f: (f / "data.npy").write_bytes((f / "data.npy").read_bytes()[:-4]), "data.npy is damaged"),
        (lambda f: (f / "data.npy").write_bytes(b""), "data.npy is damaged"),
        (lambda f: (f / "indices.npy").unlink(), "indices.npy does not exist"),
        (lambda f: np.save(f / "data.npy", np.arange(2)), "do not match"),
        (lambda f: np.save(f / "indptr.npy", np.array([0, 2, 2, 5], dtype=np.int32)), "do not match"),
        (lambda f: (f / "names.jsonl").write_text('"a"\n'), "1 lines instead of 3"),
        (lambda f: (f / "vocabulary.jsonl").write_text("a\n"), "vocabulary.jsonl, line 1 is damaged"),
        (lambda f: (f / "corpus.json").unlink(), "is not a corpus folder"),
        (lambda f: _change_meta(f, version="x"), "its version is 'x'"),
        (lambda f: _change_meta(f, n_words=float("inf")), "is damaged"),
        (lambda f: _change_meta(f, n_words=0), "do not match"),
        (lambda f: (f / "corpus.json").write_text("[" * 100_000), "is damaged"),
        (lambda f: (f / "names.jsonl").write_text('"a"\n5\n"c"\n'), "line 2 is damaged: it does not hold a string"),
        (lambda f: _save(f, "indices", [0, 2, 1, 3]), "a word outside 0 to 2"),
        (lambda f: _save(f, "indices", [-1, 2, 1, 2]), "a word outside 0 to 2"),
        (lambda f: _save(f, "indices", [2, 0, 1, 2]), "do not ascend"),
        (lambda f: _save(f, "indices", [0, 2, 1, 1]), "do not ascend"),
        (lambda f: (_save(f, "indices", [0, 1, 1, 2], float), _save(f, "indptr", [0, 2, 2, 4], float)), "do not match"),
        (lambda f: _save(f, "indptr", [0, 3, 2, 4]), "indptr.npy decreases"),
        (lambda f: _save(f, "indptr", [0, -1, 2, 4]), "indptr.npy decreases"),
        (lambda f: _save(f, "data", [2, 1, 3, 0]), "not between 0 and 2147483647"),
        (lambda f: _save(f, "data", [2, -1, 3, 4]), "not between 0 and 2147483647"),
        (lambda f: _save(f, "data", [2, 1, np.nan, 4], float), "not between 0 and 2147483647"),
        (lambda f: _save(f, "data", [2, 1, 3, np.inf], float), "not between 0 and 2147483647"),
    ],
)
@pytest.mark.parametrize("block", [1, 2, 3, 1000])
def test_open_refuses_a_damaged_folder(tmp_path, monkeypatch, damage, message, block):
    monkeypatch.setattr(folder, "_BLOCK", block)
    write_corpus(small_corpus(), tmp_path / "c")
    damage(tmp_path / "c")
    with pytest.raises(ReadError, match=message):
        open_corpus(tmp_path / "c")
