"""Files and settings of strangers: endless patterns, dictionaries that repeat, odd dates, own folders."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stickbreak.corpus import Corpus, ReadLimits, TextOptions, read, words, write_corpus
from stickbreak.corpus.text import count_texts
from stickbreak.exceptions import InputError, ReadError

ALL = TextOptions(min_df=1, max_df=1.0, stop_words=None)


@pytest.mark.parametrize("phrases", [False, True])
def test_a_pattern_that_does_not_end_is_refused_and_the_advice_works(monkeypatch, phrases):
    monkeypatch.setattr(words, "_PATIENCE", 0.2)
    texts = [f"{'a' * 60}! ship sea", "ship sea storm"] * 3
    with pytest.raises(InputError, match="has searched one text of 70 characters") as error:
        count_texts(texts, TextOptions(token_pattern=r"(?:\w|\w\w)+$(?<!\w)", phrases=phrases))
    advice = str(error.value).split("as in ")[1].split(",")[0]
    monkeypatch.undo()
    assert "ship" in count_texts(texts, TextOptions(token_pattern=advice, phrases=phrases)).words


@pytest.mark.parametrize("column", ["text", "id", "note"])
def test_texts_that_a_dictionary_repeats_count_each_time(tmp_path, column):
    columns = {name: ["salt"] * 500 for name in ("text", "id", "note")} | {column: ["bread " * 1000] * 500}
    path = tmp_path / "d.parquet"
    pq.write_table(pa.table(columns), path)
    settings = {"text": ALL, "text_field": "text", "name_field": "id", "keep": ["note"]}
    with pytest.raises(ReadError, match=r"unpacks to more than .*--max-unpacked-bytes"):
        read(path, **settings, limits=ReadLimits(unpacked_bytes=1_000_000))
    assert read(path, **settings, limits=ReadLimits(unpacked_bytes=10_000_000)).n_documents == 500


def test_a_time_that_greenwich_cannot_have_is_text(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("text,when\nsalt,0001-01-01T00:00+14:00\nbread,9999-12-31T23:59-12:00\n")
    assert read(path, keep="all", text=ALL).metadata["when"].to_pylist()[0] == "0001-01-01T00:00+14:00"


def test_folders_that_stickbreak_wrote_are_not_texts(tmp_path, caplog):
    (tmp_path / "a.txt").write_text("salt bread")
    (tmp_path / "in").mkdir()
    write_corpus(Corpus.from_counts([[1, 2]], ["salt", "bread"]), tmp_path / "in" / "counts")
    (tmp_path / "model").mkdir()
    for name in ("model.json", "arrays.safetensors", "report.html"):
        (tmp_path / "model" / name).write_text("{}")
    assert read(tmp_path, text=ALL).names == ("a.txt",)
    assert "in/counts/, model/" in caplog.text
