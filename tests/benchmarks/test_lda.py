"""The benchmarks of LDA measure what they say."""

import argparse
from importlib.util import find_spec

import numpy as np
import pytest
from benchmarks.harness.corpora import load
from benchmarks.lda import course, passes

TINY = "planted:60:50:3:40"


@pytest.mark.filterwarnings("ignore")
def test_rows_of_passes_have_what_each_system_takes():
    (row,) = passes.rows([TINY], [5], 12)
    assert row["K"] == 5
    assert float(row["LDA, mean"]) > 0
    assert ("times as quick" in row) == (find_spec("tomotopy") is not None)


def test_course_tells_the_scores_of_the_last_pass_before_each_time_and_after_passes():
    split = load(TINY)

    class Slow(course.Ours):
        """Takes a second for each pass."""

        def work(self):
            for _ in super().work():
                yield 1.0

    key = {"K": 4, "seed": 1, "settings": {}}
    times, after = course.course(split, Slow(split.train, key), [0.5, 2.5, 4.0], [2, 4])
    assert times[0] == np.inf  # no pass has ended by then
    assert times[1] == after[0]
    assert times[2] == after[1]
    assert times[1] != times[2]


@pytest.mark.filterwarnings("ignore")
def test_rows_of_courses_are_means_over_seeds():
    options = argparse.Namespace(corpora=[TINY], topics=[4], seconds=[1e-9], passes=[1, 3], seeds=2)
    for row in course.rows(options):
        assert row["1e-09 s"] == "no score yet"
        assert float(row["3 passes"].split()[0]) < 0
