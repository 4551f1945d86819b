"""Words that join a stream: counts and draws are those of a model that had them from the start, without tokens."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import stickbreak
from stickbreak import HybridHDP
from stickbreak.corpus import Corpus, align, planted_lda
from stickbreak.exceptions import InputError, InvalidCorpus
from stickbreak.hybrid.state import HybridState, WordTopics
from stickbreak.report import build_report
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


def test_words_one_by_one_give_the_topics_of_words_from_the_start_for_a_small_eta(parts):
    minibatches, whole = word_by_word(parts)
    grown = stream(HybridHDP(**SETTINGS, eta=1e-13, grow_vocabulary=True), minibatches)
    fixed = stream(HybridHDP(**SETTINGS, eta=1e-13), whole)
    assert grown.vocabulary_ == fixed.vocabulary_ == WORDS
    assert grown.n_topics_ == fixed.n_topics_
    np.testing.assert_allclose(grown.topic_word_, fixed.topic_word_, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(grown.trace_["objective"], fixed.trace_["objective"], rtol=1e-9)


def test_nothing_changes_where_all_words_are_known(parts):
    fixed = stream(HybridHDP(**SETTINGS), parts)
    assert_same(stream(HybridHDP(**SETTINGS, grow_vocabulary=True), parts), fixed)
    some = [parts[0], *(over(part, shuffled(WORDS, i)) for i, part in enumerate(parts[1:]))]
    assert_same(stream(HybridHDP(**SETTINGS, grow_vocabulary=True), some), fixed)
    unnamed = [parts[0], *(part.counts for part in parts[1:3]), Corpus.from_counts(parts[3].counts)]
    assert_same(stream(HybridHDP(**SETTINGS, grow_vocabulary=True), unnamed), fixed)


def test_words_that_a_minibatch_lacks_are_absent(parts):
    some = over(parts[1], shuffled(WORDS[10:20]))
    left = HybridHDP(**SETTINGS, grow_vocabulary=True).partial_fit(parts[0]).partial_fit(some)
    right = HybridHDP(**SETTINGS).partial_fit(parts[0]).partial_fit(over(some, WORDS))
    assert_same(left, right)


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


def test_stream_goes_on_from_a_fit_with_new_words_and_a_fit_forgets_them(parts):
    first = over(parts[0], WORDS[:20])
    model = HybridHDP(n_topics=5, n_laps=2, batch_size=10, random_state=0, grow_vocabulary=True).fit(first)
    before = model.components_.copy()
    model.partial_fit(parts[1])
    assert model.n_steps_ == 7
    assert model.vocabulary_ == WORDS
    model.fit(first)
    assert model.vocabulary_ == WORDS[:20]
    np.testing.assert_array_equal(model.components_, before)
    model.partial_fit(over(parts[1], WORDS[18:22]))
    assert model.vocabulary_ == WORDS[:22]


def test_fit_may_be_resumed_by_a_model_whose_vocabulary_may_grow(parts, tmp_path):
    settings = {"n_topics": 5, "batch_size": 10, "random_state": 0}
    HybridHDP(**settings, n_laps=1).fit(parts[0], checkpoint=tmp_path / "c")
    model = HybridHDP(**settings, n_laps=2, grow_vocabulary=True).fit(parts[0], checkpoint=tmp_path / "c", resume=True)
    assert_same(model, HybridHDP(**settings, n_laps=2).fit(parts[0]))


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


def test_words_of_empty_documents_join_without_a_step(parts):
    model = HybridHDP(**SETTINGS, grow_vocabulary=True).partial_fit(over(parts[0], WORDS[:20]))
    model.partial_fit(Corpus.from_counts(sparse.csr_matrix((4, 2), dtype=int), ["new", WORDS[0]]))
    assert (model.vocabulary_[-1], model.n_features_in_) == ("new", 21)
    assert (model.n_steps_, model.n_documents_seen_) == (1, 34)
    np.testing.assert_allclose(model.topic_word_.sum(axis=1), 1.0)


def test_vocabulary_does_not_grow_unless_it_may(parts):
    model = HybridHDP(**SETTINGS).partial_fit(over(parts[0], WORDS[:20]))
    message = r"40 words, but the model was fitted on 20; .* or set grow_vocabulary=True\.$"
    with pytest.raises(InvalidCorpus, match=message):
        model.partial_fit(parts[1])
    with pytest.raises(InvalidCorpus, match=r"column 19 is 'other' .* or set grow_vocabulary=True\.$"):
        model.partial_fit(over(parts[1], (*WORDS[:19], "other")))
    with pytest.raises(ValueError, match="40 features"):
        model.partial_fit(parts[1].counts)
    with pytest.raises(InvalidCorpus, match=r"vocabulary of the model\.$"):
        model.transform(parts[1])
    assert (model.n_steps_, model.n_documents_seen_, model.vocabulary_) == (1, 30, WORDS[:20])
    model.set_params(grow_vocabulary=True).partial_fit(parts[1])
    assert model.vocabulary_ == WORDS


@pytest.mark.parametrize("named", ["documents", "model", "neither"])
def test_columns_without_names_cannot_grow(parts, named):
    first = over(parts[0], WORDS[:20])
    model = HybridHDP(**SETTINGS, grow_vocabulary=True).partial_fit(first if named == "model" else first.counts)
    later = parts[1] if named == "documents" else parts[1].counts
    with pytest.raises(InvalidCorpus, match=r"40 columns, but the model has 20 words, and .* with its vocabulary\.$"):
        model.partial_fit(later)
    assert (model.n_steps_, model.n_features_in_) == (1, 20)


def test_words_named_like_numbered_ones_are_found_by_name(parts):
    names = [f"w{column}" for column in range(40)]
    named = [Corpus.from_counts(part.counts, names) for part in parts]
    model = HybridHDP(**SETTINGS, grow_vocabulary=True).partial_fit(named[0])
    other = named[1]
    turned = Corpus.from_counts(other.counts[:, ::-1], names[::-1])
    expected = model.transform(other)
    np.testing.assert_array_equal(model.transform(turned), expected)
    assert not np.array_equal(model.transform(Corpus.from_counts(turned.counts)), expected)
    with pytest.raises(InvalidCorpus, match="column 0 is 'w39' in the corpus, but 'w0' in the model"):
        model.set_params(grow_vocabulary=False).transform(turned)


@pytest.mark.parametrize("method", ["transform", "expected_weights", "score"])
def test_documents_are_described_by_the_words_that_the_model_knows(parts, method):
    model = stream(HybridHDP(**SETTINGS, grow_vocabulary=True), growing(parts)[:2])  # 30 words
    assert model.n_features_in_ == 30
    expected = getattr(model, method)(over(parts[3], model.vocabulary_))
    for words in (shuffled(WORDS), [*WORDS, "and", "others"], WORDS[::-1]):
        np.testing.assert_array_equal(getattr(model, method)(over(parts[3], words)), expected)
    frame = pd.DataFrame(parts[3].counts.toarray(), columns=WORDS)
    np.testing.assert_array_equal(getattr(model, method)(frame), expected)
    few = over(parts[3], WORDS[3:9])
    np.testing.assert_array_equal(getattr(model, method)(few), getattr(model, method)(over(few, model.vocabulary_)))
    unnamed = over(parts[3], model.vocabulary_).counts
    np.testing.assert_array_equal(getattr(model, method)(unnamed), expected)


def test_transform_changes_nothing_of_a_model(parts):
    model = HybridHDP(**SETTINGS, grow_vocabulary=True).partial_fit(over(parts[0], WORDS[:20]))
    loaded = pickle.loads(pickle.dumps(model))
    loaded._columns = None  # as of a model that was loaded from a folder
    before = dict(loaded.__dict__)
    loaded.transform(over(parts[1], WORDS[3:9]))
    assert {name: loaded.__dict__[name] is value for name, value in before.items() if name != "_cached"} == {
        name: True for name in before if name != "_cached"
    }


def test_document_of_unknown_words_has_the_weights_of_the_corpus(parts):
    model = HybridHDP(**SETTINGS, grow_vocabulary=True).partial_fit(over(parts[0], WORDS[:20]))
    strange = Corpus.from_counts([[3, 4]], ["unknown", WORDS[30]])
    empty = Corpus.from_counts([[0]], [WORDS[0]])
    np.testing.assert_array_equal(model.transform(strange), model.transform(empty))
    both = Corpus.from_counts([[3, 0], [1, 2]], ["unknown", WORDS[0]])
    np.testing.assert_array_equal(model.transform(both)[0], model.transform(strange)[0])


def test_data_frames_grow_by_their_columns(parts):
    frames = [pd.DataFrame(part.counts.toarray(), columns=list(part.words)) for part in growing(parts)]
    model = stream(HybridHDP(**SETTINGS, grow_vocabulary=True), frames)
    assert_same(model, stream(HybridHDP(**SETTINGS, grow_vocabulary=True), growing(parts)))
    assert list(model.feature_names_in_) == list(model.vocabulary_)
    np.testing.assert_array_equal(model.transform(frames[0]), model.transform(growing(parts)[0]))


def test_readers_of_the_vocabulary_have_the_grown_one(parts, tmp_path):
    model = stream(HybridHDP(**SETTINGS, grow_vocabulary=True), growing(parts))
    assert {word for row in model.top_words(40) for word in row} == set(WORDS)
    columns = [[model.vocabulary_.index(word) for word in row] for row in model.top_words(5)]
    for k, row in enumerate(columns):
        relevance = np.log(model.topic_word_[k]) - 0.4 * np.log(model.word_shares())
        np.testing.assert_allclose(relevance[row], np.sort(relevance)[::-1][:5])
    aligned, n_outside = align(parts[0], model.vocabulary_)
    assert n_outside == 0
    report = build_report(model, aligned)
    assert [share.word for share in report.topics[0].words[:5]] in model.top_words(5)
    model.save(tmp_path / "grown")
    assert stickbreak.load(tmp_path / "grown").top_words(5) == model.top_words(5)


def test_stored_pairs_grow_by_words_without_any(seed):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.4, size=(9, 4)).astype(float)
    grown, whole = WordTopics.from_dense(counts[:6]), WordTopics.from_dense(np.vstack([counts[:6], np.zeros((3, 4))]))
    for n_words in (7, 7, 9):
        grown.grow(n_words)
    for _ in range(20):
        words = np.sort(rng.choice(9, size=3, replace=False)).astype(np.int32)
        z = rng.integers(4, size=(2, 6)).astype(np.int32)
        for pairs in (grown, whole):
            pairs.add(words, np.array([0, 2, 4, 6]), np.arange(6), z, 1.0, 0.0, np.uint64(0))
        np.testing.assert_array_equal(grown.dense(np.arange(4)), whole.dense(np.arange(4)))
        for name, array in whole.packed().items():
            np.testing.assert_array_equal(grown.packed()[name], array)
        np.testing.assert_array_equal(grown.holders, whole.holders)
