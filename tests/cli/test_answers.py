"""What commands that ask a model say to a reader, and how topics, words and categories are named to them."""

import json
import shutil

import pandas as pd
import pytest

import stickbreak
from stickbreak.cli.tables import tell_table
from stickbreak.corpus import TextOptions
from stickbreak.exceptions import InputError

from .test_questions import same


def test_periods_suit_the_span_of_the_dates(run, model, dated, fitted, corpus):
    printed = run("ask", model, "over-time", dated, "--topic", "0", "--quiet").stdout.splitlines()
    assert printed[0] == "Shares by month, as suits the dates; --by names another period."
    assert len(printed) - 2 == len(fitted.topics_over_time(corpus, by="month", topic=0))
    assert "as suits" not in run("ask", model, "over-time", dated, "--by", "quarter", "--topic", "0", "--quiet").stdout
    assert fitted.topics_over_time(corpus, topic=0).attrs["by"] == "month"


def test_some_categories_alone_are_printed(run, refuse, model, dated, fitted, corpus):
    both = (dated, "--text", "text", "--quiet", "--column", "kind")
    whole = fitted.topics_by(corpus, "kind")
    chosen = whole[whole["category"].isin(["=sea", "=law"])].reset_index(drop=True)
    same(run("ask", model, "by", *both, "--category", "=sea", "--category", "=law", "--json"), chosen)
    assert "no document has the category '=seas'; did you mean '=sea'?" in refuse(
        "ask", model, "by", *both, "--category", "=seas"
    )


def test_a_topic_is_given_by_its_label_too(run, refuse, model, dated, fitted, tmp_path):
    label = fitted.labelled_topics(2).labels[0]
    both = (dated, "--text", "text", "--quiet", "--json")
    for command in (
        ("over-time", *both, "--by", "year"), ("trends", *both), ("by", *both, "--column", "kind"),
        ("documents", *both), ("words", "--json"),
    ):  # fmt: skip
        by_number = run("ask", model, *command, "--topic", "2").stdout
        assert run("ask", model, *command, "--topic", f" {label.upper()}").stdout == by_number
    shutil.copytree(model, tmp_path / "m")
    run("label", tmp_path / "m", "0=Sea", "1=sea", "2=odd")
    assert (
        run("ask", tmp_path / "m", "words", "--topic", "sea").stdout
        == run("ask", tmp_path / "m", "words", "--topic", "1").stdout
    )
    assert "the label of topics 0 and 1; give one number" in refuse("ask", tmp_path / "m", "words", "--topic", "SEA")
    assert "no topic has this label; did you mean 'odd'?" in refuse("ask", tmp_path / "m", "words", "--topic", "od")


def test_digits_are_a_number_and_else_a_label(run, refuse, model, tmp_path):
    shutil.copytree(model, tmp_path / "m")
    run("label", tmp_path / "m", "0=1984", "1=2")

    def shown(topic):
        return run("ask", tmp_path / "m", "words", "--topic", topic, "--json").stdout

    assert shown("1984") == shown(" 0 ") == shown("0")
    assert shown("2") != shown("1")  # topic 2, not the one with this label
    assert "topic is 1985; give a number" in refuse("ask", tmp_path / "m", "words", "--topic", "1985")


def test_words_are_searched_as_texts_were_counted(run, refuse, model, fitted, tmp_path):
    same(run("ask", model, "search", "Ship", "COUR*", "--json"), fitted.search(["ship", "cour*"]))
    assert "the model has no word 'Shipp'; did you mean 'ship'" in refuse("ask", model, "search", "Shipp")
    texts = ["Über Bär see", "bär SEE über", "see Über bär"] * 4
    for lowercase, strip, found in ((True, "unicode", True), (True, None, False), (False, "unicode", False)):
        options = TextOptions(lowercase=lowercase, strip_accents=strip, min_df=1, max_df=1.0)
        counted = stickbreak.TopicModel(n_topics=2, n_laps=2).fit(texts, options=options)
        if found:
            pd.testing.assert_frame_equal(counted.search("BÄR"), counted.search("bar"))
        else:
            with pytest.raises(InputError, match="no word 'BÄR'" if not lowercase else "no word 'BAR'"):
                counted.search("BÄR" if not lowercase else "BAR")


def test_tables_for_persons_have_words_for_what_numbers_hide(capsys):
    table = pd.DataFrame({"topic_a": [0, -1], "change": [0.0123, 0.1], "p": [0.0009, 0.0011], "other": [-1, 3]})
    given = {"as_json": False, "as_csv": False, "out": None, "rows": 9}
    tell_table(table, **given)
    head, first, second = (line.split() for line in capsys.readouterr().out.splitlines())
    assert head == ["topic", "a", "points", "per", "year", "p", "other"]
    assert (first, second) == (["0", "+1.23", "<0.001", "-1"], ["none", "+10.00", "0.0011", "3"])
    tell_table(table, **given | {"as_csv": True})
    assert capsys.readouterr().out.splitlines()[1:] == ["0,0.0123,0.0009,-1", "-1,0.1,0.0011,3"]


def test_a_document_of_few_words_is_told_where_others_are_like_it(run, model, tmp_path):
    texts = ["ship sail captain wave", "ship", "ship unknown", "judge court", "bread butter oven"]
    path = tmp_path / "few.jsonl"
    path.write_text("".join(json.dumps({"id": str(i), "text": text}) + "\n" for i, text in enumerate(texts)))
    of_few = run("ask", model, "similar", path, "--document", "2", "--quiet").stdout
    assert "Document 2 has 1 word that the model knows: too few to say which documents are like it." in of_few
    of_more = run("ask", model, "similar", path, "--document", "0", "--quiet").stdout
    assert "too few" not in of_more
    assert "3 of these documents have fewer than 3 words that the model knows: their places say little." in of_more
    assert "fewer than" not in run("ask", model, "similar", path, "--document", "0", "--quiet", "--json").stdout


def test_unknown_words_are_told_with_a_question_only_where_they_are_many(run, model, documents, tmp_path):
    few, many = tmp_path / "few.txt", tmp_path / "many.txt"
    few.write_text("ship sail captain unheard\n" * 3)
    many.write_text("ship sail unheard\n" * 3)
    for path, told in ((few, False), (many, True)):
        said = run("ask", model, "topics-of", path, "--document", "0").stderr
        assert said.startswith("3 documents")
        assert ("are not in the model's vocabulary" in said) is told
