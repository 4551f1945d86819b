"""Scores of topics against values of a peer, a slow twin, and sums by hand."""

import json
from pathlib import Path

import numpy as np
import pytest

from stickbreak.corpus import Corpus
from stickbreak.evaluation import (
    c_npmi,
    c_v,
    coherence,
    exclusivity,
    npmi,
    topic_diversity,
    unigram_completion,
)
from stickbreak.prediction import word_pairs
from stickbreak.prediction.word_pairs import WordPairs, word_sequences

PEERS = json.loads((Path(__file__).parents[1] / "data" / "coherence_peers.json").read_text())
WORDS = sorted({word for text in (*PEERS["texts"], *PEERS["topics"]) for word in text})
TOP = np.array([[WORDS.index(word) for word in topic] for topic in PEERS["topics"]])


def rows_with_top(top, n_words):
    """Return scores of words that have `top` first, in this order."""
    phi = np.full((len(top), n_words), 1e-3)
    np.put_along_axis(phi, top, np.linspace(1.0, 0.5, top.shape[1]), axis=1)
    return phi


PHI = rows_with_top(TOP, len(WORDS))


@pytest.mark.parametrize("case", [one for one in PEERS["values"] if one["measure"] == "c_v"])
def test_c_v_is_that_of_gensim(case):
    found = c_v(PHI, PEERS["texts"], WORDS, n_words=TOP.shape[1], window=case["window"])
    assert found == pytest.approx(case["values"], abs=1e-12)


@pytest.mark.parametrize("case", [one for one in PEERS["values"] if one["measure"] == "c_npmi"])
def test_npmi_of_windows_is_that_of_gensim(case):
    found = c_npmi(PHI, PEERS["texts"], WORDS, n_words=TOP.shape[1], window=case["window"])
    assert found == pytest.approx(case["values"], abs=1e-12)


@pytest.mark.parametrize("case", PEERS["repeated"]["values"], ids=lambda case: f"{case['measure']}-{case['window']}")
def test_scores_are_those_of_gensim_where_words_repeat_in_a_window(case):
    texts, topics = PEERS["repeated"]["texts"], PEERS["repeated"]["topics"]
    words = [f"w{i}" for i in range(8)]
    phi = rows_with_top(np.array([[words.index(word) for word in topic] for topic in topics]), 8)
    score = {"c_v": c_v, "c_npmi": c_npmi}[case["measure"]]
    options = {"n_words": 4, "window": case["window"]}
    assert score(phi, texts, words, **options, as_gensim=True) == pytest.approx(case["values"], abs=1e-12)
    assert score(phi, texts, words, **options) != pytest.approx(case["values"], abs=1e-3)


def peers_corpus():
    counts = np.array([[text.count(word) for word in WORDS] for text in PEERS["texts"]])
    return Corpus.from_counts(counts, WORDS)


def test_umass_is_that_of_gensim_a_mean_in_place_of_a_sum():
    M = TOP.shape[1]
    found = coherence(PHI[:3], peers_corpus(), M) / (M * (M - 1) / 2)
    assert found == pytest.approx(PEERS["u_mass"], abs=1e-9)


def slow_windows(top, texts, width):
    """Count each window, as a set of words."""
    together, n_windows = np.zeros((len(top), len(top[0]), len(top[0])), int), 0
    for text in texts:
        if not text:
            continue
        for begin in range(max(1, len(text) - width + 1)):
            held = set(text[begin : begin + width])
            n_windows += 1
            for k, topic in enumerate(top):
                for a, u in enumerate(topic):
                    for b, v in enumerate(topic):
                        together[k, a, b] += u in held and v in held
    return together, n_windows


@pytest.mark.parametrize("width", [2, 3, 7, 30])
def test_windows_are_those_of_a_slow_twin_where_words_repeat(width):
    rng = np.random.default_rng(width)
    words = [f"w{i}" for i in range(9)]
    texts = [[words[i] for i in rng.integers(0, 9, size=n)] for n in (0, 1, 2, 40, 25, 7, 0, 60)]
    top = np.array([[0, 1, 2, 3], [3, 2, 8, 0], [4, 5, 6, 7]])
    found = WordPairs.in_windows(top, [*words[:8], "absent"], word_sequences(texts, None), width)
    names = [[[*words[:8], "absent"][w] for w in row] for row in top]
    together, n_windows = slow_windows(names, texts, width)
    assert found.n_units == n_windows
    np.testing.assert_array_equal(found.together, together)


def test_blocks_of_topics_change_nothing(monkeypatch):
    whole = npmi(PHI, peers_corpus(), 5)
    monkeypatch.setattr(word_pairs, "_BLOCK", 2 * 5 * 5)
    assert npmi(PHI, peers_corpus(), 5).tolist() == whole.tolist()


def test_diversity_and_exclusivity_by_hand():
    phi = np.array([[0.5, 0.3, 0.2, 0.0], [0.5, 0.0, 0.1, 0.4]])
    assert topic_diversity(phi, 2) == 3 / 4
    assert exclusivity(phi, 2) == pytest.approx([(0.5 + 1) / 2, (0.5 + 1) / 2])
    assert exclusivity(np.vstack([phi[0]] * 4), 3) == pytest.approx([0.25] * 4)
    assert exclusivity([[1, 0, 0], [0.5, 0.5, 0]], 3) == pytest.approx([1 / 3, (1 / 3 + 1) / 2])


def corpus(*rows):
    return Corpus.from_counts(np.array(rows))


def test_a_word_is_scored_by_its_smoothed_frequency():
    train, observed, held_out = corpus([3, 1, 0]), corpus([1, 0, 0], [0, 1, 0]), corpus([2, 0, 1], [0, 1, 0])
    expected = (2 * np.log(4 / 7) + np.log(2 / 7) + np.log(1 / 7)) / 4
    assert unigram_completion(train, observed, held_out) == pytest.approx(expected, rel=1e-14)
