"""Topics of long documents form by Gibbs sampling: many, of which those that are alike become one."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from stickbreak import CollapsedHDP
from stickbreak.collapsed import plans, trials
from stickbreak.collapsed.alike import InTopics
from stickbreak.collapsed.cvb0 import ALONE
from stickbreak.collapsed.growing import taking_part
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.plans import BEFORE_SHARES, OF_LONG
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.shards import Aside
from stickbreak.collapsed.state import Priors
from stickbreak.collapsed.trials import Trial
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.numerics.arrays import Float, Int

from .problems import FORM, begun, formed, go_on, near

FIRST, LAST = OF_LONG.merging[0], OF_LONG.merging[-1]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let collections of a few seconds form like this, in parts."""
    monkeypatch.setattr(plans, "BEFORE_SHARES", replace(BEFORE_SHARES, least=10_000))
    monkeypatch.setattr(trials, "PART", 10_000)


@pytest.fixture(scope="module")
def long() -> tuple[Corpus, Any]:
    """12 topics in 1,200 long documents."""
    return planted_lda(1200, 500, n_topics=12, mean_tokens=60, alpha=0.1, seed=2)


@pytest.fixture(scope="module")
def half(long: tuple[Corpus, Any]) -> Corpus:
    return long[0][:600]


def enough(model: CollapsedHDP) -> int:
    """Return how many topics have 98% of the tokens."""
    return 1 + int(np.searchsorted(np.cumsum(model.topic_shares_), 0.98))


@pytest.mark.parametrize(("n_topics", "most"), [(10, 13), (20, 25)])
def test_planted_topics_are_found(n_topics: int, most: int) -> None:
    corpus, truth = planted_lda(1000, 600, n_topics=n_topics, mean_tokens=80, alpha=0.1, seed=3)
    model = CollapsedHDP(random_state=0).fit(corpus)
    assert model.trace_["n_topics"][FIRST - 2] > 4 * n_topics
    assert near(truth, model.topic_word_).all()
    assert n_topics <= model.n_topics_ <= most
    assert enough(model) == n_topics
    assert model.final_passes_ == "sampled"
    assert "The topics come from words that occur in the same documents." in model.stop_reason_
    assert model.components_.sum() - model.eta_ * model.components_.size == pytest.approx(corpus.n_tokens)


@pytest.mark.parametrize("n_topics", [1, 2])
def test_of_few_topics_there_are_few(n_topics: int) -> None:
    """They begin with more than fifty."""
    corpus = planted_lda(800, 300, n_topics=n_topics, mean_tokens=60, seed=1)[0]
    model = CollapsedHDP(n_laps=100, random_state=0).fit(corpus)
    assert model.trace_["n_topics"][FIRST - 2] > 50
    assert model.n_topics_ == n_topics


def test_topics_that_are_there_several_times_become_one(long: tuple[Corpus, Any]) -> None:
    """Each planted topic three times: a round leaves half of them, the next what is planted."""
    forming, truth = begun(long[0]), long[1]
    three = np.repeat(truth.topic_word, 3, axis=0) + 1e-4
    forming.trial = forming._trial_of(36).begin(three)
    go_on(forming, FIRST - 1)
    assert forming.trial.n_topics == 36
    found = [36]
    for _ in range(21):
        forming.go_on()
        if forming.n_merged:
            found.append(found[-1] - forming.n_merged)
            topics = forming.trial.topics()
            assert near(truth, topics / topics.sum(axis=1, keepdims=True)).all()
    assert 16 <= found[1] <= 20
    assert 12 <= found[-1] <= 13


class Told:
    """In place of `fewer`: three topics become one in the rounds that are told by an M, one letter for each."""

    def __init__(self, rounds: str) -> None:
        self.rounds = rounds
        self.asked: list[int] = []

    def __call__(self, of: InTopics, gains: Callable[[Int], Float]) -> Int | None:
        assert of.eta == 0.05
        assert of.counts.sum(axis=0).min() > 0
        np.testing.assert_array_equal(np.bincount(of.topic, of.tokens), of.counts.sum(axis=0))
        self.asked.append(of.counts.shape[1])
        part_of = np.maximum(np.arange(of.counts.shape[1]) - 2, 0)
        return part_of if self.rounds[len(self.asked) - 1] == "M" else None


