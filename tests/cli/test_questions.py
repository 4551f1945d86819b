"""The commands that ask a model give what its methods give."""

import csv
import io
import json
import shutil

import numpy as np
import pandas as pd
import pytest

import stickbreak
from stickbreak.cli.ask import _QUESTIONS
from stickbreak.comparison import align
from stickbreak.corpus import write_corpus
from stickbreak.evaluation import topic_scores, word_intrusion


def frame(told):
    return pd.DataFrame(json.loads(told.stdout)["rows"])


def same(told, expected):
    expected = expected.drop(columns="row", errors="ignore").copy()
    if "period" in expected:
        expected["period"] = expected["period"].dt.strftime("%Y-%m-%d")
    pd.testing.assert_frame_equal(frame(told).drop(columns="text", errors="ignore"), expected, check_dtype=False)


def test_commands_with_documents_give_what_methods_give(run, model, dated, fitted, corpus):
    both = (dated, "--text", "text", "--quiet", "--json")
    same(run("ask", model, "over-time", *both, "--by", "year"), fitted.topics_over_time(corpus, by="year"))
    same(
        run("ask", model, "over-time", *both, "--dates", "when", "--topic", "1"),
        fitted.topics_over_time(corpus, topic=1),
    )
    same(run("ask", model, "trends", *both), fitted.topic_trends(corpus))
    same(run("ask", model, "by", *both, "--column", "kind"), fitted.topics_by(corpus, "kind"))
    every = ("--level", "1")
    over_time = fitted.words_over_time(corpus, by="year", level=1.0)
    same(run("ask", model, "words-over-time", *both, "--by", "year", *every), over_time)
    same(run("ask", model, "words-by", *both, "--column", "kind", *every), fitted.words_by(corpus, "kind", level=1.0))
    effects = ("--formula", "when + kind", "--draws", "2")
    same(run("ask", model, "effects", *both, *effects), fitted.effects(corpus, "when + kind", n_draws=2))
    same(run("ask", model, "documents", *both, "--topic", "0", "-n", "3"), fitted.documents_of(0, corpus, 3))
    same(run("ask", model, "topics-of", *both, "--document", "law-3", "-n", "2"), fitted.topics_of(corpus[[11]], 2))
    same(run("ask", model, "word-topics", *both, "--document", "law-3"), fitted.word_topics(corpus[[11]]))
    same(
        run("ask", model, "similar", *both, "--document", "law-3", "-n", "2"),
        fitted.similar_documents(corpus, "law-3", 2),
    )
    same(run("ask", model, "topics-of", *both, "--document", "11", "-n", "2"), fitted.topics_of(corpus[[11]], 2))
    assert (
        run("ask", model, "similar", *both, "--document", "11").stdout
        == run("ask", model, "similar", *both, "--document", "law-3").stdout
    )


def test_commands_without_documents_give_what_methods_give(run, model, fitted):
    same(
        run("ask", model, "words", "--topic", "1", "--relevance", "0.2", "-n", "4", "--json"),
        fitted.words_of(1, 0.2, 4),
    )
    same(run("ask", model, "search", "ship", "cour*", "--json"), fitted.search(["ship", "cour*"]))


def test_days_can_be_chosen(run, model, dated, fitted, corpus):
    days = corpus.metadata["when"].to_pandas().astype("datetime64[s]")
    kept = ((days >= "2021-01-01") & (days <= "2022-06-30")).to_numpy()
    options = ("--since", "2021", "--until", "2022-06-30", "--quiet", "--json")
    same(run("ask", model, "trends", dated, *options), fitted.topic_trends(corpus[kept]))
    same(
        run("ask", model, "over-time", dated, "--by", "quarter", *options),
        fitted.topics_over_time(corpus[kept], by="quarter"),
    )
    same(run("ask", model, "word-topics", dated, *options), fitted.word_topics(corpus[kept]))


def test_parameters_of_a_function_are_options(run, refuse, model, dated, fitted, corpus, monkeypatch):
    more = ("--resamples", "7", "--random-state", "3", "--quiet", "--json")
    expected = fitted.topics_by(corpus, "kind", n_resamples=7, random_state=3)
    same(run("ask", model, "by", dated, "--column", "kind", *more), expected)

    def answer(model, X, *, least_tokens: int, shout: bool = False):
        return pd.DataFrame({"n": [len(X), least_tokens, int(shout)]})

    monkeypatch.setitem(_QUESTIONS, "how-many", (answer, None))
    found = frame(run("ask", model, "how-many", dated, "--least-tokens", "3", "--shout", "-q", "--json"))
    assert found["n"].tolist() == [90, 3, 1]
    assert "--least-tokens" in refuse("ask", model, "how-many", dated)


