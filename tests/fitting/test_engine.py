"""Engines: jobs are data, and no engine changes a number."""

import pickle
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stickbreak
import stickbreak_baselines
from stickbreak.corpus import Corpus, open_corpus, write_corpus
from stickbreak.corpus.corpus import Place
from stickbreak.corpus.folder import place_of_folder
from stickbreak.corpus.sources import Held, Stored
from stickbreak.exceptions import ReadError
from stickbreak.fitting.engine import use_workers
from stickbreak.model import topic_estimator

from .declared import check

MOST_BYTES = 2_000  # of a job: it names documents and holds none


class Travelling:
    """Workers in this process that see only what was pickled, as those of a cluster do."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.scratch, self.jobs, self.bytes = folder, folder, 0, 0

    def run(self, work: Callable[[Any, Any], Any], jobs: Sequence[Any], shared: Any) -> list[Any]:
        sent = pickle.dumps(shared)
        found = []
        for job in jobs:
            packed = pickle.dumps((work, job))
            self.jobs, self.bytes = self.jobs + 1, max(self.bytes, len(packed))
            function, own = pickle.loads(packed)
            with use_workers(None):
                returned = pickle.dumps(function(pickle.loads(sent), own))
            check(work, job, shared, len(returned))
            found.append(pickle.loads(returned))
        return found

    def run_summed(
        self, work: Callable[[Any, Any], Any], jobs: Sequence[Any], shared: Any, add: Callable[[Any], Any]
    ) -> list[Any]:
        """Add parts in groups of three, and what they come to again."""
        parts, told = self.run(work, jobs, shared), pickle.dumps(add)
        while len(parts) > 1:
            parts = [pickle.loads(told)(parts[first : first + 3]) for first in range(0, len(parts), 3)]
        return parts

    def place(self, corpus: Corpus) -> Place:
        if corpus.place is not None:
            return corpus.place
        folder = self.folder / f"corpus-{len(list(self.folder.glob('corpus-*')))}"
        write_corpus(corpus, folder)
        return place_of_folder(folder, corpus.n_words, corpus.n_documents)


@pytest.fixture
def workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Travelling]:
    monkeypatch.setattr(topic_estimator, "JOB_COUNTS", 150)
    folder = tmp_path / "scratch"
    folder.mkdir()
    found = Travelling(folder)
    with use_workers(found):
        yield found


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return stickbreak.corpus.toy_bars(n_documents=60, tokens=20, seed=1)[0]


MODELS = [
    stickbreak.TopicModel(n_laps=3, random_state=0),
    stickbreak.GibbsHDP(n_topics=5, n_laps=3, burn_in=1, random_state=0),
    stickbreak.VariationalHDP(n_topics=5, n_laps=2, random_state=0),
    stickbreak.HybridHDP(n_topics=5, n_laps=1, random_state=0),
    stickbreak_baselines.OnlineHDP(n_topics=5, n_laps=1, random_state=0),
    stickbreak.BackoffTreeTopics(branching=(2, 3), n_laps=3, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_predictions_on_workers_are_those_of_one_process(
    model: Any, corpus: Corpus, workers: Travelling, tmp_path: Path
) -> None:
    with use_workers(None):
        model.fit(corpus)
        expected = model.transform(corpus), model.score(corpus), model.left_to_right(corpus, n_particles=3)
    found = model.transform(corpus), model.score(corpus), model.left_to_right(corpus, n_particles=3)
    assert workers.jobs > 6
    assert workers.bytes < MOST_BYTES
    assert (found[0] != expected[0]).sum() == 0
    assert found[1] == expected[1]
    assert np.array_equal(found[2].unbiased_log_p, expected[2].unbiased_log_p)
    assert model._kept is not None  # what travels is a copy


def test_a_corpus_of_a_folder_is_not_copied(corpus: Corpus, workers: Travelling, tmp_path: Path) -> None:
    write_corpus(corpus, tmp_path / "mine")
    mine = open_corpus(tmp_path / "mine")
    place = workers.place(mine[10:20])
    assert (place.folder, place.first, place.last) == (str(tmp_path / "mine"), 10, 20)
    assert not list(workers.folder.iterdir())


def test_parts_of_a_place_are_the_documents_of_a_slice(corpus: Corpus, tmp_path: Path) -> None:
    write_corpus(corpus, tmp_path / "mine")
    place = open_corpus(tmp_path / "mine").place
    assert place is not None
    part = Stored(place).part(slice(10, 40)).part(slice(5, 9))
    expected = Held(corpus).part(slice(10, 40)).part(slice(5, 9))
    assert (part.load().counts != expected.load().counts).nnz == 0
    assert (part.load(np.array([2, 0])).counts != expected.load(np.array([2, 0])).counts).nnz == 0
    assert part.part(slice(3, 1)).load().n_documents == 0


def test_a_folder_that_was_written_again_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    write_corpus(corpus, tmp_path / "mine")
    place = open_corpus(tmp_path / "mine").place
    assert place is not None
    write_corpus(corpus[:5], tmp_path / "mine", overwrite=True)
    with pytest.raises(ReadError, match="was written again"):
        Stored(place).load()
