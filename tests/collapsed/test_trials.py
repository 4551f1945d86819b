"""Documents begin with the words beside many words or beside fewer: the documents set apart choose."""

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from stickbreak import CollapsedHDP, load
from stickbreak.collapsed import plans, trials
from stickbreak.collapsed.cvb0 import ALONE
from stickbreak.collapsed.growing import taking_part
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.plans import OF_LONG
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.shards import Aside
from stickbreak.collapsed.state import Priors
from stickbreak.collapsed.trials import Trial
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.exceptions import ModelFormatError
from stickbreak.numerics.arrays import Float

from .problems import formed

FORMING, PASSES = OF_LONG.forming or 0, OF_LONG.passes
RULES = Rules(1, 500, Priors(1.0, 1.0, 0.05), 1 / 15, (), 0, 60, births=True, held_back=0.1, final_passes="auto")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let collections of a few seconds begin like this, in parts."""
    monkeypatch.setattr(plans, "OF_LONG", replace(OF_LONG, least=10_000))
    monkeypatch.setattr(trials, "PART", 20_000)


@pytest.fixture(scope="module")
def long() -> tuple[Corpus, Any]:
    """12 topics in 1,200 long documents."""
    return planted_lda(1200, 500, n_topics=12, mean_tokens=60, alpha=0.1, seed=2)


def begun(corpus: Corpus, rules: Rules = RULES) -> Float | None:
    """Form topics of long documents."""
    forming = formed(corpus, rules)
    if forming is None:
        return None
    while not forming.is_over:
        left = forming.n_left
        forming.go_on()
        assert forming.n_left < left  # each pass leaves fewer
    assert forming.n_left == 0
    return forming.best.topics()


def test_it_begins_with_the_few_topics_that_are_planted(long: tuple[Corpus, Any]) -> None:
    corpus, truth = long
    topics = begun(corpus)
    assert topics is not None
    assert 11 <= len(topics) <= 13
    assert topics.min() == 0.05  # documents set apart may have words that the others lack
    apart = 1.0 - (topics - 0.05).sum() / corpus.n_tokens
    assert 0.02 < apart < 0.08  # the documents set apart have no part
    shares = topics / topics.sum(axis=1, keepdims=True)
    near = np.abs(truth.topic_word[:, None] - shares[None]).sum(axis=2).min(axis=1)
    assert np.mean(near < 0.35) > 0.9  # two different topics are nearly 2 apart


class Judged:
    """Topics that form by themselves, and score what the test says."""

    asked: ClassVar[list[int]] = []
    best = ""

    def __init__(self, corpus: Corpus, n_topics: int, *more: Any, keeps_alpha: bool) -> None:
        self.asked.append(n_topics)
        self.n_topics, self.passes = n_topics, 0

    def begin(self, topics: Float) -> "Judged":
        self.given = topics
        return self

    def go_on(self) -> None:
        self.passes += 1

    def topics(self) -> Float:
        assert self.passes == FORMING
        return self.given

    def scores(self, *more: Any) -> Float:
        assert self.passes == PASSES
        n, between = self.n_topics, round(np.sqrt(95 * 12))
        score = {"few": -n, "many": n, "between": -abs(n - between)}[self.best]
        return np.array([float(score), 0.0])


@pytest.mark.parametrize(("best", "tried"), [("few", 3), ("many", 2), ("between", 3)])
def test_the_documents_set_apart_choose(
    best: str, tried: int, long: tuple[Corpus, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many are some times the root of the stored counts, and between is the geometric mean of few and many."""
    monkeypatch.setattr(trials, "Trial", Judged)
    monkeypatch.setattr(Judged, "asked", asked := [])
    monkeypatch.setattr(Judged, "best", best)
    monkeypatch.setattr(plans, "OF_LONG", replace(plans.OF_LONG, many=95 / np.sqrt(long[0].counts.nnz)))
    topics = begun(long[0])
    assert topics is not None
    assert asked[0] == 95
    assert 32 <= asked[1] <= 35  # of 11 to 13 topics that are few
    assert len(asked) == tried
    if tried == 3:
        assert 11 <= asked[2] <= 13
    assert len(topics) == asked[{"few": -1, "between": 1, "many": 0}[best]]


