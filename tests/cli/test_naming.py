"""`label --with`: what is said before something is sent, what is kept, and how it ends."""

import json
import shutil
import socket

import pytest
from tests.chat_server import ChatServer, status

import stickbreak


@pytest.fixture
def own(model, tmp_path):
    shutil.copytree(model, tmp_path / "m")
    return tmp_path / "m"


def test_topics_and_groups_get_names_and_a_label_by_hand_stays(run, own, documents):
    run("label", own, "0=by hand")
    names = (f"Name {i}" for i in range(1000))
    with ChatServer(lambda prompt: next(names)) as server:
        told = run("label", own, "--with", server.url, "--model", "small", "--documents", documents)
        again = run("label", own, "--with", server.url, "--model", "small")
    K = stickbreak.load(own).n_topics_
    assert len(server.prompts) == K - 1 + K - 1
    said = (
        f"Sent to {server.url}/v1/chat/completions, model small: {K - 1} topics and {K - 1} groups of topics; their "
        "words, and excerpts of documents: the first 300 characters of 3 for each."
    )
    assert said in told.stderr
    assert f"{2 * K - 2} of {2 * K - 2} named by small\n" in told.stderr
    assert told.stdout.splitlines()[1].split() == ["0", "by", "hand"]
    assert "nothing is sent" in again.stderr
    kept = stickbreak.load(own)
    assert kept.labels_[0] == "by hand"
    assert len(kept.labels_) == K
    assert len(kept.group_labels_) == K - 1
    begun = {json.loads(line)["text"][:300] for line in documents.read_text().splitlines()}
    shown = [line.partition(". ")[2] for prompt in server.prompts for line in prompt.splitlines()[3:-1]]
    assert len(shown) == 3 * len(server.prompts)
    assert set(shown) <= begun
    run("report", own, documents, "--out", own / "r.html", "--quiet")
    assert kept.group_labels_[2 * K - 2] in (own / "r.html").read_text()


def test_without_documents_only_words_are_sent(run, own, records):
    with ChatServer(lambda prompt: f"Name {len(prompt)}") as server:
        told = run("label", own, "--with", server.url, "--model", "small", "--json")
    assert "their words alone, and nothing of the documents" in told.stderr
    assert all(prompt.count("\n") == 2 for prompt in server.prompts)
    values = json.loads(told.stdout)
    assert values["unnamed"] == {}
    assert values["labels"].keys() == {str(k) for k in range(stickbreak.load(own).n_topics_)}


def test_bad_answers_keep_what_was_and_the_exit_is_0(run, own):
    answers = iter(["Ships", "I'm sorry, I cannot", "<h1>Law</h1>", *["two\nlines"] * 50])
    before = stickbreak.load(own).labelled_topics().labels
    with ChatServer(lambda prompt: next(answers)) as server:
        told = run("label", own, "--with", server.url, "--model", "small")
    after = stickbreak.load(own)
    assert list(after.labels_.values()) == ["Ships"]
    (named,) = after.labels_
    assert [label for k, label in enumerate(before) if k != named] == [
        label for k, label in enumerate(after.labelled_topics().labels) if k != named
    ]
    assert "has no new name: the model refused: " in told.stdout
    assert "has no new name: the answer has tags" in told.stdout
    assert f"1 of {len(server.prompts)} named by small; the others keep the labels that they had" in told.stderr


def test_errors_of_the_server_keep_labels_and_show_no_key(run, own, monkeypatch):
    monkeypatch.setenv("STICKBREAK_API_KEY", "sk-very-secret")
    before = (own / "model.json").read_bytes()
    with ChatServer(lambda prompt: status(401, "sk-very-secret is wrong")) as server:
        told = run("label", own, "--with", server.url, "--model", "small")
    assert server.headers[0]["Authorization"] == "Bearer sk-very-secret"
    assert "with the key of STICKBREAK_API_KEY" in told.stderr
    assert "very-secret" not in told.stderr + told.stdout
    assert "has no new name: the server answers 401" in told.stdout
    assert (own / "model.json").read_bytes() == before


def test_what_cannot_be_asked_is_one_sentence(run, refuse, own, documents):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    asked = ("--with", url, "--model", "small")
    assert "does not answer" in refuse("label", own, *asked)
    assert "needs --model" in refuse("label", own, "--with", url)
    assert "without --with" in refuse("label", own, "--model", "small")
    assert "need --with" in refuse("label", own, "--documents", documents)
    assert "in another call" in refuse("label", own, "0=x", *asked)
    assert "not the address of a server" in refuse("label", own, "--with", "small", "--model", "x")
    assert "nosuch" in refuse("label", own, *asked, "--documents", own / "nosuch")
    assert stickbreak.load(own).labels_ == {}


def test_nothing_is_sent_without_the_option(run, own):
    with ChatServer(lambda prompt: "x") as server:
        run("label", own)
        run("label", own, "0=x")
        assert server.prompts == []
