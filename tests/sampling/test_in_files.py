"""Topics in files: the bits of memory in any step, small jobs, bounded memory, exact laws, what becomes of damage."""

import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fitting.faults import disk_with_room_for, killed_after_laps
from tests.fitting.test_engine import MOST_BYTES, Travelling

from stickbreak import GibbsHDP
from stickbreak.corpus import Corpus, open_corpus, planted_lda, write_corpus
from stickbreak.corpus.tokens import Tokens
from stickbreak.exceptions import InputError, ModelFormatError, ReadError, WriteError
from stickbreak.fitting.block_files import Folder
from stickbreak.fitting.engine import use_workers
from stickbreak.fitting.hyperparameters import GammaPrior
from stickbreak.sampling import blocks, in_files
from stickbreak.sampling.blocks import Blocks, Job, Labels, Moved, Task, done
from stickbreak.sampling.chain import Chain
from stickbreak.sampling.kernels.cells import list_cells
from stickbreak.sampling.state import Concentrations
from stickbreak.sampling.visits import tabled

from .chains import ONE_THREAD, settings
from .enumeration import Tiny
from .fits import assert_same, fit
from .laws import z_scores
from .test_exact_posteriors import exact_statistics, statistics

FILES: dict[str, Any] = {"representation": "partially-collapsed", "estimate": "average"}
PRIORS = {name: GammaPrior(1.0, 1.0) for name in ("alpha", "gamma", "eta")}
MOVES: dict[str, dict[str, Any]] = {
    "none": {},
    "split-merge": {"split_merge": 3},
    "sub-topics": {"subtopic_trials": 12, "subtopic_passes": 4},
}
TOPICS = np.random.default_rng(0).dirichlet(np.ones(30), size=4)
FITS: dict[str, dict[str, Any]] = {
    "average": {},
    "single, all learned": {"init": "single", "learn": ["alpha", "gamma", "eta"], "estimate": "best"},
    "topic-model": {"init": "topic-model", "init_sweeps": 12, "estimate": "last"},
    "given topics": {"init": TOPICS},
    "two chains, tables move": {"n_chains": 2, "split_merge_trials": 2},
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several blocks and groups of jobs, and trials whose tokens are not all gathered at once."""
    monkeypatch.setattr(blocks, "BLOCK_TOKENS", (150, 1 << 20))
    monkeypatch.setattr(in_files, "JOBS_AT_ONCE", 3)
    monkeypatch.setattr(in_files.Gathered, "ahead", 400)


def chains(corpus: Corpus, folder: Path, moves: dict[str, Any]) -> tuple[Chain, Chain]:
    """A chain in memory and one in files."""
    rules = settings("partially-collapsed", learn=tuple(PRIORS), priors=PRIORS, **moves)
    documents = Tokens.from_corpus(corpus), Blocks(corpus, ONE_THREAD, Folder(folder))
    here, there = (Chain(each, rules, Concentrations(1.0, 1.0, 0.1), 3) for each in documents)
    return here, there


@pytest.mark.parametrize("moves", MOVES.values(), ids=MOVES)
@pytest.mark.parametrize("start", [("random", 7), ("single", 1)], ids=["random", "single"])
def test_a_chain_in_files_has_the_bits_of_one_in_memory(corpus, tmp_path, moves, start):
    here, there = chains(corpus, tmp_path, moves)
    accepted = 0
    for chain in (here, there):
        chain.begin(*start)
    for _ in range(8):
        made = here.sweep(ONE_THREAD)
        assert there.sweep(ONE_THREAD) == made
        assert there.concentrations == here.concentrations
        assert there.log_joint() == here.log_joint()
        np.testing.assert_array_equal(there.topics, here.topics)
        np.testing.assert_array_equal(there.tables, here.tables)
        np.testing.assert_array_equal(there.topic_word_counts().toarray(), here.topic_word_counts().toarray())
        accepted += made.splits_accepted + made.merges_accepted
    assert (accepted > 0) == bool(moves) or start == ("single", 1)


@pytest.mark.parametrize("changes", FITS.values(), ids=FITS)
@pytest.mark.parametrize("threads", [1, 3])
def test_a_fit_in_files_has_the_bits_of_one_in_memory(corpus, tmp_path, changes, threads):
    options = {**FILES, **changes}
    model = fit(corpus, **options)
    assert_same(model, fit(corpus, **options, n_jobs=threads, scratch=tmp_path / "new"))
    assert not list((tmp_path / "new").iterdir())


def test_jobs_travel_and_are_small(corpus, tmp_path):
    """Workers that see only what was pickled; documents and topics do not pass through the driver."""
    model, workers = fit(corpus, **FILES), Travelling(tmp_path)
    with use_workers(workers):
        assert_same(model, fit(corpus, **FILES))
    assert workers.jobs > 100
    assert workers.bytes < MOST_BYTES + 8 * 600  # tokens of a split are named


def test_chains_with_files_share_the_workers_one_after_another(corpus, tmp_path):
    options = {**FILES, "n_chains": 2}
    model, workers = fit(corpus, **options), Travelling(tmp_path)
    with use_workers(workers):
        assert_same(model, fit(corpus, **options, scratch=tmp_path / "own"))
    assert workers.jobs > 100


@pytest.mark.parametrize("begun", ["here", "files"])
@pytest.mark.parametrize("laps", [2, 6])
def test_a_fit_goes_on_with_or_without_files(corpus, tmp_path, begun, laps):
    """Before and after its first sample."""
    places = (None, tmp_path / "scratch") if begun == "here" else (tmp_path / "scratch", None)
    fit(corpus, **FILES, n_laps=max(laps, 4), checkpoint=tmp_path / "c", scratch=places[0])
    resumed = fit(corpus, **FILES, checkpoint=tmp_path / "c", resume=True, scratch=places[1])
    assert_same(fit(corpus, **FILES), resumed)


@pytest.mark.parametrize("name", ["z", "size", "topic", "n", "m", "beta"])
def test_damaged_checkpoint_is_refused(corpus, tmp_path, name):
    here, there = chains(corpus, tmp_path, {})
    here.begin("random", 5)
    here.sweep(ONE_THREAD)
    arrays, values = here.snapshot()
    arrays[name] = arrays[name].copy()
    arrays[name][-1] += 1000
    with pytest.raises(ValueError, match=r"do not fit|does not fit|are not|is not|has no|more|sum to one"):
        there.restore(arrays, values)


def test_such_a_model_says_that_it_cannot_go_on(corpus, tmp_path):
    model = fit(corpus, **FILES, scratch=tmp_path)
    with pytest.raises(InputError, match="scratch folder"):
        model.continue_fit(corpus, n_laps=2)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"representation": "indicator"}, "set representation='partially-collapsed'"),
        ({"init": "sequential"}, "give another init"),
    ],
)
def test_what_needs_all_tokens_in_memory_is_refused_in_one_sentence(corpus, tmp_path, change, words):
    with pytest.raises(InputError, match=words) as refused:
        fit(corpus, **{**FILES, **change}, scratch=tmp_path / "new")
    assert str(refused.value).count(". ") == 0
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("damage", ["gone", "cut", "changed"])
def test_a_damaged_file_ends_the_fit_in_one_sentence(corpus, tmp_path, damage):
    there = chains(corpus, tmp_path, {})[1]
    there.begin("random", 5)
    file = min(tmp_path.glob("stickbreak-fit-*/*"))
    content = bytearray(file.read_bytes())
    if damage == "gone":
        file.unlink()
    else:
        content[-9] ^= 1
        file.write_bytes(content[:-3] if damage == "cut" else content)
    with pytest.raises(ReadError, match=f"{file.name}.*(gone|damaged|cannot be read).*resume") as refused:
        there.sweep(ONE_THREAD)
    assert "\n" not in str(refused.value)


def test_a_full_scratch_folder_ends_the_fit_and_it_goes_on_from_its_checkpoint(corpus, tmp_path, monkeypatch):
    with disk_with_room_for(60, monkeypatch), pytest.raises(WriteError, match="the disk is full"):
        fit(corpus, **FILES, checkpoint=tmp_path / "c", scratch=tmp_path / "scratch")
    assert not list((tmp_path / "scratch").iterdir())
    assert_same(fit(corpus, **FILES), fit(corpus, **FILES, checkpoint=tmp_path / "c", resume=True))


def test_a_job_that_is_done_twice_writes_the_same(corpus, tmp_path):
    documents = Blocks(corpus, ONE_THREAD, Folder(tmp_path))
    task = Task(tabled, (np.full(3, 0.2), np.uint64(5)), Labels.none(3), 2)
    job = Job(documents.blocks[2], None, np.array([0, 4, 7]), documents.stem())
    (one, first), (other, second) = done(task, job), done(task, job)
    assert first == second
    np.testing.assert_array_equal(one.cells, other.cells)
    np.testing.assert_array_equal(first.read(), second.read())
    assert one.n.tolist() == [corpus[documents.blocks[2].first : documents.blocks[2].last].n_tokens - 3, 0, 3]


def test_files_that_were_replaced_are_removed(corpus, tmp_path):
    there = chains(corpus, tmp_path, MOVES["sub-topics"])[1]
    there.begin("random", 5)
    for _ in range(3):
        there.sweep(ONE_THREAD)
        there.snapshot()
    assert len(list(tmp_path.glob("*/*"))) == len(there._state._files) > 5
    del there
    assert not list(tmp_path.iterdir())


def test_cells_are_the_counts_of_words_in_topics():
    rng = np.random.default_rng(0)
    word, z = rng.integers(6, size=80).astype(np.int32), rng.integers(9, size=80).astype(np.int32)
    cells = np.zeros((3, 80), np.int32)
    n = list_cells(word, z, 7, 9, cells)
    expected = Counter(zip(word.tolist(), z.tolist(), strict=True))
    assert {(w, k): c for w, k, c in cells[:, :n].T.tolist()} == expected
    assert (np.diff(cells[0, :n]) >= 0).all()


def test_numbers_of_topics_are_followed():
    labels = Labels(3, np.array([7, 90], np.int32), np.array([0, -1, 1, 2, 3], np.int32))
    z = np.array([0, 2, 7, 90, 0], np.int32)
    np.testing.assert_array_equal(labels.of(z), [0, 1, 2, 3, 0])
    np.testing.assert_array_equal(labels.then(np.array([1, 1, 0, 2], np.int32)).of(z), [1, 1, 0, 2, 1])
    block = blocks.Block(None, 0, 3, 100, 200)
    assert Moved(np.array([5, 100, 150, 200]), 4).within(block).tolist() == [0, 50]


@pytest.mark.parametrize("moves", [{}, {"subtopic_trials": 2, "subtopic_passes": 2}], ids=["plain", "sub-topics"])
def test_chain_in_files_has_the_exact_posterior(moves, tmp_path, monkeypatch):
    """Two documents in two blocks: the law of enumeration."""
    monkeypatch.setattr(blocks, "BLOCK_TOKENS", (1, 1 << 20))
    tiny, n_sweeps = Tiny.named("E"), 1500
    counts = Corpus.from_counts([np.bincount(doc, minlength=tiny.V) for doc in tiny.docs])
    rules = settings("partially-collapsed", **moves)
    documents = Blocks(counts, ONE_THREAD, Folder(tmp_path))
    assert len(documents.blocks) > 1
    chain = Chain(documents, rules, Concentrations(tiny.alpha, tiny.gamma, tiny.eta), 1)
    chain.begin("single", 1)
    base = np.cumsum([0, *map(len, tiny.docs)])
    order = np.concatenate([base[d] + np.argsort(doc, kind="stable") for d, doc in enumerate(tiny.docs)])
    z, tables = np.empty((n_sweeps, order.size), np.int32), np.empty(n_sweeps)
    for t in range(n_sweeps):
        chain.sweep(ONE_THREAD)
        z[t, order], tables[t] = chain.topics, chain.n_tables
    found, p = statistics(type("Visits", (), {"z": z, "tables": tables})), exact_statistics("E")
    scores = z_scores(found[50:], p, least_error=np.sqrt(np.maximum(p * (1 - p), 0) / n_sweeps))
    assert np.abs(scores).max() < 4.5
    assert np.sqrt(np.mean(scores**2)) < 1.5


def test_memory_follows_a_block(tmp_path, monkeypatch):
    """Of a collection that is opened from a folder: far less than its tokens, of which there is also a checkpoint."""
    monkeypatch.setattr(blocks, "BLOCK_TOKENS", (4000, 4000))
    monkeypatch.setattr(in_files.Gathered, "ahead", 4000)
    write_corpus(planted_lda(1500, 200, n_topics=6, mean_tokens=100, seed=0)[0], tmp_path / "corpus")
    corpus, peaks = open_corpus(tmp_path / "corpus"), []
    options = {**FILES, "n_laps": 3, "burn_in": 1, "thin": 1, "n_topics": 30, "subtopic_trials": 2}
    fit(corpus[:50], **options)  # compiled
    for scratch in (None, tmp_path / "scratch"):
        tracemalloc.start()
        try:
            fit(corpus, **options, scratch=scratch, checkpoint=tmp_path / f"c{len(peaks)}")
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[0] > 40 * corpus.n_tokens
    assert peaks[1] < 0.35 * peaks[0]


def test_a_fit_whose_process_is_killed_goes_on_in_another(corpus, tmp_path):
    options = {"representation": "partially-collapsed", "n_topics": 6, "burn_in": 5}
    laps = killed_after_laps(4, "GibbsHDP", options, corpus, tmp_path)
    options |= {"n_laps": max(laps, 5) + 3, "random_state": 0}
    documents, checkpoint = open_corpus(tmp_path / "corpus"), tmp_path / "checkpoint"
    resumed = GibbsHDP(**options, scratch=tmp_path / "scratch").fit(documents, checkpoint=checkpoint, resume=True)
    assert_same(GibbsHDP(**options).fit(documents), resumed)
    assert checkpoint.exists()


def test_checkpoint_of_another_collection_is_refused(corpus, tmp_path):
    fit(corpus, **FILES, n_laps=4, checkpoint=tmp_path / "c", scratch=tmp_path)
    with pytest.raises((InputError, ModelFormatError)):
        fit(corpus[:30], **FILES, checkpoint=tmp_path / "c", resume=True, scratch=tmp_path)
