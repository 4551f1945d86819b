"""Models of words take texts wherever they take counts, and count them as their fit did."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from fuzz.models import weights
from scipy import sparse
from tests.contract.small import FACES_OF_WORDS, unfitted

import stickbreak
from stickbreak.corpus import Corpus, TextOptions, count_texts
from stickbreak.exceptions import InputError, InvalidCorpus, ModelFormatError

WORDS = "bread butter salt jam honey ship sail harbour anchor storm".split()
TEXTS = [" ".join(np.random.default_rng(d).choice(WORDS[5 * (d % 2) :][:5], 30)) for d in range(60)]
NEW = ["The ship and its sail, and an unknown lighthouse.", "Jam! Honey.", ""]
OPTIONS = TextOptions(stop_words=("salt",), min_df=2, lowercase=False)


FRAMES = {
    "pandas": lambda texts: pd.DataFrame({"n": range(len(texts)), "body": texts}),
    "Arrow table": lambda texts: pa.table({"n": list(range(len(texts))), "body": texts}),
}


def same(left, right):
    np.testing.assert_array_equal(*(one.toarray() if sparse.issparse(one) else one for one in (left, right)))


@pytest.mark.parametrize("name", FACES_OF_WORDS)
def test_fit_to_texts_is_the_fit_to_their_counts(name):
    model, expected = unfitted(name).fit(TEXTS), unfitted(name).fit(count_texts(TEXTS))
    counts = count_texts(NEW, vocabulary=expected.vocabulary_)
    same(weights(model, NEW), weights(expected, counts))
    assert model.vocabulary_ == expected.vocabulary_ == tuple(sorted(WORDS))
    assert model.score(TEXTS) == expected.score(count_texts(TEXTS))
    counts = count_texts(TEXTS[:4], vocabulary=expected.vocabulary_)
    found = model.left_to_right(TEXTS[:4], n_particles=2).perplexity
    assert found == expected.left_to_right(counts, n_particles=2).perplexity
    assert unfitted(name).starting_topics(TEXTS) == unfitted(name).starting_topics(count_texts(TEXTS))


@pytest.mark.parametrize("name", FACES_OF_WORDS)
def test_loaded_model_counts_new_texts_as_its_fit_did(name, tmp_path):
    model = unfitted(name).fit(TEXTS, options=OPTIONS)
    assert "salt" not in model.vocabulary_
    assert model.text_options_ == OPTIONS
    model.save(tmp_path / "model")
    loaded = stickbreak.load(tmp_path / "model")
    assert loaded.text_options_ == OPTIONS
    same(loaded.transform(NEW), model.transform(NEW))
    assert not count_texts(["SHIP"], loaded.text_options_, vocabulary=loaded.vocabulary_).n_tokens  # case is kept
    same(loaded.transform(["SHIP"]), loaded.transform([""]))


@pytest.mark.parametrize("name", FACES_OF_WORDS)
def test_fit_goes_on_with_the_same_texts(name):
    model = unfitted(name).fit(TEXTS, options=OPTIONS)
    expected = unfitted(name).fit(count_texts(TEXTS, OPTIONS))
    same(
        weights(model.continue_fit(TEXTS, n_laps=1), NEW),
        weights(expected.continue_fit(count_texts(TEXTS, OPTIONS), n_laps=1), NEW),
    )
    with pytest.raises(InputError, match="differs in its"):
        model.continue_fit(TEXTS[1:], n_laps=1)


@pytest.mark.parametrize("name", ["VariationalHDP", "HybridHDP", "OnlineHDP"])
def test_stream_of_texts(name):
    fixed = {"learn": ()} if name == "VariationalHDP" else {}
    model, expected = unfitted(name, **fixed), unfitted(name, **fixed)
    for part in (TEXTS[:40], TEXTS[40:]):
        model.partial_fit(part)
        known = getattr(expected, "vocabulary_", None)
        expected.partial_fit(count_texts(part, vocabulary=known))
    same(model.transform(NEW), expected.transform(count_texts(NEW, vocabulary=expected.vocabulary_)))


def test_stream_whose_words_may_grow_takes_new_words_of_texts():
    model = unfitted("HybridHDP", grow_vocabulary=True).partial_fit(TEXTS)
    n = len(model.vocabulary_)
    model.partial_fit(["lighthouse bread lighthouse", "the lighthouse and the ship"] * 3)
    assert model.vocabulary_[:n] == tuple(sorted(WORDS))
    assert model.vocabulary_[n:] == ("lighthouse",)
    tokens = model.components_.sum(axis=0) - model.n_topics_ * model.eta_
    assert tokens[n] > 0
    assert model.transform(NEW).shape[0] == 3


@pytest.mark.parametrize("form", FRAMES)
def test_column_of_a_data_frame_is_remembered(form, tmp_path):
    expected = unfitted("TopicModel").fit(TEXTS)
    model = unfitted("TopicModel").fit(FRAMES[form](TEXTS), text="body")
    same(model.components_, expected.components_)
    model.save(tmp_path / "model")
    loaded = stickbreak.load(tmp_path / "model")
    assert loaded.text_column_ == "body"
    same(loaded.transform(FRAMES[form](NEW)), expected.transform(NEW))
    same(unfitted("TopicModel").fit_transform(FRAMES[form](TEXTS), text="body"), expected.transform(TEXTS))
    with pytest.raises(InputError, match="no column 'text'; name one of 'n', 'body'"):
        model.fit(FRAMES[form](TEXTS), text="text")
    with pytest.raises(InvalidCorpus, match="column 'n' of the data frame holds no texts"):
        model.fit(FRAMES[form](TEXTS), text="n")
    assert model.fit(TEXTS).text_column_ is None


def test_options_follow_a_corpus_through_selections_and_a_folder(tmp_path):
    corpus = count_texts(TEXTS, OPTIONS)
    for part in (
        corpus[3:],
        corpus[[1, 2]],
        corpus.split()[0],
        corpus.halves()[0],
        Corpus.from_counts(corpus, names=TEXTS),
    ):
        assert part.text_options == OPTIONS
    stickbreak.corpus.write_corpus(corpus, tmp_path / "corpus")
    assert stickbreak.corpus.open_corpus(tmp_path / "corpus").text_options == OPTIONS
    model = unfitted("TopicModel").fit(stickbreak.corpus.open_corpus(tmp_path / "corpus"))
    assert model.transform(NEW).shape[0] == 3
    assert Corpus.from_counts(corpus.counts).text_options is None


@pytest.mark.parametrize(
    ("key", "value"), [("column", 3), ("options", {"min_df": "many"}), ("options", {"a": 1}), ("options", 5)]
)
def test_damaged_options_of_a_model_are_refused(tmp_path, key, value):
    unfitted("TopicModel").fit(TEXTS).save(tmp_path / "model")
    file = tmp_path / "model" / "model.json"
    head = json.loads(file.read_text())
    head["meta"]["texts"][key] = value
    file.write_text(json.dumps(head))
    with pytest.raises(ModelFormatError, match="damaged"):
        stickbreak.load(tmp_path / "model")