@pytest.mark.parametrize(
    ("rounds", "last"), [("..", 50), ("MM..", 70), ("M.M..", 80), ("M" * 9, 120), (".M" * 4 + ".", 120)]
)
def test_rounds_end_with_two_that_merge_none_and_all_documents_join(
    rounds: str, last: int, half: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "fewer", fewer := Told(rounds))
    forming = begun(half)
    told = []
    while not forming.has_all:
        before, n_before = forming.trial, forming.trial.weights.size
        forming.go_on()
        if forming.n_merged:
            assert forming.trial.weights.size == n_before - forming.n_merged - (n_before - fewer.asked[-1])
            assert forming.trial.n_topics == fewer.asked[-1] - 2
            told.append(forming.trial.passes)
        if not forming.has_all:
            assert forming.last_merging == (120 if forming.trial.passes < last else 0)
            assert forming.is_early
            assert forming.n_left is None
    assert told == [40 + 10 * turn for turn, merges in enumerate(rounds) if merges == "M"]
    assert len(fewer.asked) == len(rounds)
    assert forming.trial.passes == last + 1  # passes go on
    assert before.counts()[0].sum() < 0.98 * half.n_tokens
    assert forming.trial.counts()[0].sum() == pytest.approx(half.n_tokens)
    assert forming.trial.weights.size == before.weights.size
    go_on(forming, 131)
    assert len(fewer.asked) == len(rounds)
    assert not forming.n_merged
    assert not forming.is_over


