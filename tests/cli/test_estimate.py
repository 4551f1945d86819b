"""`stickbreak fit --estimate`: time and memory of a fit from a sample, and no model."""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from stickbreak.cli import estimate
from stickbreak.corpus import TextOptions
from stickbreak.corpus.reading import readers
from stickbreak.topics.estimator import TOKEN_BYTES


@pytest.fixture
def inputs(tmp_path: Path, records: list[dict[str, str]]) -> dict[str, Path]:
    """The same documents in each form."""
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (tmp_path / "folder").mkdir()
    for record in records:
        (tmp_path / "folder" / f"{record['id']}.txt").write_text(record["text"])
    sp.save_npz(tmp_path / "a.npz", sp.csr_matrix(np.random.default_rng(0).poisson(1.0, (90, 30))))
    return {name: tmp_path / name for name in ("a.jsonl", "folder", "a.npz")}


@pytest.mark.parametrize("name", ["a.jsonl", "folder", "a.npz"])
def test_an_estimate_names_memory_and_time_and_writes_nothing(run, inputs, name, monkeypatch, tmp_path):
    monkeypatch.chdir(inputs[name].parent)
    before = sorted(tmp_path.rglob("*"))
    said = run("fit", inputs[name], "--estimate").stdout.splitlines()
    assert said[0].startswith("90 documents: about ")
    assert said[1].startswith("memory: about 0.5 GiB")
    assert said[2].startswith("processor time: about ")
    assert "factor of about two" in said[3]
    assert sorted(tmp_path.rglob("*")) == before


def test_a_sample_stands_for_the_whole(run, inputs, monkeypatch):
    given = ["fit", inputs["a.jsonl"], "--estimate", "--json", "--no-path", "--no-report"]
    whole = json.loads(run(*given).stdout)
    monkeypatch.setattr(estimate, "SAMPLE", 30)
    sampled = json.loads(run(*given).stdout)
    assert (whole["n_sampled"], sampled["n_sampled"]) == (90, 30)
    assert sampled["n_documents"] == 90
    assert sampled["n_pairs"] == pytest.approx(whole["n_pairs"], rel=0.1)
    assert sampled["bytes"] == pytest.approx(whole["bytes"], rel=0.1)
    assert (sampled["joining"], sampled["report"]) == (0, 0)


def test_memory_is_that_of_the_check_for_the_whole(run, inputs, monkeypatch):
    """64 bytes for each token of the default; a machine that has less is named, and nothing is refused."""
    monkeypatch.setattr("stickbreak.storage.memory.memory_installed", lambda: 1000.0)
    said = run("fit", inputs["a.npz"], "--estimate").stdout.splitlines()
    assert "more than the" in said[1]
    assert "see --scratch, or give" in said[1]
    said = run("fit", inputs["a.npz"], "--estimate", "--method", "variational").stdout.splitlines()
    assert "see --scratch, or give" in said[1]
    told = json.loads(run("fit", inputs["a.npz"], "--estimate", "--json").stdout)
    assert 0 <= told["bytes"] - estimate.PROGRAM - TOKEN_BYTES * told["n_tokens"] < 100_000


@pytest.mark.parametrize("method", ["hybrid", "tree"])
def test_other_methods_are_estimated(run, inputs, method):
    options = ["--set", "branching=3,2"] if method == "tree" else []
    said = run("fit", inputs["a.jsonl"], "--estimate", "--method", method, *options).stdout
    assert "passes at most" in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--checkpoint", "c"], "leave --checkpoint out"),
        (["--workers", "2"], "leave --workers out"),
        (["--method", "gaussian-mixture"], "--estimate is for methods of words"),
    ],
)
def test_options_that_mean_nothing_to_an_estimate_are_refused(refuse, inputs, options, words):
    assert words in refuse("fit", inputs["a.jsonl"], "--estimate", *options)


def test_rare_words_of_the_whole_are_kept_in_a_sample(tmp_path):
    """A word of every tenth text is in five of fifty, and in about one of ten."""
    path = tmp_path / "a.txt"
    path.write_text("".join(f"common words {'rare' if row % 10 == 0 else 'here'}\n" for row in range(50)))
    settings = {"text": TextOptions(min_df=5, max_df=1.0, stop_words=None)}
    sample, texts, extent = readers.read_sample(path, 25, **settings)
    assert "rare" in sample.words
    assert (len(texts), extent.n_documents, extent.n_tokens) == (25, 50, 150)
