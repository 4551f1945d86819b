"""Large collections: the planted one is a beginning of the whole, its topics are known, and fits become rows."""

import argparse

import numpy as np
import pytest
from benchmarks.harness.corpora import Split
from benchmarks.large import count, fits, planted

from stickbreak.corpus import open_corpus


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(planted, "DOCUMENTS", 1000)
    monkeypatch.setattr(planted, "BLOCK", 200)
    monkeypatch.setattr(planted, "WORDS", 300)
    monkeypatch.setattr(planted, "TOPICS", 4)


def test_a_smaller_scale_is_a_beginning_of_the_whole(small, tmp_path):
    n_entries = planted.generate(tmp_path / "whole", 0.5)
    planted.generate(tmp_path / "part", 0.25)
    whole, part = open_corpus(tmp_path / "whole"), open_corpus(tmp_path / "part")
    assert (len(whole), len(part), whole.n_words) == (500, 250, 300)
    assert whole.counts.nnz == n_entries
    assert (whole[:250].counts != part.counts).nnz == 0
    assert 0.7 < whole.n_tokens / 500 / planted.MEAN_TOKENS < 1.3
    assert (whole[:200].counts != whole[200:400].counts).nnz > 0


def test_true_topics_are_those_that_words_are_drawn_from(small, tmp_path):
    planted.generate(tmp_path / "c", 1.0)
    truth = planted.true_topics(tmp_path / "c")
    np.testing.assert_allclose(truth.sum(axis=1), 1.0)
    counts = np.asarray(open_corpus(tmp_path / "c").counts.sum(axis=0)).ravel()
    shares = planted.planted_topics()[2]
    np.testing.assert_allclose(counts / counts.sum(), shares @ truth, atol=0.01)
    assert planted.true_topics(tmp_path) is None


def test_topics_that_are_found_are_counted_once():
    truth = np.eye(4)[:3]
    assert fits.share_found(truth, truth) == 1.0
    assert fits.share_found(np.repeat(truth[:1], 5, axis=0), truth) == pytest.approx(1 / 3)
    assert fits.share_found(truth, None) is None


def test_fits_become_rows(small, tmp_path):
    planted.generate(tmp_path / "c", 0.1)
    options = argparse.Namespace(
        corpora=[str(tmp_path / "c")],
        systems=[*fits.FAMILIES, "sklearn-online"],
        topics=4,
        passes=2,
        threads=1,
        seed=0,
        kill_after=0,
        place=tmp_path / "place",
        out=tmp_path / "runs.jsonl",
    )
    lines = fits.run(options).splitlines()
    assert [line.split(" | ")[3] for line in lines[2:]] == [*fits.FAMILIES, "sklearn-online"]
    assert lines[0].endswith("| planted topics recovered (matched share) |")
    assert all(line.endswith("% |") for line in lines[2:])
    train, held = (open_corpus(tmp_path / "place" / "c" / name) for name in ("train", "held"))
    assert (len(train), len(held)) == (90, 10)
    assert train.n_tokens + held.n_tokens == open_corpus(tmp_path / "c").n_tokens
    assert fits.run(options).splitlines() == lines  # from the file


def test_a_killed_fit_is_gone_on_with(small, tmp_path):
    planted.generate(tmp_path / "c", 0.2)
    there = fits.prepared(str(tmp_path / "c"), tmp_path / "place")
    key = {**there, "K": 4, "passes": 3, "threads": 1, "seed": 0, "system": "tree"}
    whole, killed = (fits.measure({**key, "kill after": after}) for after in (0, 1))
    assert [each["resumed"] for each in killed["each pass"]][-2:] == [True, True]
    assert killed["each pass"][0] == {**killed["each pass"][0], "pass": 1, "resumed": False}
    assert killed["completion"] == whole["completion"]


def test_lines_are_written_to_files_several_times_over(tmp_path, monkeypatch):
    monkeypatch.setattr(count, "FILE_BYTES", 30)
    (tmp_path / "texts.jsonl").write_text('{"text": "bread"}\n{"text": "salt"}\n{"text": "oil"}\n')
    folder = tmp_path / "files"
    folder.mkdir()
    assert count.unpacked(tmp_path / "texts.jsonl", folder, 2) == 2 * (tmp_path / "texts.jsonl").stat().st_size
    assert len(list(folder.iterdir())) > 1
    assert list(count.texts_of(folder)) == ["bread", "salt", "oil"] * 2


def test_counting_is_measured(tmp_path):
    (tmp_path / "texts.jsonl").write_text('{"text": "bread and butter"}\n{"text": "olives"}\n{"text": ""}\n' * 30)
    found = count.measure({"folder": str(tmp_path), "system": "count_files", "threads": 2, "workers": 0})
    assert found["words"] == 3
    assert found["seconds"] > 0
    assert found["peak"] > 10


def test_a_large_collection_is_given_what_the_guide_says(small, tmp_path, monkeypatch):
    planted.generate(tmp_path / "c", 0.3)
    corpus, key = open_corpus(tmp_path / "c"), {"K": 4, "threads": 2, "folder": "/somewhere"}
    assert all(family.given(corpus, key).keys() <= {"n_topics"} for family in fits.FAMILIES.values())
    monkeypatch.setattr(fits, "LARGE", corpus.counts.nnz)
    given = {name: family.given(corpus, key) for name, family in fits.FAMILIES.items()}
    assert given == {
        "topics": {},
        "variational": {"n_topics": 4, "batches_at_once": 2, "scratch": "/somewhere/scratch"},
        "hybrid": {"n_topics": 4, "batch_size": 1000},
        "tree": {"n_topics": 4, "scratch": "/somewhere/scratch"},
    }


def test_leaves_that_are_too_many_for_a_table_are_scored_by_the_tree(small, tmp_path, monkeypatch):
    planted.generate(tmp_path / "c", 0.3)
    there = fits.prepared(str(tmp_path / "c"), tmp_path / "place")
    key = {**there, "K": 4, "passes": 2, "threads": 1, "seed": 0, "system": "tree", "kill after": 0}
    train, held = (open_corpus(tmp_path / "place" / "c" / name) for name in ("train", "held"))
    split = Split("c", train, *held.halves(seed=0))
    by_table = fits._learned(train, key)[0](split, None)
    monkeypatch.setattr(fits, "MOST_NUMBERS", 100)
    by_tree = fits._learned(train, key)[0](split, None)
    assert by_tree["topics"] == by_table["topics"]
    assert by_tree["found"] is None
    assert by_tree["completion"] == pytest.approx(by_table["completion"], abs=0.05)
    assert by_tree["completion"] != by_table["completion"]
