"""Texts counted part by part: the corpus of `read`, for each format, any cut, any engine, and after a kill."""

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import stickbreak
from stickbreak.corpus import Corpus, TextOptions, count_texts, open_corpus, read, write_corpus
from stickbreak.corpus.reading import blocks, decoding
from stickbreak.corpus.reading.source import ReadSettings, TextSource
from stickbreak.counting import count_files as count_files_of_room
from stickbreak.counting import parts as jobs_of_room
from stickbreak.exceptions import InputError, InvalidCorpus, NoDocuments, ReadError, WriteError

count_files = stickbreak.count_files
counting = sys.modules[count_files_of_room.__module__]
WORDS = "bread butter salt pepper olive ship sail harbour captain wave café naïve Straße ΣΟΦΟΣ don the and".split()


def rows(n: int = 300, seed: int = 0) -> list[dict[str, object]]:
    draw = random.Random(seed)
    made: list[dict[str, object]] = []
    for number in range(n):
        ending = draw.choice(["", "\u2028", " 😀", "\nend"])
        text = " ".join(draw.choices(WORDS, k=draw.randrange(20))) + ending
        made.append(
            {
                "id": None if number % 7 == 3 else f"doc {number}",
                "text": None if number % 31 == 5 else text,
                "when": f"2024-{1 + number % 12:02d}",
                "stars": number % 5,
            }
        )
    return made


def write(path: Path, some: list[dict[str, object]], kind: str) -> Path:
    """Write rows in a format."""
    frame = pd.DataFrame(some)
    match kind:
        case "jsonl":
            path.write_bytes("".join(json.dumps(row) + "\n" for row in some).encode())
        case "jsonl.gz":
            path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in some).encode()))
        case "array.json":
            path.write_text(json.dumps(some))
        case "csv" | "tsv":
            frame.to_csv(path, index=False, sep="," if kind == "csv" else "\t")
        case "parquet":
            pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=37)
        case "txt":
            path.write_text("".join(f"{row['text']}\n" for row in some), encoding="utf-8")
    return path


FORMATS = ["jsonl", "jsonl.gz", "array.json", "csv", "tsv", "parquet", "txt"]
FIELDS = {kind: kind != "txt" for kind in FORMATS}


def same(found: Corpus, expected: Corpus) -> None:
    assert found.words == expected.words
    assert found.names == expected.names
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(found.counts, name), getattr(expected.counts, name))
        assert getattr(found.counts, name).dtype == getattr(expected.counts, name).dtype
    if expected.metadata is None:
        assert found.metadata is None
    else:
        assert found.metadata.equals(expected.metadata.combine_chunks())


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


