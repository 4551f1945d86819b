"""More topics than the memory can carry."""

import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from stickbreak import CollapsedHDP
from stickbreak.collapsed import trials
from stickbreak.collapsed.cvb0 import SMALLEST_SHARE
from stickbreak.collapsed.merging import AT_ONCE
from stickbreak.collapsed.plans import OF_LONG
from stickbreak.collapsed.requirements import COUNT_BYTES, ENTRY_BYTES, FILLED, HALF_BYTES, TABLES, check_tables
from stickbreak.collapsed.state import Priors
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.exceptions import InputError

from .problems import FORM, begun, go_on, small_corpus


@pytest.fixture(scope="module")
def wide() -> sparse.csr_array:
    """Two million words, and more tokens than topics."""
    return sparse.csr_array((np.full(3, 60_000), ([0, 1, 1], [0, 5, 1_999_999])), shape=(2, 2_000_000))


@pytest.mark.parametrize("form", ["fit", "partial_fit"])
def test_table_of_words_and_topics_that_no_memory_holds_is_refused(wide, form):
    model = CollapsedHDP(n_topics=50_000)
    with pytest.raises(InputError, match=r"n_topics is 50000: with 2000000 words it needs about .* GiB, more than the"):
        getattr(model, form)(wide)
    assert not hasattr(model, "start_seconds_")


def test_each_table_is_counted(monkeypatch):
    corpus, K = small_corpus(1), 10
    words = 8 * TABLES * corpus.n_words * K
    nnz, pairs = corpus.counts.nnz, 8 * (AT_ONCE + 1) * K**2
    few, every = ((COUNT_BYTES + ENTRY_BYTES * n) * nnz for n in (FILLED * 4, K))

    def has(n_bytes):
        monkeypatch.setattr("stickbreak.fitting.requirements.memory_installed", lambda: n_bytes)

    def refused(words, smallest, merge_laps):
        with pytest.raises(InputError, match=words):
            check_tables(corpus, K, smallest, merge_laps)

    has(words + few)
    check_tables(corpus, K, 1 / 4, 19)  # the first merges are after lap 20
    refused(f"the shares of {nnz} pairs of document and word are kept; keep them in files with scratch", 0.0, 0)
    refused("give fewer topics, or merge_laps=0", 1 / 4, 20)
    has(words + every)
    check_tables(corpus, K, 0.0, 0)
    has(words + every - 1)
    refused("give fewer documents, or fit by HybridHDP", 0.0, 0)
    has(words + few + pairs)
    check_tables(corpus, K, 1 / 4, 50)
    has(words + few + pairs - 1)
    refused("merge_laps=0", 1 / 4, 50)
    has(words + few - 1)
    refused("give fewer documents", 1 / 4, 0)
    has(words - 1)
    refused("give fewer topics or fewer words", 1 / 4, 0)


@pytest.mark.parametrize(("n_laps", "merge_laps"), [(19, 50), (30, 0)])
def test_fits_without_merges_need_no_table_of_pairs(monkeypatch, n_laps, merge_laps):
    corpus = small_corpus(1)
    monkeypatch.setattr(
        "stickbreak.fitting.requirements.memory_installed",
        lambda: 8 * TABLES * corpus.n_words * 10 + 70 * corpus.counts.nnz,
    )
    settings = {"n_topics": 10, "births": False, "random_state": 0}
    CollapsedHDP(**settings, n_laps=n_laps, merge_laps=merge_laps).fit(corpus)
    with pytest.raises(InputError, match="merge_laps=0"):
        CollapsedHDP(**settings).fit(corpus)


def test_births_need_the_topics_and_the_halves_that_they_lead_to(monkeypatch):
    corpus = small_corpus(1)
    words, nnz = 8 * TABLES * corpus.n_words, corpus.counts.nnz
    shares = (COUNT_BYTES + (ENTRY_BYTES + HALF_BYTES) * FILLED * 4) * nnz  # of any number of topics

    def has(n_bytes):
        monkeypatch.setattr("stickbreak.fitting.requirements.memory_installed", lambda: n_bytes)

    def check(*, most=None, merge_laps=19):
        check_tables(corpus, 3, 1 / 4, merge_laps, births=True, most=most)

    has(3 * words + shares)
    check()
    check(most=2)
    has(3 * words + shares - 1)
    check(merge_laps=0)
    with pytest.raises(InputError, match=rf"n_topics is 3: .* the shares of {nnz} pairs .* are kept; keep them"):
        check()
    has(50 * words + shares)
    check(most=50)
    has(50 * words - 1)
    check(most=50, merge_laps=0)
    with pytest.raises(
        InputError, match=r"max_topics is 50: with 8 words it needs .*; give fewer topics or fewer words"
    ):
        check(most=50)
    with pytest.raises(InputError, match="max_topics is 50"):
        CollapsedHDP(max_topics=50).fit(corpus)


