"""Words that join a stream: counts and draws are those of a model that had them from the start, without tokens."""

import pickle

import numpy as np
import pytest

import stickbreak
from stickbreak import HybridHDP
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.exceptions import InputError, InvalidCorpus
from stickbreak.hybrid.state import HybridState
from stickbreak.storage.persistence import read_folder, write_folder

WORDS = tuple(f"{first}{second}" for first in "abcdefgh" for second in "aeiou")  # 40
SETTINGS = {"init": "random", "n_topics": 7, "total_documents": 400, "random_state": 3}


@pytest.fixture(scope="module")
def parts():
    """Four minibatches over the same forty words."""
    counts = planted_lda(120, 40, n_topics=4, mean_tokens=40, seed=5)[0].counts
    corpus = Corpus.from_counts(counts, WORDS)
    return [corpus[begin : begin + 30] for begin in range(0, 120, 30)]


def over(corpus, words):
    """The documents over some words, in this order: tokens of others are left out, words that are new have none."""
    known = [w for w in words if w in corpus.words]
    counts = np.zeros((corpus.n_documents, len(words)), dtype=int)
    places = [words.index(w) for w in known]
    counts[:, places] = corpus.counts.toarray()[:, [corpus.words.index(w) for w in known]]
    return Corpus.from_counts(counts, words)


def shuffled(words, seed=0):
    return [words[i] for i in np.random.default_rng(seed).permutation(len(words))]


def stream(model, parts):
    for part in parts:
        model.partial_fit(part)
    return model


def assert_same(left, right):
    assert left.vocabulary_ == right.vocabulary_
    assert left.n_features_in_ == right.n_features_in_ == len(left.vocabulary_)
    for name in ("components_", "topic_weights_", "tables_", "objective_", "n_steps_", "n_documents_seen_"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), err_msg=name)
    for name in ("objective", "n_topics", "n_steps"):
        np.testing.assert_array_equal(left.trace_[name], right.trace_[name], err_msg=name)


def widened(model, words, folder):
    """The model as it would be saved if it had known further words from the start and never met them."""
    model.save(folder / "narrow")
    arrays, meta = read_folder(folder / "narrow", kind="HybridHDP")
    none = np.zeros(len(words) - len(meta["vocabulary"]), dtype=np.int64)
    arrays["kept.size"] = np.concatenate([arrays["kept.size"], none])
    meta |= {"vocabulary": list(words), "n_features": len(words)}
    meta["parameters"]["grow_vocabulary"] = False
    write_folder(folder / "wide", kind="HybridHDP", arrays=arrays, meta=meta)
    return stickbreak.load(folder / "wide")


def test_new_words_join_at_the_end_in_the_order_of_the_minibatch(parts):
    model = HybridHDP(**SETTINGS, grow_vocabulary=True).partial_fit(over(parts[0], WORDS[:30]))
    tokens = model._state.tokens.sum()
    second = over(parts[1], (WORDS[35], WORDS[2], WORDS[31], "never", WORDS[0]))
    model.partial_fit(second)
    assert model.vocabulary_ == (*WORDS[:30], WORDS[35], WORDS[31], "never")
    assert model.n_features_in_ == model.components_.shape[1] == model.topic_word_.shape[1] == 33
    assert model.rest_word_.tolist() == [1 / 33] * 33
    xi, share = 3**-0.6, 400 / 30
    kept = {word: model._state.pairs.dense(np.arange(7)).sum(axis=0)[w] for w, word in enumerate(model.vocabulary_)}
    found = dict(zip(second.words, share * second.counts.toarray().sum(axis=0), strict=True))
    for word in (WORDS[35], WORDS[31], "never"):
        assert kept[word] == pytest.approx(xi * found[word])
    assert sum(kept.values()) == pytest.approx((1 - xi) * tokens + xi * sum(found.values()), rel=1e-3)
    np.testing.assert_allclose(model.topic_word_.sum(axis=1), 1.0)
    model._state.check()


@pytest.mark.parametrize("phi_weight", ["ratio", "mean_field"])
def test_grown_model_goes_on_as_one_that_knew_the_words_from_the_start(parts, tmp_path, phi_weight):
    narrow = HybridHDP(**SETTINGS, phi_weight=phi_weight, grow_vocabulary=True)
    stream(narrow, [over(part, WORDS[:25]) for part in parts[:2]])
    wide = widened(narrow, WORDS, tmp_path)
    stream(wide, parts[2:])
    stream(narrow, [over(parts[2], [*shuffled(WORDS[:25]), *WORDS[25:]]), over(parts[3], shuffled(WORDS))])
    assert_same(narrow, wide)


def word_by_word(parts):
    """Minibatches that know 20, 21, ... 40 words, and the same over all 40."""
    minibatches = [over(parts[i % 4][i : i + 5], WORDS[: 20 + i]) for i in range(21)]
    return minibatches, [over(part, WORDS) for part in minibatches]


@pytest.mark.parametrize("phi_weight", ["ratio", "mean_field"])
def test_words_one_by_one_differ_from_words_from_the_start_in_nothing_but_eta_times_their_number(
    parts, phi_weight, monkeypatch
):
    minibatches, whole = word_by_word(parts)
    settings = {**SETTINGS, "phi_weight": phi_weight}
    grown = stream(HybridHDP(**settings, grow_vocabulary=True), minibatches)
    fixed = HybridHDP(**settings)
    for minibatch, part in zip(minibatches, whole, strict=True):
        with monkeypatch.context() as patch:  # the sums of the Dirichlets take the words that are known by then
            patch.setattr(HybridState, "n_words", minibatch.n_words)
            fixed.partial_fit(part)
    assert_same(grown, fixed)


def growing(parts):
    return [over(parts[0], WORDS[:20]), over(parts[1], WORDS[5:30]), over(parts[2], shuffled(WORDS)), parts[3]]


def test_cut_stream_equals_the_uncut_one_and_threads_change_no_bit(parts, tmp_path):
    whole = stream(HybridHDP(**SETTINGS, grow_vocabulary=True), growing(parts))
    cut = HybridHDP(**SETTINGS, grow_vocabulary=True, n_jobs=2)
    for i, part in enumerate(growing(parts)):
        cut.partial_fit(part)
        if i % 2:
            cut = pickle.loads(pickle.dumps(cut))
        else:
            cut.save(tmp_path / str(i))
            cut = stickbreak.load(tmp_path / str(i))
            assert cut.grow_vocabulary
    assert_same(cut, whole)


def test_minibatch_that_is_refused_leaves_the_words_alone(parts):
    model = HybridHDP(**SETTINGS, grow_vocabulary=True).partial_fit(over(parts[0], WORDS[:20]))
    before = pickle.dumps(model)
    with pytest.raises(InputError, match="total_documents is 31"):
        model.set_params(total_documents=31).partial_fit(parts[1])
    fractions = Corpus.from_counts(parts[1].counts * 0.5, WORDS)
    model.set_params(total_documents=400)
    with pytest.raises(InvalidCorpus, match="whole numbers"):
        model.partial_fit(fractions)
    after = pickle.loads(before)
    assert_same(model, after)
    assert_same(model.partial_fit(parts[1]), after.partial_fit(parts[1]))