@pytest.fixture(params=[300, 4000, 1 << 23])
def step(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(counting, "STEP", request.param)
    small_blocks(monkeypatch, request.param)
    return request.param


def small_blocks(monkeypatch: pytest.MonkeyPatch, n_bytes: int) -> None:
    """Let documents come a few at a time."""
    monkeypatch.setattr(decoding, "_BLOCK", n_bytes)
    monkeypatch.setattr(blocks, "_BYTES", n_bytes)


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_gives_the_corpus_of_read(tmp_path, step, kind):
    path = write(tmp_path / f"texts.{kind}", rows(), kind)
    keep = "all" if FIELDS[kind] else None
    done = count_files(path, tmp_path / "counts", keep=keep)
    expected = read(path, keep=keep)
    same(done.open(), expected)
    assert (done.n_documents, done.n_words, done.n_tokens) == (len(expected), expected.n_words, expected.n_tokens)
    assert done.n_jobs > 8 or step > 300 or kind in ("jsonl.gz", "array.json")
    write_corpus(expected, tmp_path / "written")
    assert bytes_of(tmp_path / "counts") == bytes_of(tmp_path / "written")  # not one byte hangs on the cut
    assert not (tmp_path / "counts.parts").exists()


def test_a_packed_file_is_several_parts_of_one_job(tmp_path, monkeypatch):
    monkeypatch.setattr(counting, "STEP", 500)
    small_blocks(monkeypatch, 500)
    path = write(tmp_path / "texts.jsonl.gz", rows(), "jsonl.gz")
    done = jobs_done(monkeypatch)
    count_files(path, tmp_path / "counts")
    assert len(done) == 1
    assert len(done[0].parts) > 10


def test_many_files_are_one_collection(tmp_path, step):
    folder = tmp_path / "in"
    folder.mkdir()
    every: list[Path] = []
    for number, kind in enumerate(["jsonl", "csv", "parquet", "jsonl.gz"]):
        every.append(write(folder / f"{number}.{kind}", rows(100, seed=number), kind))
    (folder / "4.jsonl").write_text("")
    (folder / "_SUCCESS").write_text("")
    apart = [read(path, text=TextOptions(min_df=1, max_df=1.0), keep="all") for path in every]
    texts, names, stars = [], [], []
    for path in every:
        texts += stickbreak.corpus.read_texts(path, range(100))
    for corpus in apart:
        names += corpus.names
        stars += corpus.metadata["stars"].to_pylist()
    found = count_files([folder], tmp_path / "counts", keep=["stars"]).open()
    expected = count_texts(texts)
    assert found.words == expected.words
    assert (found.counts != expected.counts).nnz == 0
    assert found.metadata["stars"].to_pylist() == stars
    assert found.names is not None
    for row, (name, given) in enumerate(zip(found.names, names, strict=True)):
        assert name == (given if given.startswith("doc") else str(row))
    again = count_files([folder / "0*", folder / "[123].*", folder / "0.jsonl"], tmp_path / "again", keep=["stars"])
    assert bytes_of(again.path) == bytes_of(tmp_path / "counts")


def test_a_folder_of_documents_is_one_collection(tmp_path, step):
    folder = tmp_path / "in"
    (folder / "deep").mkdir(parents=True)
    for number, row in enumerate(rows(60)):
        (folder / ("deep" if number % 2 else "") / f"{number:02d}.txt").write_text(f"{row['text']}")
    (folder / "picture").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    same(count_files(folder, tmp_path / "counts").open(), read(folder))


@pytest.mark.parametrize(
    "options",
    [
        TextOptions(ngram_range=(1, 2)),
        TextOptions(token_pattern=r"\S+", stop_words=None),
        TextOptions(min_df=0.1, max_df=0.6, max_features=5),
        TextOptions(lowercase=False, strip_accents="ascii", min_df=1),
    ],
)
def test_options_of_text_are_those_of_read(tmp_path, monkeypatch, options):
    monkeypatch.setattr(counting, "STEP", 1000)
    path = write(tmp_path / "texts.jsonl", rows(), "jsonl")
    same(count_files(path, tmp_path / "counts", text=options).open(), read(path, text=options))


def test_a_given_vocabulary_is_counted_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(counting, "STEP", 1000)
    path = write(tmp_path / "texts.jsonl", rows(), "jsonl")
    words = ["salt", "bread", "nowhere", "olive pepper"]
    same(count_files(path, tmp_path / "counts", vocabulary=words).open(), read(path, vocabulary=words))
    (tmp_path / "words.txt").write_text("\n".join(words))
    count_files(path, tmp_path / "again", vocabulary=tmp_path / "words.txt")
    assert bytes_of(tmp_path / "again") == bytes_of(tmp_path / "counts")


def test_the_first_object_decides_for_all_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(counting, "STEP", 200)
    path = tmp_path / "texts.jsonl"
    lines = [{"title": f"t{number}", "text": "bread and butter"} for number in range(40)]
    lines += [{"id": f"i{number}", "title": f"t{number}", "text": "bread"} for number in range(40)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = count_files(path, tmp_path / "counts").open()
    assert found.names == read(path).names == tuple(str(line["title"]) for line in lines)


def test_the_line_that_is_wrong_is_named_wherever_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(counting, "STEP", 1000)
    path = write(tmp_path / "texts.jsonl", rows(), "jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    lines[222] = b'{"id": "x", "text": 7}\n'
    path.write_bytes(b"".join(lines))
    with pytest.raises(ReadError) as of_read:
        read(path)
    with pytest.raises(ReadError) as of_count:
        count_files(path, tmp_path / "counts")
    assert str(of_count.value) == str(of_read.value)
    assert "line 223" in str(of_read.value)
    assert not (tmp_path / "counts").exists()


def jobs_done(monkeypatch: pytest.MonkeyPatch) -> list[jobs_of_room.Done]:
    """Return a list that gets what every job returns."""
    done: list[jobs_of_room.Done] = []

    def counted(shared, job):
        done.append(jobs_of_room.count_job(shared, job))
        return done[-1]

    monkeypatch.setattr(counting, "count_job", counted)
    return done


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, int]:
    """A collection of which all jobs are done, but the corpus could not be written."""
    monkeypatch.setattr(counting, "STEP", 1000)
    path, out = write(tmp_path / "texts.jsonl", rows(), "jsonl"), tmp_path / "counts"
    with monkeypatch.context() as patch:
        patch.setattr(counting, "add_parts", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            count_files(path, out, keep="all")
    marks = list((tmp_path / "counts.parts").glob("*.done"))
    assert len(marks) > 10
    return path, out, len(marks)


def test_what_is_done_is_not_counted_again(begun, monkeypatch):
    path, out, n_jobs = begun
    done = jobs_done(monkeypatch)
    found = count_files(path, out, keep="all", text=TextOptions(min_df=1))  # what words are kept is asked at the end
    assert done == []
    assert (found.n_jobs, found.n_jobs_before) == (n_jobs, n_jobs)
    same(found.open(), read(path, keep="all", text=TextOptions(min_df=1)))


def test_what_was_logged_is_no_part_of_the_name_of_a_job(tmp_path):
    settings = ReadSettings()
    path = write(tmp_path / "texts.jsonl", rows(20), "jsonl")
    pieces = TextSource.checked(path, "count_files", settings).pieces(1000)
    shared = jobs_of_room.Counting.of(tmp_path, TextOptions(), None, (), 1000)
    job = jobs_of_room.Job(tuple(pieces))
    before = job.name(shared)
    settings.asked.tell(path, "the first row is no header")
    assert job.name(shared) == before


@pytest.mark.parametrize("form", [jobs_of_room._FORM, jobs_of_room._FORM - 1])
def test_other_settings_and_parts_of_another_form_are_counted_again(begun, monkeypatch, form):
    path, out, n_jobs = begun
    monkeypatch.setattr(jobs_of_room, "_FORM", form)
    done = jobs_done(monkeypatch)
    count_files(path, out, keep="all", text=TextOptions(lowercase=form != jobs_of_room._FORM))
    assert len(done) == n_jobs


def test_a_file_that_was_changed_is_counted_again(begun, monkeypatch):
    path, out, n_jobs = begun
    os.utime(path, (1, 1))
    done = jobs_done(monkeypatch)
    same(count_files(path, out, keep="all").open(), read(path, keep="all"))
    assert len(done) == n_jobs


@pytest.mark.parametrize("damage", ["cut", "flip", "flip a name", "empty", "gone", "swapped", "mark"])
def test_damaged_parts_are_counted_again(begun, monkeypatch, damage):
    path, out, _ = begun
    parts = sorted(Path(f"{out}.parts").glob("*.npz"))
    victim, content = parts[3], parts[3].read_bytes()
    match damage:
        case "cut":
            victim.write_bytes(content[:-100])
        case "flip":
            at = content.index(b"bread") + 2
            victim.write_bytes(content[:at] + b"X" + content[at + 1 :])
        case "flip a name":
            at = content.index(b"doc ") + 2
            victim.write_bytes(content[:at] + b"X" + content[at + 1 :])
        case "empty":
            victim.write_bytes(b"")
        case "gone":
            victim.unlink()
        case "swapped":
            victim.write_bytes(b"PK\x03\x04" + content[4:2000])
        case "mark":
            sorted(Path(f"{out}.parts").glob("*.done"))[3].write_text("a few")
    done = jobs_done(monkeypatch)
    same(count_files(path, out, keep="all").open(), read(path, keep="all"))
    assert len(done) == 1


def test_a_part_that_is_damaged_at_the_end_is_told(begun, monkeypatch):
    path, out, _ = begun
    real = counting.add_parts

    def damaged(writer, parts, *more, **options):
        parts[5].path.write_bytes(parts[5].path.read_bytes()[:-50])
        real(writer, parts, *more, **options)

    with monkeypatch.context() as patch:
        patch.setattr(counting, "add_parts", damaged)
        with pytest.raises(ReadError, match="start again: what is sound is not counted twice"):
            count_files(path, out, keep="all")
    same(count_files(path, out, keep="all").open(), read(path, keep="all"))


SCRIPT = """
import importlib, sys, time
from pathlib import Path
import stickbreak
module = importlib.import_module("stickbreak.counting.count_files")
module.STEP = 1000
real = module.count_job
def ending(shared, job):  # after four jobs, or a few more on several threads, it only waits to be killed
    if len(list(Path(sys.argv[2] + ".parts").glob("*.done"))) >= 4:
        time.sleep(1200)
    return real(shared, job)
module.count_job = ending
stickbreak.count_files(sys.argv[1], sys.argv[2], keep="all")
"""


def test_a_process_that_is_killed_is_followed_by_one_that_goes_on(tmp_path, monkeypatch):
    path, out = write(tmp_path / "texts.jsonl", rows(), "jsonl"), tmp_path / "counts"
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(path), str(out)])
    parts = tmp_path / "counts.parts"
    deadline = time.monotonic() + 600
    while len(list(parts.glob("*.done"))) < 4 and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not out.exists()
    monkeypatch.setattr(counting, "STEP", 1000)
    done = jobs_done(monkeypatch)
    found = count_files(path, out, keep="all")
    assert 4 <= found.n_jobs_before < found.n_jobs
    assert len(done) == found.n_jobs - found.n_jobs_before
    same(found.open(), read(path, keep="all"))
    assert sorted(os.listdir(tmp_path)) == ["counts", "texts.jsonl"]


def test_what_cannot_be_counted_is_refused(tmp_path):
    path = write(tmp_path / "texts.jsonl", rows(20), "jsonl")
    out = tmp_path / "counts"
    with pytest.raises(ReadError, match="no file matches"):
        count_files(tmp_path / "*.csv", out)
    with pytest.raises(ReadError, match="does not exist"):
        count_files(tmp_path / "nothing.csv", out)
    with pytest.raises(InputError, match="name at least one file"):
        count_files([], out)
    with pytest.raises(InputError, match="count_files takes a path"):
        count_files([3], out)
    with pytest.raises(InputError, match="TextOptions"):
        count_files(path, out, text="english")
    with pytest.raises(InvalidCorpus, match="no word is left"):
        count_files(path, out, text=TextOptions(token_pattern="Q"))
    write_corpus(Corpus.from_counts([[1]]), tmp_path / "folder")
    with pytest.raises(InputError, match="holds counts already"):
        count_files(tmp_path / "folder", out)
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(NoDocuments, match="is empty"):
        count_files(tmp_path / "empty.txt", out)
    (tmp_path / "nothing").mkdir()
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "empty.parquet")
    for name in ("nothing", "empty.parquet"):
        with pytest.raises(NoDocuments, match="holds no documents"):
            count_files(tmp_path / name, out)
    (tmp_path / "header.csv").write_text("id,text\n")
    with pytest.raises(NoDocuments, match="holds no documents"):
        count_files(tmp_path / "header.csv", out)


