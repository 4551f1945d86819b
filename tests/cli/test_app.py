import os
import signal
import subprocess
import sys
from importlib.metadata import version

import pytest

from stickbreak.cli.app import app

COMMANDS = (
    "fit", "topics", "transform", "evaluate", "report", "label", "reduce", "compare", "update", "count", "demo",
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_json(run, command):
    text = run(command, "--help-all" if command == "fit" else "--help").stdout
    assert "--json" in text
    assert len(app.registered_commands) == len(COMMANDS)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["fit", "--help"], ["ask", "m", "tree", "--help"]])
def test_start_loads_nothing_heavy(arguments):
    program = (
        "import sys\nfrom stickbreak.cli import main\n"
        f"sys.argv = ['stickbreak', *{arguments!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "heavy = {'numpy', 'numba', 'sklearn', 'scipy', 'plotly', 'pyarrow', 'safetensors'} & sys.modules.keys()\n"
        "sys.exit(f'loaded: {heavy}' if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit"], "Missing argument 'INPUT'"),
        (["count", "x.jsonl"], "Missing option '--out'"),
        (["fit", "x.jsonl", "--out", "m", "--topics", "0"], "--topics"),
        (["fit", "x.jsonl", "--out", "m", "--topics", "many"], "--topics"),
        (["fit", "x.jsonl", "--out", "m", "--nonsense"], "--nonsense"),
        (["nonsense"], "nonsense"),
        (["topics", "a", "b"], "b"),
    ],
)
def test_wrong_use_is_one_sentence_that_points_to_the_help(refuse, arguments, words):
    line = refuse(*arguments)
    assert words in line
    assert "--help" in line


def test_python_m_runs_the_same_program(process):
    done = process("--version")
    assert (done.returncode, done.stdout) == (0, f"stickbreak {version('stickbreak')}\n")


def test_bad_input_in_a_process_is_one_line_on_stderr_and_code_2(process):
    done = process("topics", "nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == ["Error: nowhere does not exist; give the folder of a saved model"]


def test_interrupt_is_code_130(run, monkeypatch, tmp_path):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("stickbreak.storage.persistence.read_head", interrupted)
    monkeypatch.setattr("stickbreak.load", interrupted)
    result = run("topics", tmp_path, code=130)
    assert result.stderr.startswith("Error: interrupted")


@pytest.mark.parametrize("text", ["", "Unable to allocate 7.2 TiB for an array"])
def test_exhausted_memory_is_one_sentence(monkeypatch, refuse, text):
    def greedy(*_):
        raise MemoryError(text)

    monkeypatch.setattr("stickbreak.load", greedy)
    line = refuse("topics", "x")
    assert "memory" in line
    assert text in line
    assert "give fewer documents" in line


@pytest.mark.parametrize("error", [ValueError("Maximum allowed size exceeded"), OverflowError("int too big")])
def test_numbers_that_are_too_large_for_arrays_are_one_sentence(monkeypatch, refuse, error):
    def greedy(*_):
        raise error

    monkeypatch.setattr("stickbreak.load", greedy)
    assert str(error) in refuse("topics", "x")


def test_errors_that_are_not_on_purpose_keep_their_traceback(monkeypatch, run):
    def broken(*_):
        raise ValueError("a mistake of ours")

    monkeypatch.setattr("stickbreak.load", broken)
    with pytest.raises(ValueError, match="a mistake of ours"):
        run("topics", "x")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes close otherwise there")
def test_a_closed_pipe_ends_quietly(model):
    command = [sys.executable, "-m", "stickbreak", "topics", str(model)]
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True)
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1, -signal.SIGPIPE)
