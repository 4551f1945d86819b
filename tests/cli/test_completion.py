"""Completion in bash and zsh: commands, options, methods, names of choices."""

import os
import shutil
import subprocess
import sys

import pytest

from stickbreak.cli.methods import METHODS


def completed(shell, line):
    """What the program offers to a shell for the last word of a line."""
    words = line.split(" ")
    environment = {
        **os.environ,
        "_STICKBREAK_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": line,
    }
    command = [sys.executable, "-c", "import sys; sys.argv = ['stickbreak']; from stickbreak.cli import main; main()"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_methods_are_offered(shell):
    offered = completed(shell, "stickbreak fit --method ")
    assert [name for name in METHODS if name not in offered] == []


def test_zsh_says_what_a_method_is_for():
    assert METHODS["gibbs"].purpose.split(":")[0] in completed("zsh", "stickbreak fit --method g")


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("stickbreak ev", ["evaluate"]),
        ("stickbreak fit --method gib", ["gibbs"]),
        ("stickbreak fit --bound q", ["quadratic"]),
        ("stickbreak fit --burn-in-", ["--burn-in-sweeps"]),  # also what the first screen of help hides
        ("stickbreak fit --moves merge,b", ["merge,birth"]),
        ("stickbreak fit --delete-documents a", ["all"]),
    ],
)
def test_bash_completes(line, offered):
    assert completed("bash", line).split() == offered


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_script_of_a_shell_is_accepted_by_it(process, shell, tmp_path):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    script = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv = ['stickbreak']; from stickbreak.cli import main; main()"],
        env={**os.environ, "_STICKBREAK_COMPLETE": f"source_{shell}"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "stickbreak" in script
    subprocess.run([program, "-n"], input=script, text=True, check=True)
