"""The second start: weak topics that no split finds, and collections that have none (math.md (C14))."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from stickbreak import CollapsedHDP
from stickbreak.collapsed import laps, moves, plans, second_start
from stickbreak.collapsed.cvb0 import SMALLEST_SHARE, random_start, sweep
from stickbreak.collapsed.laps import CollapsedLaps
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.origins import told_of_origin
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.second_start import second_start_due, try_second_start
from stickbreak.collapsed.shards import Aside, Shard
from stickbreak.collapsed.state import CollapsedState, Priors
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.evaluation import document_completion
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.executor import ThreadExecutor

from .problems import hold_back, set_apart

PRIORS, ONE = Priors(alpha=2.0, gamma=1.0, eta=0.1), Engine(ThreadExecutor(1))


@pytest.fixture(autouse=True, scope="module")
def split_and_merged() -> Iterator[None]:
    """Let topics of long documents be split and merged from the first pass on: of fewer counts they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plans, "OF_LONG", replace(plans.OF_LONG, least=1 << 18))
        yield


def weak_topics(n_documents: int, *, strength: float, seed: int = 0) -> Corpus:
    """Documents of which half is background, and the rest from forty topics that differ little from it."""
    W, K, rng = 1500, 40, np.random.default_rng(seed)
    background = 1 / np.arange(5, W + 5)
    background /= background.sum()
    topics = np.stack([rng.dirichlet(strength * background + 0.002) for _ in range(K)])
    theta = rng.dirichlet(np.full(K, 0.1), size=n_documents)
    counts = [rng.multinomial(80, 0.5 * background + 0.5 * weights @ topics) for weights in theta]
    return Corpus.from_counts(np.array(counts))


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return weak_topics(1200, strength=20.0)


@pytest.fixture(scope="module")
def model(corpus: Corpus) -> CollapsedHDP:
    return CollapsedHDP(n_laps=40, random_state=1).fit(corpus)


