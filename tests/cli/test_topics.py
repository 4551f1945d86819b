import json
import math
import shutil

import pytest

import stickbreak


def test_topics_are_printed_by_decreasing_weight(run, model):
    table, _ = run("topics", model, "--words", "4").stdout.split("\n\n")
    header, *lines = table.splitlines()
    assert header.split() == ["topic", "share", "words"]
    fitted = stickbreak.load(model)
    order = [int(line.split()[0]) for line in lines]
    assert sorted(order) == list(range(fitted.n_topics_))
    assert [line.split()[2:] for line in lines] == [fitted.top_words(4)[k] for k in order]
    weights = [float(line.split()[1].rstrip("%")) for line in lines]
    assert weights == sorted(weights, reverse=True)


def test_json_holds_probabilities_and_weights(run, model):
    found = json.loads(run("topics", model, "--json").stdout)
    fitted = stickbreak.load(model)
    assert found["n_topics"] == fitted.n_topics_
    for topic in found["topics"]:
        assert topic["share"] == fitted.topic_shares_[topic["id"]]
        assert topic["corpus_weight"] == fitted.topic_weights_[topic["id"]]
        first = topic["words"][0]
        assert first["probability"] == fitted.topic_word_[topic["id"], fitted.vocabulary_.index(first["word"])]


def test_the_held_out_score_of_the_fit_is_told_and_gone_after_an_update(run, model, documents, tmp_path, fast):
    held_out = stickbreak.load(model).held_out_
    times = math.exp(held_out.value - held_out.unigram)
    sentence = f"Each held-out word is guessed {times:.1f} times better than by its frequency alone."
    assert run("topics", model).stdout.splitlines()[-2:] == ["", sentence]
    numbers = run("topics", model, "--verbose").stdout.split("\n\n")[1].splitlines()
    assert [line.split()[0] for line in numbers[1:]] == ["held-out", "unigram", "unseen"]
    assert f"{held_out.value:.4f} nats per token" in numbers[1]
    assert json.loads(run("topics", model, "--json").stdout)["held_out"]["active"] == held_out.value
    run("update", model, documents, "--out", tmp_path / "on")
    assert "held-out" not in run("topics", tmp_path / "on", "--verbose").stdout
    assert json.loads(run("topics", tmp_path / "on", "--json").stdout)["held_out"] is None


@pytest.mark.parametrize("damage", ["truncated", "newer", "no model"])
def test_what_is_no_usable_model_is_one_sentence(refuse, model, tmp_path, damage):
    for name in ("model.json", "arrays.safetensors"):
        (tmp_path / name).write_bytes((model / name).read_bytes())
    if damage == "truncated":
        (tmp_path / "arrays.safetensors").write_bytes(b"\0" * 10)
    elif damage == "newer":
        head = json.loads((tmp_path / "model.json").read_text())
        (tmp_path / "model.json").write_text(json.dumps(head | {"version": 99}))
    else:
        (tmp_path / "model.json").unlink()
    assert str(tmp_path) in refuse("topics", tmp_path)


def test_labels_that_were_given_are_shown(run, model, tmp_path):
    named = shutil.copytree(model, tmp_path / "named")
    assert all("label" not in topic for topic in json.loads(run("topics", named, "--json").stdout)["topics"])
    run("label", named, "0=the sea")
    assert "the sea: " in run("topics", named).stdout
    topics = json.loads(run("topics", named, "--json").stdout)["topics"]
    assert {topic["id"]: topic.get("label") for topic in topics}[0] == "the sea"
