"""How new documents are read for a model, and how they are counted in its words."""

import json

import numpy as np
import pytest

import stickbreak
from stickbreak.cli.documents import Documents
from stickbreak.corpus import TextOptions, read
from stickbreak.exceptions import ModelFormatError


class Model:
    vocabulary_ = ("bread", "butter", "the")

    def __init__(self, options=None, **reading):
        self.text_options_, self._reading = options, reading or None


def text_file(tmp_path, *texts):
    path = tmp_path / "new.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return path


def test_what_a_model_remembers_reads_new_documents(tmp_path):
    options = TextOptions(min_df=0.25, ngram_range=(1, 2), token_pattern=r"\w+", lowercase=False)
    path = tmp_path / "new.csv"
    path.write_text("body,remark,id\nBread the bread,butter,1\n")
    found = Documents.read_for(path, Model(options, settings={"text_field": "body"}, suffix=".csv"), {})
    assert found.corpus.counts.toarray().tolist() == [[1, 0, 1]]  # the case is kept: "Bread" is another word
    assert found.n_outside is None
    assert found.texts([0]) == ["Bread the bread"]


def test_a_delimiter_is_that_of_files_with_the_same_ending(tmp_path):
    model = Model(settings={"delimiter": ";", "format": "csv"}, suffix=".table")
    for name, text in (("new.table", "text;n\nbread;1\n"), ("new.csv", "text,n\nbread,1\n")):
        (tmp_path / name).write_text(text)
        assert Documents.read_for(tmp_path / name, model, {}).texts([0]) == ["bread"]
    (tmp_path / "new.table").write_text("text!n\nbread!1\n")
    assert Documents.read_for(tmp_path / "new.table", model, {"delimiter": "!"}).texts([0]) == ["bread"]


def test_new_text_is_not_pruned_and_outside_words_are_counted(tmp_path):
    options = TextOptions(min_df=5, max_df=0.1, max_features=1)
    path = text_file(tmp_path, "bread and jam", *["butter"] * 99)
    found = Documents.read_for(path, Model(options), {})
    assert found.corpus.counts.toarray().sum(axis=0).tolist() == [1, 99, 0]
    assert found.n_outside == 1  # "jam"; "and" is a stop word
    assert "1 word (1.0%) is not" in found.outside_sentence()


def test_both_ways_of_reading_new_text_agree(documents):
    model = Model()
    model.vocabulary_ = read(documents).words[3:20]
    found = Documents.read_for(documents, model, {})
    direct = read(documents, vocabulary=model.vocabulary_)
    assert (found.corpus.counts != direct.counts).nnz == 0
    assert found.n_outside == read(documents).n_tokens - direct.n_tokens


def test_given_words_are_counted_even_if_they_are_stop_words(tmp_path):
    found = Documents.read_for(text_file(tmp_path, "the bread"), Model(fixed_vocabulary=True), {})
    assert found.corpus.counts.toarray().tolist() == [[1, 0, 1]]


def test_counts_of_other_words_are_left_out(tmp_path):
    path = text_file(tmp_path, "bread")
    assert Documents.read_for(path, Model(word_counts=np.array([1.0, 2.0])), {}).fit_counts is None
    found = Documents.read_for(path, Model(word_counts=np.array([1.0, 2.0, 3.0])), {})
    assert found.fit_counts.tolist() == [1, 2, 3]


@pytest.mark.parametrize("counts", [[1, 1, -1], [1, 1, float("inf")], ["a", "b", "c"], 3])
def test_counts_that_are_none_are_told(tmp_path, counts):
    found = Documents.read_for(text_file(tmp_path, "bread"), Model(word_counts=np.array(counts)), {})
    with pytest.raises(ModelFormatError, match="damaged"):
        _ = found.fit_counts


@pytest.mark.parametrize("damage", [3, [3], {"mapping": [["settings", 3]]}, {"array": "nothing"}])
def test_damaged_memory_is_told(refuse, model, documents, tmp_path, damage):
    for name in ("model.json", "arrays.safetensors"):
        (tmp_path / name).write_bytes((model / name).read_bytes())
    head = json.loads((tmp_path / "model.json").read_text())
    head["meta"]["reading"] = damage
    (tmp_path / "model.json").write_text(json.dumps(head))
    line = refuse("transform", tmp_path, documents)
    assert "damaged" in line or "lacks" in line


def test_what_is_remembered_goes_with_the_model(run, model, documents, tmp_path):
    loaded = stickbreak.load(model)
    assert loaded._reading["suffix"] == ".jsonl"
    loaded.save(tmp_path / "again")
    again = stickbreak.load(tmp_path / "again")._reading
    assert again["word_counts"].tolist() == loaded._reading["word_counts"].tolist()
    assert loaded.fit(read(documents))._reading is None  # another fit, whose documents no command has read
