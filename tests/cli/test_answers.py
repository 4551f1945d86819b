"""What commands that ask a model say to a reader, and how topics, words and categories are named to them."""

import shutil

from .test_questions import same


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
