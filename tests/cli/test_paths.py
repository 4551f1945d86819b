"""Outputs that would take the place of an input, a device, a pipe or a part of a model; inputs that are pipes."""

import os
import shutil
import stat
import subprocess
import sys

import pytest

from stickbreak.exceptions import WriteError
from stickbreak.storage.atomic import replace_file

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no pipes with a name there")


@pytest.fixture
def pipe(tmp_path):
    """A pipe with a name; never a device, which root would replace if the check were gone."""
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    yield path
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_pipe_is_not_replaced_by_a_file(pipe, tmp_path):
    with pytest.raises(WriteError, match="device or a pipe"), replace_file(pipe) as temporary:
        temporary.write_text("")
    assert list(tmp_path.iterdir()) == [pipe]


def test_link_to_a_pipe_is_not_replaced_either(pipe, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(pipe)
    with pytest.raises(WriteError, match="device or a pipe"), replace_file(link):
        pass
    assert link.is_symlink()


def test_outputs_onto_a_pipe_are_refused_before_the_work(refuse, model, documents, pipe, tmp_path):
    assert "pipe" in refuse("fit", documents, "--out", tmp_path / "m", "--report", pipe)
    assert not (tmp_path / "m").exists()
    assert "pipe" in refuse("transform", model, documents, "--out", pipe)
    assert "pipe" in refuse("report", model, documents, "--out", pipe)


def test_pipe_as_input_is_refused_instead_of_waited_for(refuse, model, pipe, tmp_path):
    assert "is a pipe" in refuse("fit", pipe, "--out", tmp_path / "m")
    assert "is a pipe" in refuse("transform", model, pipe)
    assert "is a pipe" in refuse("evaluate", model, pipe)
    assert "is a pipe" in refuse("report", model, pipe, "--out", tmp_path / "r.html")


def test_output_is_never_the_input(refuse, model, documents, tmp_path):
    table = tmp_path / "new.csv"
    table.write_text("text\nship sail\n")
    (tmp_path / "link.csv").symlink_to(table)
    for out in (table, tmp_path / "link.csv"):
        assert "also the input" in refuse("transform", model, table, "--out", out)
        assert "also the input" in refuse("report", model, table, "--out", out)
        assert "also the input" in refuse("fit", table, "--out", tmp_path / "m", "--report", out)
    assert table.read_text() == "text\nship sail\n"


@pytest.mark.parametrize("name", ["model.json", "arrays.safetensors"])
def test_part_of_a_model_is_not_overwritten(refuse, model, documents, tmp_path, name):
    copy = tmp_path / "copy"
    shutil.copytree(model, copy)
    before = (copy / name).read_bytes()
    assert "part of a model" in refuse("report", copy, documents, "--out", copy / name)
    assert "part of a model" in refuse("fit", documents, "--out", copy, "--force", "--report", copy / name)
    assert (copy / name).read_bytes() == before
    assert "part of a model" in refuse("fit", documents, "--out", tmp_path / "new", "--report", tmp_path / "new" / name)


@pytest.mark.parametrize("closed", ["1>&-", "2>&-", "1>&- 2>&-"])
def test_closed_streams_end_without_a_traceback(model, closed):
    command = f'"{sys.executable}" -m stickbreak topics "{model}" {closed}'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("inside", [".", "checkpoint"])
def test_checkpoint_in_the_folder_of_the_model_is_refused(refuse, model, documents, tmp_path, fast, inside):
    copy = tmp_path / "copy"
    shutil.copytree(model, copy)
    line = refuse("fit", documents, "--out", copy, "--force", "--checkpoint", copy / inside, *fast)
    assert "give a folder outside it" in line
    assert not (copy / "checkpoint").exists()


def test_results_have_places_of_their_own_and_are_not_replaced_unasked(
    run, refuse, model, documents, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(model, "m")
    shutil.copy(documents, "new.docs.jsonl")
    options = ("--topics", "3", "--laps", "2", "--no-report")
    for command, name in (
        (("fit", "new.docs.jsonl", *options), "new-topics"),
        (("reduce", "m", "--topics", "2"), "m-2"),
        (("update", "m", documents), "m-updated"),
    ):
        run(*command)
        assert (tmp_path / name / "model.json").is_file()
        assert f"{name} already exists" in refuse(*command)
    (tmp_path / "m" / "report.html").unlink()
    assert "m/report.html" in run("report", "m", documents).stderr
    assert (tmp_path / "m" / "report.html").is_file()
