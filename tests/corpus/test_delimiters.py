"""The delimiter of a table is told from its first rows, or named."""

import pytest

from stickbreak.corpus import TextOptions, read, read_texts
from stickbreak.exceptions import InputError, ReadError

ALL = TextOptions(min_df=1, max_df=1.0, stop_words=None)


def write(path, content):
    path.write_bytes(content.encode())
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["d.csv", "d.tsv"])
def test_delimiter_is_told_from_header_and_rows(tmp_path, name, delimiter):
    others = "".join({",", ";", "|", " "} - {delimiter})
    rows = [("id", "text"), ("x", f'"bread{delimiter} ""salt""\n{others} jam"'), ("y", "'butter")]
    path = write(tmp_path / name, "".join(delimiter.join(row) + "\r\n" for row in rows))
    assert read(path, text=ALL).names == ("x", "y")
    assert read_texts(path, [0, 1]) == [f'bread{delimiter} "salt"\n{others} jam', "'butter"]


def test_usual_delimiter_goes_first_where_two_fit(tmp_path):
    path = write(tmp_path / "d.csv", "id;a;b,text\n1;2;3,bread\n")
    assert read_texts(path, [0]) == ["bread"]


def test_a_table_of_one_column_stays_whole(tmp_path):
    assert read_texts(write(tmp_path / "d.csv", "text\nbread; jam\nsalt | oil\n"), [0, 1]) == [
        "bread; jam",
        "salt | oil",
    ]
    assert read_texts(write(tmp_path / "d.csv", "bread; jam\nsalt\npepper; oil\n"), [0]) == ["salt"]


@pytest.mark.parametrize(
    ("named", "character"), [("tab", "\t"), ("\\t", "\t"), (";", ";"), ("semicolon", ";"), ("x", "x")]
)
def test_delimiter_can_be_named(tmp_path, named, character):
    path = write(tmp_path / "d.csv", f"id{character}te,t\n1{character}bread\n")
    assert read_texts(path, [0], delimiter=named, text_field="te,t") == ["bread"]


@pytest.mark.parametrize("delimiter", ["", "ab", '"', "\n", "\r", "\0", 3, b";"])
def test_what_cannot_be_a_delimiter_is_refused(tmp_path, delimiter):
    with pytest.raises(InputError, match=r"--delimiter \(delimiter\) is .*give one character"):
        read(write(tmp_path / "d.csv", "id,text\n1,bread\n"), delimiter=delimiter)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id;text\n1;a;b\n", "3 fields but the header names 2, with ';' between them; quote fields that hold ';'"),
        ("id,text,x\n1,a\n", "2 fields but the header names 3, with ',' between them; complete the row"),
        ('id,text\n1,"a\n2,b\n3,c\n', "line 2: the row here is not a valid table row"),
        ("id,text\r1,bread\r", "line 1 ends in a bare carriage return"),
        ("id;text\n1;ab,c\n2;d;e\n", "line 3 has 3 fields but the header names 2, with ';'"),
    ],
)
def test_ragged_rows_point_to_the_way_out(tmp_path, content, message):
    with pytest.raises(ReadError) as caught:
        read(write(tmp_path / "d.csv", content), text=ALL)
    assert message in str(caught.value)


def test_zero_bytes_are_part_of_a_field(tmp_path):
    assert read_texts(write(tmp_path / "d.csv", "id,text\n1,a\0b\n"), [0]) == ["a\0b"]