def test_topics_without_tokens_become_part_of_none(half: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others become what was found; topics keep their order."""
    told: list[tuple[Trial, Int]] = []
    follow = Trial.begin_with

    def noted(new: Trial, other: Trial, part_of: Int) -> Trial:
        told.append((other, part_of))
        return follow(new, other, part_of)

    monkeypatch.setattr(Trial, "begin_with", noted)
    monkeypatch.setattr(trials, "fewer", Told("M"))
    forming = go_on(begun(half), FIRST)
    ((before, part_of),) = told
    dead = np.setdiff1d(np.arange(part_of.size), before.in_use)
    assert dead.size > 0
    assert before._chain.counts()[:, dead].sum() > 0  # in the mean they have some
    assert (part_of[dead] == -1).all()
    np.testing.assert_array_equal(part_of[before.in_use], np.maximum(np.arange(before.n_topics) - 2, 0))
    assert forming.trial.weights.size == before.n_topics - 2


def test_tokens_keep_their_topics_where_documents_join(half: Corpus) -> None:
    forming = go_on(begun(half), FIRST)
    before = forming.trial
    documents = InMemory(half)
    documents.set_aside(Aside(apart=0.05, apart_seed=FORM.seed), ALONE)
    rows = taking_part(documents, ALONE)
    forming._join()
    of_word = np.repeat(half.counts.tocsc().indices, half.counts.tocsc().data.astype(int))  # document of each token
    z = forming.trial._chain.snapshot()[0]["z"]
    np.testing.assert_array_equal(z[np.isin(of_word, rows)], before._chain.snapshot()[0]["z"])
    assert forming.trial.priors.alpha == pytest.approx(before.priors.alpha)
    np.testing.assert_allclose(forming.trial.weights, before.weights)


def test_documents_set_apart_say_how_many_topics_become_one(half: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """Halved in four ways; what is asked of fewer topics is how much better they are than all of them."""
    told: list[Any] = []

    def fewer(of: InTopics, gains: Callable[[Int], Float]) -> Int | None:
        K = of.counts.shape[1]
        told.append((K, gains(np.arange(K)), gains(np.arange(K) // 2), gains(np.zeros(K, int))))
        return None

    monkeypatch.setattr(trials, "fewer", fewer)
    forming = go_on(begun(half), FIRST)
    ((K, same, fewer_topics, one),) = told
    assert K == forming.trial.n_topics
    assert (same == 0.0).all()
    n_apart = half.n_documents - forming._corpus.n_documents
    assert same.size == fewer_topics.size == n_apart >= 20
    assert one.sum() < fewer_topics.sum() < 0
    halves = [np.concatenate([shard.held for shard in judges]) for judges in forming._judges]
    assert len(halves) == 4
    assert not any(np.array_equal(half, halves[0]) for half in halves[1:])
    score = forming.trial.judged_by(forming._judges, ALONE).scores
    np.testing.assert_allclose(one, score(np.zeros(K, int)) - score(np.arange(K)))


def test_the_trace_counts_what_merges(half: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "fewer", fewer := Told("MM.."))
    trace = CollapsedHDP(n_laps=65, random_state=0).fit(half).trace_
    expected = np.zeros(65, int)
    expected[[39, 49]] = 2
    for name in ("merge_tried", "merge_accepted"):
        np.testing.assert_array_equal(trace[name], expected)
    assert [trace["n_topics"][n] for n in (39, 49)] == [K - 2 for K in fewer.asked[:2]]


def other(case: str, corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> tuple[Corpus, Rules]:
    """Return documents, and rules, of which topics form in another way."""
    rules = FORM
    if case == "few counts":
        corpus = corpus[:190]
    elif case == "few counts for shares":
        monkeypatch.setattr(plans, "BEFORE_SHARES", BEFORE_SHARES)
        rules = replace(rules, final_passes="expected")
    elif case == "very many":
        monkeypatch.setattr(plans, "MOST_OF_LONG", 30_000)
    elif case == "many tokens":
        monkeypatch.setattr(trials, "MOST_TOKENS", int(corpus.n_tokens) - 1)  # those set apart join later
    elif case == "weights":
        corpus = Corpus.from_counts(corpus.counts * 0.7)
    else:
        monkeypatch.setattr(trials, "JUDGES", 90)
    return corpus, rules


@pytest.mark.parametrize(
    "case",
    ["few counts", "few counts for shares", "very many", "many tokens", "weights", "few apart"],
)
def test_other_collections_begin_otherwise(
    case: str, long: tuple[Corpus, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert formed(*other(case, long[0], monkeypatch)) is None


def test_weights_that_companions_did_not_see_are_no_tokens(
    long: tuple[Corpus, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stickbreak.collapsed.companions.COUNTS", 20_000)  # of a part of the documents
    for row in range(6):  # one that is set apart takes part later
        counts = long[0].counts.astype(np.float64)
        counts.data[counts.indptr[row]] = 0.5
        assert formed(Corpus.from_counts(counts), FORM) is None


@pytest.mark.parametrize(
    ("n_documents", "n_counts", "most"),
    [(500, 1 << 13, 45), (10_000, 1 << 20, 512), (160_000, 1 << 20, 256), (10_000, 1 << 24, 2048)],
)
def test_long_documents_begin_with_many_topics(n_documents: int, n_counts: int, most: int) -> None:
    """0.5 sqrt(M) of them, and fewer of more than ten thousand documents; more if words show more."""
    assert OF_LONG.most(n_documents, n_counts) == most
    assert OF_LONG.numbers(most - 5, most) == [most]
    assert OF_LONG.numbers(most + 5, most) == [most + 5]


def test_eta_by_word_is_part_of_the_topics(half: Corpus) -> None:
    eta = np.linspace(0.02, 0.1, half.n_words)
    forming = go_on(begun(half, replace(FORM, priors=Priors(1.0, 1.0, eta))), FIRST + 2)
    topics = forming.trial.topics()
    assert len(topics) < 45
    assert (topics >= eta).all()
    assert np.isclose(topics.min(axis=0), eta).mean() > 0.9  # few words are in all topics


def test_the_start_does_not_matter(half: Corpus) -> None:
    first, second = (CollapsedHDP(n_topics=n, n_laps=60, random_state=0).fit(half) for n in (1, 40))
    np.testing.assert_array_equal(first.components_, second.components_)


def test_a_fit_goes_on_until_topics_are_formed(half: Corpus) -> None:
    model = CollapsedHDP(random_state=3, tolerance=10.0).fit(half)
    assert model.converged_
    assert model.n_laps_ > OF_LONG.settled >= LAST


def test_an_alpha_that_is_not_learned_stays(half: Corpus) -> None:
    model = CollapsedHDP(learn=(), alpha=2.0, n_laps=FIRST + 5, random_state=0).fit(half)
    forming = go_on(begun(half, replace(FORM, learn=(), priors=Priors(2.0, 1.0, 0.05))), FIRST + 5)
    assert forming.trial.priors.alpha == pytest.approx(2.0)
    assert model.alpha_ == pytest.approx(2.0)
    assert set(model.trace_["alpha"]) == {2.0}


def test_there_are_at_most_as_many_topics_as_there_may_be(half: Corpus) -> None:
    few = CollapsedHDP(max_topics=6, n_laps=90, random_state=0).fit(half)
    assert max(few.trace_["n_topics"]) <= 6
    assert "The number of topics reached max_topics=6" in few.stop_reason_
    some = CollapsedHDP(max_topics=40, n_laps=90, random_state=3).fit(half)
    assert 20 < max(some.trace_["n_topics"]) <= 40
    assert some.n_topics_ < 20
    assert "max_topics" not in some.stop_reason_
    nearly = begun(half, replace(FORM, max_topics=some.n_topics_ + 1))
    nearly.trial = nearly._trial_of(some.n_topics_).begin(np.ones((some.n_topics_, half.n_words)))
    assert not nearly.is_full  # it was less than there may be when topics became one


def test_topics_that_lose_their_tokens_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """What they have in the mean goes to the others, and each topic has tables."""
    corpus = planted_lda(400, 300, n_topics=3, mean_tokens=60, alpha=0.1, seed=2)[0]
    monkeypatch.setattr(plans, "OF_LONG", replace(OF_LONG, merging=(130,)))
    model = CollapsedHDP(n_laps=120, random_state=0).fit(corpus)
    trial_topics = max(model.trace_["n_topics"])
    assert model.n_topics_ == model.trace_["n_topics"][-1] < trial_topics
    assert (model.topic_weights_ > 1e-6).all()
    assert model.components_.sum() - model.eta_ * model.components_.size == pytest.approx(corpus.n_tokens)


def test_it_is_left_out_without_births(long: tuple[Corpus, Any]) -> None:
    model = CollapsedHDP(n_topics=3, n_laps=2, births=False, random_state=0).fit(long[0])
    assert model.n_topics_ == 3


def test_trials_are_of_the_documents_that_take_part(half: Corpus) -> None:
    forming = begun(half)
    assert isinstance(forming.trial, Trial)
    apart = 1.0 - forming.trial._chain.last().sum() / half.n_tokens
    assert 0.02 < apart < 0.08
