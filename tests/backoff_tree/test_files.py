"""Leaves in files, and blocks on workers: the bits of memory, small jobs, bounded memory, damage."""

import os
import pickle
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fitting.faults import killed_after_laps

from stickbreak import BackoffTreeTopics
from stickbreak.backoff_tree import document_blocks
from stickbreak.backoff_tree.document_blocks import DocumentBlocks, leaves_in, sampled
from stickbreak.backoff_tree.sampler import TreeSampler
from stickbreak.backoff_tree.shape import TreeShape
from stickbreak.corpus import Corpus, open_corpus, planted_lda, write_corpus
from stickbreak.exceptions import ReadError, WriteError
from stickbreak.fitting.batch_store import BatchFile

from .fits import assert_same
from .problems import ONE, leaves_of

SETTINGS: dict[str, Any] = {"branching": (2, 3, 4), "stages": (2,), "stage_sweeps": 2, "n_laps": 6, "learn_every": 2}
SETTINGS["random_state"] = 0


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    drawn = planted_lda(120, 30, n_topics=4, mean_tokens=25, seed=1)[0]
    counts = drawn.counts.toarray()
    counts[[0, 50, 119]] = 0
    return Corpus.from_counts(counts)


@pytest.fixture(scope="module")
def model(corpus: Corpus) -> BackoffTreeTopics:
    """A fit of one block, in memory."""
    return BackoffTreeTopics(**SETTINGS).fit(corpus)


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many blocks, and few at a time."""
    monkeypatch.setattr(document_blocks, "BLOCK_TOKENS", (60, 300))
    monkeypatch.setattr(document_blocks, "TOKENS_AT_ONCE", 700)


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_blocks_files_and_threads_change_no_bit(
    model: BackoffTreeTopics, corpus: Corpus, tmp_path: Path, threads: int
) -> None:
    assert len(DocumentBlocks(corpus, ONE, leaves_in(tmp_path)).sizes) > 30
    for scratch in (None, tmp_path / "new"):
        assert_same(BackoffTreeTopics(**SETTINGS, n_jobs=threads, scratch=scratch).fit(corpus), model)


def after_two_passes(corpus: Corpus, folder: Path | None) -> TreeSampler:
    """A sampler with its leaves in memory, or in files."""
    found = TreeSampler(
        DocumentBlocks(corpus, ONE, leaves_in(folder)), TreeShape((2, 3)), [0.2, 0.2], [0.2, 0.2], 0, at_once=False
    )
    found.begin()
    for _ in range(2):
        found.sweep(ONE)
    return found


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize("place", ["memory", "files"])
def test_a_job_that_is_done_twice_does_the_same_and_leaves_its_caller_alone(
    corpus: Corpus, tmp_path: Path, place: str
) -> None:
    sampler = after_two_passes(corpus, None if place == "memory" else tmp_path)
    task, job, before = sampler._work(ONE, "tree", at_once=False), sampler.blocks.jobs()[3], leaves_of(sampler)
    sent, found = pickle.dumps(task), []
    for _ in range(2):
        kept, log_p = sampled(task, job)
        z = kept if place == "memory" else np.fromfile(kept.path, np.uint8)
        found.append((z.tobytes(), log_p.tobytes()))
    assert found[0] == found[1]
    assert pickle.dumps(task) == sent
    np.testing.assert_array_equal(leaves_of(sampler), before)


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize(("lap", "begun"), [(1, "here"), (2, "files"), (5, "files"), (5, "here")])
def test_a_fit_goes_on_with_or_without_files(
    model: BackoffTreeTopics, corpus: Corpus, tmp_path: Path, lap: int, begun: str
) -> None:
    """Inside the first stage, at its end, and after it."""

    class Cut(Exception):
        pass

    def cut(event: dict[str, Any]) -> None:
        if event.get("lap") == lap + 1:
            raise Cut

    places = (None, tmp_path / "scratch") if begun == "here" else (tmp_path / "scratch", None)
    with pytest.raises(Cut):
        BackoffTreeTopics(**SETTINGS, scratch=places[0]).fit(corpus, checkpoint=tmp_path / "c", callback=cut)
    resumed = BackoffTreeTopics(**SETTINGS, scratch=places[1]).fit(corpus, checkpoint=tmp_path / "c", resume=True)
    assert_same(resumed, model)


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize("damage", ["gone", "cut", "changed"])
def test_a_damaged_file_ends_the_fit_in_one_sentence(corpus: Corpus, tmp_path: Path, damage: str) -> None:
    sampler = after_two_passes(corpus, tmp_path)
    file = sorted(tmp_path.glob("stickbreak-fit-*/*"))[0]
    if damage == "gone":
        file.unlink()
    elif damage == "cut":
        file.write_bytes(file.read_bytes()[:-3])
    else:
        file.write_bytes(file.read_bytes()[:-1] + b"\1")
    with pytest.raises(ReadError, match=f"{file.name}, .*(is damaged|cannot be read).*resume") as refused:
        sampler.sweep(ONE)
    assert "\n" not in str(refused.value)


@pytest.mark.usefixtures("cut")
def test_a_full_scratch_folder_ends_the_fit_and_it_goes_on_from_its_checkpoint(
    model: BackoffTreeTopics, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, left, written = {**SETTINGS, "scratch": tmp_path / "scratch"}, [150], BatchFile.written

    def full(path: str, arrays: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise WriteError(f"cannot write {path}: the disk is full; free some space or choose another place")
        return written(path, arrays)

    with monkeypatch.context() as within:
        within.setattr(BatchFile, "written", full)
        with pytest.raises(WriteError, match="the disk is full"):
            BackoffTreeTopics(**settings).fit(corpus, checkpoint=tmp_path / "c")
    assert not list((tmp_path / "scratch").iterdir())
    assert_same(BackoffTreeTopics(**settings).fit(corpus, checkpoint=tmp_path / "c", resume=True), model)


def test_memory_follows_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a collection in a folder, with few words and leaves: far less than the leaves of its tokens."""
    monkeypatch.setattr(document_blocks, "BLOCK_TOKENS", (4000, 8000))
    monkeypatch.setattr(document_blocks, "TOKENS_AT_ONCE", 16000)
    write_corpus(planted_lda(1500, 50, n_topics=8, mean_tokens=400, seed=0)[0], tmp_path / "corpus")
    corpus, peaks = open_corpus(tmp_path / "corpus"), []
    settings: dict[str, Any] = {"branching": (2, 3), "n_laps": 2, "random_state": 0, "learn": ()}
    for scratch in (None, tmp_path):
        tracemalloc.start()
        try:
            BackoffTreeTopics(**settings, scratch=scratch).fit(corpus, checkpoint=tmp_path / str(scratch is None))
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    size = 4 * corpus.n_tokens
    assert os.path.getsize(tmp_path / "True" / "arrays.safetensors") > size > 1e6
    assert peaks[0] > size
    assert peaks[1] < 0.5 * size


def test_a_fit_whose_process_is_killed_goes_on_in_another(corpus: Corpus, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"branching": (2, 3), "stages": ()}
    laps = killed_after_laps(4, "BackoffTreeTopics", settings, corpus, tmp_path)
    settings |= {"n_laps": laps + 3, "random_state": 0}
    documents = open_corpus(tmp_path / "corpus")
    resumed = BackoffTreeTopics(**settings, scratch=tmp_path / "scratch").fit(
        documents, checkpoint=tmp_path / "checkpoint", resume=True
    )
    assert_same(resumed, BackoffTreeTopics(**settings).fit(documents))
