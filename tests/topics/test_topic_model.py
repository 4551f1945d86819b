"""`TopicModel`: planted numbers of topics, fits that go on in every phase, updates, what it refuses."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from tests.steered_problems import WORDS, documents, labelled_documents, matched, topics

import stickbreak
from stickbreak import TopicModel
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.exceptions import InputError, ModelFormatError
from stickbreak.topics.laps import n_starting_topics, rough_topics


def n_large(model: TopicModel) -> int:
    """Number of topics that hold 99 % of the tokens."""
    return int((np.sort(model.topic_shares_)[::-1].cumsum() < 0.99).sum()) + 1


def matched_of(model: TopicModel) -> list[int]:
    """Planted topic that each topic is nearest to, whatever words have joined."""
    near = np.sqrt(model.topic_word_[:, : len(WORDS)]) @ np.sqrt(topics(4)).T
    return [int(k) for k in np.argmax(near, axis=1)]


def distance(found: np.ndarray, true: np.ndarray) -> float:
    """Largest total variation between planted topics and those that they are matched with."""
    apart = np.abs(true[:, None] - found[None]).sum(axis=2) / 2
    rows, columns = linear_sum_assignment(apart)
    return float(apart[rows, columns].max())


@pytest.fixture(scope="module")
def planted() -> tuple[Corpus, Any]:
    return planted_lda(900, 1000, n_topics=10, mean_tokens=100, seed=0)


@pytest.fixture(scope="module")
def small() -> Corpus:
    return planted_lda(120, 60, n_topics=4, mean_tokens=30, seed=0)[0]


def test_planted_topics_and_their_number_are_found(planted: tuple[Corpus, Any], seed: int) -> None:
    corpus, truth = planted
    model = TopicModel(random_state=seed).fit(corpus)
    assert n_large(model) == 10
    assert distance(model.topic_word_, truth.topic_word) < 0.2
    assert model.started_ > 100
    assert f"It began with {model.started_} topics and ended with {model.n_topics_}." in model.stop_reason_
    assert model.alpha_ == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize("mean_tokens", [8, 60])
def test_one_topic_is_one(mean_tokens: int) -> None:
    corpus, _ = planted_lda(1200, 200, n_topics=1, mean_tokens=mean_tokens, eta=1.0, seed=3)
    assert TopicModel(random_state=0).fit(corpus).n_topics_ == 1


def test_random_words_are_one_topic() -> None:
    rng = np.random.default_rng(0)
    counts = rng.multinomial(8, np.full(300, 1 / 300), size=3000)
    assert TopicModel(random_state=0).fit(counts).n_topics_ == 1


def test_a_given_number_of_topics_stays(planted: tuple[Corpus, Any]) -> None:
    corpus, truth = planted
    model = TopicModel(n_topics=10, random_state=0).fit(corpus)
    assert (model.n_topics_, model.started_) == (10, 10)
    assert distance(model.topic_word_, truth.topic_word) < 0.25
    assert TopicModel(n_topics=25, n_laps=3, random_state=0).fit(corpus).n_topics_ == 25
    assert TopicModel(max_topics=20, n_laps=3, random_state=0).fit(corpus).started_ == 20


@pytest.mark.parametrize(
    "learn",
    [pytest.param((), marks=pytest.mark.long), pytest.param(("alpha",), marks=pytest.mark.long), ("alpha", "eta")],
)
def test_a_fit_goes_on_in_every_phase_as_if_it_had_not_stopped(small: Corpus, learn: Any, tmp_path: Path) -> None:
    """Before the merges, among them, among halves, and after their end."""

    def model(n_laps: int) -> TopicModel:
        return TopicModel(n_laps=n_laps, learn=learn, random_state=1, tolerance=None)

    whole = model(170).fit(small)
    n_topics = whole.trace_["n_topics"]
    assert n_topics[-1] < n_topics[30]
    (halves,) = np.flatnonzero(np.diff(n_topics) > 1)[:1] + 1  # the pass before that which is of halves
    assert 40 < halves < 150
    if not learn:
        np.testing.assert_allclose(whole.trace_["alpha"], whole.trace_["alpha"][0])  # merges and halves keep its sum
    for cut in (3, 40, 43, halves, halves + 1, halves + 25, 150):
        model(cut).fit(small, checkpoint=tmp_path / str(cut)).save(tmp_path / f"model{cut}")
        resumed = model(170).fit(small, checkpoint=tmp_path / str(cut), resume=True)
        loaded = stickbreak.load(tmp_path / f"model{cut}").continue_fit(small, n_laps=170 - cut)
        for other in (resumed, loaded):
            np.testing.assert_array_equal(other.components_, whole.components_)
            np.testing.assert_array_equal(other.topic_prior_, whole.topic_prior_)
            assert other.stop_reason_ == whole.stop_reason_


def test_a_fit_begins_with_as_many_topics_as_the_formula_says() -> None:
    assert n_starting_topics(10_000, 5_000, 1000) == 100  # the root of the stored counts
    assert n_starting_topics(1_000_000, 100, 1000) == 200  # of long documents: 2 (M D)^(1/4)
    assert n_starting_topics(10**8, 10**7, 1000) == 1000


def test_threads_change_no_bit(planted: tuple[Corpus, Any]) -> None:
    corpus, _ = planted
    one, other = (TopicModel(n_laps=60, random_state=0, n_jobs=n).fit(corpus) for n in (1, 3))
    np.testing.assert_array_equal(one.components_, other.components_)


@pytest.mark.parametrize("many", [3, 20, 80])
def test_the_number_hardly_follows_the_start(planted: tuple[Corpus, Any], monkeypatch: Any, many: int) -> None:
    def fewer_or_more(corpus: Corpus, n: int, seed: int, *, fewer: bool) -> np.ndarray:
        return rough_topics(corpus, many, seed, fewer=fewer)

    monkeypatch.setattr("stickbreak.topics.laps.rough_topics", fewer_or_more)
    model = TopicModel(random_state=0).fit(planted[0])
    assert model.started_ == many
    assert n_large(model) == 10


def test_empty_documents_and_few_tokens_are_taken() -> None:
    counts = np.zeros((6, 4), int)
    counts[1, 0], counts[4] = 1, [2, 0, 1, 0]
    for n_topics in (None, 1, 3):
        model = TopicModel(n_topics=n_topics, random_state=0).fit(counts)
        assert np.isfinite(model.components_).all()
        np.testing.assert_allclose(model.transform(counts).sum(axis=1), 1.0)
    assert TopicModel(random_state=0).fit([[1]]).n_topics_ == 1


def test_an_update_keeps_topics_adds_new_ones_and_learns_new_words(tmp_path: Path) -> None:
    old, new = documents(800, [0, 1, 2], 0), documents(600, [1, 2, 3], 1)
    model = TopicModel(eta=0.2, random_state=0).fit(old)
    model.label({0: "first"})
    before, n = matched_of(model), model.n_topics_
    tokens = model.components_.sum() - model.eta_ * model.components_.size
    words = Corpus.from_counts(np.hstack([new.counts.toarray(), np.full((600, 1), 1)]), vocabulary=[*WORDS, "unheard"])
    model.save(tmp_path / "before")
    model.update(words)
    assert matched_of(model)[:n] == before
    assert 3 in matched_of(model)[n:]
    assert model.labels_ == {0: "first"}
    assert model.vocabulary_[-1] == "unheard"
    assert model.n_documents_seen_ == 1400
    after = model.components_.sum() - model.eta_ * model.components_.size
    assert after == pytest.approx(tokens + words.n_tokens)
    assert model.topic_shares_.sum() == pytest.approx(1.0)
    with pytest.raises(InputError, match="no state to continue"):
        model.continue_fit(words, n_laps=1)
    again = stickbreak.load(tmp_path / "before")
    again.update(words, checkpoint=tmp_path / "c")
    np.testing.assert_array_equal(again.components_, model.components_)
    half = stickbreak.load(tmp_path / "before").set_params(n_laps=50)
    half.update(words, checkpoint=tmp_path / "half")
    resumed = stickbreak.load(tmp_path / "before")
    resumed.update(words, checkpoint=tmp_path / "half", resume=True)
    np.testing.assert_array_equal(resumed.components_, model.components_)


def test_an_update_keeps_the_label_of_a_topic_whose_words_change() -> None:
    model = TopicModel(n_topics=2, n_laps=20, random_state=0).fit(documents(50, [0, 1], 0))
    small, large = np.zeros(len(WORDS)), np.zeros(len(WORDS))
    small[:5], large[:10] = 5, 500
    model.components_ = np.array([small, large]) + model.eta_
    model.label({0: "first"}).update(documents(300, [2], 1))
    assert np.sqrt(small / small.sum()) @ np.sqrt(model.topic_word_).T @ [1, -1] < 0  # now the other is more like it
    assert model.labels_ == {0: "first"}


def test_a_loaded_number_at_the_start_is_a_whole_one(tmp_path: Path) -> None:
    model: Any = TopicModel(n_topics=2, n_laps=1).fit(documents(20, [0, 1], 0))
    model.started_ = "many"
    model.save(tmp_path / "m")
    with pytest.raises(ModelFormatError, match="started_ is 'many', not a whole number"):
        stickbreak.load(tmp_path / "m")


def test_max_topics_holds_in_fits_and_in_updates() -> None:
    corpus, seeds = documents(100, [0, 1], 0), {"a": ["a0"], "b": ["b0"]}
    options: dict[str, Any] = {"seeds": seeds, "n_laps": 3, "random_state": 0}
    with pytest.raises(InputError, match=r"eta are 2 topics, and one more is found at least, but the fit has 2 at"):
        TopicModel(max_topics=2, **options).fit(corpus)
    with pytest.raises(InputError, match=r"eta are 2 topics, but the fit has 1 at most; give a larger n_topics \("):
        TopicModel(n_topics=1, **options).fit(corpus)
    model = TopicModel(max_topics=3, **options)
    assert model.fit(corpus).n_topics_ == model.starting_topics(corpus) == 3
    assert model.update(documents(100, [2, 3], 1)).n_topics_ == 3
    with pytest.raises(InputError, match=r"the model has 3 topics, .* call set_params\(max_topics=3\) first"):
        model.set_params(max_topics=2).update(corpus)
    assert model.set_params(max_topics=4).update(corpus).n_topics_ == 4


def test_what_memory_cannot_carry_is_told_in_the_words_that_were_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stickbreak.fitting.checks.memory_installed", lambda: 2.0**10)
    found = "a start of [0-9]+ topics with 96 words needs about .* give a smaller max_topics"
    for given, message in (({}, found), ({"n_topics": 3}, "n_topics is 3: with 96 words it needs about")):
        with pytest.raises(InputError, match=message):
            TopicModel(**given).fit(documents(20, [0, 1], 0))


def test_rules_of_parameters_alone_come_before_the_documents() -> None:
    for given, message in (
        ({"bursts": True, "prevalence": "year"}, "do not go together"),
        ({"bursts": True, "n_topics": 2**16}, "give n_topics of 65535 at most"),
    ):
        with pytest.raises(InputError, match=message):
            TopicModel(**given).fit(["not", "read"])


def test_an_update_takes_labels_that_the_model_knows() -> None:
    corpus, labels = labelled_documents(300, 1)
    model = TopicModel(n_topics=6, n_laps=40, eta=0.1, random_state=0).fit(corpus, labels=labels)
    more, known = labelled_documents(100, 2)
    model.update(more, labels=known)
    assert model.label_names_ == ["L0", "L1", "L2", "L3"]
    assert matched(model, 6)[:4] == [0, 1, 2, 3]
    with pytest.raises(InputError, match="fitted without"):
        TopicModel(n_topics=2, n_laps=2).fit(corpus).update(more, labels=known)
