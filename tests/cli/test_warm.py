"""`stickbreak warm`: after it, a fit with the defaults compiles nothing."""

import json

import pytest

from stickbreak.cli.methods import METHODS


def compiled_by(fresh_python, *commands):
    """Run commands in a new process; return after each how many kernels it has compiled, and loaded."""
    code = (
        "import json, sys, warnings\n"
        "from stickbreak.cli.app import app\n"
        "from stickbreak.numerics.compiling import counts\n"
        "tallies = []\n"
        "for command in json.loads(sys.argv[1]):\n"
        "    app(command, standalone_mode=False)\n"
        "    tallies.append(counts())\n"
        "print()\n"
        "print(json.dumps(tallies))\n"
    )
    plain = json.dumps([list(map(str, command)) for command in commands])
    return json.loads(fresh_python(code, plain).stdout.splitlines()[-1])


def commands_of(method, documents, folder):
    """The default path of a method; samplers with fewer sweeps."""
    model, sweeps = folder / method, {"gibbs": 30, "pachinko": 120, "hierarchical-pachinko": 120}
    shorter = ["--laps", sweeps[method]] if method in sweeps else []
    return [
        ["fit", documents, "--out", model, "--method", method, "--held-out", "0.1", "--quiet", *shorter],
        ["transform", model, documents, "--out", folder / "weights.npz"],
        ["evaluate", model, documents],
        ["report", model, documents, "--out", folder / "report.html"],
    ]


def test_fit_after_warm_compiles_nothing(fresh_python, run, documents, tmp_path):
    run("warm", "--method", "topics", "--quiet")
    compiled, loaded = compiled_by(fresh_python, *commands_of("topics", documents, tmp_path))[-1]
    assert compiled == 0
    assert loaded > 5


@pytest.mark.long
def test_other_fits_after_warm_compile_nothing(fresh_python, run, documents, tmp_path):
    """All in one new process: the tallies grow from method to method."""
    others = [name for name, method in METHODS.items() if method.data == "documents" and name != "topics"]
    for method in others:
        run("warm", "--method", method, "--quiet")
    found = compiled_by(
        fresh_python, *(command for name in others for command in commands_of(name, documents, tmp_path))
    )
    assert len(found) == len(others) * 4
    assert [compiled for compiled, _ in found] == [0] * len(found)
    loaded = [loaded for _, loaded in found[3::4]]
    assert loaded == sorted(loaded)
    assert len(set(loaded)) > len(others) / 2  # most methods have kernels of their own


def test_warm_says_how_long_it_took_and_where_the_kernels_are(run):
    found = json.loads(run("warm", "--method", "lda", "--quiet", "--json").stdout)
    assert list(found["families"]) == ["lda"]
    assert found["families"]["lda"]["seconds"] > 0
    assert found["folder"]
    assert "lda" in run("warm", "--method", "lda", "--quiet").stdout


def test_unknown_family_is_refused(refuse):
    named = ", ".join(name for name, method in METHODS.items() if method.data == "documents")
    assert f"give {named} or vectors" in refuse("warm", "--method", "plsa")


def test_kernels_that_cannot_be_kept_are_an_error(refuse, monkeypatch):
    monkeypatch.setattr("stickbreak.numerics.compiling.folder_of_kernels", lambda *package: None)
    assert "cannot be kept; set NUMBA_CACHE_DIR" in refuse("warm", "--method", "lda", "--json")