def test_csv_is_complete_and_safe_for_spreadsheets(run, model, dated, fitted, corpus):
    told = run("ask", model, "by", dated, "--column", "kind", "--csv", "--quiet")
    rows = list(csv.DictReader(io.StringIO(told.stdout)))
    expected = fitted.topics_by(corpus, "kind")
    assert len(rows) == len(expected)
    assert [float(row["mean_weight"]) for row in rows] == expected["mean_weight"].tolist()
    assert {row["category"] for row in rows} == {"'=kitchen", "'=law", "'=sea"}, "a formula becomes text"
    assert rows[0]["label"] == expected["label"][0]


def test_files_hold_the_table(run, refuse, model, dated, fitted, corpus, tmp_path):
    expected = fitted.topics_over_time(corpus, by="year")
    for name in ("t.csv", "t.json", "t.parquet"):
        told = run("ask", model, "over-time", dated, "--by", "year", "--quiet", "--out", tmp_path / name)
        assert told.stdout == ""
        assert f"{len(expected)} rows written to {tmp_path / name}" in told.stderr
    found = pd.read_csv(tmp_path / "t.csv", parse_dates=["period"])
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    assert len(json.loads((tmp_path / "t.json").read_text())["rows"]) == len(expected)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "t.parquet"), expected, check_dtype=False)
    assert "has no known ending; use .csv, .json, .parquet" in refuse(
        "ask", model, "trends", dated, "--out", tmp_path / "t.txt"
    )


def test_documents_are_shown_with_the_beginning_of_their_texts(run, model, dated, records):
    table = frame(run("ask", model, "documents", dated, "--topic", "0", "-n", "2", "--quiet", "--json"))
    texts = {record["id"]: record["text"] for record in records}
    assert [texts[name][:200] for name in table["document"]] == table["text"].tolist()


def test_a_corpus_folder_brings_its_columns(run, model, fitted, corpus, tmp_path):
    write_corpus(corpus, tmp_path / "c")
    same(
        run("ask", model, "by", tmp_path / "c", "--column", "kind", "--quiet", "--json"),
        fitted.topics_by(corpus, "kind"),
    )
    same(run("ask", model, "trends", tmp_path / "c", "--quiet", "--json"), fitted.topic_trends(corpus))


def test_labels_are_kept_in_the_model_and_all_else_there_stays(run, refuse, model, dated, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(model, copy)
    before = {file.name: file.read_bytes() for file in copy.iterdir()}
    assert f"no topic has a label; give one: stickbreak label {copy} 0=NAME" in run("label", copy).stderr
    told = run("label", copy, "0=first", "1= the second one")
    assert told.stdout.splitlines() == ["topic  label", "    0  first", "    1  the second one"]
    after = {file.name: file.read_bytes() for file in copy.iterdir()}
    assert after.keys() == before.keys()
    assert [name for name in before if before[name] != after[name]] == ["model.json"]
    assert stickbreak.load(copy).labels_ == {0: "first", 1: "the second one"}
    np.testing.assert_array_equal(stickbreak.load(copy).topic_word_, stickbreak.load(model).topic_word_)
    assert set(frame(run("ask", copy, "trends", dated, "--topic", "0", "--json", "-q"))["label"]) == {"first"}
    assert json.loads(run("label", copy, "1=", "--json").stdout) == {"labels": {"0": "first"}, "groups": {}}
    assert json.loads(run("label", copy, "--json").stdout) == {"labels": {"0": "first"}, "groups": {}}
    for wrong, message in (("first", "give NUMBER=LABEL"), ("99=a", "99"), ("1=first", "have the same label 'first'")):
        assert message in refuse("label", copy, wrong)
    assert stickbreak.load(copy).labels_ == {0: "first"}


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("by", "--column", "colour"), "has no field 'colour'; name another one"),
        (("over-time", "--dates", "kind"), "holds what is not a date"),
        (("by", "--column", "kind", "--dates", "when"), "which this question does not ask for"),
        (("over-time", "--by", "decade"), "by is 'decade'; give one of 'day'"),
        (("trends", "--since", "soon"), "--since is 'soon', which is not a day"),
        (("trends", "--since", "2099"), "no document is of these days"),
        (("trends", "--topic", "99"), "99"),
        (("similar", "--document", "nobody"), "no document of the corpus has the name 'nobody'"),
    ],
)
def test_what_cannot_be_answered_is_told_in_a_sentence(refuse, model, dated, command, message):
    name, *options = command
    assert message in refuse("ask", model, name, dated, *options, "--quiet")


