"""Topics that begin as the words beside a word: how many two halves of the documents show, and fits that begin so."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stickbreak import CollapsedHDP
from stickbreak.collapsed import plans, predictive, short_start
from stickbreak.collapsed.companions import Halves, shown
from stickbreak.collapsed.cvb0 import ALONE
from stickbreak.collapsed.files import InFiles
from stickbreak.collapsed.growing import taking_part
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.shards import Aside
from stickbreak.collapsed.short_start import topics_of_short
from stickbreak.collapsed.state import Priors
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.fitting.block_files import Folder

RULES = Rules(1, 500, Priors(1.0, 1.0, 0.05), 1 / 15, (), 0, 60, births=True, held_back=0.1, final_passes="auto")


@pytest.fixture(autouse=True)
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let collections of a few seconds be too large for passes that keep the topic of each token in memory."""
    monkeypatch.setattr(plans, "MOST", 0)


def planted(n_topics: int, n_documents: int = 40_000, tokens: int = 10, alpha: float = 0.1) -> Corpus:
    return planted_lda(n_documents, 3000, n_topics=n_topics, mean_tokens=tokens, alpha=alpha, seed=1)[0]


def counted(corpus: Corpus, seed: int, dimensions: int = 256) -> int:
    rng = np.random.default_rng(seed)
    halves = Halves.of(corpus, rng)
    return shown(*halves.points(dimensions, rng), halves.weights())


@pytest.mark.parametrize(("n_topics", "alpha"), [(3, 0.3), (5, 0.2), (20, 0.1)])
def test_two_halves_show_as_many_topics_as_are_planted(n_topics: int, alpha: float) -> None:
    corpus = planted(n_topics, alpha=alpha)
    assert {counted(corpus, seed) for seed in range(3)} <= {n_topics, n_topics + 1}


@pytest.mark.parametrize("tokens", [5, 15])
def test_of_one_topic_halves_show_hardly_more(tokens: int) -> None:
    """What is chance lies as far above zero as below, so that now and then the largest value stands out."""
    corpus = planted(1, 20_000, tokens)
    assert max(counted(corpus, seed) for seed in range(5)) <= 3


