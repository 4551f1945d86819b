"""The built site: links that lead somewhere, nothing from another host, equations that are typeset."""

import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from stickbreak.methods import OWN, estimator_of

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
_LOADED = re.compile(r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?(?:https?:)?//[^>]*>"""
                     r"""|<link\b[^>]*\bhref=["']?(?:https?:)?//[^>]*>""")  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The built documentation; the build fails for a link or an anchor that leads nowhere."""
    if importlib.util.find_spec("mkdocs") is None or importlib.util.find_spec("mkdocstrings") is None:
        pytest.skip("mkdocs is not installed (it is one of the development requirements)")
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(target)]  # --quiet hides warnings
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return target


def test_site_loads_nothing_from_another_host(site):
    for file in site.rglob("*.html"):
        assert _LOADED.findall(file.read_text(encoding="utf-8")) == [], file.name
    imported = re.compile(r"(?:@import|url\()\s*[\"']?(?:https?:)?//")
    for file in site.rglob("*.css"):
        assert imported.findall(file.read_text(encoding="utf-8")) == [], file.name


def test_every_equation_in_latex_is_typeset(site):
    for page in DOCS.glob("math/*.md"):
        built = (site / "math" / f"{page.stem}.html").read_text(encoding="utf-8")
        assert built.count('<div class="equations"') == page.read_text(encoding="utf-8").count("```math"), page.name
    assert "begin{aligned}" not in "".join(file.read_text(encoding="utf-8") for file in site.rglob("*.html"))


def test_no_asterisk_of_an_equation_is_taken_for_emphasis(site):
    text = "".join(file.read_text(encoding="utf-8") for file in site.glob("math/*.html"))
    emphasized = re.findall(r"<em>(.*?)</em>", text, re.DOTALL)
    assert emphasized
    assert [text for text in emphasized if re.search(r"[=^_(]", text)] == []


@pytest.mark.parametrize("name", [method.estimator for method in OWN.values()])
def test_the_reference_shows_each_parameter_with_its_own_default(site, name):
    kind = estimator_of(name)
    page = (site / "reference" / "models.html").read_text(encoding="utf-8")
    parts = re.split(r'<h2 id="([\w.-]+)"', page)
    text = parts[parts.index(f"stickbreak.{name}") + 1]
    for key in ("alpha", "gamma", "eta"):
        parameter = inspect.signature(kind).parameters.get(key)
        if parameter is None:
            continue
        shown = re.search(rf"<b><code>{key}</code></b>.*?default:\s*<code>(.*?)</code>", text, re.DOTALL)
        assert shown, key
        assert shown[1] == str(parameter.default)
