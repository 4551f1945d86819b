import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import typer.main
import typer.testing
from typer.testing import CliRunner

import stickbreak
from stickbreak.cli.app import app

THEMES = {
    "sea": "ship sail captain wave harbour anchor sailor island storm deck",
    "kitchen": "bread butter oven flour sugar recipe kitchen pepper onion soup",
    "law": "court judge lawyer trial witness verdict appeal jury statute crime",
}
FAST = ["--topics", "5", "--laps", "4", "--random-state", "1", "--jobs", "1"]


@pytest.fixture(scope="session", autouse=True)
def commands_made_once():
    """Let runners share the commands that typer makes of the app: they keep nothing of a run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", cache(typer.main.get_command))
        yield


@pytest.fixture(scope="session")
def records() -> list[dict[str, str]]:
    """Ninety documents, each about one theme."""
    rng = np.random.default_rng(0)
    return [
        {"id": f"{theme}-{i}", "text": " ".join(rng.choice(THEMES[theme].split(), size=30))}
        for i in range(30)
        for theme in THEMES
    ]


@pytest.fixture(scope="session")
def documents(tmp_path_factory, records) -> Path:
    """The documents as JSON lines."""
    path = tmp_path_factory.mktemp("documents") / "documents.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def run():
    """Run a command in this process: run("topics", folder) -> result with exit_code, stdout, stderr."""

    def call(*arguments, code: int = 0):
        result = CliRunner().invoke(app, [str(a) for a in arguments], prog_name="stickbreak")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.stderr + result.stdout
        return result

    return call


@pytest.fixture
def refuse(run):
    """Run a command that must fail with code 2, nothing on stdout, one line of error; return the line."""

    def call(*arguments):
        result = run(*arguments, code=2)
        assert result.stdout == ""
        assert "Traceback" not in result.stderr
        lines = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
        assert len(lines) == 1, result.stderr
        assert result.stderr.splitlines()[-1] == lines[0]
        return lines[0]

    return call


@pytest.fixture
def process():
    """Run a command in a fresh process."""

    def call(*arguments, **options):
        command = [sys.executable, "-m", "stickbreak", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=1200, **options)

    return call


@pytest.fixture(scope="session")
def model(tmp_path_factory, documents) -> Path:
    """A model fitted by the command line; not to be changed."""
    out = tmp_path_factory.mktemp("models") / "model"
    arguments = ["fit", str(documents), "--out", str(out), "--held-out", "0.1", *FAST]
    result = CliRunner().invoke(app, arguments, prog_name="stickbreak", catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    return out


@pytest.fixture(scope="session")
def tree_model(tmp_path_factory, documents) -> Path:
    """A tree fitted by the command line, with its report; not to be changed."""
    out = tmp_path_factory.mktemp("models") / "tree"
    options = ["--method", "tree", "--set", "branching=3,2,4", "--laps", "10", "--random-state", "1", "--jobs", "1"]
    arguments = ["fit", str(documents), "--out", str(out), *options]
    result = CliRunner().invoke(app, arguments, prog_name="stickbreak", catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    return out


@pytest.fixture
def fast() -> list[str]:
    """Options that make a fit quick."""
    return list(FAST)


@pytest.fixture
def unprivileged() -> None:
    """Skip where the user may write everywhere."""
    if not hasattr(os, "geteuid") or os.geteuid() == 0:
        pytest.skip("this user may write everywhere")


@pytest.fixture(scope="module")
def dated(tmp_path_factory, records):
    """The documents with dates and themes; one has neither."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("dated") / "dated.jsonl"
    days = np.datetime64("2020-01-01") + np.sort(rng.integers(0, 1500, len(records)))
    rows = [
        {**record, "when": str(day), "kind": "=" + record["id"].split("-")[0]}
        for record, day in zip(records, days, strict=True)
    ]
    rows[5] |= {"when": None, "kind": None}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def fitted(model):
    return stickbreak.load(model)


@pytest.fixture(scope="module")
def corpus(dated, fitted):
    return stickbreak.corpus.read(dated, vocabulary=fitted.vocabulary_, keep=["when", "kind"], text_field="text")
