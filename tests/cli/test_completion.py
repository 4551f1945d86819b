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


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("stickbreak ev", ["evaluate"]),
        ("stickbreak fit --method gib", ["gibbs"]),
        ("stickbreak fit --date-f", ["--date-format"]),  # also what the first screen of help hides
        ("stickbreak ask model over", ["over-time"]),
    ],
)
def test_bash_completes(line, offered):
    assert completed("bash", line).split() == offered


def script_of(shell):
    """What `stickbreak --show-completion` prints in a shell."""
    program = "import sys; sys.argv = ['stickbreak']; from stickbreak.cli import main; main()"
    environment = {**os.environ, "_STICKBREAK_COMPLETE": f"source_{shell}"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_by_the_script_that_it_is_given(tmp_path):
    program = tmp_path / "stickbreak"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m stickbreak "$@"\n')
    program.chmod(0o700)
    function = "COMP_WORDS=(stickbreak fit --method gau) COMP_CWORD=3; _stickbreak_completion stickbreak"
    script = f'{script_of("bash")}\n{function}\necho "${{COMPREPLY[@]}}"\n'
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["bash"], input=script, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["gaussian-hdp", "gaussian-mixture"]
