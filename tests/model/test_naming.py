"""Names from a language model: what is sent, and that nothing a server does is worse than no name."""

import logging
import threading

import pytest
from tests.chat_server import ChatServer, status
from tests.contract.small import data_of, fitted

import stickbreak
from stickbreak.exceptions import InputError, NoAnswer
from stickbreak.model.labels import ask_for_names, unnamed
from stickbreak.model.naming import name_in

WORDS = ["key", "mail", "cipher"]


def test_a_prompt_has_words_and_beginnings_of_texts_and_nothing_else():
    with ChatServer(lambda prompt: "Encryption of mail") as server:
        asked = stickbreak.ChatModel(server.url, "small")
        assert asked(WORDS, ["A first  text\nof two lines.", "x" * 400]) == "Encryption of mail"
    (prompt,), (body,) = server.prompts, server.bodies
    assert "key, mail, cipher" in prompt
    assert "1. A first text of two lines." in prompt
    assert "x" * 300 in prompt
    assert "x" * 301 not in prompt
    assert body["model"] == "small"
    assert len(body["messages"]) == 1
    assert server.headers[0]["path"] == "/v1/chat/completions"
    assert "Authorization" not in server.headers[0]


def test_the_key_comes_from_the_environment_and_is_never_shown(monkeypatch):
    monkeypatch.setenv("STICKBREAK_API_KEY", "sk-secret")
    with ChatServer(lambda prompt: status(401, "wrong key sk-secret given")) as server:
        asked = stickbreak.ChatModel(server.url, "small")
        with pytest.raises(NoAnswer, match="the server answers 401: 'wrong key \\*\\*\\* given'"):
            asked(WORDS, [])
    assert server.headers[0]["Authorization"] == "Bearer sk-secret"
    assert "secret" not in repr(asked) + asked.description + str(vars(asked))
    assert "STICKBREAK_API_KEY" in asked.description
    monkeypatch.setenv("STICKBREAK_API_KEY", "sk-secret\nEvil: 1")
    with pytest.raises(InputError) as refused:
        asked(WORDS, [])
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (' "Encryption" ', "Encryption"),
        ("**Name:** Mail and news.", "Mail and news"),
        ("Topic name: “Keys”", "Keys"),
        ("The topic is Ciphers", "Ciphers"),
        ("key", "key"),
        ("Schlüssel für Post", "Schlüssel für Post"),
        ("暗号化", "暗号化"),
        ("Programming in C#", "Programming in C#"),
        ("__init__ methods", "__init__ methods"),
        ("**Search with A*.**", "Search with A*"),
        ("## Name: F#", "F#"),
    ],
)
def test_a_name_is_taken_out_of_its_answer(answer, name):
    assert name_in(answer, WORDS) == name


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ('""', "is empty"),
        ("Encryption\nIt is about keys.", "several lines"),
        ("Encryption " * 9, "longer than 80"),
        ("I'm sorry, but I cannot name this topic", "refused"),
        ("I’m sorry", "refused"),
        ("As an AI language model I do not", "refused"),
        ("<b>Encryption</b>", "tags"),
        ("Encryption<script src=//x>", "tags"),
        ("Encry\x1b[31mption", "cannot be shown"),
        ("Encry\u202eption", "cannot be shown"),
        ("\ud800", "cannot be shown"),
        ("key, mail, cipher", "repeats the question"),
        ("Name the topic in two to five words", "repeats the question"),
        ("A text of two words", "repeats the question"),
        ("N/A", "is not a name"),
        ("...", "is empty|is not a name"),
    ],
)
def test_what_is_not_a_name_is_refused_with_the_reason(answer, reason):
    with pytest.raises(NoAnswer, match=reason) as refused:
        name_in(answer, WORDS, ["A text of two words"])
    assert str(refused.value).isprintable()


def drip(body, over):
    """Send a byte now and then, without an end."""

    def send(handler):
        handler.wfile.write(body)
        while not over.wait(0.02):
            handler.wfile.write(b"x")

    return send