def test_weak_topics_that_no_split_finds_are_found(
    corpus: Corpus, model: CollapsedHDP, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(second_start, "FEW_TOPICS", 0)
    splits_alone = CollapsedHDP(n_laps=40, random_state=1).fit(corpus)
    assert splits_alone.n_topics_ < 5
    assert 20 <= model.n_topics_ <= 70
    new = weak_topics(1500, strength=20.0)[1200:]  # the same topics: the draws of documents come last
    observed, held_out = new.halves(seed=0)
    found, alone = (document_completion(m, observed, held_out).active for m in (model, splits_alone))
    assert found > alone + 0.02


def test_a_second_start_is_told_and_named_where_a_number_was_asked_for(
    model: CollapsedHDP, caplog: pytest.LogCaptureFixture
) -> None:
    said = "The topics come from a second start from 50 random topics at most."
    assert said in model.stop_reason_
    assert told_of_origin("second", 20) == f" {said}"
    assert "not from the start with n_topics=20 (--topics); LDA" in caplog.messages[-1]
    caplog.clear()
    assert (told_of_origin("second", None), told_of_origin("asked", 20)) == (f" {said}", "")
    assert not caplog.messages


def test_the_trace_counts_a_second_start_as_a_birth(model: CollapsedHDP) -> None:
    tried = np.flatnonzero(model.trace_["birth_tried"])
    last = tried[-1]
    assert model.trace_["n_topics"][last] > 20 > model.trace_["n_topics"][last - 1]
    assert model.trace_["birth_accepted"][last] >= 1


@pytest.mark.parametrize("kind", ["one topic", "two topics"])
def test_what_is_not_there_is_not_found(kind: str) -> None:
    rng, W = np.random.default_rng(3), 300
    topics = rng.dirichlet(np.full(W, 0.3), size=2)
    own = rng.integers(2, size=400) * (kind == "two topics")
    corpus = Corpus.from_counts(np.stack([rng.multinomial(60, topics[k]) for k in own]))
    model = CollapsedHDP(n_laps=32, random_state=0).fit(corpus)
    assert model.n_topics_ == 1 + (kind == "two topics")
    assert model.trace_["birth_tried"].sum() > 0


def test_a_refused_second_start_leaves_no_trace_in_the_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = weak_topics(300, strength=1000.0)
    options: dict[str, Any] = {"n_laps": 40, "random_state": 0}
    with_it = CollapsedHDP(**options).fit(corpus)
    monkeypatch.setattr(second_start, "FEW_TOPICS", 0)
    without = CollapsedHDP(**options).fit(corpus)
    assert np.array_equal(with_it.components_, without.components_)
    assert with_it.alpha_ == without.alpha_
    assert with_it.stop_reason_ == without.stop_reason_


def test_a_fit_that_goes_on_around_it_ends_at_the_same_bits(corpus: Corpus, model: CollapsedHDP) -> None:
    lap = int(np.flatnonzero(model.trace_["birth_tried"])[-1])  # before the pass of the second start
    part = CollapsedHDP(n_laps=lap, random_state=1).fit(corpus)
    part.continue_fit(corpus, n_laps=40 - lap)
    assert np.array_equal(part.components_, model.components_)
    assert part.stop_reason_ == model.stop_reason_


def test_max_topics_holds_for_a_second_start(corpus: Corpus) -> None:
    assert CollapsedHDP(n_laps=40, max_topics=6, random_state=0).fit(corpus).n_topics_ <= 6


def test_three_standard_errors_decide() -> None:
    assert second_start.is_better(np.full(100, 0.3))
    assert not second_start.is_better(np.full(100, -0.3))
    lucky = np.zeros(100)
    lucky[0] = 5.0  # one document says so, and no other
    assert not second_start.is_better(lucky)
    assert not second_start.is_better(np.zeros(100))
    errors = np.tile([1.0, -1.0], 5000)  # 10,000 documents: a standard error is 100
    assert not second_start.is_better(errors + 0.029)
    assert second_start.is_better(errors + 0.031)


def shards_of(state: CollapsedState) -> list[Shard]:
    """The shards of a state in memory."""
    assert isinstance(state.documents, InMemory)
    return state.documents.shards


def rules_of(**changes: Any) -> Rules:
    """Rules of a short fit."""
    return replace(Rules(1, 30, PRIORS, SMALLEST_SHARE, ("alpha",), 0, 6, True, 0.2, "auto", 0.05), **changes)


def before_it() -> tuple[Corpus, CollapsedState]:
    """A state of one topic, documents set apart and tokens held out."""
    corpus = planted_lda(250, 60, n_topics=4, mean_tokens=30, seed=1)[0]
    state = random_start(corpus, 1, 0)
    set_apart(state, 0)
    hold_back(state, 0.2, 0)
    for _ in range(2):
        sweep(state, PRIORS, SMALLEST_SHARE, 0, ONE)
    return corpus, state


def test_it_is_due_where_births_have_left_few_topics_and_documents_are_apart() -> None:
    _, state = before_it()
    assert second_start_due(state, rules_of(), ONE)
    assert not second_start_due(state, rules_of(births=False), ONE)
    assert not second_start_due(state, rules_of(max_topics=1), ONE)  # more would not be allowed
    state.set_aside(Aside(), ONE)
    assert not second_start_due(state, rules_of(), ONE)


@pytest.mark.parametrize("most", [7, 1000])
def test_it_learns_from_all_tokens_but_those_apart(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    _, state = before_it()
    kept = [
        (shard.count.copy(), shard.held.copy(), shard.apart) for shard in shards_of(state) if shard.held is not None
    ]
    topics, tokens, asides = [], [], []

    def seen(other: CollapsedState, *rest: Any) -> None:
        asides.append(other.documents.aside)
        topics.append(other.beta.size)
        tokens.append(sum(shard.count.sum() + shard.held.sum() for shard in shards_of(other) if shard.held is not None))
        sweep(other, *rest)

    monkeypatch.setattr(second_start, "sweep", seen)
    monkeypatch.setattr(second_start, "is_better", lambda *_: True)
    try_second_start(state, PRIORS, rules_of(max_topics=most), np.full(250, 20.0), ONE)
    assert topics[0] == min(most, second_start.TOPICS)
    assert asides[0] == replace(state.documents.aside, held_seed=1, turn=0)  # tokens of its own are held out
    assert max(topics) <= most
    assert set(tokens) == {sum(count.sum() + held.sum() for count, held, _ in kept)}
    for shard, (count, held, apart) in zip(shards_of(state), kept, strict=True):
        assert shard.held is not None
        assert np.array_equal(shard.count, count)
        assert np.array_equal(shard.held, held)
        assert shard.apart is apart


@pytest.mark.parametrize("better", [False, True])
def test_all_that_it_found_is_taken_or_nothing(monkeypatch: pytest.MonkeyPatch, better: bool) -> None:
    _, state = before_it()
    own = [shard.shares for shard in shards_of(state)], state.S, state.N, state.beta, state.tables
    summed = state.S.copy()
    state.S += 1.0  # as moves may leave it
    fitted, found, given, gains = second_start._fitted, [], [], []

    def of_other(*arguments: Any) -> tuple[CollapsedState, Priors]:
        found.append(fitted(*arguments))
        return found[0]

    def scores(_: Any, S: Any, beta: Any, priors: Any, *rest: Any) -> Any:
        given.append((S, beta, priors))
        return np.array([5.0, 1.0]) if len(given) == 1 else np.array([2.0, 3.0])

    monkeypatch.setattr(second_start, "_fitted", of_other)
    monkeypatch.setattr(second_start, "scores", scores)
    monkeypatch.setattr(second_start, "is_better", lambda gain: gains.append(gain) or better)
    priors = try_second_start(state, PRIORS, rules_of(merge_laps=24), np.full(250, 20.0), ONE)
    ((other, learned),) = found
    assert learned != PRIORS
    np.testing.assert_array_equal(gains, [[3.0, -2.0]])  # of the new topics
    assert [each[0] is S for each, S in zip(given, (other.S, own[1]), strict=True)] == [True, True]
    assert [each[1] is beta for each, beta in zip(given, (other.beta, own[3]), strict=True)] == [True, True]
    assert [each[2] for each in given] == [learned, PRIORS]
    np.testing.assert_array_equal(own[1], summed)
    assert priors == (learned if better else None)
    expected = (
        ([shard.shares for shard in shards_of(other)], other.S, other.N, other.beta, other.tables) if better else own
    )
    assert all(shard.shares is shares for shard, shares in zip(shards_of(state), expected[0], strict=True))
    now = state.S, state.N, state.beta, state.tables
    assert all(one is each for one, each in zip(now, expected[1:], strict=True))


@pytest.mark.parametrize("last", [24, 25])
def test_it_follows_the_pass_in_which_moves_end(monkeypatch: pytest.MonkeyPatch, last: int) -> None:
    """Whether or not there is a round after that pass."""
    tried: list[int] = []
    monkeypatch.setattr(moves, "QUIET_ROUNDS", 100)
    monkeypatch.setattr(laps, "try_second_start", lambda state, *_: tried.append(state.n_sweeps))
    corpus = planted_lda(250, 60, n_topics=4, mean_tokens=30, seed=1)[0]
    fit = CollapsedLaps(InMemory(corpus), rules_of(merge_laps=last), ONE)
    fit.begin(lambda _: None, lambda: False)
    columns = [lap.columns for lap, _ in zip(fit.laps(0), range(last + 3), strict=False)]
    assert tried == [last]
    assert columns[last - 1]["birth_tried"] == 1
