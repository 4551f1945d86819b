"""The sampled start: topics of short documents that splits leave together, and those that need none (math.md (C16))."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from stickbreak import CollapsedHDP
from stickbreak.collapsed import laps, plans, sampled, sampled_start
from stickbreak.collapsed.cvb0 import SMALLEST_SHARE, random_start, sweep
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.sampled import Ending, Mean
from stickbreak.collapsed.sampled_start import try_sampled_start
from stickbreak.collapsed.shards import Shard
from stickbreak.collapsed.state import CollapsedState, Priors
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.executor import ThreadExecutor

from .problems import set_apart


def short_texts(n_documents: int, *, seed: int = 0) -> Corpus:
    """Documents of some five words, of many topics that share a common vocabulary."""
    rng, W, K = np.random.default_rng(seed), 400, 40
    common = 1 / np.arange(8, W + 8)
    common /= common.sum()
    topics = rng.dirichlet(20 * common + 1e-9, K)
    theta = rng.dirichlet(np.full(K, 1 / K), n_documents)
    lengths = np.maximum(rng.poisson(5, n_documents), 1)
    counts = [rng.multinomial(n, 0.1 * common + 0.9 * t @ topics) for n, t in zip(lengths, theta, strict=True)]
    return Corpus.from_counts(np.array(counts))


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return short_texts(2000)


def fitted(corpus: Corpus, **options: Any) -> CollapsedHDP:
    return CollapsedHDP(**{"n_laps": 110, "random_state": 0, **options}).fit(corpus)


def tried(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, Any]]:
    """Note what each sampled start was given, and what it returned."""
    found: list[tuple[Any, Any]] = []
    original = laps.try_sampled_start

    def noted(state: Any, *rest: Any) -> Any:
        before = [shard.shares for shard in state.documents.shards]
        answer = original(state, *rest)
        found.append((answer, all(a is s.shares for a, s in zip(before, state.documents.shards, strict=True))))
        return answer

    monkeypatch.setattr(laps, "try_sampled_start", noted)
    return found


def test_topics_that_splits_leave_together_are_found(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    noted = tried(monkeypatch)
    model = fitted(corpus, random_state=1)  # of seeds 0 to 3 the start is better by 1 to 3
    [(priors, same_shares)] = noted
    assert priors is not None
    assert not same_shares
    assert model.final_passes_ == "sampled"
    monkeypatch.setattr(sampled_start, "gains", lambda *_: np.array([-1.0]))
    splits_alone = fitted(corpus, random_state=1)
    assert splits_alone.n_topics_ < model.n_topics_ <= 100
    new = short_texts(3000)[2000:]  # the same topics, but documents of their own
    assert model.score(new) > splits_alone.score(new)


def test_planted_topics_that_splits_find_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "OF_SHORT", replace(plans.OF_SHORT, least=1 << 18))  # else Gibbs sampling forms them
    noted = tried(monkeypatch)
    corpus, _ = planted_lda(3000, 1000, n_topics=20, mean_tokens=6, seed=0)
    model = fitted(corpus)
    assert noted == [(None, True)]
    assert 18 <= model.n_topics_ <= 22


@pytest.mark.parametrize("options", [{"births": False, "n_topics": 20}, {"final_passes": "expected"}])
def test_there_is_none_without_births_or_a_trial(
    corpus: Corpus, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = tried(monkeypatch)
    fitted(corpus[:600], **options)
    assert all(answer == (None, True) for answer in noted)


def test_it_has_no_more_topics_than_are_allowed(corpus: Corpus) -> None:
    assert fitted(corpus, max_topics=30).n_topics_ <= 30


PRIORS, ONE = Priors(2.0, 1.0, 0.1), Engine(ThreadExecutor(1))


def shards_of(state: CollapsedState) -> list[Shard]:
    """The shards of a state in memory."""
    assert isinstance(state.documents, InMemory)
    return state.documents.shards


def rules_of(**changes: Any) -> Rules:
    """Rules of a short fit."""
    return replace(Rules(1, 30, PRIORS, SMALLEST_SHARE, ("alpha",), 0, 6, True, 0.2, "auto", 0.05), **changes)


def after_a_trial(kind: str, n_topics: int = 3) -> tuple[CollapsedState, Ending]:
    """A state with documents set apart, and the passes that its trial led to."""
    state = random_start(planted_lda(250, 40, n_topics=4, mean_tokens=6, seed=1)[0], n_topics, 0)
    set_apart(state, 0)
    sweep(state, PRIORS, SMALLEST_SHARE, 0, ONE)
    ending = Ending("auto")
    ending.kind, ending.tried = kind, Mean(2 * state.S, 2 * state.tables, 2)
    return state, ending


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Few passes, the last two in the mean; note what is found."""
    monkeypatch.setattr(sampled_start, "BURN_IN", 20)
    monkeypatch.setattr(sampled_start, "PASSES", 22)
    found, original = [], sampled_start._sampled
    monkeypatch.setattr(sampled_start, "_sampled", lambda *given: found.append(original(*given)) or found[-1])
    return found


