"""Seeds: topics that keep their number, their name and their words, whatever a fit does."""

import copy
import logging
import pickle
from collections import ChainMap, defaultdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import stickbreak
from stickbreak import CollapsedHDP
from stickbreak.collapsed import growing
from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError

from .steered_problems import documents, matched, topics
from .test_files import same

SEEDS = {"space": ["a0", "a1", "b0", "b1"], "war": ["c0", "c1"]}
SHORT: dict[str, Any] = {"n_laps": 14, "merge_laps": 9, "random_state": 0, "tolerance": None, "seeds": SEEDS}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return documents(300, [0, 1, 2, 3, 4], 0)


@pytest.fixture(scope="module")
def seeded(corpus: Corpus) -> CollapsedHDP:
    return CollapsedHDP(seeds=SEEDS, final_passes="expected", random_state=0).fit(corpus)


def test_a_seed_of_two_themes_is_one_topic_where_a_fit_without_seeds_splits_it(
    corpus: Corpus, seeded: CollapsedHDP
) -> None:
    plain = CollapsedHDP(final_passes="expected", random_state=0).fit(corpus)
    assert sorted(matched(plain, 5)) == [0, 1, 2, 3, 4]
    assert seeded.n_topics_ == 4
    both = topics(5)[:2].mean(axis=0)
    assert 0.5 * np.abs(seeded.topic_word_[0] - both).sum() < 0.1
    assert matched(seeded, 5)[1:2] == [2]
    assert sorted(matched(seeded, 5)[2:]) == [3, 4]


def test_seeded_topics_come_first_and_have_their_names_everywhere(seeded: CollapsedHDP, tmp_path: Path) -> None:
    assert seeded.labels_ == {0: "space", 1: "war"}
    assert seeded.topics_table()["label"].tolist()[:2] == ["space", "war"]
    assert seeded.topic_shares_.sum() == pytest.approx(1.0)
    seeded.save(tmp_path / "model")
    loaded = stickbreak.load(tmp_path / "model")
    assert loaded.labels_ == seeded.labels_
    assert loaded.seeds == SEEDS
    np.testing.assert_array_equal(loaded.topic_word_, seeded.topic_word_)


def test_components_hold_the_pseudo_tokens_and_shares_do_not(corpus: Corpus) -> None:
    model = CollapsedHDP(**SHORT, seed_tokens=40.0).fit(corpus)
    tokens = model.components_.sum() - model.eta_ * model.components_.size
    assert tokens == pytest.approx(corpus.n_tokens + 2 * 40.0)
    assert model._topics.N.sum() == pytest.approx(corpus.n_tokens)


def test_a_topic_of_a_seed_without_documents_shows_the_seed(corpus: Corpus) -> None:
    """Words of topic 5 hardly occur, so its seed is nearly all that it knows."""
    model = CollapsedHDP(**{**SHORT, "seeds": {"none": ["f0", "f1"], **SEEDS}}).fit(corpus)
    assert list(model.labels_.values()) == ["none", "space", "war"]
    assert set(model.top_words(2)[0]) == {"f0", "f1"}


def test_threads_files_and_a_checkpoint_change_no_bit(corpus: Corpus, tmp_path: Path) -> None:
    one = CollapsedHDP(**SHORT).fit(corpus)
    assert same(one, CollapsedHDP(**SHORT, n_jobs=2).fit(corpus))
    assert same(one, CollapsedHDP(**SHORT, scratch=tmp_path / "scratch").fit(corpus))
    for n_laps in (5, 14):
        again = CollapsedHDP(**{**SHORT, "n_laps": n_laps}).fit(corpus, checkpoint=tmp_path / "c", resume=True)
    assert same(one, again)
    CollapsedHDP(**{**SHORT, "n_laps": 5}).fit(corpus).save(tmp_path / "short")
    assert same(one, stickbreak.load(tmp_path / "short").continue_fit(corpus, n_laps=9))


def test_a_checkpoint_of_other_seeds_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    CollapsedHDP(**{**SHORT, "n_laps": 1}).fit(corpus, checkpoint=tmp_path / "c")
    other = {**SHORT, "seeds": {"space": ["a0"]}}
    with pytest.raises(InputError, match="seeds"):
        CollapsedHDP(**other).fit(corpus, checkpoint=tmp_path / "c", resume=True)


