"""JSON that is not on lines: arrays, and the columns of a data frame."""

import gzip
import json

import pandas as pd
import pytest

from stickbreak.corpus import ReadLimits, TextOptions, read, read_texts
from stickbreak.corpus.reading import json_text as module
from stickbreak.exceptions import ReadError

ALL = TextOptions(min_df=1, max_df=1.0, stop_words=None)
TEXTS = ["bread and\nbutter", "", 'salt "é" \\ {[jam', "[1, 2]"]


@pytest.fixture(params=[1, 7, 1 << 16])
def piece(request, monkeypatch):
    """Texts come in pieces of any size."""
    from stickbreak.corpus.reading import files

    monkeypatch.setattr(files, "_PIECE", request.param)
    monkeypatch.setattr(module, "_FIRST_PIECE", request.param)


def frame():
    return pd.DataFrame(
        {"n": [1.5, 2, 3, 4], "id": list("abcd"), "text": TEXTS, "other": [[1], {"text": "x"}, None, "z"]}
    )


@pytest.mark.usefixtures("piece")
@pytest.mark.parametrize("settings", [{}, {"orient": "records"}, {"orient": "records", "indent": 2}, {"indent": 1}])
@pytest.mark.parametrize("name", ["d.json", "d.json.gz", "d.jsonl"])
def test_what_pandas_writes_is_read(tmp_path, settings, name):
    content = frame().to_json(**settings).encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    assert read(tmp_path / name, text=ALL).names == tuple("abcd")
    assert read_texts(tmp_path / name, [3, 0, 1, 2]) == [TEXTS[3], *TEXTS[:3]]


@pytest.mark.usefixtures("piece")
def test_arrays_hold_strings_objects_and_nulls(tmp_path):
    (tmp_path / "d.json").write_text(' \n[ "bread" ,{"text":null}\n,\t{"text": "jam", "x": [[{}], -1.5e3, true]}] \n')
    assert read_texts(tmp_path / "d.json", [0, 1, 2]) == ["bread", "", "jam"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "holds no documents"),
        ("[", "element 1 .* the file ends too early"),
        ('["bread",', "element 2 .* the file ends too early"),
        ('["bread"', "after element 1, is not valid JSON .the file ends too early"),
        ('["bread",]', "element 2 .* is not valid JSON"),
        ('["bread" "jam"]', "after element 1, is not valid JSON"),
        ('["bread"]\n["jam"]', "line 2: more text follows the end of the JSON array"),
        ('["bread", 12]', "element 2 .* holds a JSON number"),
        ('["bread", tru]', "element 2 .* is not valid JSON"),
        ('[{"text": "bread"},\n{"tex": "jam"}]', "element 2 .line 2. has no field 'text'"),
        ('["bread", ' + "9" * 5000 + "]", "element 2 .* too many digits"),
        ('[{"text": [1]}]', "'text' holds a JSON array, not a string"),
        ('{"a": {"0": "x"}, "b": {"0": "y"}}', "not clear which field .* 'a', 'b'"),
        ('{"text": {"0": "x", "1": 5}}', "row '1': the field 'text' holds a JSON number"),
        (json.dumps({"text": "bread"}, indent=1), "line 1 begins a JSON object that ends on a later line"),
        ('{"data": [{"text": "bread"}]}', "holds one object with the list 'data' inside"),
    ],
)
def test_other_json_is_refused_by_place(tmp_path, content, message):
    (tmp_path / "d.json").write_text(content)
    with pytest.raises(ReadError, match=message):
        read(tmp_path / "d.json", text=ALL)


def test_a_list_and_no_text_in_the_first_of_many_records_is_not_a_wrapper(tmp_path):
    (tmp_path / "d.jsonl").write_text('{"tags": ["a"], "body": null}\n{"tags": [], "body": "jam"}\n')
    with pytest.raises(ReadError, match=r"not clear which field holds the text.*'tags', 'body'"):
        read(tmp_path / "d.jsonl", text=ALL)
    (tmp_path / "e.jsonl").write_text('{"tags": ["a"], "text": null}\n{"tags": [], "text": "jam"}\n')
    assert read_texts(tmp_path / "e.jsonl", [0, 1]) == ["", "jam"]


def test_lines_that_hold_objects_only_stay_lines(tmp_path):
    (tmp_path / "d.jsonl").write_text('{"meta": {"a": "b"}, "text": "bread"}\n{"meta": {}, "text": "jam"}\n')
    assert read_texts(tmp_path / "d.jsonl", [0, 1]) == ["bread", "jam"]


def test_an_element_has_a_limit_and_the_array_has_none(tmp_path):
    (tmp_path / "d.json").write_text(json.dumps(["bread " * 10] * 100))
    assert read(tmp_path / "d.json", text=ALL, limits=ReadLimits(document_bytes=70)).n_documents == 100
    with pytest.raises(ReadError, match=r"element 1 .line 1. is longer than 50 bytes; .*--max-document-bytes"):
        read(tmp_path / "d.json", text=ALL, limits=ReadLimits(document_bytes=50))
