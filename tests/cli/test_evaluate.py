import json

import pytest

import stickbreak
from stickbreak.corpus import read
from stickbreak.evaluation import evaluate


def test_json_holds_the_scores_of_the_library(run, model, documents):
    found = json.loads(run("evaluate", model, documents, "--seed", "3", "--json").stdout)
    expected = evaluate(stickbreak.load(model), read(documents), seed=3)
    assert found["completion"]["active"] == expected.completion.active
    assert found["completion"]["with_inactive"] == expected.completion.with_inactive
    assert found["completion"]["perplexity"] == expected.completion.perplexity
    assert found["coherence"] == pytest.approx(expected.coherence.tolist(), nan_ok=True)
    assert (found["seed"], found["n_tokens"], found["n_documents"]) == (3, 2700, 90)


def test_seeds_split_documents_differently(run, model, documents):
    scores = [json.loads(run("evaluate", model, documents, "--seed", s, "--json").stdout) for s in (0, 1)]
    assert scores[0]["completion"]["active"] != scores[1]["completion"]["active"]


def test_text_states_tokens_both_conventions_and_words_outside(run, model, tmp_path):
    path = tmp_path / "new.txt"
    path.write_text("ship sail zebra anchor\nbread butter oven zebra\n")
    text = run("evaluate", model, path).stdout
    for part in ("documents           2", "6; 2 tokens (25.0%)", "with inactive", "perplexity", "coherence"):
        assert part in text


def test_documents_too_short_to_be_completed_are_refused(refuse, model, tmp_path):
    path = tmp_path / "new.txt"
    path.write_text("ship\n")
    assert "nothing to complete" in refuse("evaluate", model, path)


def test_negative_seeds_are_refused(refuse, model, documents):
    assert "--seed" in refuse("evaluate", model, documents, "--seed", "-1")
