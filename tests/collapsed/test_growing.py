"""Topics that grow on samples of the documents before all take part (math.md (C17))."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stickbreak import CollapsedHDP
from stickbreak.collapsed import cutting, growing, plans
from stickbreak.collapsed.cvb0 import ALONE
from stickbreak.collapsed.files import InFiles
from stickbreak.collapsed.growing import OF_LONG, OF_SHORT, Sampling, grown, samples, sampling_of
from stickbreak.collapsed.laps import CollapsedLaps
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.moves import Rounds
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.shards import Aside
from stickbreak.collapsed.state import Priors
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.evaluation import document_completion
from stickbreak.fitting.block_files import Folder

SETTINGS: dict[str, Any] = {"n_laps": 32, "merge_laps": 24, "final_passes": "expected", "random_state": 0}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return planted_lda(2000, 400, n_topics=12, mean_tokens=60, seed=3)[0]


@pytest.fixture
def sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples of a small collection, of which all is large."""
    for name in ("OF_LONG", "OF_SHORT"):
        monkeypatch.setattr(growing, name, Sampling(20_000, 4000, 1 / 8))
    monkeypatch.setattr(growing, "LARGEST", 16_000)


def rules(**given: Any) -> Rules:
    first: dict[str, Any] = {"n_topics": 1, "max_topics": 50, "priors": Priors(5.0, 1.0, 0.05), "smallest": 1 / 15}
    first |= {"learn": ("alpha",), "seed": 0, "merge_laps": 24, "births": True, "held_back": 0.1}
    return Rules(**{**first, "final_passes": "expected", **given})


def test_few_counts_are_not_sampled_and_samples_of_many_grow_to_a_limit() -> None:
    assert samples((1 << 18) - 1, OF_LONG) == samples((1 << 20) - 1, OF_SHORT) == []
    assert samples(1 << 18, OF_LONG) == [1 << 14, 1 << 16]
    assert samples(1 << 20, OF_SHORT) == [1 << 16, 1 << 18]
    assert samples(250_000_000, OF_SHORT) == samples(1 << 60, OF_SHORT) == [1 << 16, 1 << 18, 1 << 20, 1 << 22]


def test_a_quarter_is_the_last_sample_of_many_short_documents_where_that_is_twice_the_one_before() -> None:
    assert samples(3_000_000, OF_SHORT) == [1 << 16, 1 << 18, 750_000]
    assert samples(1 << 21, OF_SHORT) == [1 << 16, 1 << 18]
    assert samples(4_750_000, OF_SHORT) == [1 << 16, 1 << 18, 1 << 20]
    assert samples(3_000_000, OF_LONG) == [1 << 14, 1 << 16, 1 << 18]


def test_short_documents_are_sampled_in_larger_numbers() -> None:
    assert sampling_of(1000, 20_000) is OF_LONG
    assert sampling_of(1000, 19_999) is OF_SHORT


def test_a_small_collection_starts_as_before_there_were_samples(corpus: Corpus) -> None:
    laps = CollapsedLaps(InMemory(corpus), rules(), ALONE)
    laps.begin(lambda row: None, lambda: False)
    assert laps.state.beta.size == 1


