"""JSON lines are scanned many at once; what is wrong with one is told as if it were read alone."""

import gzip
import json
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stickbreak.corpus import ReadLimits, read, read_texts
from stickbreak.corpus.reading import lines
from stickbreak.corpus.reading.decoding import is_utf8
from stickbreak.corpus.reading.limits import DEFAULT_LIMITS
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


NEAR_UTF8 = st.sampled_from([b"a", b"\n", b"\xc3\xa9", b"\xe8\xaa\x9e", b"\xf0\x9f\x98\x80"]) | st.sampled_from(
    [b"\xed\xa0\x80", b"\xc0\x80", b"\xe0\x80\x80", b"\xf4\x90\x80\x80", b"\xff", b"\xe2\x82", b"\x80", b"\xef\xbb\xbf"]
)


@given(st.binary(max_size=8) | st.lists(NEAR_UTF8, max_size=8).map(b"".join))
def test_arrow_and_python_agree_on_what_is_utf8(content):
    try:
        content.decode()
    except UnicodeDecodeError:
        assert not is_utf8(content)
    else:
        assert is_utf8(content)


def all_of(blocks):
    """Give what blocks of lines hold, each with its number, and the error at their end."""
    found = []
    try:
        for number, block in blocks:
            text = block if isinstance(block, bytes) else block.encode("utf-8", "surrogatepass")
            found += enumerate(text.splitlines(keepends=True), start=number)
    except ReadError as error:
        return found, str(error)
    return found, None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(NEAR_UTF8, max_size=30).map(b"".join),
    st.sampled_from(["utf-8", "UTF8", "utf-8-sig", "ascii", "latin-1", "cp1252"]),
    st.sampled_from([4, 20, 1 << 20]),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
)
def test_lines_in_utf8_are_the_decoded_lines(tmp_path_factory, content, encoding, size, mark):
    path = tmp_path_factory.mktemp("lines") / "lines.txt"
    path.write_bytes(mark + content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_BLOCK", size)
        begin = content.find(b"\n", len(content) // 2) + 1 + len(mark)
        for span in (None, lines.Span(begin, len(mark + content), line=7)):
            for limits in (DEFAULT_LIMITS, ReadLimits(document_bytes=6)):
                of_bytes = all_of(lines.utf8_blocks(path, encoding, limits, span))
                assert of_bytes == all_of(lines.decoded_blocks(path, encoding, limits, span))


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