def test_seeds_grow_on_samples_too(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OF_LONG", "OF_SHORT"):
        monkeypatch.setattr(growing, name, growing.Sampling(3000, 1500, 1 / 8))
    monkeypatch.setattr(growing, "LARGEST", 3000)
    model = CollapsedHDP(seeds=SEEDS, n_laps=40, merge_laps=30, final_passes="expected", random_state=0).fit(corpus)
    assert model.labels_ == {0: "space", 1: "war"}
    assert matched(model, 5)[1] == 2
    assert {"a0", "a1", "b0", "b1"} & set(model.top_words(10)[0])


def test_a_stream_keeps_seeded_topics_and_their_pseudo_tokens(corpus: Corpus) -> None:
    model = CollapsedHDP(n_topics=6, seeds=SEEDS, random_state=0)
    for begin in range(0, 300, 100):
        model.partial_fit(corpus[begin : begin + 100])
        assert model.labels_ == {0: "space", 1: "war"}
    assert matched(model, 5)[1] == 2
    tokens = model.components_.sum() - model.eta_ * model.components_.size
    assert tokens == pytest.approx(model._topics.N[model._topics.shown()].sum() + 200.0)


def test_a_joined_model_has_free_topics(seeded: CollapsedHDP) -> None:
    joined = seeded.joined([[0, 2]])
    assert joined.n_topics_ == 3
    total = seeded.components_ - seeded.eta_
    np.testing.assert_allclose(joined.components_[0] - joined.eta_, total[0] + total[2])
    topics = {label: k for k, label in joined.labels_.items()}
    assert topics.keys() == {"space", "war"}  # a joined topic keeps the label of its first
    assert matched(joined, 5)[topics["war"]] == 2


def test_parameters_are_cloned_and_kept_as_they_are(corpus: Corpus) -> None:
    model, given = CollapsedHDP(**SHORT), copy.deepcopy(SEEDS)
    assert clone(model).seeds == given
    model.fit(corpus)
    assert model.seeds == given


def test_seeds_of_another_mapping_are_cloned_pickled_and_saved(corpus: Corpus, tmp_path: Path) -> None:
    model = CollapsedHDP(**{**SHORT, "n_laps": 1, "seeds": MappingProxyType(SEEDS)})
    assert clone(model).seeds == SEEDS
    model.set_params(seeds=MappingProxyType(SEEDS)).fit(corpus)
    assert pickle.loads(pickle.dumps(model)).labels_ == model.labels_
    model.save(tmp_path / "model")
    assert stickbreak.load(tmp_path / "model").seeds == SEEDS


@pytest.mark.parametrize("given", [MappingProxyType(SEEDS), ChainMap(SEEDS), defaultdict(lambda: [], SEEDS)])
@pytest.mark.parametrize("family", ["CollapsedHDP", "VariationalHDP", "GibbsHDP", "HybridHDP"])
def test_seeds_of_any_mapping_are_plain_in_a_model_that_is_not_fitted_yet(family: str, given: Any) -> None:
    made = getattr(stickbreak, family)
    for model in (made(seeds=given), made().set_params(seeds=given)):
        for other in (clone(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            assert type(other.seeds) is dict
            assert other.seeds == SEEDS


def test_capital_letters_of_seeds_do_not_matter_where_words_are_in_lower_case(corpus: Corpus) -> None:
    lower, upper = (
        CollapsedHDP(**{**SHORT, "n_laps": 1, "seeds": {"space": words}}).fit(corpus) for words in (["a0"], ["A0"])
    )
    np.testing.assert_array_equal(upper.components_, lower.components_)


def test_unknown_words_are_named_and_left_out(corpus: Corpus, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "stickbreak"):
        CollapsedHDP(**{**SHORT, "n_laps": 1, "seeds": {"space": ["a0", "orbit", "launch"]}}).fit(corpus)
    assert [record.getMessage() for record in caplog.records] == [
        "2 words of the seeds are not in the vocabulary and left out: 'orbit', 'launch'"
    ]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"seeds": {"space": ["orbit"]}}, r"none of its words \('orbit'\)"),
        ({"seeds": {}}, "seeds is {}"),
        ({"seeds": {"space": "a0"}}, r"seeds\['space'\] is 'a0'"),
        ({"seeds": {"space": []}}, r"seeds\['space'\] is \[\]"),
        ({"seeds": {" ": ["a0"]}}, "the name ' '"),
        ({"seeds": {"space": ["a0"]}, "init": topics(5)}, "seeds and init"),
        ({"seeds": SEEDS, "max_topics": 2}, "max_topics is 2, but seeds and labels have 2"),
    ],
)
def test_seeds_that_cannot_be_are_refused(corpus: Corpus, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        CollapsedHDP(random_state=0, **parameters).fit(corpus)
