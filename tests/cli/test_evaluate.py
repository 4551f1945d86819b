import json

import numpy as np
import pytest

import stickbreak
from stickbreak.corpus import read
from stickbreak.evaluation import evaluate, unigram_completion


def test_json_holds_the_scores_of_the_library(run, model, documents):
    found = json.loads(run("evaluate", model, documents, "--random-state", "3", "--json").stdout)
    expected = evaluate(stickbreak.load(model), read(documents), seed=3)
    assert found["completion"]["active"] == expected.completion.active
    assert found["completion"]["with_inactive"] == expected.completion.with_inactive
    assert found["completion"]["perplexity"] == expected.completion.perplexity
    assert found["coherence"] == pytest.approx(expected.coherence.tolist(), nan_ok=True)
    assert (found["seed"], found["n_tokens"], found["n_documents"]) == (3, 2700, 90)


def test_words_are_compared_with_their_frequencies_in_the_fit_as_fit_does(run, documents, tmp_path, fast):
    train, held = tmp_path / "train.jsonl", tmp_path / "held.jsonl"
    lines = documents.read_text().splitlines(keepends=True)
    train.write_text("".join(lines[:70]))
    held.write_text("".join(lines[70:]))
    run("fit", train, "--out", tmp_path / "m", "--no-report", *fast)
    printed = run("evaluate", tmp_path / "m", held).stdout
    found = json.loads(run("evaluate", tmp_path / "m", held, "--json").stdout)["completion"]
    corpus = read(train)
    halves = read(held, vocabulary=corpus.words).halves(seed=0)
    assert found["unigram"] == pytest.approx(unigram_completion(corpus, *halves), rel=1e-12)
    times = found["times_better_than_unigram"]
    assert times == pytest.approx(np.exp(found["active"] - found["unigram"]))
    assert f"guessed {times:.1f} times better than by its frequency alone" in printed


def test_documents_that_were_held_out_are_not_in_the_frequencies(run, model, documents):
    known = stickbreak.load(model)._reading["word_counts"]
    assert sum(known) == read(documents).split(0.1, seed=1)[0].n_tokens


def test_without_frequencies_of_the_fit_there_is_no_comparison(run, documents, tmp_path):
    stickbreak.TopicModel(n_topics=3, n_laps=2, random_state=0).fit(read(documents)).save(tmp_path / "m")
    assert "unigram" not in run("evaluate", tmp_path / "m", documents).stdout
    found = json.loads(run("evaluate", tmp_path / "m", documents, "--json").stdout)["completion"]
    assert found["unigram"] is found["times_better_than_unigram"] is None


def test_documents_too_short_to_be_completed_are_refused(refuse, model, tmp_path):
    path = tmp_path / "new.txt"
    path.write_text("ship\n")
    assert "nothing to complete" in refuse("evaluate", model, path)


def test_left_to_right_is_added_where_it_is_asked_for(run, refuse, model, documents):
    options = ["--random-state", "3", "--left-to-right", "2"]
    found = json.loads(run("evaluate", model, documents, "--json", *options).stdout)["left_to_right"]
    expected = stickbreak.load(model).left_to_right(read(documents), n_particles=2, random_state=3)
    for name in ("printed", "unbiased", "perplexity", "printed_perplexity"):
        assert found[name] == getattr(expected, name)
    assert (found["n_tokens"], found["n_documents"], found["particles"]) == (2700, 90, 2)
    assert f"{expected.unbiased:.4f}" in run("evaluate", model, documents, *options).stdout
    assert "--left-to-right" in refuse("evaluate", model, documents, "--left-to-right", "0")
