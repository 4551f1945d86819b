"""Commands that are shown and must succeed, and virtual environments of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run(*command: str | Path, cwd: Path = ROOT, variables: Mapping[str, str] | None = None) -> str:
    """Run a command and return what it prints; end the program with its output if it fails."""
    words = [str(word) for word in command]
    # nothing of the working tree may stand in for what is installed
    inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    result = subprocess.run(words, cwd=cwd, capture_output=True, text=True, env=inherited | dict(variables or {}))
    if result.returncode != 0:
        print(result.stdout, result.stderr, sep="\n", file=sys.stderr)
        raise SystemExit(f"failed: {' '.join(words)}")
    return result.stdout


def new_environment(folder: Path) -> Path:
    """Make a virtual environment and return its Python."""
    run(sys.executable, "-m", "venv", folder)
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


def install(python: Path, *what: str | Path) -> None:
    """Install by pip into an environment."""
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what)