def test_what_is_there_is_not_replaced_unasked(tmp_path):
    path, out = write(tmp_path / "texts.jsonl", rows(20), "jsonl"), tmp_path / "counts"
    count_files(path, out)
    with pytest.raises(WriteError, match="already exists"):
        count_files(path, out)
    assert count_files(path, out, overwrite=True, text=TextOptions(min_df=1)).n_words == open_corpus(out).n_words
    (tmp_path / "thesis").mkdir()
    with pytest.raises(WriteError, match="not a corpus folder"):
        count_files(path, tmp_path / "thesis", overwrite=True)
    (tmp_path / "new.parts").mkdir()
    (tmp_path / "new.parts" / "chapter").touch()
    with pytest.raises(WriteError, match="remove it or rename it"):
        count_files(path, tmp_path / "new")
    with pytest.raises(WriteError, match="parent folder does not exist"):
        count_files(path, tmp_path / "no" / "such")


def test_a_file_that_changes_meanwhile_is_refused(tmp_path, monkeypatch):
    path = write(tmp_path / "texts.jsonl", rows(20), "jsonl")

    def changed(shared, job):
        os.utime(path, (5, 5))
        return jobs_of_room.count_job(shared, job)

    monkeypatch.setattr(counting, "count_job", changed)
    with pytest.raises(ReadError, match="was changed while it was counted"):
        count_files(path, tmp_path / "counts")