@pytest.mark.usefixtures("sampled")
def test_samples_lead_to_the_planted_topics_and_predict_as_well(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = []
    model = CollapsedHDP(**SETTINGS).fit(corpus[:1800], callback=begun.append)
    assert [row["done"] for row in begun if row.get("stage") == "init"] == [1, 2]
    first = next(row for row in begun if "lap" in row)
    assert first["n_topics"] >= 8  # in the first pass over all documents
    monkeypatch.setattr(growing, "samples", lambda n_counts, sampling: [])
    other = CollapsedHDP(**SETTINGS).fit(corpus[:1800])
    assert 11 <= model.n_topics_ <= 14
    observed, held_out = corpus[1800:].halves(seed=0)
    score, before = (document_completion(m, observed, held_out).active for m in (model, other))
    assert score > before - 0.01


@pytest.mark.usefixtures("sampled")
def test_the_numbers_are_the_same_for_any_threads_files_and_cut(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stickbreak.collapsed.files.IN_MEMORY", 0)  # samples are files, too
    small = {**SETTINGS, "n_laps": 8, "merge_laps": 6}
    fits = [
        CollapsedHDP(**small).fit(corpus),
        CollapsedHDP(**small, n_jobs=3).fit(corpus),
        CollapsedHDP(**small, scratch=tmp_path / "scratch").fit(corpus),
    ]
    CollapsedHDP(**{**small, "n_laps": 5}).fit(corpus, checkpoint=tmp_path / "c")
    fits.append(CollapsedHDP(**small).fit(corpus, checkpoint=tmp_path / "c", resume=True))
    for other in fits[1:]:
        np.testing.assert_array_equal(other.components_, fits[0].components_)
    assert not list((tmp_path / "scratch").iterdir())


@pytest.mark.usefixtures("sampled")
def test_documents_set_apart_are_in_no_sample(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[np.ndarray] = []
    sample = InMemory.sample

    def noted(self: InMemory, rows: np.ndarray, engine: Any) -> InMemory:
        drawn.append(rows)
        return sample(self, rows, engine)

    monkeypatch.setattr(InMemory, "sample", noted)
    documents = InMemory(corpus)
    documents.set_aside(Aside(apart=0.3, apart_seed=5), ALONE)
    grown(documents, rules(merge_laps=3), ALONE, lambda row: None, lambda: False)
    ends = np.cumsum([shard.indptr.size - 1 for shard in documents.shards])
    apart = np.concatenate([
        np.repeat(np.arange(end - shard.indptr.size + 1, end), np.diff(shard.indptr))[shard.apart > 0]
        for end, shard in zip(ends, documents.shards, strict=True)
        if shard.apart is not None
    ])  # fmt: skip
    assert 400 < np.unique(apart).size < 800
    assert len(drawn) == 2
    assert set(drawn[0]) < set(drawn[1])
    assert (np.diff(drawn[1]) > 0).all()
    assert not set(drawn[1]) & set(apart)


@pytest.mark.usefixtures("sampled")
def test_a_sample_begins_with_the_topics_of_the_one_before(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[tuple[int, int]] = []
    start = growing.given_start

    def noted(documents: Any, counts: np.ndarray, *rest: Any) -> Any:
        begun.append((documents.n_documents, len(counts)))
        return start(documents, counts, *rest)

    monkeypatch.setattr(growing, "given_start", noted)
    found = grown(InMemory(corpus), rules(), ALONE, lambda row: None, lambda: False)
    assert found is not None
    ((n_documents, n_topics),) = begun
    assert 250 < n_documents < 2000
    assert 2 <= n_topics <= len(found.counts)


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize(("most", "limited"), [(0, True), (1 << 40, False)], ids=["samples decide", "all decide"])
def test_samples_that_decide_have_a_topic_for_each_32_documents_at_most(
    monkeypatch: pytest.MonkeyPatch, most: int, limited: bool
) -> None:
    """More topics than a sample can tell apart are mixtures, which no later move takes back."""
    monkeypatch.setattr(growing, "MOST", most)
    corpus, limits = planted_lda(600, 1000, n_topics=30, mean_tokens=200, seed=3)[0], []
    play = Rounds.play

    def noted(self: Rounds, state: Any, priors: Any, limit: int, *rest: Any) -> Any:
        limits.append((limit, state.documents.n_documents))
        return play(self, state, priors, limit, *rest)

    monkeypatch.setattr(Rounds, "play", noted)
    found = grown(InMemory(corpus), rules(merge_laps=9), ALONE, lambda row: None, lambda: False)
    assert found is not None
    assert all(limit == (max(1, n // 32) if limited else 50) for limit, n in limits)
    assert (len(found.counts) <= limits[-1][1] // 32) == limited


@pytest.mark.usefixtures("sampled")
def test_a_start_that_is_stopped_leaves_the_other_samples_out(corpus: Corpus) -> None:
    told: list[dict[str, Any]] = []
    found = grown(InMemory(corpus), rules(), ALONE, told.append, lambda: True)
    assert found is not None
    assert [row["done"] for row in told] == [1]


@pytest.mark.usefixtures("sampled")
def test_of_a_very_large_collection_the_last_sample_decides_the_number_of_topics(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growing, "MOST", 40_000)
    model = CollapsedHDP(**SETTINGS).fit(corpus)
    assert model.trace_["birth_tried"].sum() == model.trace_["merge_tried"].sum() == 0
    assert len(set(model.trace_["n_topics"])) == 1
    assert 11 <= model.n_topics_ <= 14
    assert model.trace_["alpha"][0] != 5.0  # it was learned on the sample


@pytest.fixture
def many_short(monkeypatch: pytest.MonkeyPatch) -> Corpus:
    """A collection of short documents that is large here."""
    monkeypatch.setattr(growing, "OF_SHORT", Sampling(20_000, 4000, 1 / 8, short=True))
    monkeypatch.setattr(growing, "MOST_OF_SHORT", 30_000)
    monkeypatch.setattr(growing, "FEW_TOPICS", 5)
    monkeypatch.setattr(plans, "MOST", 0)  # topics of fewer form by Gibbs sampling
    return planted_lda(6000, 300, n_topics=8, alpha=0.3, mean_tokens=8, seed=4)[0]


def test_of_many_short_documents_samples_decide_and_the_last_passes_are_sampled(
    many_short: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stickbreak.collapsed.sampled.PASSES", 30)
    settings: dict[str, Any] = {"n_laps": 32, "merge_laps": 60, "random_state": 0}
    model = CollapsedHDP(**settings).fit(many_short)
    assert model.final_passes_ == "sampled"
    assert model.trace_["birth_tried"].sum() == model.trace_["merge_tried"].sum() == 0
    assert 7 <= model.n_topics_ <= 10
    assert 1.7 < model.trace_["alpha"][0] < 3.6  # 2.4 planted; the draws of one pass make it a little too large
    CollapsedHDP(**{**settings, "n_laps": 12}).fit(many_short, checkpoint=tmp_path / "c")
    again = CollapsedHDP(**settings, n_jobs=2).fit(many_short, checkpoint=tmp_path / "c", resume=True)
    np.testing.assert_array_equal(again.components_, model.components_)
    filed = CollapsedHDP(**settings, scratch=tmp_path / "scratch").fit(many_short)
    np.testing.assert_array_equal(filed.components_, model.components_)


def test_all_short_documents_decide_where_expected_shares_are_asked_for(many_short: Corpus) -> None:
    model = CollapsedHDP(n_laps=6, merge_laps=12, final_passes="expected", random_state=0).fit(many_short)
    assert model.final_passes_ == "expected"
    assert model.trace_["birth_tried"].sum() > 0


def test_all_short_documents_decide_where_samples_lead_to_few_topics(
    many_short: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growing, "FEW_TOPICS", 20)
    model = CollapsedHDP(n_laps=6, merge_laps=12, random_state=0).fit(many_short)
    assert model.trace_["birth_tried"].sum() > 0
    assert model.trace_["alpha"][0] == 5.0


def test_a_sample_of_files_is_that_of_memory(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "BLOCK_COUNTS", (500, 1 << 20))
    rows = np.arange(0, 2000, 3)
    here, there = InMemory(corpus), InFiles(corpus, ALONE, Folder(tmp_path))
    small = there.sample(rows, ALONE)
    assert isinstance(small, InMemory)
    monkeypatch.setattr("stickbreak.collapsed.files.IN_MEMORY", 0)
    large = there.sample(rows, ALONE)
    assert isinstance(large, InFiles)
    wanted = here.sample(rows, ALONE).lengths(ALONE)
    np.testing.assert_array_equal(small.lengths(ALONE), wanted)
    np.testing.assert_array_equal(large.lengths(ALONE), wanted)


def test_a_sample_has_a_document_at_least(sampled: None) -> None:
    corpus = Corpus.from_counts(np.ones((2, 12_000)))
    assert CollapsedHDP(n_laps=2, random_state=0).fit(corpus).n_topics_ >= 1
