"""Shares in files: the bits of memory in any step, small jobs, bounded memory, and what becomes of damage."""

import os
import pickle
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fitting.faults import disk_with_room_for, killed_after_laps
from tests.fitting.test_engine import Travelling

from stickbreak import CollapsedHDP
from stickbreak.collapsed import cutting, files, packing, sampled, splitting
from stickbreak.collapsed.aside import lengths
from stickbreak.collapsed.cvb0 import ALONE, SMALLEST_SHARE, sweep, with_random_topics
from stickbreak.collapsed.files import InFiles, changes
from stickbreak.collapsed.kernels.shares import UNIT
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.packing import Counts, Entries
from stickbreak.collapsed.shards import ONE_DRAW, Aside
from stickbreak.collapsed.state import CollapsedState, Priors
from stickbreak.corpus import Corpus, open_corpus, planted_lda, write_corpus
from stickbreak.exceptions import InputError, ReadError, WriteError
from stickbreak.fitting.block_files import File, Folder, write
from stickbreak.fitting.engine import Engine, use_workers
from stickbreak.fitting.executor import ThreadExecutor

PRIORS = Priors(alpha=0.9, gamma=2.0, eta=0.2)
NAMES = ("components_", "tables_", "topic_weights_", "alpha_", "final_passes_")
SETTINGS: dict[str, Any] = {"n_laps": 40, "merge_laps": 21, "random_state": 0, "tolerance": None}


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several blocks in a turn, and few sweeps over halves."""
    monkeypatch.setattr(cutting, "BLOCK_COUNTS", (150, 1 << 20))
    monkeypatch.setattr(cutting, "TURNS", 4)
    monkeypatch.setattr(cutting, "SHARD_COUNTS", 60)
    monkeypatch.setattr(splitting, "MOST_VISITS", 10)
    monkeypatch.setattr(sampled, "TRIAL", 12)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return planted_lda(230, 40, n_topics=4, mean_tokens=25, seed=1)[0]


@pytest.fixture(scope="module")
def weights(corpus: Corpus) -> Corpus:
    rng = np.random.default_rng(0)
    return Corpus.from_counts(corpus.counts.toarray() * rng.uniform(0.3, 2.6, corpus.counts.shape))


def same(one: CollapsedHDP, other: CollapsedHDP) -> bool:
    """Whether two fits agree to the bit, in all but the seconds."""
    fitted = all(np.array_equal(getattr(one, name), getattr(other, name)) for name in NAMES)
    names = one.trace_.keys() - {"seconds"}
    return fitted and all(np.array_equal(one.trace_[name], other.trace_[name]) for name in names)


_FITTED: list[CollapsedHDP] = []


@pytest.fixture
def in_memory(corpus: Corpus) -> CollapsedHDP:
    """A fit that was never cut, in memory; not to be changed."""
    if not _FITTED:  # within a test, which has set the sizes of blocks
        _FITTED.append(CollapsedHDP(**SETTINGS).fit(corpus))
    return _FITTED[0]


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_a_fit_in_files_has_the_bits_of_one_in_memory(
    corpus: Corpus, in_memory: CollapsedHDP, tmp_path: Path, threads: int
) -> None:
    """With births, merges, a second start and sampled last passes."""
    model = in_memory
    assert model.trace_["birth_accepted"].sum() > 0
    assert model.final_passes_ == "sampled"
    again = CollapsedHDP(**SETTINGS, n_jobs=threads).fit(corpus)
    in_files = CollapsedHDP(**SETTINGS, n_jobs=threads, scratch=tmp_path / "new").fit(corpus)
    assert same(again, model)
    assert same(in_files, model)
    assert not list((tmp_path / "new").iterdir())


@pytest.mark.parametrize(
    "changes",
    [
        {"births": False, "n_topics": 12},
        {"final_passes": "expected", "learn": ["alpha", "gamma", "eta"]},
        {"smallest_share": 0, "n_topics": 5, "births": False, "n_laps": 6},
        {"merge_laps": 0, "n_topics": 6, "n_laps": 4},
        {"init": np.random.default_rng(0).dirichlet(np.ones(40), size=4), "n_laps": 6},
    ],
    ids=["merges", "expected", "all shares", "no moves", "given topics"],
)
@pytest.mark.parametrize("kind", ["corpus", "weights"])
def test_other_fits_in_files_have_the_bits_of_memory(
    request: pytest.FixtureRequest, tmp_path: Path, changes: dict[str, Any], kind: str
) -> None:
    documents = request.getfixturevalue(kind)
    settings = {**SETTINGS, "n_laps": 25, **changes}
    model = CollapsedHDP(**settings).fit(documents)
    assert same(CollapsedHDP(**settings, scratch=str(tmp_path)).fit(documents), model)


def test_jobs_travel_and_are_small(corpus: Corpus, tmp_path: Path) -> None:
    """Workers that see only what was pickled; documents and shares do not pass through the driver."""
    settings = {**SETTINGS, "n_laps": 30}
    model = CollapsedHDP(**settings).fit(corpus)
    workers = Travelling(tmp_path)
    with use_workers(workers):
        assert same(CollapsedHDP(**settings).fit(corpus), model)
    assert workers.jobs > 100
    assert workers.bytes < 16 * 1_000  # of as many blocks


def in_files(corpus: Corpus, folder: Path) -> CollapsedState:
    """A state in files after two sweeps."""
    state = with_random_topics(InFiles(corpus, ALONE, Folder(folder)), 6, 0, ALONE)
    for _ in range(2):
        sweep(state, PRIORS, SMALLEST_SHARE, 0, ALONE)
    return state


def test_what_a_job_returns_is_the_change_of_the_counts(corpus: Corpus, tmp_path: Path) -> None:
    """Its bytes are bounded by the pairs of words and topics that changed, ten for each, and the tables."""
    state, returned = in_files(corpus, tmp_path), []

    class Watching(Engine):
        def run_summed(self, *given: Any) -> Any:
            found = super().run_summed(*given)
            returned.extend(zip(*found, strict=True))
            return found

    sweep(state, PRIORS, SMALLEST_SHARE, 0, Watching(ThreadExecutor(1)))
    assert returned
    for result, counts in returned:
        changed = counts.units.size
        assert 0 < changed <= 40 * 6
        fixed = 8 * (41 + 6) + 1500  # where rows begin, the tables of six topics, names
        assert len(pickle.dumps((result, counts))) < 6 * changed + fixed
        assert counts.units.dtype == np.int32


def test_counts_travel_without_a_change() -> None:
    rng = np.random.default_rng(0)
    table = np.where(rng.random((30, 8)) < 0.4, np.floor(rng.gamma(0.1, 1e4, (30, 8)) * 2**20) / 2**20, 0.0)
    table[3, 2] = 1e6 + 2.0**-20  # more than four bytes
    for given in (table, table - 5.0, np.zeros((3, 2)), np.floor(table)):
        sent = pickle.loads(pickle.dumps(Counts(given, given.sum(axis=0))))
        np.testing.assert_array_equal(sent.S, given)
        np.testing.assert_array_equal(Entries.of(given).table(), given)
    assert len(pickle.dumps(Counts(np.zeros((1000, 1000)), np.zeros(1000)))) < 20_000
    buffers: list[pickle.PickleBuffer] = []
    pickle.dumps(Counts(table - 5.0, np.zeros(8)), protocol=5, buffer_callback=buffers.append)
    assert buffers[0].raw().nbytes == table.nbytes  # a table without many zeros needs no list


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_counts_that_change_from_turn_to_turn_travel_as_they_are_then(sign: float) -> None:
    """How they are written is settled in the first turn; what is written is not."""
    few, many = np.zeros((20, 6)), np.full((20, 6), 2.0)
    few[4, 1] = 3.0
    counts = Counts((few if sign > 0 else many).copy(), np.zeros(6))
    pickle.dumps(counts)
    counts.S[:] = many if sign > 0 else few
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(counts)).S, many if sign > 0 else few)


@pytest.mark.parametrize("at_once", [1, 40, 1 << 18])
def test_the_sum_of_lists_of_entries_is_that_of_their_tables(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "PART_ENTRIES", at_once)
    draw = np.random.default_rng(0)
    tables = [np.where(draw.random((30, 7)) < 0.3, draw.integers(-(2**33), 2**33, (30, 7)) * UNIT, 0.0) for _ in "1234"]
    tables.append(-tables[0])  # rows of nothing
    tables[1][4], tables[2][4], tables[3][4] = 0.0, 0.0, 0.0
    found = Entries.total([Entries.of(table) for table in tables])
    np.testing.assert_array_equal(found.table(), sum(tables))
    assert 4 not in found.row
    assert changes([None, Entries.of(tables[0]), None]).table().tolist() == tables[0].tolist()
    assert changes([None]) is None


def test_tokens_held_out_are_drawn_once(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then they are read, until others are held out; those of a memory fit are the same."""
    aside = Aside(apart=0.1, apart_seed=1, held=0.3, held_seed=2)
    state, here = in_files(corpus, tmp_path), InMemory(corpus)
    here.set_aside(aside, ALONE)
    expected = here.lengths(ALONE)
    documents = state.documents
    assert isinstance(documents, InFiles)
    for _ in range(2):
        documents.set_aside(aside, ALONE)
        np.testing.assert_array_equal(documents.lengths(ALONE), expected)
        with monkeypatch.context() as within:
            within.setattr(np, "floor", None)
            np.testing.assert_array_equal(np.concatenate(documents.walk(ALONE, lengths).listed), expected)
    documents.set_aside(Aside(), ALONE)
    assert documents.lengths(ALONE).sum() == corpus.n_tokens
    assert not list(tmp_path.glob("*/*.held"))


