"""Jobs of a fit in files: what blocks find alone and together, and which go together."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stickbreak.collapsed import cutting, files
from stickbreak.collapsed.cvb0 import ALONE, SMALLEST_SHARE, sweep, with_random_topics
from stickbreak.collapsed.files import InFiles, Task, changes, done
from stickbreak.collapsed.merging import relabel
from stickbreak.collapsed.shards import Aside
from stickbreak.collapsed.state import CollapsedState, Priors
from stickbreak.collapsed.walking import Outcome, count_new
from stickbreak.corpus import planted_lda
from stickbreak.fitting.block_files import Folder


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CollapsedState:
    """A state in files after a sweep, of several blocks."""
    monkeypatch.setattr(cutting, "BLOCK_COUNTS", (150, 1 << 20))
    corpus = planted_lda(230, 40, n_topics=4, mean_tokens=25, seed=1)[0]
    found = with_random_topics(InFiles(corpus, ALONE, Folder(tmp_path)), 6, 0, ALONE)
    sweep(found, Priors(alpha=0.9, gamma=2.0, eta=0.2), SMALLEST_SHARE, 0, ALONE)
    return found


def test_a_job_that_is_done_twice_writes_the_same(state: CollapsedState) -> None:
    documents = state.documents
    assert isinstance(documents, InFiles)
    task = Task(dropped, None, Aside(), count_new, state.S.shape)
    job = files.replace(documents._jobs[3], new=f"{documents._folder.path}/twice")
    (one,), (other,) = done(task, [job])[0], done(task, [job])[0]
    assert one.shares == other.shares
    assert one.shares is not None
    np.testing.assert_array_equal(one.shares.read(), other.shares.read())


def test_blocks_that_are_done_together_find_what_each_finds_alone(state: CollapsedState) -> None:
    """New shares have the same bytes, and the one list of changes is the sum of theirs."""
    documents = state.documents
    assert isinstance(documents, InFiles)
    task = Task(dropped, None, Aside(), count_new, state.S.shape)
    jobs = [files.replace(documents._jobs[i], new=f"{documents._folder.path}/t{i}") for i in (1, 2, 3)]
    alone = [done(task, [job]) for job in jobs]
    together, counts = done(task, jobs)
    assert [result.shares for result in together] == [result.shares for (result,), _ in alone]
    assert counts is not None
    np.testing.assert_array_equal(counts.table(), changes([part for _, part in alone]).table())


def test_as_many_blocks_go_together_as_keep_all_busy_and_are_no_larger_than_one_may_be() -> None:
    for at_once, n_counts, number in ((1, 1000, 1), (3, 1000, 3), (2, 5 << 19, 4), (1, 5 << 19, 3), (20, 1000, 11)):
        groups = cutting.groups_of(11, n_counts, at_once)
        assert len(groups) == number
        assert [block for a, b in groups for block in range(a, b)] == list(range(11))
        sizes = [b - a for a, b in groups]
        assert max(sizes) - min(sizes) <= 1
    assert cutting.groups_of(0, 0, 2) == []


def dropped(given: None, shard: Any) -> Outcome:
    """Give all counts to topic 0."""
    return relabel(np.zeros(6, np.int64), shard)
