"""--delimiter, the limits, and the warning about texts that were not cut into words, on the command line."""

import json

import pytest

import stickbreak

FIT = ["--topics", "3", "--laps", "2", "--jobs", "1", "--max-df", "1.0", "--no-report", "--force"]


def table(path, delimiter):
    path.write_text(f"id{delimiter}text\n" + f"1{delimiter}bread butter bread\n" * 20)
    return path


def test_a_delimiter_is_remembered_and_limits_are_not(run, tmp_path):
    path, out = table(tmp_path / "d.csv", "!"), tmp_path / "model"
    run("fit", path, "--out", out, *FIT, "--delimiter", "!", "--max-document-bytes", "100")
    assert stickbreak.load(out)._reading["settings"] == {"delimiter": "!"}


@pytest.fixture
def odd(run, tmp_path, records):
    """Fit to a table that no default can read, and write new rows of the same kind; return the model and the rows."""
    rows = [f"{one['id']}!{one['text']} café!x\n" for one in records]
    (tmp_path / "d.table").write_bytes("".join(["key!body!id\n", *rows]).encode("latin-1"))
    (tmp_path / "new.table").write_bytes("".join(["key!body!id\n", *rows[:3]]).encode("latin-1"))
    options = ["--format", "csv", "--encoding", "latin-1", "--delimiter", "!", "--text", "body"]
    run("fit", tmp_path / "d.table", "--out", tmp_path / "odd", *FIT, *options, "--name-field", "key")
    return tmp_path / "odd", tmp_path / "new.table"


def names(result):
    return [line.split(",")[0] for line in result.stdout.splitlines()[1:]]


def test_new_documents_are_read_with_the_options_of_the_fit(run, odd, tmp_path):
    result = run("transform", *odd)
    assert names(result) == ["sea-0", "kitchen-0", "law-0"]
    assert "0 words (0.0%) are not in the model's vocabulary" in result.stderr
    assert json.loads(run("evaluate", *odd, "--json").stdout)["n_tokens_outside_vocabulary"] == 0
    run("report", *odd, "--out", tmp_path / "r.html")
    assert "kitchen-0" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_options_go_before_those_of_the_fit(run, odd):
    assert names(run("transform", *odd, "--name-field", "id")) == ["x", "x", "x"]
    assert "3 words" in run("transform", *odd, "--encoding", "cp437").stderr  # café


def test_a_format_is_that_of_files_with_the_same_ending(run, odd, tmp_path):
    other = tmp_path / "new.jsonl"
    other.write_bytes('{"body": "ship café", "key": "one"}\n'.encode("latin-1"))
    assert names(run("transform", odd[0], other)) == ["one"]


def test_a_column_of_the_fit_that_is_missing_is_told_with_the_option(refuse, odd):
    odd[1].write_text("body!id\nship!1\n", encoding="latin-1")
    assert "has no field 'key'; name another with --name-field: 'body', 'id'" in refuse("transform", *odd)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_every_usual_delimiter_is_read_by_fit(run, tmp_path, delimiter):
    result = run("fit", table(tmp_path / "d.csv", delimiter), "--out", tmp_path / "model", *FIT)
    assert "20 documents, 60 words, 2 of them different" in result.stderr


@pytest.mark.parametrize(
    ("option", "value", "name"),
    [("--max-document-bytes", 10, "d.csv"), ("--max-unpacked-bytes", 100, "d.csv.gz")],
)
@pytest.mark.parametrize("command", ["fit", "transform", "evaluate", "report"])
def test_limits_are_set_and_named_by_every_command(run, refuse, model, tmp_path, option, value, name, command):
    import gzip

    path = table(tmp_path / "d.csv", ",")
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
    out = ["--out", tmp_path / "out"] if command in ("fit", "report") else []
    place = [tmp_path / name] if command == "fit" else [model, tmp_path / name]
    assert option in refuse(command, *place, *out, option, value)


def test_senseless_limits_are_refused(refuse, tmp_path):
    path = table(tmp_path / "d.csv", ",")
    assert "--max-declared" in refuse("fit", path, "--out", tmp_path / "model", "--max-declared", 0)


def test_a_file_of_stop_words_has_the_same_limits(refuse, tmp_path):
    (tmp_path / "words").write_text("a" * 100)
    options = ["--stop-words", tmp_path / "words", "--max-document-bytes", 50]
    message = refuse("fit", table(tmp_path / "d.csv", ","), "--out", tmp_path / "model", *options)
    assert "--stop-words: line 1 of" in message
    assert "is longer than 50 bytes" in message


def test_uncut_sentences_are_warned_of_on_the_screen(process, tmp_path):
    text = "我昨天去超市买了面包和黄油{}然后回家做饭，今天天气非常好。\n"
    (tmp_path / "d.txt").write_text("".join(text.format(chr(0x4E00 + i)) for i in range(30)), encoding="utf-8")
    done = process("fit", tmp_path / "d.txt", "--out", tmp_path / "model", *FIT)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("give a function that cuts texts into words") == 1