def test_a_table_of_changes_comes_in_parts(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In as many as there may be, of few words each; the last one is shorter."""
    whole = in_files(corpus, tmp_path / "a")
    monkeypatch.setattr(files, "PART_ENTRIES", 1)
    parts = in_files(corpus, tmp_path / "b")
    np.testing.assert_array_equal(parts.S, whole.S)
    assert np.array_equal(whole.S.sum(), corpus.n_tokens)


@pytest.mark.parametrize("damage", ["gone", "cut", "changed", "other"])
def test_a_damaged_file_ends_the_fit_in_one_sentence(corpus: Corpus, tmp_path: Path, damage: str) -> None:
    state = in_files(corpus, tmp_path)
    first, second = sorted(tmp_path.glob("stickbreak-fit-*/*.shares"))[:2]
    content = bytearray(first.read_bytes())
    if damage == "gone":
        first.unlink()
    elif damage == "cut":
        first.write_bytes(content[:-3])
    elif damage == "changed":
        content[-9] ^= 1
        first.write_bytes(content)
    else:
        first.write_bytes(second.read_bytes())
    with pytest.raises(ReadError, match=f"{first.name}.*(gone|damaged|cannot be read).*resume") as refused:
        sweep(state, PRIORS, SMALLEST_SHARE, 0, ALONE)
    assert "\n" not in str(refused.value)


def test_a_full_scratch_folder_ends_the_fit_and_it_goes_on_from_its_checkpoint(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {**SETTINGS, "n_laps": 24, "scratch": tmp_path / "scratch"}
    with disk_with_room_for(900, monkeypatch), pytest.raises(WriteError, match="the disk is full"):
        CollapsedHDP(**settings).fit(corpus, checkpoint=tmp_path / "c")
    assert not list((tmp_path / "scratch").iterdir())
    resumed = CollapsedHDP(**settings).fit(corpus, checkpoint=tmp_path / "c", resume=True)
    assert same(resumed, CollapsedHDP(**{**settings, "scratch": None}).fit(corpus))


@pytest.mark.parametrize(("lap", "begun"), [(3, "here"), (21, "files"), (28, "files"), (28, "here"), (36, "files")])
def test_a_fit_goes_on_with_or_without_files(
    corpus: Corpus, in_memory: CollapsedHDP, tmp_path: Path, lap: int, begun: str
) -> None:
    """In the moves, at their end, in the trial, and after it."""
    places = (None, tmp_path / "scratch") if begun == "here" else (tmp_path / "scratch", None)
    CollapsedHDP(**{**SETTINGS, "n_laps": lap}, scratch=places[0]).fit(corpus, checkpoint=tmp_path / "c")
    resumed = CollapsedHDP(**SETTINGS, scratch=places[1]).fit(corpus, checkpoint=tmp_path / "c", resume=True)
    assert same(resumed, in_memory)


def test_such_a_model_says_that_it_cannot_go_on(corpus: Corpus, tmp_path: Path) -> None:
    model = CollapsedHDP(**{**SETTINGS, "n_laps": 3}, scratch=tmp_path).fit(corpus)
    with pytest.raises(InputError, match="scratch folder"):
        model.continue_fit(corpus, n_laps=2)
    model.save(tmp_path / "model")
    assert pickle.loads(pickle.dumps(model)).get_params()["scratch"] == tmp_path


def test_a_scratch_folder_that_cannot_be_made_is_named(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match="file"):
        CollapsedHDP(scratch=tmp_path / "file").fit(corpus)


def test_memory_follows_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a collection that is opened from a folder: far less than its shares, of which there is also a checkpoint."""
    monkeypatch.setattr(cutting, "BLOCK_COUNTS", (4000, 4000))
    monkeypatch.setattr(cutting, "TURNS", 16)
    monkeypatch.setattr(cutting, "SHARD_COUNTS", 2000)
    write_corpus(planted_lda(4000, 300, n_topics=8, mean_tokens=100, seed=0)[0], tmp_path / "corpus")
    corpus, peaks = open_corpus(tmp_path / "corpus"), []
    settings: dict[str, Any] = {"n_topics": 12, "births": False, "n_laps": 2, "random_state": 0}
    for scratch in (None, tmp_path):
        tracemalloc.start()
        try:
            CollapsedHDP(**settings, scratch=scratch).fit(corpus, checkpoint=tmp_path / str(scratch is None))
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    size = os.path.getsize(tmp_path / "True" / "arrays.safetensors")
    assert size > 25 * corpus.counts.nnz
    assert peaks[0] > size
    assert peaks[1] < 0.3 * size
    CollapsedHDP(**{**settings, "n_laps": 1}, scratch=tmp_path).fit(corpus, checkpoint=tmp_path / "one")
    tracemalloc.start()
    try:
        CollapsedHDP(**settings, scratch=tmp_path).fit(corpus, checkpoint=tmp_path / "one", resume=True)
        assert tracemalloc.get_traced_memory()[1] < 0.3 * size
    finally:
        tracemalloc.stop()


def test_files_of_shares_that_were_replaced_are_removed(corpus: Corpus, tmp_path: Path) -> None:
    state = in_files(corpus, tmp_path)
    documents = state.documents
    assert isinstance(documents, InFiles)
    n, folder = len(documents._jobs), Path(documents._folder.path)

    def on_disk() -> int:
        return len(list(folder.iterdir()))

    assert on_disk() == n
    documents.remember()
    sweep(state, PRIORS, SMALLEST_SHARE, 0, ALONE)
    assert on_disk() == 2 * n
    documents.exchange()
    documents.forget()
    assert on_disk() == n
    twin = documents.twin()
    with_random_topics(twin, 3, 0, ALONE)
    assert on_disk() == 2 * n
    twin.clear()
    assert on_disk() == n
    del state, documents, twin
    assert not folder.exists()


def test_blocks_are_of_the_same_documents_wherever_they_are(corpus: Corpus, tmp_path: Path) -> None:
    here, there = InMemory(corpus), InFiles(corpus, ALONE, Folder(tmp_path))
    assert (here.n_turns, here.n_counts) == (there.n_turns, there.n_counts) == (4, corpus.counts.nnz)
    assert [block[0].first for turn in here._blocks for block in turn] == [job.first for job in there._jobs]
    assert len(there._jobs) > there.n_turns


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    for array in (np.arange(9, dtype=np.uint8), np.zeros(0, np.uint8)):
        file = write(str(tmp_path / "x"), array)
        np.testing.assert_array_equal(file.read(), array)
        np.testing.assert_array_equal(file.read(mapped=True), array)
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    with pytest.raises(ReadError, match="is gone"):
        File(str(tmp_path / "y"), 0).read(mapped=True)


def test_a_fit_whose_process_is_killed_goes_on_in_another(corpus: Corpus, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"tolerance": None, "n_topics": 6, "merge_laps": 0}
    laps = killed_after_laps(4, "CollapsedHDP", settings, corpus, tmp_path)
    settings["n_laps"] = laps + 3
    documents = open_corpus(tmp_path / "corpus")
    with pytest.MonkeyPatch.context() as as_there:
        for name, value in {"BLOCK_COUNTS": (1 << 15, 1 << 20), "TURNS": 16, "SHARD_COUNTS": 4096}.items():
            as_there.setattr(cutting, name, value)
        resumed = CollapsedHDP(**settings, random_state=0, scratch=tmp_path / "scratch").fit(
            documents, checkpoint=tmp_path / "checkpoint", resume=True
        )
        assert same(resumed, CollapsedHDP(**settings, random_state=0).fit(documents))


KINDS = """
import gc, sys
from numba.core.dispatcher import Dispatcher
from stickbreak import CollapsedHDP
from stickbreak.corpus import Corpus, open_corpus
corpus = open_corpus(sys.argv[1])
for scratch in (None, sys.argv[2]):
    model = CollapsedHDP(n_laps=24, merge_laps=21, random_state=0, tolerance=None, scratch=scratch).fit(corpus)
    model.transform(corpus)
    model.transform(Corpus(corpus.counts.copy()))
kernels = [kernel for kernel in gc.get_objects() if isinstance(kernel, Dispatcher)]
kernels = [kernel for kernel in kernels if kernel.py_func.__module__.startswith("stickbreak")]
assert sum(len(kernel.signatures) for kernel in kernels) > 8
print(*(kernel.py_func.__qualname__ for kernel in kernels if len(kernel.signatures) > 1))
"""


def test_no_kernel_is_compiled_twice_for_arrays_of_files(corpus: Corpus, tmp_path: Path) -> None:
    """Neither for those that may only be read, nor for those of another width: each takes seconds."""
    write_corpus(corpus, tmp_path / "corpus")
    command = [sys.executable, "-c", KINDS, str(tmp_path / "corpus"), str(tmp_path)]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.split() == []


@pytest.mark.parametrize("smallest", [SMALLEST_SHARE, ONE_DRAW])
def test_jobs_of_a_turn_all_read_the_counts_of_before(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, smallest: float
) -> None:
    """However few of them are done at once."""
    monkeypatch.setattr(files, "JOBS_AT_ONCE", 1)
    found = []
    for documents in (InMemory(corpus), InFiles(corpus, ALONE, Folder(tmp_path))):
        state = with_random_topics(documents, 6, 0, ALONE)
        for _ in range(2):
            sweep(state, PRIORS, smallest, 0, ALONE)
        found.append((state.S, state.N, state.tables))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
