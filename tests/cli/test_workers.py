"""Workers of a command: which options go together."""

import pytest

from stickbreak.cli.workers import check_workers, workers_of
from stickbreak.exceptions import ClusterError, InputError

ADDRESS = "tcp://127.0.0.1:9"  # nobody listens there


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((2, "tcp://host:1", None), "--workers starts processes here and --cluster uses those of a cluster"),
        ((None, "tcp://host:1", None), "--cluster needs --scratch"),
        ((None, None, "folder"), "--scratch is for the workers of a cluster"),
        ((2, None, "folder"), "--scratch is for the workers of a cluster"),
    ],
)
def test_options_that_do_not_go_together_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        workers_of(*given)


def test_without_options_the_work_stays_in_this_process():
    with workers_of(None, None, None) as workers:
        assert workers is None


def test_a_cluster_that_does_not_answer_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("stickbreak.fitting.cluster.ANSWER", 1)
    with (
        pytest.raises(ClusterError, match="no Dask scheduler answers"),
        workers_of(None, "tcp://127.0.0.1:9", tmp_path),
    ):
        pass


def test_the_command_refuses_both(refuse, documents, tmp_path):
    line = refuse("transform", tmp_path / "m", documents, "--workers", "2", "--cluster", "tcp://host:1")
    assert line.startswith("Error: --workers starts processes here")


def test_a_scratch_folder_alone_is_for_fits(tmp_path):
    with workers_of(None, None, tmp_path, scratch_alone=True) as workers:
        assert workers is None
    assert check_workers("VariationalHDP", None, None, tmp_path) == {"scratch": tmp_path}
    assert check_workers("BackoffTreeTopics", 2, None, tmp_path) == {"scratch": tmp_path}
    assert check_workers("GibbsHDP", None, None, None) == {}


def test_hybrid_fits_in_memory_have_workers_and_no_scratch_folder_of_their_own():
    assert check_workers("HybridHDP", 2, None, None) == {}
    assert check_workers("HybridHDP", None, "tcp://host:1", "folder") == {}
    with pytest.raises(InputError, match=r"--scratch needs --method variational, tree or a model"):
        check_workers("HybridHDP", None, None, "folder")