def test_a_tree_answers_too(run, tree_model, dated):
    tree = stickbreak.load(tree_model)
    k = int(tree.leaves_[0])
    assert len(frame(run("ask", tree_model, "by", dated, "--column", "kind", "-q", "--json"))) == 3 * min(
        100, tree.n_topics_
    )
    assert len(frame(run("ask", tree_model, "documents", dated, "--topic", k, "-n", "2", "-q", "--json"))) == 2
    assert len(frame(run("ask", tree_model, "topics-of", dated, "--document", "law-3", "-q", "--json")))


def test_a_model_of_vectors_has_no_words_to_ask_for(run, refuse, tmp_path):
    np.save(tmp_path / "vectors.npy", np.random.default_rng(0).normal(size=(80, 2)))
    run(
        "fit",
        tmp_path / "vectors.npy",
        "--method",
        "gaussian-mixture",
        "--laps",
        "2",
        "--no-report",
        "--out",
        tmp_path / "m",
    )
    for command in (
        ("ask", tmp_path / "m", "words", "--topic", "0"),
        ("label", tmp_path / "m"),
        ("ask", tmp_path / "m", "trends", tmp_path / "vectors.npy"),
    ):
        assert "a model of vectors, but this is for models of words" in refuse(*command)


def test_documents_of_some_days_keep_their_texts(run, model, dated, fitted, corpus):
    days = pd.Series(pd.to_datetime(corpus.metadata.column("when").to_pandas()))
    middle = days.dropna().median()
    told = run("ask", model, "documents", dated, "--text", "text", "--quiet", "--json", "--topic", "0", "-n", "5",
        "--since", middle.strftime("%Y-%m-%d"),
    )  # fmt: skip
    expected = fitted.documents_of(0, corpus[np.flatnonzero(days >= middle.normalize())], 5)
    same(told, expected)
    texts = {row["id"]: row["text"] for row in map(json.loads, dated.read_text().splitlines())}
    for row in frame(told).itertuples():
        assert " ".join(texts[row.document].split()).startswith(row.text)


def test_scores_and_lists_of_intruders(run, model, dated, fitted, corpus):
    texts = [json.loads(line)["text"] for line in dated.read_text().splitlines()]
    both = (dated, "--text", "text", "--quiet", "--words", "4")
    expected = topic_scores(fitted, corpus, texts=texts, n_words=4)
    told = run("ask", model, "scores", *both, "--json")
    same(told, expected)
    assert json.loads(told.stdout)["diversity"] == expected.attrs["diversity"]
    last = next(line for line in run("ask", model, "scores", *both).stdout.splitlines() if line.startswith("Mean"))
    assert last.startswith(f"Mean NPMI {expected.attrs['mean_npmi']:.3f}; diversity ")
    lists = frame(run("ask", model, "intrusion", "--words", "4", "--random-state", "3", "--json"))
    assert (
        lists["words"].tolist()
        == word_intrusion(fitted.topic_word_, fitted.vocabulary_, n_words=4, random_state=3)["words"].tolist()
    )
    refused = run("ask", model, "intrusion", "-n", "100000", code=2)
    assert "give fewer words, such as -n 5" in refused.stderr


def test_compare_tells_what_became_of_topics(run, model, dated, fitted, corpus, tmp_path):
    fitted.find_path(corpus)
    fitted.reduced(fitted.n_topics_ - 1).save(tmp_path / "small")
    small = stickbreak.load(tmp_path / "small")
    told = run("compare", model, tmp_path / "small", "--json")
    expected = align(fitted, small).table
    assert frame(told)["what"].tolist() == expected["what"].tolist()
    assert json.loads(told.stdout)["n_same"] == fitted.n_topics_ - 2
    *_, told_of_all, _ = run("compare", model, tmp_path / "small").stdout.splitlines()
    assert told_of_all.startswith(
        f"{fitted.n_topics_ - 2} of {fitted.n_topics_} topics of a are the same in b, 2 joined; 0 of b are new."
    )
    assert run("compare", model, tmp_path / "small").stdout.startswith(f"a: {model}, b: {tmp_path / 'small'}\n")
    assert run("compare", model, model).stdout.splitlines()[-2].endswith("100% of the tokens in common.")
    run("compare", model, tmp_path / "small", "--page", tmp_path / "page.html")
    assert f"<title>{model.name} and small</title>" in (tmp_path / "page.html").read_text()


