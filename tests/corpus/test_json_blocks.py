"""JSON lines by the kernel beside `json_records`: the same documents, the same errors."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from stickbreak.corpus.metadata import Gatherer
from stickbreak.corpus.reading import json_blocks as room
from stickbreak.corpus.reading.fields import Asked
from stickbreak.corpus.reading.json_blocks import json_blocks
from stickbreak.corpus.reading.json_sources import json_line_fields, json_records
from stickbreak.corpus.reading.limits import DEFAULT_LIMITS
from stickbreak.corpus.reading.lines import Span
from stickbreak.corpus.reading.text_blocks import blocks_of
from stickbreak.exceptions import ReadError

CHARACTERS = st.sampled_from('abXY 01\\"/\n\t\r\b\f\x00\x7fé\u0301ßΣ語\u2028😀\ud83d\ude00\ud800')
STRINGS = st.text(CHARACTERS, max_size=8)
NUMBERS = st.sampled_from(
    "0 7 -0 123456789012345678 1234567890123456789 1.5 -2e3 1E+2 0.0 01 1. .5 - 1e NaN -Infinity +1".split()
)
SCALARS = st.sampled_from(["true", "false", "null", "nul", "tru", "True", "falsey"])
NESTED = st.sampled_from(['{"a": 1}', "[1, 2]", "[]", '{"text": "inside"}'])
ESCAPED = st.sampled_from(
    [
        r'"\u00e9A"',
        r'"\ud83d\ude00"',
        r'"\ude00\ud83d"',
        r'"\uD83Dx"',
        r'"\/\b\f\n\r\t\"\\"',
        r'"\x"',
        r'"\u12"',
        r'"\u12G4"',
    ]
)


@st.composite
def written(draw: Any, value: str) -> str:
    return draw(st.sampled_from(["", "", " ", "\t", "\r"])) + value + draw(st.sampled_from(["", "", " "]))


@st.composite
def values(draw: Any) -> str:
    if draw(st.integers(0, 4)):
        return json.dumps(draw(STRINGS), ensure_ascii=draw(st.booleans()))
    return draw(st.one_of(NUMBERS, SCALARS, NESTED, ESCAPED, st.just('"a\tb"'), st.just('"open')))


@st.composite
def lines(draw: Any) -> str:
    kind = draw(st.integers(0, 30))
    if kind == 0:
        return draw(st.sampled_from(["", " ", "\u2003", '"bare"', "3", "{}", "null", "{", '{"text": "a"} x', "[]"]))
    keys = draw(st.permutations(["text", "id", "when", "other"]))
    keys = keys[: draw(st.integers(2, 4))] + draw(st.sampled_from([[], [], [], ["text"], ["id"]]))
    names = [r'"te\u0078t"' if key == "text" and not draw(st.integers(0, 9)) else json.dumps(key) for key in keys]
    members = [draw(written(name)) + ":" + draw(written(draw(values()))) for name in names]
    return draw(written("{" + ",".join(members) + draw(st.sampled_from(["}"] * 20 + ["", ",}", "}}"]))))


def told(blocks: Iterator[Any], keep: tuple[str, ...]) -> Any:
    """Return all that blocks say, or the error."""
    documents: list[Any] = []
    gatherer = Gatherer(keep)
    n = 0
    try:
        for block in blocks:
            names = block.names.split(b"\n")[:-1]
            assert block.n_named == sum(name != b"" for name in names)
            texts = list(block.texts())
            assert len(texts) == len(names) == block.plain.size
            assert [text.isascii() for text in texts] == block.plain.tolist()
            documents += zip(names, texts, strict=True)
            n += len(texts)
            if isinstance(block.kept, dict):
                gatherer.add_columns(block.kept, len(texts))
            else:
                for kept in block.kept:
                    gatherer.add(kept)
    except ReadError as error:
        return str(error)
    gathered = gatherer.gathered()
    assert gathered.n_rows == n
    return documents, gathered.table.to_pydict()


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")  # halves of characters are no UTF-8


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(lines(), min_size=1, max_size=12), st.sampled_from([(), ("when",), ("when", "id")]), st.booleans())
@example(['{"id": 7, "text": "a"}', '{"id": "x", "text": "b", "text": "c"}', '{"id": "", "text": null}'], (), True)
@example(['{"id": "x", "text": "b", "wh\\u0065n": "2024-02"}', '{"id": "y", "text": "c", "when": 3}'], ("when",), True)
@example(['{"id": "x", "text": "a\tb"}', '{"id": "y", "text": "c"}'], (), True)
@example(['{"id": "x", "te\txt": "a", "text": "b"}'], (), True)
@example(['{"id": "x", "text": "b", "text2": "c", "tex": "d", "ids": 3, "i": 4}'], (), True)
@example(['{"id": "x", "text": "b"]', '{"id": "y", "text": "c"}'], (), True)
@example(['{"id": "x", "text": "b" "when": "c"}', '{"id": "x", "text": "b"}'], ("when",), True)
def test_the_kernel_reads_what_python_reads(
    tmp_path: Path, some: list[str], keep: tuple[str, ...], closed: bool
) -> None:
    path = tmp_path / "texts.jsonl"
    start = '{"id": "first", "text": "bread", "when": "2024-01"}\n' * 12
    path.write_bytes(encoded(start + "\n".join(some) + ("\n" if closed else "")))
    asked = Asked(None, None, keep)
    known = json_line_fields(path, asked, "utf-8")
    assert known is not None
    for share in (0.0, 1.0):
        room._MOST_OTHERS = share
        for span, fields in ((None, None), (Span(0, path.stat().st_size), known)):
            found = told(json_blocks(path, asked, "utf-8", DEFAULT_LIMITS, span, fields), keep)
            expected = told(blocks_of(json_records(path, asked, "utf-8", DEFAULT_LIMITS, span, fields)), keep)
            assert found == expected


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.text(), st.text(), st.booleans()), min_size=1, max_size=12))
@example([("\U00010000", "\U0010fc00\U0001f600", True)])  # the ends of the range of second halves
def test_any_text_is_read_as_it_was_written(tmp_path: Path, some: list[tuple[str, str, bool]]) -> None:
    written = [json.dumps({"text": text, "when": when}, ensure_ascii=ascii_only) for text, when, ascii_only in some]
    path = tmp_path / "texts.jsonl"
    path.write_bytes(encoded("\n".join([*written, '{"text": "bread", "when": ""}'])))
    room._MOST_OTHERS = 1.0
    documents, _ = told(json_blocks(path, Asked(None, None, ("when",)), "utf-8", DEFAULT_LIMITS), ("when",))
    halves = str.maketrans(dict.fromkeys(range(0xD800, 0xE000), "?"))
    expected = [*((text, when) for text, when, _ in some), ("bread", "")]
    assert [text.translate(halves) for _, text in documents] == [text.translate(halves) for text, _ in expected]


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_MOST_OTHERS", room._MOST_OTHERS)


@pytest.mark.parametrize(
    "content", ['[{"text": "a"}, {"text": "b"}]', '{"data": [{"text": "a"}]}', '{"text": {"0": "a"}}']
)
def test_other_json_is_read_as_before(tmp_path: Path, content: str) -> None:
    path = tmp_path / "texts.json"
    path.write_text(content)
    found = told(json_blocks(path, Asked(), "utf-8", DEFAULT_LIMITS), ())
    assert found == told(blocks_of(json_records(path, Asked(), "utf-8", DEFAULT_LIMITS)), ())


def test_flat_lines_are_left_to_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "texts.jsonl"
    flat = '{"id": 3, "text": "a\\nb", "n": 1.5}\n', ' { "n" : null ,\t"text" : "é", "id":"x","more":true}\r\n'
    path.write_text('{"id": 3, "text": "a\\nb", "n": [1]}\n' + "".join(flat) * 15, encoding="utf-8", newline="")
    by_python: list[Any] = []
    real = room.records_of_lines
    monkeypatch.setattr(room, "records_of_lines", lambda *a, **b: by_python.append(a[4]) or real(*a, **b))
    blocks = list(json_blocks(path, Asked(), "utf-8", DEFAULT_LIMITS))
    assert by_python == [(1, '{"id": 3, "text": "a\\nb", "n": [1]}\n')]
    assert sum(block.ends.size for block in blocks) == 31


def test_lines_that_are_decoded_one_by_one_are_scanned_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "texts.jsonl"
    texts = [f"häuser {number}" for number in range(200)]
    path.write_bytes("\n".join(json.dumps({"text": text}, ensure_ascii=False) for text in texts).encode("cp1252"))
    fields = json_line_fields(path, Asked(), "cp1252")
    for least, most in ((1 << 20, 1), (100, 60)):
        monkeypatch.setattr(room, "_AT_ONCE", least)
        blocks = list(json_blocks(path, Asked(), "cp1252", DEFAULT_LIMITS, Span(0, path.stat().st_size), fields))
        assert [text for block in blocks for text in block.texts()] == texts
        assert most / 2 < len(blocks) <= most
