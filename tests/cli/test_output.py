import json
import logging
import math
import warnings

import numpy as np

from stickbreak.cli.documents import Documents
from stickbreak.cli.output import describe_topics, print_json, print_topics, printable, tell_notices
from stickbreak.prediction.topics import FlatTopics


class Model(FlatTopics):
    vocabulary_ = ("a", "[red]b", "c\x1b[2J")
    topic_word_ = np.array([[0.1, 0.7, 0.2], [0.5, 0.2, 0.3]])
    topic_weights_ = np.array([0.6, 0.3])
    topic_shares_ = np.array([0.4, 0.6])


def test_topics_come_by_share_and_their_words_by_relevance():
    first, second = describe_topics(Model(), 2)
    assert (first.id, first.size, first.weight, first.probabilities) == (1, 0.6, 0.3, (0.5, 0.3))
    assert (second.id, second.words) == (0, ("[red]b", "c\x1b[2J"))


def test_printed_topics_are_one_line_each_without_control_characters(capsys):
    print_topics(describe_topics(Model(), 2), Documents.columns)
    assert capsys.readouterr().out.splitlines() == [
        "topic    share  words",
        "    1   60.00%  a c\ufffd[2J",
        "    0   40.00%  [red]b c\ufffd[2J",
    ]


def test_corpus_weight_is_printed_where_it_is_asked_for(capsys):
    print_topics(describe_topics(Model(), 1), Documents.expert_columns, verbose=True)
    assert capsys.readouterr().out.splitlines() == [
        "topic    share  corpus weight  words",
        "    1   60.00%         30.00%  a",
        "    0   40.00%         60.00%  [red]b",
    ]


def test_topics_on_a_terminal_show_markup_as_text(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    print_topics(describe_topics(Model(), 2), Documents.columns)
    out = capsys.readouterr().out
    assert "[red]b" in out
    assert "\x1b[2J" not in out


def test_a_notice_is_told_once(capsys, monkeypatch):
    logger = logging.getLogger("stickbreak")
    monkeypatch.setattr(logger, "handlers", [])
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    tell_notices()
    for place in (1, 2, 1):
        logger.warning("line %d is wrong", place)
    assert capsys.readouterr().err.splitlines() == ["Note: line 1 is wrong", "Note: line 2 is wrong"]


def test_json_is_strict(capsys):
    print_json({"a": math.nan, "b": [math.inf, 1.5], "c": {"d": (1, "\u2028")}})
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [None, 1.5], "c": {"d": [1, "\u2028"]}}


def test_printable_keeps_letters_of_any_script():
    assert printable("naïve 日本 \t\n\u202e") == "naïve 日本 \ufffd\ufffd\ufffd"
