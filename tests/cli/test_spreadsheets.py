"""Names in CSV: a spreadsheet takes none of them for a formula, and none steers a terminal."""

import csv
import io
import json

import numpy as np
import pytest

from stickbreak.cli.tables import csv_lines, document_weights, jsonl_lines, write_weights
from stickbreak.corpus import Corpus


class Model:
    def transform(self, X):
        return np.full((len(X), 2), 0.5)


def corpus_of(*names):
    return Corpus.from_counts([[1]] * len(names), names=names)


def cells(name):
    """The row of a document as it stands in CSV, and as it is read again."""
    line = "".join(list(csv_lines(document_weights(Model(), corpus_of(name))))[1:])
    [row] = csv.reader(io.StringIO(line, newline=""))
    return line, row


@pytest.mark.parametrize(
    "name",
    [
        "=cmd|' /C calc'!A0",
        "+1+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "  =1",
        "\u3000@x",
        "＝1",
        "＋1",
        "－1",
        "＠x",
    ],
)
def test_name_that_would_be_a_formula_gets_a_quote_in_front(name):
    _, row = cells(name)
    assert row[0].startswith("'")
    assert [float(cell) for cell in row[1:]] == [0.5, 0.5]


@pytest.mark.parametrize(
    "name", ["a=b", "1-2", "user@example.org", "naïve 日本", "", "'=1", "می\u200cشود", "a\tb", "a\nb"]
)
def test_other_names_stay_as_they_are(name):
    assert cells(name)[1][0] == name


@pytest.mark.parametrize("name", ["a;=1", "a\t=1"])
def test_separators_of_other_countries_are_quoted(name):
    line, row = cells(name)
    assert line.startswith('"')
    assert row[0] == name


@pytest.mark.parametrize("character", ["\x1b", "\x00", "\x07", "\x7f", "\x9b", "\u202e", "\u2066", "\u2028", "\r"])
def test_characters_that_steer_a_terminal_are_replaced(character):
    line, row = cells(f"a{character}b")
    assert character not in line
    assert row[0] == "a\ufffdb"


def test_line_end_of_windows_becomes_one_character():
    assert cells("a\r\nb")[1][0] == "a\nb"


def test_other_formats_keep_names(tmp_path):
    import pyarrow.parquet as pq

    names = ("=1", "a\x1b[31m", "\u202ex", "d\x7f")
    for suffix in (".npz", ".jsonl", ".parquet"):
        write_weights(document_weights(Model(), corpus_of(*names)), tmp_path / f"w{suffix}")
    with np.load(tmp_path / "w.npz") as found:
        assert tuple(found["names"]) == names
    text = (tmp_path / "w.jsonl").read_text()
    assert tuple(json.loads(line)["document"] for line in text.splitlines()) == names
    assert tuple(pq.read_table(tmp_path / "w.parquet").to_pydict()["document"]) == names


def test_json_lines_hold_no_control_character():
    line = "".join(jsonl_lines(document_weights(Model(), corpus_of("a\x1b\x7f\x9b\u202e"))))
    assert line[:-1].isascii()
    assert line[:-1].isprintable()
