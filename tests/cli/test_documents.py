import json

import numpy as np
import pytest

from stickbreak.cli.documents import InputSettings, read_for_model
from stickbreak.corpus import Corpus, TextOptions, align, read
from stickbreak.exceptions import InputError, ModelFormatError


class Model:
    vocabulary_ = ("bread", "butter", "the")
    text_options_ = None

    def __init__(self, options=None):
        self.text_options_ = options


def text_file(tmp_path, *texts):
    path = tmp_path / "new.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return path


def test_alignment_moves_columns_and_counts_the_rest():
    corpus = Corpus.from_counts([[1, 2, 4, 0], [0, 3, 0, 0]], ["c", "x", "a", "b"], ["p", "q"])
    aligned, outside = align(corpus, ("a", "b", "c", "d"))
    assert aligned.counts.toarray().tolist() == [[4, 0, 1, 0], [0, 0, 0, 0]]
    assert (aligned.words, aligned.names, outside) == (("a", "b", "c", "d"), ("p", "q"), 5)
    assert aligned.counts.has_sorted_indices


def test_alignment_keeps_fractional_weights():
    aligned, outside = align(Corpus.from_counts([[0.5, 0.25]], ["x", "a"]), ("a",))
    assert aligned.counts.toarray().tolist() == [[0.25]]
    assert outside == 0.5


def test_numbered_columns_are_taken_as_they_stand():
    unnamed = Corpus.from_counts([[1, 2]])
    assert align(unnamed, ("a", "b"))[0].words == ("a", "b")
    named = Corpus.from_counts([[1, 2]], ["x", "y"])
    assert align(named, ("w0", "w1"))[0].counts.toarray().tolist() == [[1, 2]]
    with pytest.raises(InputError, match="2 columns, but the model has 3 words"):
        align(unnamed, ("a", "b", "c"))


def test_documents_without_any_common_word_are_refused():
    with pytest.raises(InputError, match="none of the words"):
        align(Corpus.from_counts([[1]], ["x"]), ("a",))


def test_settings_beside_a_model_come_back(tmp_path):
    options = TextOptions(min_df=0.25, ngram_range=(1, 2), token_pattern=r"\w+", lowercase=False)
    InputSettings(text_field="body").remember(tmp_path, None, [1, 1, 1])
    path = tmp_path / "new.csv"
    path.write_text("body,remark,id\nBread the bread,butter,1\n")
    found = read_for_model(path, tmp_path, Model(options), InputSettings())
    assert found.corpus.counts.toarray().tolist() == [[1, 0, 1]]  # the case is kept: "Bread" is another word
    assert found.n_outside is None
    assert found.texts([0]) == ["Bread the bread"]


def test_new_text_is_not_pruned_and_outside_words_are_counted(tmp_path):
    options = TextOptions(min_df=5, max_df=0.1, max_features=1)
    path = text_file(tmp_path, "bread and jam", *["butter"] * 99)
    found = read_for_model(path, tmp_path, Model(options), InputSettings())
    assert found.corpus.counts.toarray().sum(axis=0).tolist() == [1, 99, 0]
    assert found.n_outside == 1  # "jam"; "and" is a stop word
    assert "1 word (1.0%) is not" in found.outside_sentence()


def test_both_ways_of_reading_new_text_agree(tmp_path, documents, model):
    words = read(documents).words[3:20]

    class Some:
        vocabulary_, text_options_ = words, None

    found = read_for_model(documents, model, Some(), InputSettings())
    direct = read(documents, vocabulary=words)
    assert (found.corpus.counts != direct.counts).nnz == 0
    assert found.n_outside == read(documents).n_tokens - direct.n_tokens


def test_given_words_are_counted_even_if_they_are_stop_words(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("bread\nbutter\nthe\n")
    InputSettings(vocabulary=words).remember(tmp_path, None, [1, 1, 1])
    found = read_for_model(text_file(tmp_path, "the bread"), tmp_path, Model(), InputSettings())
    assert found.corpus.counts.toarray().tolist() == [[1, 0, 1]]


def test_a_model_without_settings_reads_with_the_defaults(tmp_path):
    found = read_for_model(text_file(tmp_path, "Bread!"), tmp_path, Model(), InputSettings())
    assert found.corpus.counts.toarray().tolist() == [[1, 0, 0]]


def test_counts_have_no_texts(tmp_path):
    np.savez(tmp_path / "x", [0])
    path = tmp_path / "counts.mtx"
    path.write_text("%%MatrixMarket matrix coordinate integer general\n1 3 1\n1 2 7\n")
    found = read_for_model(path, tmp_path, Model(), InputSettings())
    assert found.texts is None
    assert found.corpus.counts.toarray().tolist() == [[0, 7, 0]]


def test_counts_of_other_words_are_left_out(tmp_path):
    for counts, kept in (([1, 2, 3], (1.0, 2.0, 3.0)), ([1, 2], None)):
        InputSettings().remember(tmp_path, None, counts)
        assert read_for_model(text_file(tmp_path, "bread"), tmp_path, Model(), InputSettings()).fit_counts == kept


def test_counts_that_are_none_are_told(tmp_path):
    for counts in ([1, 1, -1], [1, 1, float("inf")], ["a", "b", "c"], 3):
        InputSettings().remember(tmp_path, None, [1, 1, 1])
        known = json.loads((tmp_path / "input.json").read_text())
        (tmp_path / "input.json").write_text(json.dumps(known | {"word_counts": counts}))
        with pytest.raises(ModelFormatError, match=r"input\.json is damaged"):
            read_for_model(text_file(tmp_path, "bread"), tmp_path, Model(), InputSettings())


@pytest.mark.parametrize("text", ["{", "{}", '{"version": 99}', "[]", '{"version": 1, "text": {"x": 1}}'])
def test_damaged_settings_are_told(tmp_path, text):
    (tmp_path / "input.json").write_text(text)
    with pytest.raises(ModelFormatError, match=r"input\.json"):
        read_for_model(text_file(tmp_path, "bread"), tmp_path, Model(), InputSettings())