HOSTILE = {
    "ten megabytes": (lambda over: lambda h: h.send(200, b"x" * 10_000_000), "longer than 1 MiB"),
    "headers that drip": (lambda over: drip(b"HTTP/1.1 200 OK\r\nX-Long: ", over), "no answer within"),
    "a body that drips": (lambda over: drip(b"HTTP/1.1 200 OK\r\n\r\n", over), "no answer within"),
    "silence": (lambda over: lambda h: over.wait(60), "no answer within"),
    "html": (lambda over: lambda h: h.send(200, b"<html>login</html>"), "not one of the chat protocol"),
    "other json": (lambda over: lambda h: h.send(200, b'{"choices": [{"message": "x"}]}'), "not one of the chat"),
    "deep json": (lambda over: lambda h: h.send(200, b"[" * 100_000), "not one of the chat protocol"),
    "no content": (lambda over: lambda h: h.send(200, b'{"choices": [{"message": {"content": null}}]}'), "is empty"),
    "a refusal": (
        lambda over: lambda h: h.send(200, b'{"choices": [{"message": {"content": null, "refusal": "No."}}]}'),
        "refused: 'No.'",
    ),
    "half an answer": (
        lambda over: lambda h: h.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"),
        "broke off|not one of the chat",
    ),
    "no http": (lambda over: lambda h: h.wfile.write(b"\x00\xff nonsense\r\n\r\n"), "broke off"),
    "an error": (lambda over: status(500, "out of\x1b memory"), "the server answers 500: 'out of memory'"),
    "an error in html": (lambda over: lambda h: h.send(502, b"<html>"), "the server answers 502"),
    "another address": (lambda over: lambda h: h.send(302, b"", Location="http://127.0.0.1:1/"), "answers 302"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_answer_ends_in_time_with_a_sentence(case):
    make, reason = HOSTILE[case]
    over = threading.Event()
    with ChatServer(lambda prompt: make(over)) as server:
        asked = stickbreak.ChatModel(server.url, "small", timeout=0.3 if reason == "no answer within" else 60)
        with pytest.raises(NoAnswer, match=reason) as refused:
            asked(WORDS, [])
        over.set()
    assert str(refused.value).isprintable()
    assert len(server.prompts) <= 1  # none where the time was over before it came


@pytest.mark.parametrize(
    "url", ["localhost:11434", "ftp://x", "http://", "http://x:99999", "file:///etc/passwd", "http://a b", 3, None]
)
def test_what_is_not_the_address_of_a_server_is_refused(url):
    with pytest.raises(InputError, match="not the address of a server"):
        stickbreak.ChatModel(url, "small")
    with pytest.raises(InputError, match="STICKBREAK_API_KEY") as refused:
        stickbreak.ChatModel("http://me:secret@host", "small")
    assert "secret" not in str(refused.value)


@pytest.fixture
def model():
    found = fitted("TopicModel")
    found.find_path(data_of("TopicModel"))
    return found


def test_topics_and_groups_are_named_and_kept_where_labels_are(model, tmp_path):
    K = model.n_topics_
    names = (f"name {i}" for i in range(10_000))
    model.label(lambda words, texts: next(names), groups=True)
    assert len(model.labels_) == K
    assert sorted(model.group_labels_) == [K + i for i in model.path_.joins_of_overview()]
    model.save(tmp_path / "m")
    again = stickbreak.load(tmp_path / "m")
    assert again.group_labels_ == model.group_labels_
    two = again.reduced(2)
    assert len(two.labels_) == 2
    assert set(two.labels_.values()) <= {*model.labels_.values(), *model.group_labels_.values()}
    assert list(two.group_labels_.values()) == [model.group_labels_[2 * K - 2]]
    again.label({2 * K - 2: None, K: "a group"})
    assert again.group_labels_[K] == "a group"
    assert 2 * K - 2 not in again.group_labels_
    with pytest.raises(InputError, match="same label"):
        again.label({K: again.labels_[0]})
    with pytest.raises(InputError):
        again.label({2 * K - 1: "beyond the last"})


def test_a_group_is_asked_about_by_the_words_of_all_its_topics(model):
    K, asked = model.n_topics_, []
    rows = ask_for_names(model, lambda words, texts: asked.append(words) or "x", [2 * K - 2], n_words=4)
    assert [row.number for row in rows] == [2 * K - 2]
    assert asked == [model.described_path(4).words[-1]]


def test_failures_keep_labels_and_alike_names_get_a_word(model, caplog):
    numbers = unnamed(model, groups=False, known={0})
    assert 0 not in numbers
    model.label({1: "old"})

    def name(words, texts):
        if words == first:
            raise NoAnswer("the model refused")
        return "the same"

    first = model.top_words(10)[1]
    with caplog.at_level(logging.WARNING, "stickbreak"):
        model.label(name)
    assert "topic 1 keeps its label: the model refused" in caplog.text
    labels = model.labels_
    assert labels[1] == "old"
    assert labels[0] == "the same"
    assert all(text.startswith("the same (") for k, text in labels.items() if k > 1)
    assert len(set(labels.values())) == len(labels)


def test_nothing_is_asked_after_three_failures_in_a_row_or_ctrl_c(model):
    with ChatServer(lambda prompt: status(500, "no memory")) as server:
        rows = ask_for_names(model, stickbreak.ChatModel(server.url, "m"), unnamed(model, groups=True, known={}))
    assert len(server.prompts) == 3
    assert {row.name for row in rows} == {None}
    assert "gave no answer 3 times in a row (the server answers 500: 'no memory')" in rows[2].reason
    assert rows[3].reason == "not asked, as the server gave no answer"
    calls = []

    def interrupted(words, texts):
        calls.append(words)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return "first"

    rows = ask_for_names(model, interrupted, unnamed(model, groups=False, known={}))
    assert [row.name for row in rows][:2] == ["first", None]
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("names", "given", "message"),
    [
        ({0: "a"}, {"X": "corpus"}, "X is given, which is for a namer, but names holds labels; leave X out"),
        ({0: "a"}, {"n_texts": 2}, "n_texts is given, which is for a namer"),
        ({0: "a"}, {"groups": True}, "groups is given, which is for a namer"),
        (min, {"n_words": 0}, "n_words is 0; give a whole number of at least 1"),
        (min, {"n_texts": -1}, "n_texts is -1; give a whole number of at least 0"),
        (min, {"X": "corpus"}, "X is given, but texts is not; give X and texts, its texts, or leave X out"),
        (min, {"texts": ["a"]}, "texts is given, but X is not"),
        (min, {"X": "corpus", "texts": ["a"]}, "texts has 1 entries, but X has .* documents; give one for each"),
    ],
)
def test_arguments_that_a_namer_does_not_get_are_refused(names, given, message):
    model, corpus = fitted("TopicModel"), data_of("TopicModel")
    options = {name: corpus if value == "corpus" else value for name, value in given.items()}
    with pytest.raises(InputError, match=message):
        model.label(names, **options)
