"""Corpora at URLs: those of the folder, opened here, or by jobs, which fetch their rows alone and keep some of them."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stickbreak
from stickbreak.corpus import Corpus, TextOptions, open_corpus, planted_lda, read, remote_folder, write_corpus
from stickbreak.corpus.sources import Stored
from stickbreak.exceptions import InputError, ReadError
from stickbreak.storage.urls import UrlPath

fsspec = pytest.importorskip("fsspec")
MEMORY = fsspec.filesystem("memory")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give the folder of the system for temporary files."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    yield tmp_path / "temporary"
    remote_folder._arrays.cache_clear()
    if MEMORY.exists("/bucket"):
        MEMORY.rm("/bucket", recursive=True)


@pytest.fixture
def corpus() -> Corpus:
    counts = planted_lda(300, 40, n_topics=4, seed=1)[0].counts
    names = [f"document {n}" for n in range(counts.shape[0])]
    return Corpus.from_counts(counts, [f"w{n}" for n in range(counts.shape[1])], names, {"n": np.arange(300)})


def put(corpus: Corpus, folder: Path, url: str = "memory://bucket/counts") -> str:
    """Write a corpus, and put its folder into the storage in memory."""
    write_corpus(corpus, folder, overwrite=True)
    MEMORY.put(f"{folder}/", url, recursive=True)
    return url


def equal(found: Corpus, expected: Corpus) -> bool:
    return bool((found.counts != expected.counts).nnz == 0) and found.counts.shape == expected.counts.shape


@pytest.mark.parametrize("opened", [open_corpus, read], ids=["open_corpus", "read"])
def test_a_corpus_at_a_url_is_that_of_its_folder_and_leaves_no_file(
    opened: Any, corpus: Corpus, here: Path, tmp_path: Path
) -> None:
    found = opened(put(corpus, tmp_path / "counts"))
    assert equal(found, corpus)
    assert found.counts.data.dtype == corpus.counts.data.dtype
    assert (found.vocabulary, found.names) == (corpus.vocabulary, corpus.names)
    assert found.metadata.equals(corpus.metadata)
    assert found.place is not None
    assert found.place.folder == "memory://bucket/counts"
    assert not list(here.iterdir())


@pytest.mark.parametrize(("piece", "most_kept"), [(1 << 22, 1 << 31), (200, 1 << 31), (200, 1000), (64, 0)])
def test_jobs_load_the_rows_of_a_url(
    corpus: Corpus, here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int, most_kept: int
) -> None:
    monkeypatch.setattr(remote_folder, "PIECE", piece)
    monkeypatch.setattr(remote_folder, "MOST_KEPT", most_kept)
    monkeypatch.setattr(remote_folder, "AT_ONCE", 100)
    place = open_corpus(put(corpus, tmp_path / "counts")).place
    assert place is not None
    source = Stored(place).part(slice(20, 260))
    draw = np.random.default_rng(0)
    for _ in range(2):  # then from what is kept
        assert equal(source.load(), corpus[20:260])
        assert equal(source.part(slice(7, 7)).load(), corpus[27:27])
        for rows in (np.arange(3, 200, 17), draw.permutation(240)[:50], np.array([5, 5, 2]), np.zeros(0, np.int64)):
            assert equal(source.load(rows), corpus[20:260][rows])
    kept = [file.stat().st_size for file in here.rglob("*.npy-*")]
    assert sum(kept) <= most_kept
    assert bool(kept) == (most_kept > 0)


def test_a_job_fetches_its_rows_alone_and_those_once(
    corpus: Corpus, here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_folder, "PIECE", 256)
    place = open_corpus(put(corpus, tmp_path / "counts")).place
    assert place is not None
    fetched: list[int] = []
    fetch = UrlPath.range

    def counted(self: UrlPath, begin: int, n_bytes: int) -> bytes:
        if self.name.endswith(".npy"):
            fetched.append(n_bytes)
        return fetch(self, begin, n_bytes)

    monkeypatch.setattr(UrlPath, "range", counted)
    part = Stored(place).part(slice(100, 110))
    nnz = part.load().counts.nnz
    assert 8 * nnz < sum(fetched) < 8 * nnz + 6 * 256
    fetched.clear()
    part.load()
    assert not fetched


def test_a_folder_that_is_written_again_is_refused(corpus: Corpus, here: Path, tmp_path: Path) -> None:
    place = open_corpus(put(corpus, tmp_path / "counts")).place
    assert place is not None
    put(corpus[:50], tmp_path / "counts")
    with pytest.raises(ReadError, match=r"memory://bucket/counts is not there, or was written again"):
        Stored(place).load()
    MEMORY.rm("/bucket", recursive=True)
    with pytest.raises(ReadError, match=r"is not there, or was written again"):
        Stored(place).load()


def test_what_is_wrong_with_a_url_is_told_with_its_name(corpus: Corpus, here: Path, tmp_path: Path) -> None:
    url = put(corpus, tmp_path / "counts")
    with pytest.raises(ReadError, match=r"memory://bucket/other is not a folder, or does not exist"):
        open_corpus("memory://bucket/other")
    MEMORY.pipe("/bucket/counts/vocabulary.jsonl", b'"one"\n')
    with pytest.raises(ReadError, match=r"^memory://bucket/counts/vocabulary.jsonl is damaged: 1 lines instead"):
        open_corpus(url)
    MEMORY.rm("/bucket/counts/data.npy")
    with pytest.raises(ReadError, match=r"memory://bucket/counts is not a whole corpus folder: .*data.npy is missing"):
        open_corpus(url)
    with pytest.raises(InputError, match="Protocol not known: nothing"):
        open_corpus("nothing://bucket/counts")
    assert not list(here.iterdir())


def test_a_file_url_is_a_path(corpus: Corpus, tmp_path: Path) -> None:
    write_corpus(corpus, tmp_path / "with space")
    found = open_corpus((tmp_path / "with space").as_uri())
    assert found.place is not None
    assert found.place.folder == str(tmp_path / "with space")


def test_without_fsspec_the_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from stickbreak.storage import urls

    urls._storage.cache_clear()
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(InputError, match=r"pip install 'stickbreak\[urls\]'"):
        open_corpus("memory://elsewhere/counts")


def test_credentials_are_in_no_message() -> None:
    url = UrlPath("s3://key:secret@bucket/a/part.csv?endpoint_override=host")
    assert str(url) == "s3://bucket/a/part.csv"
    assert url.name == "part.csv"
    assert (UrlPath("s3://key:secret@bucket/a/?region=x") / "b").url == "s3://key:secret@bucket/a/b?region=x"


def test_a_saved_model_knows_no_url_and_loads_without_it(corpus: Corpus, here: Path, tmp_path: Path) -> None:
    model = stickbreak.TopicModel(n_laps=2, random_state=0).fit(open_corpus(put(corpus, tmp_path / "counts")))
    model.save(tmp_path / "model")
    assert not [file for file in (tmp_path / "model").iterdir() if b"memory:" in file.read_bytes()]
    MEMORY.rm("/bucket", recursive=True)
    assert np.array_equal(stickbreak.load(tmp_path / "model").components_, model.components_)


TEXTS = "".join(f'{{"id": "d{n}", "text": "bread and butter {n % 3} salt", "year": {n}}}\n' for n in range(40))


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.txt", "a.parquet", "folder"])
def test_texts_at_a_url_are_those_of_the_file(name: str, here: Path, tmp_path: Path) -> None:
    file = tmp_path / name
    match name:
        case "a.jsonl":
            file.write_text(TEXTS)
        case "a.csv":
            file.write_text("id,text\n" + "".join(f'd{n},"bread, butter"\n' for n in range(40)))
        case "a.txt":
            file.write_text("bread and butter\nbread and salt\n" * 20)
        case "a.parquet":
            import pyarrow as pa
            import pyarrow.parquet as pq

            pq.write_table(pa.table({"id": ["a", "b"] * 20, "text": ["bread and butter", "salt"] * 20}), file)
        case _:
            (file / "in").mkdir(parents=True)
            (file / "in" / "b.txt").write_text("bread and salt")
            (file / "a.txt").write_text("bread and butter")
            (file / ".hidden").write_text("nothing")
    target = f"memory://bucket/{name}"
    MEMORY.put(f"{file}/" if file.is_dir() else str(file), target, recursive=True)
    options = TextOptions(min_df=1, max_df=1.0)
    found, expected = read(target, text=options), read(file, text=options)
    assert equal(found, expected)
    assert (found.vocabulary, found.names) == (expected.vocabulary, expected.names)


def test_counts_at_a_url_that_are_no_corpus_folder_are_refused(here: Path) -> None:
    MEMORY.pipe("/bucket/a.mtx", b"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 2\n")
    with pytest.raises(ReadError, match=r"memory://bucket/a.mtx is of format 'mtx', which is read from disks only"):
        read("memory://bucket/a.mtx")


def test_vectors_at_a_url_are_refused() -> None:
    with pytest.raises(InputError, match=r"s3://bucket/a.npy is a URL, but read_vectors reads files"):
        stickbreak.corpus.read_vectors("s3://key:secret@bucket/a.npy")


def test_a_url_is_never_taken_for_a_path() -> None:
    with pytest.raises(TypeError):
        os.fspath(UrlPath("memory://bucket/a"))  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "url",
    [
        "http://KEY:SECRET@127.0.0.1:1/x",
        "hdfs://KEY:SECRET@host:99999/x",
        "nonsense://KEY:SECRET@host/x",
        "s3://KEY:SE/CRET@bucket/x",
        "nonsense://bucket/x?token=SECRET",
    ],
)
def test_no_message_repeats_credentials(url):
    """Also where another package says what is wrong, and where a / of the secret was not escaped."""
    assert "CRET" not in repr(UrlPath(url)) + str(UrlPath(url))
    with pytest.raises((InputError, ReadError)) as caught:
        open_corpus(url)
    assert "CRET" not in str(caught.value)
    assert caught.value.__cause__ is None or "CRET" not in str(caught.value.__cause__)
