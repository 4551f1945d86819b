"""`ask intrusion`: sheets for people and for a language model, and their scores."""

import csv
import json

import pandas as pd
import pytest
from tests.chat_server import ChatServer

import stickbreak


@pytest.fixture
def key(run, model, tmp_path):
    """The lists with their intruders."""
    run("ask", model, "intrusion", "--out", tmp_path / "sheet.csv")
    return pd.read_csv(tmp_path / "sheet.csv")


def test_answers_of_people_are_scored(run, model, key, tmp_path):
    first, second = tmp_path / "first.csv", tmp_path / "second.json"
    key.drop(columns="intruder").assign(answer=key["intruder"]).to_csv(first, index=False, sep=";")
    wrong = [words.split(", ")[0] for words in key["words"]]
    rows = key.assign(answer=wrong).to_dict("records")
    second.write_text(json.dumps({"rows": rows}))
    told = json.loads(run("ask", model, "intrusion", "--score", first, "--score", second, "--json").stdout)
    right = [1 + (a == b) for a, b in zip(wrong, key["intruder"], strict=True)]
    assert [row["right"] for row in told["rows"]] == right
    assert {row["answers"] for row in told["rows"]} == {2}
    labels = stickbreak.load(model).labelled_topics().labels
    assert [row["label"] for row in told["rows"]] == [labels[row["topic"]] for row in told["rows"]]
    assert told["n_answers"] == 2 * len(key)
    last = run("ask", model, "intrusion", "--score", first).stdout.splitlines()[-1]
    assert last.startswith("100% of the intruders are found (95 % interval ")
    assert last.endswith("by chance it would be 17%.")


def test_a_language_model_fills_the_sheet_and_is_scored(run, model, key, tmp_path):
    intruder = {words: answer for words, answer in zip(key["words"], key["intruder"], strict=True)}
    with ChatServer(lambda prompt: f'The intruder is "{intruder[prompt.splitlines()[1]]}".') as server:
        judge = ("--with", server.url, "--model", "small")
        told = run("ask", model, "intrusion", *judge, "--out", tmp_path / "filled.csv")
        shown = run("ask", model, "intrusion", *judge)
    assert f"Sent to {server.url}/v1/chat/completions, model small: lists of words of {len(key)} topics" in told.stderr
    assert not any("intruder" in prompt for prompt in server.prompts)
    with open(tmp_path / "filled.csv", encoding="utf-8", newline="") as file:
        assert [row["answer"] for row in csv.DictReader(file)] == key["intruder"].tolist()
    assert shown.stdout.splitlines()[-1].startswith("100% of the intruders are found")
    scored = run("ask", model, "intrusion", "--score", tmp_path / "filled.csv").stdout
    assert scored.splitlines()[-1] == shown.stdout.splitlines()[-1]


def test_answers_that_name_no_word_are_left_out(run, model, key):
    with ChatServer(lambda prompt: "All of them belong together.") as server:
        told = run("ask", model, "intrusion", "--with", server.url, "--model", "small")
    assert told.stdout.splitlines()[-1] == "No list has an answer."
    assert "is not one of the words" in told.stdout