def test_documents_without_names_keep_their_numbers_where_days_are_chosen(run, model, records, tmp_path):
    path = tmp_path / "nameless.jsonl"
    rows = [{"text": record["text"], "when": f"20{10 + number}-01-01"} for number, record in enumerate(records)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = frame(run("ask", model, "documents", path, "--topic", "0", "--since", "2040", "--json"))
    assert told["document"].astype(int).min() >= 30
    assert told["text"].tolist() == [records[int(number)]["text"][:200] for number in told["document"]]


def test_topics_of_all_documents_are_a_row_each_and_empty_without_words(run, model, fitted, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("name,text\na,ship sail captain\nb,zebra\nc,bread butter oven\n")
    run("ask", model, "topics-of", path, "-n", "2", "--out", tmp_path / "of.csv")
    found = pd.read_csv(tmp_path / "of.csv", dtype={"topic": "Int64"})
    assert found.columns.tolist() == ["document", "topic", "label", "weight", "topic_2", "label_2", "weight_2"]
    assert found["document"].tolist() == ["a", "b", "c"]
    assert found.iloc[1, 1:].isna().all()
    weights = fitted.transform(["ship sail captain", "bread butter oven"])
    assert found["topic"].dropna().tolist() == weights.argmax(axis=1).tolist()
    assert found["weight"].dropna().to_numpy() == pytest.approx(weights.max(axis=1))
    told = run("ask", model, "topics-of", path).stdout.splitlines()
    assert [line.split()[0] for line in told] == ["document", "a", "b", "c"]
    assert told[2].split() == ["b"]
    assert json.loads(run("ask", model, "topics-of", path, "--json").stdout)["rows"][1]["topic"] is None


def test_labels_come_from_a_table_of_topics(run, refuse, model, tmp_path):
    own, file = tmp_path / "own", tmp_path / "topics.csv"
    shutil.copytree(model, own)
    run("label", own, "0=mistaken")
    run("topics", own, "--out", file)
    table = pd.read_csv(file)
    table.loc[0, "label"], table.loc[1, "label"] = None, "ships; and sails"
    table.to_csv(file, index=False, sep=";", encoding="utf-8-sig")
    told = run("label", own, "--file", file)
    assert stickbreak.load(own).labels_ == {1: "ships; and sails"}
    assert f"{own / 'report.html'} is older than these labels" in told.stderr
    run("label", own, "0=-5 degrees", "1='tis")
    run("topics", own, "--out", tmp_path / "again.csv")
    run("label", own, "--file", tmp_path / "again.csv")
    assert stickbreak.load(own).labels_ == {0: "-5 degrees", 1: "'tis"}
    assert "topic 1 is given two labels" in refuse("label", own, "1=a", "1=b")
    for text, message in (("a,b\n1,2\n", "needs columns topic and label"), ("topic,label\nx,y\n", "row 1 of")):
        file.write_text(text)
        assert message in refuse("label", own, "--file", file)


def test_scores_are_sorted_and_name_junk_with_the_reason(run, refuse, model, dated, monkeypatch):
    both = (dated, "--text", "text", "--quiet")
    found = frame(run("ask", model, "scores", *both, "--sort", "npmi", "--json"))["npmi"].tolist()
    assert found == sorted(found)
    assert found != frame(run("ask", model, "scores", *both, "--json"))["npmi"].tolist()
    assert "--sort is 'label', which is not a score" in refuse("ask", model, "scores", *both, "--sort", "label")
    monkeypatch.setattr("stickbreak.cli.ask._LEAST_NPMI", sorted(found)[1])
    worst = frame(run("ask", model, "scores", *both, "--sort", "npmi", "--json"))["topic"][0]
    lines = run("ask", model, "scores", *both).stdout.splitlines()
    assert lines[-1].startswith(f"Junk: topic {worst}: its top words occur together hardly more often than by chance")
    assert list(json.loads(run("ask", model, "scores", *both, "--json").stdout)["junk"]) == [str(worst)]


def test_a_fit_takes_dates_and_its_model_remembers_them(run, refuse, records, dated, tmp_path, fast):
    rows = [json.loads(line) for line in dated.read_text().splitlines()]
    for row in rows:
        row["when"] = row["when"] and ".".join(reversed(row["when"].split("-")))
    file = tmp_path / "days.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = ("fit", file, "--out", tmp_path / "m", "--text", "text", *fast)
    assert "--date-format %d.%m.%Y" in refuse(*given, "--dates", "when")
    assert "name the column with --dates" in refuse(*given, "--date-format", "%d.%m.%Y")
    told = run(*given, "--dates", "when", "--date-format", "%d.%m.%Y")
    assert f"stickbreak ask {tmp_path / 'm'} trends {file}" in told.stdout
    assert '"time":{"by"' in (tmp_path / "m" / "report.html").read_text()
    remembered = frame(run("ask", tmp_path / "m", "trends", file, "--quiet", "--json"))
    named = ("--dates", "when", "--date-format", "%d.%m.%Y")
    assert remembered.equals(frame(run("ask", tmp_path / "m", "trends", file, *named, "--quiet", "--json")))
    run("report", tmp_path / "m", file, "--out", tmp_path / "later.html", "--quiet")
    assert '"time":{"by"' in (tmp_path / "later.html").read_text()


@pytest.fixture(scope="module")
def survey(tmp_path_factory, records):
    """A table with stars, of which a few are blank, and dates as in Germany."""
    rows = [
        (record["id"], record["text"], "" if i % 9 == 0 else i % 5 + 1, f"{i % 27 + 1:02}.0{i % 3 + 1}.202{i % 4}")
        for i, record in enumerate(records)
    ]
    file = tmp_path_factory.mktemp("survey") / "survey.csv"
    pd.DataFrame(rows, columns=["id", "text", "stars", "day"]).to_csv(file, index=False)
    return file


def test_a_category_is_named_as_it_is_printed(run, refuse, model, survey):
    asked = ("ask", model, "by", survey, "--text", "text", "--quiet", "--column", "stars")
    assert set(frame(run(*asked, "--category", "5", "--json"))["category"]) == {5}
    assert "has the category '77'; give one of 1, 2, 3, 4, 5" in refuse(*asked, "--category", "77")


def test_the_format_of_dates_is_remembered_in_a_formula(run, survey, tmp_path, fast):
    dating = ("--text", "text", "--dates", "day", "--date-format", "%d.%m.%Y")
    run("fit", survey, *fast, *dating, "--no-report", "--out", tmp_path / "m")
    told = run("ask", tmp_path / "m", "effects", survey, "--formula", "day", "--draws", "2", "--quiet", "--json")
    assert set(frame(told)["term"]) == {"Intercept", "day"}


def test_what_is_beyond_chance_is_first_and_nothing_is_said_so(run, model, dated, survey):
    asked = ("ask", model, "by", dated, "--column", "kind", "--quiet")
    table = frame(run(*asked, "--json"))
    sure = (table["p"] < 0.05).tolist()
    assert sure == sorted(sure, reverse=True)
    assert table["difference"].abs()[sure].is_monotonic_decreasing
    assert f"{sum(sure)} of {len(table)} pairs of a topic and a category differ by more" in run(*asked).stdout
    n = len(table) // 3
    told = run("ask", model, "trends", survey, "--text", "text", "--date-format", "%d.%m.%Y", "--quiet").stdout
    assert f"0 of {n} topics change by more than chance (p below 0.05)." in told


def test_years_are_printed_as_years(run, model, dated):
    asked = ("ask", model, "over-time", dated, "--by", "year", "--topic", "0", "--quiet")
    assert "-01-01" not in run(*asked).stdout
    assert "-01-01" in run(*asked, "--csv").stdout


def test_errors_name_the_columns_and_the_model(refuse, model, survey):
    asked = ("ask", model, "trends", survey, "--text", "text", "--quiet")
    assert "no column of dates such as 2026-11-23 among 'stars', 'day'; name" in refuse(*asked)
    assert f"see stickbreak ask {model} by --help" in refuse("ask", model, "by")
    told = refuse("ask", model, "effects", survey, "--text", "text", "--quiet", "--formula", "first name")
    assert "⧛" not in told
    assert "with a name that has a blank in backticks: `first name`" in told
