"""The contributor's guide: its files are written, its lines join the registries, its other blocks run, in order."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "docs" / "contributing"
BLOCK = re.compile(r'^```(?:python|toml)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", ["add-a-likelihood", "add-a-move"])
def test_page_runs_in_order(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    names: dict[str, object] = {"__name__": "page"}
    blocks = BLOCK.findall((GUIDE / f"{name}.md").read_text(encoding="utf-8"))
    try:
        for title, block in blocks:
            if " in " in title:
                join(*title.split(" in "), block, monkeypatch)
            elif title:
                write(tmp_path, title, block, monkeypatch)
            else:
                exec(compile(block, name, "exec"), names)
    finally:
        for module in set(sys.modules) - before:
            if str(getattr(sys.modules[module], "__file__", "")).startswith(str(tmp_path)):
                del sys.modules[module]
    assert sum(not title for title, _ in blocks) > 1
    assert any(" in " in title for title, _ in blocks) or name == "add-a-likelihood"


def test_a_family_in_a_package_of_its_own_is_installed_and_found(fresh_python, tmp_path, monkeypatch):
    blocks = BLOCK.findall((GUIDE / "add-a-family.md").read_text(encoding="utf-8"))
    package, installed = tmp_path / "package", tmp_path / "installed"
    for title, block in blocks:
        if title:
            (package / title).parent.mkdir(parents=True, exist_ok=True)
            (package / title).write_text(block, encoding="utf-8")
    assert sum(block.count("\n") for title, block in blocks if title.endswith(".py")) < 150
    options = ("--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--no-index")
    subprocess.run([sys.executable, "-m", "pip", "install", *options, "--target", installed, package], check=True)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])]))
    monkeypatch.chdir(tmp_path)
    shown = [block for title, block in blocks if not title]
    assert len(shown) > 4
    fresh_python("\n".join(shown))


def test_a_plug_in_that_cannot_be_read_is_left_out(fresh_python, tmp_path, monkeypatch):
    head = "from stickbreak.methods import Method\n"
    modules = {
        "broken": "import no_such_module",
        "other": "METHOD = 3",
        "group": head + "METHOD = Method('m', 'M', 'p', group='none')",
        "topics": head + "METHOD = Method('m', 'Mine', 'takes the name of the default')",
        "twin": head + "METHOD = Method('m', 'TopicModel', 'takes the class of the default')",
    }
    for name, source in modules.items():
        (tmp_path / f"plug_{name}.py").write_text(source)
        info = tmp_path / f"plug_{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: plug-{name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[stickbreak.methods]\n{name} = plug_{name}:METHOD\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]))
    code = """
import warnings
from stickbreak.methods import OWN, methods
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    known = methods()
assert known["topics"] is OWN["topics"]
assert not {"broken", "other", "group", "twin"} & known.keys()
print(*sorted(str(one.message) for one in caught), sep="\\n")
"""
    warned = fresh_python(code).stdout.splitlines()
    assert len(warned) == len(modules)
    assert "The method 'broken' of plug-broken cannot be loaded (No module named 'no_such_module')" in warned[0]


def write(folder: Path, title: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a file of the page under `folder`, and let the package that is there already find it."""
    path, package = folder / title, Path(title).parent
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    while not (ROOT / package).is_dir():
        package = package.parent
    module = importlib.import_module(".".join(package.parts[1:]))
    monkeypatch.setattr(module, "__path__", [*module.__path__, str(folder / package)])


def join(registry: str, path: str, lines: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the lines of the page join a registry for the time of the test, and their imports go before."""
    parts = Path(path).with_suffix("").parts
    module = importlib.import_module(".".join(parts[parts[0] == "src" :]).removesuffix(".__init__"))
    *imports, rows = lines.rsplit("\n\n", 1)
    names = dict(vars(module))
    exec("\n".join(imports), names)
    there = getattr(module, registry)
    for key, value in eval(f"{{{rows}}}", names).items():
        assert key not in there
        monkeypatch.setitem(there, key, value)