def test_files_hold_what_memory_does_not(monkeypatch, tmp_path):
    """A block for each thread is in memory, and a table of its counts."""
    corpus = small_corpus(1)
    words, nnz = 8 * corpus.n_words * 10, corpus.counts.nnz
    share = COUNT_BYTES + ENTRY_BYTES * FILLED * 4
    monkeypatch.setattr("stickbreak.collapsed.requirements.BLOCK_COUNTS", (5, 20))

    def has(n_bytes):
        monkeypatch.setattr("stickbreak.fitting.requirements.memory_installed", lambda: n_bytes)

    assert nnz > 60
    has((TABLES + 2) * words + 40 * share)
    check_tables(corpus, 10, 1 / 4, 0, blocks=2)
    with pytest.raises(InputError, match="keep them in files with scratch"):
        check_tables(corpus, 10, 1 / 4, 0)
    with pytest.raises(InputError, match="fewer threads"):
        check_tables(corpus, 10, 1 / 4, 0, blocks=3)
    settings = {"n_topics": 10, "births": False, "merge_laps": 0, "n_laps": 2, "smallest_share": 1 / 4}
    with pytest.raises(InputError, match="keep them in files with scratch"):
        CollapsedHDP(**settings).fit(corpus)
    CollapsedHDP(**settings, scratch=tmp_path, n_jobs=2).fit(corpus)


@pytest.fixture(scope="module")
def long() -> Corpus:
    """Documents of so many words that a table of words and topics is larger than all else."""
    counts = planted_lda(900, 1500, n_topics=60, mean_tokens=90, seed=1)[0].counts
    return Corpus.from_counts(sparse.csr_array((counts.data, counts.indices, counts.indptr), (900, 30_000)))


@pytest.mark.parametrize("move", ["round", "joining", "topics shown"])
def test_topics_form_in_the_memory_that_is_counted(move, long, monkeypatch):
    """Beside the mean of the topics that there are, in tables of words and topics."""
    monkeypatch.setattr(trials, "fewer", lambda of, gains: _asked(of.counts, gains))
    rules = replace(FORM, priors=Priors(1.0, 1.0, 0.001))  # a small eta: all topics have tokens
    forming = go_on(begun(long, rules), OF_LONG.merging[0] - 1)
    forming.trial.go_on()
    work = {"round": forming._merge, "joining": forming._join, "topics shown": forming.trial.topics}[move]
    table = 8 * long.n_words * forming.trial.weights.size
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1] / table
    tracemalloc.stop()
    assert 0.9 < peak < 1.2 < TABLES - 1  # judges have few of the words here


def _asked(counts, gains):
    """Let topics become fewer as they were asked about: one less."""
    part_of = np.maximum(np.arange(counts.shape[1]) - 1, 0)
    gains(part_of)
    return part_of


def test_topics_that_form_are_counted(long, monkeypatch):
    """Those that a fit begins with, or as many as there may be; nothing where none form."""
    most = OF_LONG.most(long.n_documents, long.counts.nnz)
    assert most > 50

    def has(n_topics):
        n_bytes = 8 * TABLES * long.n_words * n_topics
        monkeypatch.setattr("stickbreak.fitting.requirements.memory_installed", lambda: n_bytes)

    has(most)
    CollapsedHDP(n_laps=1, random_state=0).fit(long)
    has(most - 1)
    told = rf"begins with {most} topics, which with 30000 words needs about .*; give a smaller max_topics"
    with pytest.raises(InputError, match=told):
        CollapsedHDP(n_laps=1, random_state=0).fit(long)
    CollapsedHDP(n_laps=1, random_state=0, max_topics=most // 2).fit(long)
    weights = Corpus.from_counts(long.counts * 0.9)  # which have no topic each
    CollapsedHDP(n_laps=1, random_state=0).fit(weights)


def test_pages_name_the_memory_that_is_checked():
    """The bytes of a pair of document and word, with births and without."""
    pages = Path(__file__).parents[2] / "docs"
    of_entries = FILLED / SMALLEST_SHARE
    with_births = round(COUNT_BYTES + (ENTRY_BYTES + HALF_BYTES) * of_entries)
    without = round(COUNT_BYTES + ENTRY_BYTES * of_entries)
    for page in ("families.md", "howto/large-collections.md", "howto/larger-than-memory.md"):
        text = (pages / page).read_text(encoding="utf-8")
        assert f"{with_births} bytes" in text, page
    assert f"births it is {without} bytes" in (pages / "howto/larger-than-memory.md").read_text(encoding="utf-8")
