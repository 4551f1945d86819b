import json
from pathlib import Path

import numpy as np
import pytest

from stickbreak.corpus import Corpus
from stickbreak.evaluation import coherence, coherence_of_words
from stickbreak.exceptions import InputError
from stickbreak.prediction.words import top_word_indices

CASES = json.loads((Path(__file__).parents[1] / "data" / "evaluation.json").read_text())["coherence"]


def corpus_of(documents, n_words=5):
    counts = np.zeros((len(documents), n_words), dtype=int)
    for d, words in enumerate(documents):
        counts[d, words] = 1 + d  # only the presence of a word may matter
    return Corpus.from_counts(counts)


def topic_with_top(words, n_words=5):
    row = np.full(n_words, 1e-3)
    row[words] = np.linspace(1.0, 0.5, len(words))
    return row / row.sum()


@pytest.mark.parametrize("case", CASES)
def test_coherence_agrees_with_the_oracle(case):
    value = coherence([topic_with_top(case["top"])], corpus_of(case["docs"]), n_words=len(case["top"]), eps=case["eps"])
    assert value == pytest.approx([case["value"]], abs=case["tol"])


def test_coherence_of_a_single_word_is_nan():
    assert np.isnan(coherence([[1.0], [1.0]], Corpus.from_counts(np.ones((2, 1), dtype=int)))).all()


def test_top_words_break_ties_by_index():
    assert top_word_indices(np.array([[1.0, 2.0, 1.0, 2.0, 1.0]]), 3).tolist() == [[1, 3, 0]]


def slow_coherence(top, corpus, eps):
    present = corpus.counts.toarray() > 0
    value = 0.0
    for m in range(1, len(top)):
        for earlier in range(m):
            both = (present[:, top[m]] & present[:, top[earlier]]).sum()
            value += np.log((both + eps) / max(present[:, top[earlier]].sum(), 1))
    return value


def test_coherence_of_words_given_in_order_counts_documents(seed):
    rng = np.random.default_rng(seed)
    density = np.append(rng.uniform(0, 0.05, 20), rng.uniform(0.3, 1, 12))  # lists of very different lengths
    corpus = Corpus.from_counts((rng.random((300, 32)) < density) * rng.integers(1, 4, (300, 32)))
    top = np.array([rng.permutation(32)[:6] for _ in range(40)])
    expected = [slow_coherence(words, corpus, 0.5) for words in top]
    np.testing.assert_allclose(coherence_of_words(top, corpus, 0.5), expected, rtol=1e-12)


def test_coherence_of_a_hundred_thousand_topics_is_that_of_each(seed):
    corpus = Corpus.from_counts(np.random.default_rng(seed).poisson(0.3, (50, 40)))
    few = np.array([np.random.default_rng(k).permutation(40)[:10] for k in range(20)])
    many = coherence_of_words(np.tile(few, (5000, 1)), corpus)
    np.testing.assert_array_equal(many, np.tile(coherence_of_words(few, corpus), 5000))


def test_coherence_of_no_topic_or_of_lists_of_one_word_has_no_value():
    corpus = corpus_of([[0, 1]])
    assert coherence_of_words(np.zeros((0, 3), dtype=int), corpus).shape == (0,)
    assert np.isnan(coherence_of_words(np.array([[1], [0]]), corpus)).all()
    with pytest.raises(InputError, match="eps is 0"):
        coherence_of_words(np.array([[0, 1]]), corpus, 0.0)