@pytest.mark.parametrize(
    ("kind", "n_topics", "gain", "taken"),
    [
        ("sampled", 3, [3.0, -2.0], True),
        ("sampled", 3, [-3.0, 2.0], False),
        ("sampled", 25, [3.0, -2.0], True),  # however many topics there are
        ("expected", 3, [0.3] * 100, True),
        ("expected", 3, [3.0, -2.0], False),  # no three standard errors
        ("expected", 3, [-0.3] * 100, False),
    ],
)
def test_all_that_it_found_is_taken_or_nothing(
    quick: list[Any], monkeypatch: pytest.MonkeyPatch, kind: str, n_topics: int, gain: list[float], taken: bool
) -> None:
    state, ending = after_a_trial(kind, n_topics)
    given: list[Any] = []
    monkeypatch.setattr(sampled_start, "gains", lambda *now: given.append(now) or np.array(gain))
    before = [shard.shares for shard in shards_of(state)], state.S, state.N, state.beta, state.tables
    trial = ending.tried
    priors = try_sampled_start(state, PRIORS, ending, rules_of(), np.full(250, 6.0), ONE)
    [(other, mean, learned)] = quick
    own = learned if kind == "sampled" else PRIORS  # beside expected shares both have the same
    assert given == [(state, (mean, own), (trial, PRIORS), 0, ONE)]
    assert learned.alpha != PRIORS.alpha
    assert priors == (learned if taken else None)
    assert ending.kind == ("sampled" if taken else kind)
    found = [shard.shares for shard in shards_of(other)], other.S, other.N, other.beta, other.tables
    expected = found if taken else before
    assert all(shard.shares is shares for shard, shares in zip(shards_of(state), expected[0], strict=True))
    now = state.S, state.N, state.beta, state.tables
    assert all(one is each for one, each in zip(now, expected[1:], strict=True))
    assert state.documents.aside.apart > 0


@pytest.mark.parametrize("case", ["no trial", "no births", "many topics with expected shares"])
def test_it_is_not_tried_where_it_is_not_due(quick: list[Any], case: str) -> None:
    state, ending = after_a_trial("expected" if case.startswith("many") else "sampled", 25)
    ending.tried = None if case == "no trial" else ending.tried
    rules = rules_of(births=case != "no births")
    assert try_sampled_start(state, PRIORS, ending, rules, np.full(250, 6.0), ONE) is None
    assert quick == []


