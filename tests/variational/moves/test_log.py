"""The list of accepted moves: what the trace counts, with the words of the topics and the gain of each."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stickbreak
from stickbreak import VariationalHDP
from stickbreak.corpus import toy_bars

SETTINGS: dict[str, Any] = {"n_topics": 40, "init": "documents", "moves": ("merge", "delete", "birth"), "n_batches": 3}


@pytest.fixture(scope="module")
def model() -> VariationalHDP:
    corpus, _ = toy_bars(n_documents=150, seed=1)
    return VariationalHDP(**SETTINGS, n_laps=12, random_state=0).fit(corpus)


def test_each_pass_has_as_many_moves_as_the_trace_counts(model: VariationalHDP) -> None:
    assert {"merge", "delete"} <= {move["move"] for move in model.moves_}
    for name in SETTINGS["moves"]:
        passes = [move["pass"] for move in model.moves_ if move["move"] == name]
        counts = np.bincount(passes, minlength=model.n_laps_ + 1)[1:]
        assert counts.tolist() == model.trace_[f"{name}_accepted"].tolist()


def test_the_first_merges_are_of_parts_of_one_planted_topic(model: VariationalHDP) -> None:
    corpus, truth = toy_bars(n_documents=150, seed=1)

    def bar(words: list[str]) -> int:
        return int(truth.topic_word[:, [corpus.words.index(word) for word in words]].sum(axis=1).argmax())

    merges = [move["topics"] for move in model.moves_ if move["move"] == "merge" and move["pass"] == 2]
    assert np.mean([bar(a) == bar(b) for a, b in merges]) > 0.8


def test_saved_and_continued_models_keep_the_list(model: VariationalHDP, tmp_path: Path) -> None:
    corpus, _ = toy_bars(n_documents=150, seed=1)
    short = VariationalHDP(**SETTINGS, n_laps=4, random_state=0).fit(corpus)
    short.save(tmp_path / "model")
    longer = stickbreak.load(tmp_path / "model").continue_fit(corpus, n_laps=8)
    assert longer.moves_ == model.moves_
