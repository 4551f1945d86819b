"""Workers of a command: which options go together."""

import pytest

from stickbreak.cli.fit import _scratch
from stickbreak.cli.options import workers_of
from stickbreak.exceptions import ClusterError, InputError

ADDRESS = "tcp://127.0.0.1:9"  # nobody listens there


@pytest.mark.parametrize(
    ("workers", "message"), [(ADDRESS, "needs --scratch"), ("0", "give a number of processes"), ("few", "an address")]
)
def test_workers_are_a_number_or_an_address_with_a_folder(workers, message):
    with pytest.raises(InputError, match=message):
        workers_of(workers, None)


def test_without_options_the_work_stays_in_this_process():
    with workers_of(None, None) as workers:
        assert workers is None


def test_a_cluster_that_does_not_answer_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("stickbreak.fitting.cluster.ANSWER", 1)
    with pytest.raises(ClusterError, match="no Dask scheduler answers"), workers_of(ADDRESS, tmp_path):
        pass


def test_a_scratch_folder_is_of_the_estimator_that_takes_one_or_of_the_workers(tmp_path):
    assert _scratch("variational", None, tmp_path) == {"scratch": tmp_path}
    assert _scratch("tree", "2", tmp_path) == {"scratch": tmp_path}
    assert _scratch("hybrid", ADDRESS, tmp_path) == {}
    assert _scratch("hybrid", "2", None) == {}
    with pytest.raises(InputError, match=r"--scratch is for --method topics, .*, or for --workers ADDRESS"):
        _scratch("hybrid", None, tmp_path)
