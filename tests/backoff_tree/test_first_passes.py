"""The first passes of a large collection: some blocks at random leaves, and the others placed by what these found."""

import math
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stickbreak import BackoffTreeTopics
from stickbreak.backoff_tree import document_blocks, laps
from stickbreak.backoff_tree.checks import tree_settings
from stickbreak.backoff_tree.sampler import TreeSampler
from stickbreak.backoff_tree.shape import TreeShape
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.exceptions import InputError
from stickbreak.numerics.streams import key_of

from .fits import assert_same
from .problems import ONE, blocks_of, counters, leaves_of, tokens_of
from .reference import Tree, placed

SETTINGS: dict[str, Any] = {
    "branching": (2, 3, 4), "stages": (2,), "stage_sweeps": 2, "n_laps": 7, "learn_every": 2, "random_state": 0,
}  # fmt: skip


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    counts = planted_lda(120, 30, n_topics=4, mean_tokens=25, seed=1)[0].counts.toarray()
    counts[[0, 50, 119]] = 0
    return Corpus.from_counts(counts)


@pytest.fixture(autouse=True)
def few_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many blocks, of which the first passes read some."""
    monkeypatch.setattr(document_blocks, "BLOCK_TOKENS", (60, 300))
    monkeypatch.setattr(document_blocks, "TOKENS_AT_ONCE", 200)
    monkeypatch.setattr(laps, "FIRST_TOKENS", 300)
    monkeypatch.setattr(laps, "LEAF_TOKENS", 50)


def test_twin_places_the_same_leaves(corpus: Corpus) -> None:
    blocks = blocks_of(corpus)
    sampler = TreeSampler(blocks, TreeShape((2, 3)), [0.2, 0.3], [0.3, 0.1], 5, at_once=False)
    blocks.n_read = 7
    sampler.begin()
    sampler.sweep(ONE)
    before, (tokens, documents) = leaves_of(sampler), tokens_of(corpus)
    n_documents, n = blocks.edges[-1], before.size
    assert 0 < n_documents < len(documents)
    of_words = [Counter[int]() for _ in range(corpus.n_words)]
    for w, z in zip(tokens.word[:n].tolist(), before.tolist(), strict=True):
        of_words[w][z] += 1
    scale = sampler.solve(ONE).scale
    sampler.read(math.inf, ONE)
    trees = Tree((2, 3), [0.2, 0.3]), Tree((2, 3), [0.3, 0.1])
    expected = placed(documents[n_documents:], n_documents, of_words, trees, scale, int(key_of(5, 1, "place")))
    np.testing.assert_array_equal(leaves_of(sampler), np.concatenate([before, expected]))
    assert counters(tokens, leaves_of(sampler)) == counts_of(sampler, corpus.n_words)


def test_copies_of_a_document_are_placed_apart() -> None:
    counts = np.zeros((400, 3), dtype=int)
    counts[:, 0] = 1
    counts[:100, 1] = counts[100:200, 2] = 3
    blocks = blocks_of(Corpus.from_counts(counts))
    sampler = TreeSampler(blocks, TreeShape((2, 3)), [0.2, 0.3], [0.3, 0.1], 5, at_once=False)
    blocks.n_read = blocks.number_for(800)
    sampler.begin()
    sampler.read(math.inf, ONE)
    assert np.bincount(leaves_of(sampler)[-200:], minlength=6).max() < 100


def counts_of(sampler: TreeSampler, n_words: int) -> list[Counter[int]]:
    """The leaves of each word, as the sampler counts them."""
    start, leaf, n = sampler.counts(ONE)[0]
    ranges = [slice(start[w], start[w + 1]) for w in range(n_words)]
    return [Counter(dict(zip(leaf[of].tolist(), n[of].tolist(), strict=True))) for of in ranges]


def test_first_blocks_are_spread_over_the_collection(corpus: Corpus) -> None:
    blocks, whole = blocks_of(corpus), blocks_of(corpus)
    blocks.spread()
    firsts = [job.first for job in blocks.jobs()]
    assert sorted(firsts) == [job.first for job in whole.jobs()]
    for n in (4, 8, 16):
        numbers = np.sort([whole.edges.index(first) for first in firsts[:n]])
        assert np.diff([0, *numbers, len(firsts)]).max() <= 2 * len(firsts) / n
    lengths = corpus.document_lengths
    for n_read, job in enumerate(blocks.jobs(), start=1):
        blocks.n_read = n_read
        here = lengths[job.first : job.first + np.diff(blocks.edges)[-1]]
        np.testing.assert_array_equal(np.diff(blocks.start)[blocks.edges[-2] :], here)
        assert blocks.sizes[-1] == here.sum() == job.tokens()[1].size
    assert blocks.n_tokens == corpus.n_tokens


def test_a_tree_reads_more_as_it_grows_and_at_last_all(corpus: Corpus) -> None:
    trace = BackoffTreeTopics(**SETTINGS).fit(corpus).trace_
    first, second = trace["n_tokens"][0], trace["n_tokens"][2]
    assert 300 <= first < 300 + 300  # six leaves of 50 tokens, and at most a block more
    assert 1200 <= second < 1200 + 300 < corpus.n_tokens
    assert trace["n_tokens"].tolist() == [first] * 2 + [second] * 2 + [corpus.n_tokens] * 3
    assert trace["n_leaves"].tolist() == [6, 6, 24, 24, 24, 24, 24]
    blocks = blocks_of(corpus)
    laps.TreeLaps(blocks, tree_settings(BackoffTreeTopics(**SETTINGS)), 0, ONE)
    assert blocks.n_tokens == first
    assert max(job.first for job in blocks.jobs()) > corpus.n_documents / 2


@pytest.mark.parametrize("updates", ["parallel", "serial"])
def test_threads_and_files_change_no_bit(corpus: Corpus, tmp_path: Path, updates: str) -> None:
    model = BackoffTreeTopics(**SETTINGS, updates=updates).fit(corpus)
    for threads in (2, 4):
        assert_same(BackoffTreeTopics(**SETTINGS, updates=updates, n_jobs=threads, scratch=tmp_path).fit(corpus), model)


@pytest.mark.parametrize("lap", [1, 2, 3, 4, 5])
def test_a_fit_goes_on_from_every_pass(corpus: Corpus, tmp_path: Path, lap: int) -> None:
    class Cut(Exception):
        pass

    def cut(event: dict[str, Any]) -> None:
        if event.get("lap") == lap + 1:
            raise Cut

    with pytest.raises(Cut):
        BackoffTreeTopics(**SETTINGS).fit(corpus, checkpoint=tmp_path / "c", callback=cut)
    resumed = BackoffTreeTopics(**SETTINGS).fit(corpus, checkpoint=tmp_path / "c", resume=True)
    assert_same(resumed, BackoffTreeTopics(**SETTINGS).fit(corpus))


def test_a_short_fit_does_not_go_on_with_more_passes_over_a_part(corpus: Corpus, tmp_path: Path) -> None:
    few = {**SETTINGS, "stages": (), "n_laps": 2}
    BackoffTreeTopics(**few).fit(corpus, checkpoint=tmp_path / "c")
    with pytest.raises(InputError, match="differs in its stages"):
        BackoffTreeTopics(**{**few, "n_laps": 5}).fit(corpus, checkpoint=tmp_path / "c", resume=True)
    enough = {**few, "n_laps": 5}
    BackoffTreeTopics(**enough).fit(corpus, checkpoint=tmp_path / "d")
    longer = BackoffTreeTopics(**{**few, "n_laps": 9}).fit(corpus, checkpoint=tmp_path / "d", resume=True)
    assert_same(longer, BackoffTreeTopics(**{**few, "n_laps": 9}).fit(corpus))


def test_a_collection_that_is_read_whole_goes_on_with_more_passes(corpus: Corpus, tmp_path: Path) -> None:
    few = {**SETTINGS, "branching": (8, 9), "stages": (), "n_laps": 2}  # 72 leaves of 50 tokens are more than all
    BackoffTreeTopics(**few).fit(corpus, checkpoint=tmp_path / "c")
    longer = BackoffTreeTopics(**{**few, "n_laps": 5}).fit(corpus, checkpoint=tmp_path / "c", resume=True)
    assert (longer.trace_["n_tokens"] == corpus.n_tokens).all()


def test_passes_over_all_are_those_that_a_fit_makes(corpus: Corpus) -> None:
    model = BackoffTreeTopics(**SETTINGS).fit(corpus)
    expected = model.trace_["n_tokens"].sum() / corpus.n_tokens
    assert model._passes_over_all(corpus) == pytest.approx(expected, abs=4 * 300 / corpus.n_tokens)


def test_a_fit_that_is_stopped_early_has_all_tokens(corpus: Corpus) -> None:
    def stop(event: dict[str, Any]) -> None:
        if event.get("lap") == 3:
            signal.raise_signal(signal.SIGINT)

    model = BackoffTreeTopics(**SETTINGS).fit(corpus, callback=stop)
    assert model.n_laps_ == 3
    assert model.trace_["n_tokens"][-1] < corpus.n_tokens == model.leaf_tokens_.sum()
    whole = BackoffTreeTopics(**SETTINGS).fit(corpus)
    model.continue_fit(corpus, n_laps=4)
    np.testing.assert_array_equal(model.word_count_, whole.word_count_)
    np.testing.assert_array_equal(model.word_leaf_, whole.word_leaf_)


def test_seeds_take_part_in_the_placing(corpus: Corpus) -> None:
    seeds = {"this": [corpus.words[3]]}
    model = BackoffTreeTopics(**SETTINGS, seeds=seeds, seed_tokens=50).fit(corpus)
    assert model.leaf_tokens_.sum() == corpus.n_tokens
    assert model.leaf_word_.sum() == corpus.n_tokens + 50


def test_a_learned_tree_reads_all_at_once(corpus: Corpus) -> None:
    model = BackoffTreeTopics(branching="learned", n_laps=2, random_state=0).fit(corpus)
    assert (model.trace_["n_tokens"] == corpus.n_tokens).all()