def dense_rows(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return Qbar and q document by document, pair by pair."""
    Q = np.zeros((counts.shape[1],) * 2)
    for row in counts:
        n = row.sum()
        for w in np.flatnonzero(row):
            for v in np.flatnonzero(row):
                Q[w, v] += row[w] * (row[v] - (w == v)) / (n * (n - 1))
    return Q / Q.sum(axis=1, keepdims=True), Q.sum(axis=1)  # of words that all occur


def test_halves_are_those_of_a_slow_twin() -> None:
    corpus = planted_lda(400, 12, n_topics=2, mean_tokens=12, eta=1.0, seed=0)[0]
    halves = Halves.of(corpus, np.random.default_rng(7))
    first = np.random.default_rng(7).random(400) < 0.5
    counts = corpus.counts.toarray()
    (rows, mass), (others, other_mass) = dense_rows(counts[first]), dense_rows(counts[~first])
    np.testing.assert_array_equal(halves.words, np.arange(12))
    np.testing.assert_allclose(halves.weights(), (mass + other_mass) / (mass + other_mass).sum())
    np.testing.assert_allclose(halves.rows(np.array([2, 5])), (rows[[2, 5]] + others[[2, 5]]) / 2, atol=1e-12)
    x, y = halves.points(30, np.random.default_rng(3))
    bits = np.unpackbits(np.frombuffer(np.random.default_rng(3).bytes(45), np.uint8)).reshape(12, 30)
    R = np.where(bits == 1, 1.0, -1.0)
    np.testing.assert_allclose(x, rows @ R, rtol=1e-4, atol=1e-5)  # of single precision
    np.testing.assert_allclose(y, others @ R, rtol=1e-4, atol=1e-5)


def test_shown_counts_what_lies_above_the_most_negative_value() -> None:
    weights = np.full(6, 1 / 6)
    up = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
    assert shown(up, up, weights) == 4
    assert shown(up, -up, weights) == 1
    down = up * [1.0, 1.0, -1.0]  # two directions agree, and one disagrees
    assert shown(up, down, weights) == 1
    assert shown(up * [3.0, 2.0, 1.0], down, weights) == 3
    alike = np.hstack([up, np.full((6, 1), 5.0)])
    assert shown(alike, alike, weights) == 4  # what all rows share is no topic
    noisy = np.vstack([up, [0.0, 0.0, 90.0]])  # of a word with no share
    assert shown(noisy, np.vstack([up, [90.0, 0.0, 0.0]]), np.append(weights, 0.0)) == 4


@pytest.fixture(scope="module")
def clear() -> tuple[Corpus, Any]:
    """40 topics in short documents that tell them apart."""
    return planted_lda(16_000, 600, n_topics=40, mean_tokens=10, alpha=0.03, seed=2)


@pytest.mark.parametrize("case", ["few", "long", "one topic", "weights"])
def test_other_collections_begin_otherwise(
    case: str, clear: tuple[Corpus, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = {
        "few": lambda: clear[0][:1500],
        "long": lambda: planted(20, 4000, 40),
        "one topic": lambda: planted(1),
        "weights": lambda: Corpus.from_counts(clear[0].counts * 0.7),
    }[case]()
    documents = InMemory(corpus)
    assert topics_of_short(documents, RULES, ALONE) is None
    if case == "few":
        monkeypatch.setattr(short_start, "LEAST", 1000)
        assert topics_of_short(documents, RULES, ALONE) is not None


def test_topics_have_as_many_tokens_as_the_documents_and_are_those_of_files(
    clear: tuple[Corpus, Any], tmp_path: Path
) -> None:
    corpus = clear[0]
    found = topics_of_short(InMemory(corpus), RULES, ALONE)
    assert found is not None
    assert (found - RULES.priors.eta).sum() == pytest.approx(corpus.n_tokens)
    assert (found > 0).all()  # each word has a topic to begin with
    assert 35 <= len(found) <= 41
    filed = topics_of_short(InFiles(corpus, ALONE, Folder(tmp_path)), RULES, ALONE)
    np.testing.assert_array_equal(filed, found)


def test_documents_set_apart_have_no_part_in_the_topics(clear: tuple[Corpus, Any]) -> None:
    documents = InMemory(clear[0])
    documents.set_aside(Aside(apart=0.2, apart_seed=4), ALONE)
    others = InMemory(clear[0][taking_part(documents, ALONE)])
    assert others.n_documents == pytest.approx(0.8 * documents.n_documents, rel=0.05)
    without, alone = (topics_of_short(given, RULES, ALONE) for given in (documents, others))
    assert without is not None
    assert alone is not None
    np.testing.assert_array_equal(without, alone)


def test_planted_topics_are_found_from_any_start(clear: tuple[Corpus, Any]) -> None:
    corpus, truth = clear
    models = [CollapsedHDP(n_topics=n, n_laps=30, random_state=0).fit(corpus) for n in (1, 50)]
    assert all("The topics come from words that occur in the same documents." in m.stop_reason_ for m in models)
    np.testing.assert_array_equal(models[0].components_, models[1].components_)
    model = models[0]
    assert model.final_passes_ == "sampled"
    assert 38 <= model.n_topics_ <= 42
    near = np.abs(truth.topic_word[:, None] - model.topic_word_[None]).sum(axis=2).min(axis=1)
    assert np.mean(near < 0.5) >= 0.9  # two different topics are nearly 2 apart


def test_a_resumed_fit_has_the_same_bits(
    clear: tuple[Corpus, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predictive, "LEAST", 1000)
    corpus = clear[0][:8000]
    settings: dict[str, Any] = {"random_state": 3}
    whole = CollapsedHDP(n_laps=24, **settings).fit(corpus)
    assert whole.final_passes_ == "sampled"
    for laps in (7, 20, 22):  # documents are set apart for 20 passes
        CollapsedHDP(n_laps=laps, **settings).fit(corpus, checkpoint=tmp_path / str(laps))
        again = CollapsedHDP(n_laps=24, n_jobs=2, **settings).fit(corpus, checkpoint=tmp_path / str(laps), resume=True)
        assert again.stop_reason_ == whole.stop_reason_
        np.testing.assert_array_equal(again.components_, whole.components_)
        assert again.alpha_ == whole.alpha_
    ended = CollapsedHDP(n_laps=20, **settings).fit(corpus, checkpoint=tmp_path / "ended")
    again = CollapsedHDP(n_laps=20, **settings).fit(corpus, checkpoint=tmp_path / "ended", resume=True)
    np.testing.assert_array_equal(again.components_, ended.components_)
    assert again._topics.opened == ended._topics.opened  # of the documents that take part: no others joined
    filed = CollapsedHDP(n_laps=24, scratch=tmp_path / "scratch", **settings).fit(corpus)
    np.testing.assert_array_equal(filed.components_, whole.components_)


def test_alpha_is_judged_by_the_documents_set_apart_in_the_first_passes_only(
    clear: tuple[Corpus, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predictive, "LEAST", 1000)
    model = CollapsedHDP(n_laps=45, random_state=0).fit(clear[0])
    alpha = model.trace_["alpha"]
    changes = np.flatnonzero(np.diff(alpha)) + 2  # passes after which it is another
    assert set(changes) <= {5, 10, 20}
    assert changes.size > 0
    pseudo_counts = model.eta_ * model.components_.size
    assert model.components_.sum() - pseudo_counts == pytest.approx(clear[0].n_tokens)  # all take part in the end


def test_it_is_left_out_without_births_and_where_expected_shares_are_asked_for(clear: tuple[Corpus, Any]) -> None:
    for given in ({"births": False}, {"final_passes": "expected"}):
        model = CollapsedHDP(n_topics=3, n_laps=2, random_state=0, **given).fit(clear[0])
        assert model.n_topics_ < 20
