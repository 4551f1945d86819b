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
