"""Long documents begin with the words beside few words or beside more: the documents set apart choose."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stickbreak import CollapsedHDP
from stickbreak.collapsed import trials
from stickbreak.collapsed.aside import FEWEST_DOCUMENTS
from stickbreak.collapsed.cvb0 import ALONE, given_start
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.shards import Aside
from stickbreak.collapsed.state import CollapsedState, Priors
from stickbreak.collapsed.trials import FORMING, PASSES, begun_by_trial
from stickbreak.collapsed.walking import Documents
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.fitting.laps import Stop

RULES = Rules(1, 500, Priors(1.0, 1.0, 0.05), 1 / 15, (), 0, 60, births=True, held_back=0.1, final_passes="auto")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let collections of a few seconds begin like this."""
    monkeypatch.setattr(trials, "LEAST", 10_000)


@pytest.fixture(scope="module")
def long() -> tuple[Corpus, Any]:
    """12 topics in 1,200 long documents."""
    return planted_lda(1200, 500, n_topics=12, mean_tokens=60, alpha=0.1, seed=2)


def never() -> bool:
    return False


def begun(
    corpus: Corpus, rules: Rules = RULES, stop: Stop = never, told: list[Mapping[str, Any]] | None = None
) -> CollapsedState | None:
    documents = InMemory(corpus)
    documents.set_aside(Aside(apart=0.05, apart_seed=rules.seed), ALONE)
    return begun_by_trial(documents, rules, ALONE, (told if told is not None else []).append, stop)


def test_it_begins_with_the_few_topics_that_are_planted(long: tuple[Corpus, Any]) -> None:
    corpus, truth = long
    told: list[Mapping[str, Any]] = []
    state = begun(corpus, told=told)
    assert state is not None
    assert state.n_sweeps == PASSES
    assert 11 <= state.beta.size <= 13
    apart = corpus.n_tokens - state.N.sum()
    assert 0.02 < apart / corpus.n_tokens < 0.08  # the documents set apart have no part
    assert state.topics(0.25).min() == 0.25  # documents set apart may have words that the others lack
    near = np.abs(truth.topic_word[:, None] - (state.S / state.N).T[None]).sum(axis=2).min(axis=1)
    assert np.mean(near < 0.7) > 0.7  # two different topics are nearly 2 apart
    assert [row["done"] for row in told] == [1, 3]


@pytest.mark.parametrize(("best", "tried"), [("few", 2), ("many", 3), ("between", 3)])
def test_the_documents_set_apart_choose(
    best: str, tried: int, long: tuple[Corpus, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many are some times the root of the stored counts, and between is the geometric mean of few and many."""
    asked: list[int] = []

    def given(documents: Documents, topics: np.ndarray, *more: Any) -> trials.Trial:
        asked.append(len(topics))
        between = round(np.sqrt(asked[0] * 95))
        score = {"few": -len(topics), "many": len(topics), "between": -abs(len(topics) - between)}[best]
        state = given_start(documents.twin(), topics, 1.0, 0, ALONE)
        return trials.Trial(state, np.array([float(score), 0.0]))

    monkeypatch.setattr(trials, "_trial", given)
    monkeypatch.setattr(trials, "MANY", 95 / np.sqrt(long[0].counts.nnz))
    state = begun(long[0])
    assert state is not None
    assert 11 <= asked[0] <= 13
    assert asked[1:] == [round(np.sqrt(asked[0] * 95)), 95][: tried - 1]
    assert state.beta.size == asked[{"few": 0, "between": 1, "many": 2}[best]]


def test_a_fit_that_is_stopped_has_the_few(long: tuple[Corpus, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "scores", lambda *given: np.arange(3.0) * given[2].size)  # of many topics more
    many = begun(long[0])
    few = begun(long[0], stop=lambda: True)
    assert few is not None
    assert many is not None
    assert few.beta.size < 15 < many.beta.size


@pytest.mark.parametrize("case", ["short", "few counts", "very many", "weights", "none apart"])
def test_other_collections_begin_otherwise(
    case: str, long: tuple[Corpus, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = long[0]
    if case == "short":
        corpus = planted_lda(4000, 500, n_topics=5, mean_tokens=10, seed=2)[0]
    elif case == "few counts":
        monkeypatch.setattr(trials, "LEAST", 1 << 18)
    elif case == "very many":
        monkeypatch.setattr(trials, "MOST", 30_000)
    elif case == "weights":
        corpus = Corpus.from_counts(corpus.counts * 0.7)
    else:
        monkeypatch.setattr(trials, "LEAST", 1000)
        corpus = corpus[: FEWEST_DOCUMENTS - 1]
        assert begun_by_trial(InMemory(corpus), RULES, ALONE, lambda row: None, never) is None
        return
    assert begun(corpus) is None


def test_the_start_does_not_matter(long: tuple[Corpus, Any]) -> None:
    corpus, _ = long
    first, second = (CollapsedHDP(n_topics=n, n_laps=20, random_state=0).fit(corpus) for n in (1, 40))
    np.testing.assert_array_equal(first.components_, second.components_)
    assert 11 <= first.n_topics_ <= 13


def test_of_one_topic_there_is_one() -> None:
    corpus = planted_lda(1200, 300, n_topics=1, mean_tokens=60, seed=1)[0]
    assert CollapsedHDP(n_laps=30, random_state=0).fit(corpus).n_topics_ == 1


def test_the_passes_that_form_topics_are_laps_with_the_first_hyperparameters(long: tuple[Corpus, Any]) -> None:
    model = CollapsedHDP(n_laps=FORMING + 2, merge_laps=4, random_state=0).fit(long[0])
    assert set(model.trace_["alpha"]) == {model.alpha_}
    assert f"until pass {FORMING + 4} at most" in model.stop_reason_


def test_a_resumed_fit_and_one_with_files_have_the_same_bits(long: tuple[Corpus, Any], tmp_path: Path) -> None:
    corpus = long[0][:600]
    settings: dict[str, Any] = {"random_state": 3, "final_passes": "expected"}
    n_laps = FORMING + 2
    whole = CollapsedHDP(n_laps=n_laps, **settings).fit(corpus)
    for laps in (1, FORMING):
        CollapsedHDP(n_laps=laps, **settings).fit(corpus, checkpoint=tmp_path / str(laps))
        again = CollapsedHDP(n_laps=n_laps, n_jobs=2, **settings)
        again.fit(corpus, checkpoint=tmp_path / str(laps), resume=True)
        np.testing.assert_array_equal(again.components_, whole.components_)
    filed = CollapsedHDP(n_laps=n_laps, scratch=tmp_path / "scratch", **settings).fit(corpus)
    np.testing.assert_array_equal(filed.components_, whole.components_)


def test_it_is_left_out_without_births(long: tuple[Corpus, Any]) -> None:
    model = CollapsedHDP(n_topics=3, n_laps=2, births=False, random_state=0).fit(long[0])
    assert model.n_topics_ == 3