@pytest.mark.parametrize("most", [7, 1000])
def test_its_topics_are_the_mean_of_its_last_passes_with_draws(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(sampled_start, "PASSES", 24)
    monkeypatch.setattr(sampled_start, "BURN_IN", 21)
    state, _ = after_a_trial("sampled")
    passes: list[Any] = []

    def seen(other: CollapsedState, *rest: Any) -> None:
        sweep(other, *rest)
        passes.append((other.S.copy(), other.tables.copy()))
        assert all((np.diff(shard.shares.start) == 1).all() for shard in shards_of(other))

    monkeypatch.setattr(sampled_start, "sweep", seen)
    _, mean, _ = sampled_start._sampled(state, rules_of(max_topics=most), np.full(250, 6.0), ONE)
    assert len(passes) == 24
    assert mean.n == 3
    assert mean.S.shape == (40, min(most, 100))
    weights = (1, 4, 9)
    np.testing.assert_allclose(mean.S, sum(w * S for w, (S, _) in zip(weights, passes[21:], strict=True)))
    np.testing.assert_allclose(mean.tables, sum(w * M for w, (_, M) in zip(weights, passes[21:], strict=True)))


def test_a_hundred_passes_are_left_out_of_its_mean() -> None:
    assert (sampled_start.BURN_IN, sampled_start.PASSES) == (100, 130)  # as math.md (C16) says


def test_gains_are_those_of_the_new_topics_over_four_ways_to_halve(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each side with its priors, and the corpus weights that its tables have with them."""
    seeds: list[int] = []
    monkeypatch.setattr(sampled_start, "documents_apart", lambda _, seed, engine: seeds.append(seed) or [seed])
    of_new, of_old = Priors(1.0, 3.0, 0.05), Priors(1.0, 5.0, 0.05)

    def scored(documents: Any, S: Any, beta: Any, used: Any, seed: int, engine: Any) -> Any:
        assert used is (of_new if S[0, 0] == 4 else of_old)
        assert seed == 5
        np.testing.assert_allclose(beta, [0.25] if used is of_new else [0.5])
        return np.array([S[0, 0], documents[0]])

    monkeypatch.setattr(sampled_start, "scores", scored)
    new, old = Mean(np.full((1, 1), 20.0), np.full(1, 5.0), 2), Mean(np.full((1, 1), 14.0), np.full(1, 70.0), 3)
    gain = sampled_start.gains(object(), (new, of_new), (old, of_old), 5, ONE)  # type: ignore[arg-type]
    np.testing.assert_allclose(gain, [3.0, 0.0])
    assert seeds == [5, 6, 7, 8]


@pytest.mark.parametrize("answer", [None, Priors(7.0, 8.0, 9.0)])
@pytest.mark.parametrize("good", [False, True])
def test_laps_try_it_once_and_go_on_with_its_priors(
    monkeypatch: pytest.MonkeyPatch, good: bool, answer: Priors | None
) -> None:
    corpus = planted_lda(250, 40, n_topics=4, mean_tokens=6, seed=1)[0]
    found: list[tuple[int, str, bool]] = []
    used: list[tuple[int, Priors]] = []

    def start(state: CollapsedState, priors: Priors, ending: Ending, *rest: Any) -> Priors | None:
        if ending.tried is not None:
            found.append((state.n_sweeps, ending.kind, ending.tried.n == (1 if not good else 22)))
        return answer

    def as_good(state: CollapsedState, priors: Priors, mean: Mean, expected: Any, seed: int, engine: Any) -> bool:
        expected.put_into(state, engine)
        return good

    def seen(state: CollapsedState, priors: Priors, *rest: Any) -> None:
        used.append((state.n_sweeps, priors))
        sweep(state, priors, *rest)

    monkeypatch.setattr(sampled, "as_good", as_good)
    monkeypatch.setattr(laps, "try_sampled_start", start)
    monkeypatch.setattr(laps, "sweep", seen)
    own = laps.CollapsedLaps(InMemory(corpus), rules_of(n_topics=4, learn=()), ONE)
    own.begin(lambda _: None, lambda: False)
    for _ in zip(range(45), own.laps(0), strict=False):
        pass
    [(lap, kind, fits)] = found
    assert fits
    assert kind == ("sampled" if good else "expected")
    assert all(priors == (answer if answer and n >= lap else PRIORS) for n, priors in used)