def test_topics_are_judged_with_the_weights_that_they_have_learned(
    long: tuple[Corpus, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = Trial(long[0][:300], 12, Priors(2.0, 1.0, 0.05), 0).begin(long[1].topic_word + 0.001)
    told: list[Any] = []
    monkeypatch.setattr(trials, "scores", lambda *these: told.append(these) or np.zeros(1))
    for n in (9, 10):
        while trial.passes < n:
            trial.go_on()
        trial.scores([], 0, ALONE)
    (_, _, even, before, *_), (_, counts, learned, after, *_) = told
    np.testing.assert_allclose(even, 1 / 12)
    assert before.alpha == 2.0
    assert after.alpha != 2.0
    assert learned.sum() == pytest.approx(1.0)
    assert np.corrcoef(learned, counts.sum(axis=0))[0, 1] > 0.4  # common topics weigh more


def test_weights_that_companions_did_not_see_are_no_tokens(
    long: tuple[Corpus, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stickbreak.collapsed.companions.COUNTS", 20_000)  # of a part of the documents
    documents = InMemory(long[0])
    documents.set_aside(Aside(apart=0.05, apart_seed=RULES.seed), ALONE)
    for row in taking_part(documents, ALONE)[:6]:
        counts = long[0].counts.astype(np.float64)
        counts.data[counts.indptr[row]] = 0.5
        assert begun(Corpus.from_counts(counts)) is None


@pytest.mark.parametrize("case", ["short", "few counts", "very many", "many tokens", "weights", "few apart"])
def test_other_collections_begin_otherwise(
    case: str, long: tuple[Corpus, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = long[0]
    if case == "short":
        corpus = planted_lda(4000, 500, n_topics=5, mean_tokens=10, seed=2)[0]
    elif case == "few counts":
        monkeypatch.setattr(plans, "OF_LONG", OF_LONG)
    elif case == "very many":
        monkeypatch.setattr(plans, "MOST", 30_000)
    elif case == "many tokens":
        monkeypatch.setattr(trials, "MOST_TOKENS", 60_000)
    elif case == "weights":
        corpus = Corpus.from_counts(corpus.counts * 0.7)
    else:
        monkeypatch.setattr(trials, "JUDGES", 90)
    assert begun(corpus) is None


def test_eta_by_word_is_part_of_the_topics(long: tuple[Corpus, Any]) -> None:
    corpus = long[0]
    eta = np.linspace(0.02, 0.1, corpus.n_words)
    topics = begun(corpus, replace(RULES, priors=Priors(1.0, 1.0, eta)))
    assert topics is not None
    assert (topics >= eta).all()
    assert np.isclose(topics.min(axis=0), eta).mean() > 0.9  # few words are in all topics


def test_the_start_does_not_matter(long: tuple[Corpus, Any]) -> None:
    corpus, _ = long
    first, second = (CollapsedHDP(n_topics=n, n_laps=90, random_state=0).fit(corpus) for n in (1, 40))
    np.testing.assert_array_equal(first.components_, second.components_)
    assert 11 <= first.n_topics_ <= 13


def test_of_one_topic_there_is_one() -> None:
    corpus = planted_lda(1200, 300, n_topics=1, mean_tokens=60, seed=1)[0]
    assert CollapsedHDP(n_laps=100, random_state=0).fit(corpus).n_topics_ == 1


LAST = FORMING + 2 * PASSES  # pass that forms topics, where the fewest are best


@pytest.mark.parametrize("cut", [3, PASSES, 2 * PASSES + 2, 40, LAST, LAST + 1])
def test_a_resumed_fit_has_the_same_bits(cut: int, long: tuple[Corpus, Any], tmp_path: Path) -> None:
    """Cut in the first trial, where it ends, in the last one, while topics form, after them, after a sweep."""
    corpus, settings = long[0][:600], {"random_state": 3, "final_passes": "expected"}
    whole = CollapsedHDP(n_laps=LAST + 2, **settings).fit(corpus)
    CollapsedHDP(n_laps=cut, **settings).fit(corpus, checkpoint=tmp_path / "fit")
    again = CollapsedHDP(n_laps=LAST + 2, n_jobs=2, **settings).fit(corpus, checkpoint=tmp_path / "fit", resume=True)
    np.testing.assert_array_equal(again.components_, whole.components_)
    np.testing.assert_array_equal(again.trace_["objective"], whole.trace_["objective"])


def test_a_fit_with_files_and_a_continued_one_have_the_same_bits(long: tuple[Corpus, Any], tmp_path: Path) -> None:
    corpus, settings = long[0][:600], {"random_state": 3, "final_passes": "expected"}
    whole = CollapsedHDP(n_laps=LAST + 2, **settings).fit(corpus)
    filed = CollapsedHDP(n_laps=LAST + 2, scratch=tmp_path / "scratch", **settings).fit(corpus)
    np.testing.assert_array_equal(filed.components_, whole.components_)
    part = CollapsedHDP(n_laps=7, **settings).fit(corpus)
    part.save(tmp_path / "model")
    more = load(tmp_path / "model").continue_fit(corpus, n_laps=LAST - 5)
    np.testing.assert_array_equal(more.components_, whole.components_)


@pytest.mark.parametrize("n_laps", [1, 7, 30, LAST, LAST + 1])
def test_a_short_fit_has_all_tokens_and_says_what_is_left(n_laps: int, long: tuple[Corpus, Any]) -> None:
    corpus = long[0][:600]
    model = CollapsedHDP(n_laps=n_laps, random_state=0).fit(corpus)
    assert model.components_.sum() - model.eta_ * model.components_.size == pytest.approx(corpus.n_tokens)
    assert len(model.trace_["objective"]) == n_laps
    if n_laps == 7:
        assert f"until pass {LAST} at most" in model.stop_reason_
    if n_laps == LAST + 1:
        assert f"split and merged until pass {LAST + 60} at most" in model.stop_reason_
    assert model.score(corpus) > -5.5  # of topics of words at random it is -6.2


def test_a_short_fit_keeps_an_alpha_that_is_not_learned(long: tuple[Corpus, Any]) -> None:
    model = CollapsedHDP(learn=(), alpha=2.0, n_laps=20, random_state=0).fit(long[0][:600])
    assert model.alpha_ == 2.0
    assert set(model.trace_["alpha"]) == {2.0}


def test_rows_are_those_of_the_best_trial(long: tuple[Corpus, Any]) -> None:
    trace = CollapsedHDP(n_laps=PASSES + 3, random_state=0).fit(long[0][:600]).trace_
    assert len(set(trace["objective"][PASSES - 1 :])) == len(set(trace["n_topics"][PASSES - 1 :])) == 1


def test_topics_that_lose_their_tokens_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """What they have in the mean goes to the others, and each topic has tables."""
    corpus = planted_lda(400, 300, n_topics=3, mean_tokens=60, alpha=0.1, seed=2)[0]
    monkeypatch.setattr(plans, "OF_LONG", replace(plans.OF_LONG, many=3.0, passes=34))
    model = CollapsedHDP(n_laps=33, random_state=0).fit(corpus)
    trial_topics = max(model.trace_["n_topics"])
    assert model.n_topics_ == model.trace_["n_topics"][-1] < trial_topics
    assert (model.topic_weights_ > 1e-6).all()
    assert model.components_.sum() - model.eta_ * model.components_.size == pytest.approx(corpus.n_tokens)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("trial.passes", 10**6),
        ("trial.objective", None),
        ("trial.n_samples", 3),
        ("trial.n_parts", 3),
        ("best.passes", 2),
        ("numbers", []),
        ("numbers", [5, 50]),
        ("n_judged", 9),
        ("formed", 3),
        ("best.mean", "zero"),
        ("best.mean", "twice"),
        ("best.scores", "zero"),
    ],
)
def test_a_damaged_state_is_refused(name: str, value: Any, long: tuple[Corpus, Any]) -> None:
    model = CollapsedHDP(n_laps=PASSES + 4, random_state=0).fit(long[0][:600])
    arrays, values = model._kept.arrays, model._kept.values
    if name in values:
        values[name] = value
    else:
        part = arrays[name]
        arrays[name] = part[:-1] if name == "best.scores" else part * (2.0 if value == "twice" else 0.0)
    with pytest.raises(ModelFormatError, match="damaged"):
        model.continue_fit(long[0][:600], n_laps=1)


def test_it_is_left_out_without_births(long: tuple[Corpus, Any]) -> None:
    model = CollapsedHDP(n_topics=3, n_laps=2, births=False, random_state=0).fit(long[0])
    assert model.n_topics_ == 3
