"""Every estimator among its neighbours: scikit-learn's tools, pickle, saved models in another process."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import stickbreak

TEXTS = [
    "the cat chased a mouse",
    "a dog barked at the cat",
    "mouse and cat and dog",
    "stocks fell as markets closed",
    "markets rose and stocks rose",
    "investors sold stocks today",
] * 3

LOAD_AND_ASK = """
import sys
from pathlib import Path
import numpy as np
from scipy import sparse
import stickbreak
counts = sparse.load_npz(sys.argv[1])
for folder in map(Path, sys.argv[2:]):
    model = stickbreak.load(folder / "model")
    np.savez(folder / "answers.npz", transform=model.transform(counts), expected=model.expected_weights(counts),
             score=model.score(counts), topics=model.topic_word_, weights=model.topic_weights_, top=model.top_words(3))
"""


def test_pipeline_after_a_count_vectorizer_finds_topics(entry):
    pipeline = make_pipeline(CountVectorizer(), entry.make())
    weights = pipeline.fit_transform(TEXTS)
    assert weights.shape == (len(TEXTS), pipeline[-1].n_topics_)
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    np.testing.assert_array_equal(pipeline.transform(TEXTS), weights)
    assert pipeline.score(TEXTS) < 0
    assert len(pipeline.get_feature_names_out()) == pipeline[-1].n_topics_
    words = pipeline[0].get_feature_names_out()
    assert {word for row in pipeline[-1].top_words(2, vocabulary=words) for word in row} <= set(words)


def test_saved_model_comes_back_whole(entry, model, corpus, tmp_path, assert_same_fit):
    model.save(tmp_path / "model")
    loaded = stickbreak.load(tmp_path / "model")
    assert type(loaded) is type(model)
    assert_same_fit(loaded, model)
    assert loaded.get_params() == model.get_params()
    assert loaded.trace_["n_topics"].dtype == model.trace_["n_topics"].dtype
    np.testing.assert_array_equal(loaded.trace_["seconds"], model.trace_["seconds"])
    np.testing.assert_array_equal(loaded.transform(corpus), model.transform(corpus))


def test_saved_model_keeps_the_names_of_a_data_frame(entry, corpus, tmp_path):
    import pandas as pd

    table = pd.DataFrame(corpus.counts.toarray(), columns=corpus.vocabulary)
    model = entry.make().fit(table)
    model.save(tmp_path / "model")
    loaded = stickbreak.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.transform(table), model.transform(table))
    assert list(loaded.feature_names_in_) == list(corpus.vocabulary)
    with pytest.raises(ValueError, match="feature names"):
        loaded.transform(table[table.columns[::-1]])


@pytest.mark.long  # which loads or compiles the kernels of all
def test_saved_models_give_the_same_bits_in_a_fresh_process(models, corpus, tmp_path, fresh_python):
    from scipy import sparse

    for name, model in models.items():
        (tmp_path / name).mkdir()
        model.save(tmp_path / name / "model")
    sparse.save_npz(tmp_path / "counts.npz", corpus.counts)
    fresh_python(LOAD_AND_ASK, tmp_path / "counts.npz", *(tmp_path / name for name in models))
    for name, model in models.items():
        with np.load(tmp_path / name / "answers.npz") as answers:
            np.testing.assert_array_equal(answers["transform"], model.transform(corpus), err_msg=name)
            np.testing.assert_array_equal(answers["expected"], model.expected_weights(corpus), err_msg=name)
            np.testing.assert_array_equal(answers["topics"], model.topic_word_, err_msg=name)
            np.testing.assert_array_equal(answers["weights"], model.topic_weights_, err_msg=name)
            assert float(answers["score"]) == model.score(corpus), name
            assert answers["top"].tolist() == model.top_words(3), name
