"""The contributor's guide: its files are written, its lines join the registries, its other blocks run, in order."""

import importlib
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "docs" / "contributing"
BLOCK = re.compile(r'^```python(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", ["add-a-likelihood", "add-a-move", "add-a-family"])
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
    if isinstance(there, list):
        monkeypatch.setattr(module, registry, [*there, *eval(f"[{rows}]", names)])
        return
    for key, value in eval(f"{{{rows}}}", names).items():
        assert key not in there
        monkeypatch.setitem(there, key, value)
        if registry == "ESTIMATORS":
            monkeypatch.setitem(module._LAZY, key, value)
