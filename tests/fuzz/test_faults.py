"""A small share of the write faults: a call of every kind of output fails, and the old state stays as it was."""

import random
import sys

import pytest

from fuzz import faults
from stickbreak.storage.atomic import replace_file

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks processes that write")
OUTPUTS = (
    "save topics", "save gaussian", "checkpoint topics", "checkpoint tree serial", "weights csv", "weights npz",
    "weights parquet", "corpus", "report",
)  # fmt: skip


@pytest.mark.parametrize("name", OUTPUTS)
def test_fault_of_any_call_leaves_the_old_state_or_the_new_one(name):
    found = faults.tried(faults.outputs()[name](), random.Random(0))
    assert found.problems == []
    assert found.counts["calls"] > 5
    assert min(found.counts["refused"], found.counts["written"]) > 0


def test_trial_of_faults_sees_a_writer_that_is_not_atomic(tmp_path):
    def careless(folder):
        with open(folder / "m", "w") as file:
            file.write("new")
            with replace_file(folder / "beside") as temporary:
                temporary.write_text("new")

    output = faults.Output(
        lambda folder: (folder / "m").write_text("old"), careless, lambda folder: (folder / "m").read_text() == "new"
    )
    problems = "\n".join(faults.tried(output, random.Random(0)).problems)
    assert "the old state has changed" in problems


@linux
@pytest.mark.parametrize("kind", ["folder", "file"])
def test_two_writers_of_one_path_leave_one_whole_state(kind):
    writes, reads, problems = faults.two_writers(kind, 1.0)
    assert problems == []
    assert min(writes, reads) > 0


@linux
def test_read_only_folder_is_a_write_error_and_can_be_read():
    assert faults.read_only() == []
