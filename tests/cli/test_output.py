import json
import logging
import math
import warnings

from stickbreak.cli.output import print_json, printable, several, tell_notices


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


def test_one_is_not_several():
    assert [several(n, "topic") for n in (0, 1, 2000)] == ["0 topics", "1 topic", "2,000 topics"]
