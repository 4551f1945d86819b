"""JSON lines are scanned many at once; what is wrong with one is told as if it were read alone."""

import gzip
import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickbreak.corpus import ReadLimits, read, read_texts
from stickbreak.corpus.reading import lines
from stickbreak.exceptions import ReadError

GOOD = '{"text": "bread and butter"}'
WRONG = [
    (GOOD + "x", "Extra data at column 29"),
    (GOOD + " " + GOOD, "Extra data at column 30"),
    ('{"text": "bread"', "Expecting ',' delimiter at column 17"),
    ("{'text': 1}", "Expecting property name"),
    ("7", "holds a JSON number"),
    ("[1]", "holds a JSON array"),
    ('{"text": 1}', "the field 'text' holds a JSON number"),
    ('{"body": "x"}', "has no field 'text'"),
    ("\ufeff" + GOOD, "is not valid JSON"),
    ('{"text": "a\x01"}', "Invalid control character"),
    ("[" * 100_000, "nested too deeply"),
    ('{"text": "a", "n": ' + "9" * 5000 + "}", "a number of too many digits"),
]


@pytest.mark.parametrize(("line", "message"), WRONG)
@pytest.mark.parametrize("end", ["\n", "", "\n" + GOOD])
def test_the_line_that_is_wrong_is_named(tmp_path, line, message, end):
    path = tmp_path / "texts.jsonl"
    path.write_text(f"{GOOD}\n\n{GOOD}\n{line}{end}", encoding="utf-8")
    with pytest.raises(ReadError, match=r"texts\.jsonl, line 4") as error:
        read(path)
    assert message in str(error.value)


def test_an_object_over_two_lines_is_refused(tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text(f'{GOOD}\n{{"text":\n"bread"}}\n')
    with pytest.raises(ReadError, match="line 2 is not valid JSON"):
        read(path)


@pytest.mark.parametrize("blank", ["", " ", "\t", "\r", "\x0b", "\u2028", "\xa0 "])
def test_blank_lines_and_blanks_around_a_value_are_passed_over(tmp_path, blank):
    path = tmp_path / "texts.jsonl"
    path.write_text(f"{blank}\n{GOOD}\n{blank}\r\n \t{GOOD} \t\r\n{blank}", encoding="utf-8", newline="")
    assert read_texts(path, [0, 1]) == ["bread and butter"] * 2


@given(st.lists(st.text(), min_size=1), st.sampled_from(["\n", "\r\n", "\n\n"]), st.booleans())
def test_texts_come_as_json_gives_them(tmp_path_factory, texts, end, ascii_only):
    path = tmp_path_factory.mktemp("json") / "texts.jsonl"
    rows = [json.dumps({"text": text} if row % 2 else text, ensure_ascii=ascii_only) for row, text in enumerate(texts)]
    path.write_bytes(end.join(rows).encode("utf-8", "replace"))
    expected = [json.loads(row.encode("utf-8", "replace")) for row in rows]
    expected = [value if isinstance(value, str) else value["text"] for value in expected]
    assert read_texts(path, range(len(texts))) == expected


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("size", [8, 50, 1 << 20])
def test_blocks_of_any_size_give_the_same_lines(tmp_path, monkeypatch, size, packed):
    content = "".join(f"{'é' * (row % 40)}{row}\n" for row in range(300)) + "the last"
    path = tmp_path / "lines.txt"
    path.write_bytes(gzip.compress(content.encode()) if packed else content.encode())
    monkeypatch.setattr(lines, "_BLOCK", size)
    assert list(lines.decoded_lines(path)) == content.splitlines(keepends=True)


@pytest.mark.parametrize("longest", [10, 1 << 21])
def test_a_line_that_is_too_long_is_named_after_those_before_it(tmp_path, longest):
    path = tmp_path / "lines.txt"
    path.write_text("a\nb\n" + "c" * (longest + 1) + "\nd\n")
    found = lines.decoded_lines(path, limits=ReadLimits(document_bytes=longest))
    assert [next(found), next(found)] == ["a\n", "b\n"]
    with pytest.raises(ReadError, match=r"line 3 of .* is longer than"):
        next(found)


def test_a_byte_that_is_not_of_the_encoding_is_named(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_bytes(b"good\ngood\nba\xffd\ngood\n")
    found = lines.decoded_lines(path)
    assert [next(found), next(found)] == ["good\n", "good\n"]
    with pytest.raises(ReadError, match="line 3 is not UTF-8: byte 0xff at position 12"):
        next(found)


@given(st.lists(st.integers(0, 12)), st.integers(1, 20), st.booleans())
def test_runs_of_lines_are_all_lines_once(tmp_path_factory, lengths, step, ended):
    path = tmp_path_factory.mktemp("runs") / "lines.txt"
    content = "".join("x" * length + "\n" for length in lengths) + ("" if ended else "end")
    path.write_text(content)
    starts = lines.line_starts(path, len(content), step)
    spans = [lines.Span(begin, end) for begin, end in pairwise(starts)]
    assert "".join(line for span in spans for line in lines.decoded_lines(path, span=span)) == content
    assert all(begin == 0 or content[begin - 1] == "\n" for begin in starts[:-1])
    assert starts == sorted(set(starts)) or content == ""
