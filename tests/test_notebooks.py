"""Each page of the gallery has a notebook with its prose, its code and its pictures."""

import base64
import importlib.util
import json
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(page for page in (DOCS / "gallery").glob("*.md") if page.name != "index.md")


@pytest.fixture(scope="module")
def notebooks():
    """docs/notebooks.py, which is not in a package."""
    spec = importlib.util.spec_from_file_location("notebooks", DOCS / "notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def joined(cells, kind):
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == kind]


def test_the_pages_are_those_with_a_notebook(notebooks):
    names = [page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")]
    assert sorted(filter(notebooks.is_notebook_page, names)) == [f"gallery/{page.name}" for page in PAGES]
    assert len(PAGES) == 8


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_of_a_notebook_is_that_of_its_page(notebooks, page):
    cells = json.loads(notebooks.notebook_text(page))["cells"]
    blocks = re.findall(r"^```(python|sh)\n(.*?)\n```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert blocks
    expected = [code if language == "python" else re.sub("(?m)^", "!", code) for language, code in blocks]
    assert joined(cells, "code") == expected


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_notebook_has_the_prose_of_its_page_and_needs_no_other_file(notebooks, page):
    cells = json.loads(notebooks.notebook_text(page))["cells"]
    prose, text = "\n".join(joined(cells, "markdown")), page.read_text(encoding="utf-8")
    for line in re.sub(r"(?ms)^```.*?^```$", "", text).splitlines():
        assert "](" in line or line in prose
    targets = re.findall(r"\]\(([^)]*)\)", prose)
    assert [target for target in targets if not target.startswith(("attachment:", "http"))] == []
    held = {name: one for cell in cells for name, one in cell.get("attachments", {}).items()}
    assert {f"attachment:{name}" for name in held} == {t for t in targets if t.startswith("attachment:")}
    for name, one in held.items():
        assert base64.b64decode(one["image/svg+xml"]) == (page.parent / name).read_bytes()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_notebook_is_valid(notebooks, page):
    found = json.loads(notebooks.notebook_text(page))
    assert (found["nbformat"], found["nbformat_minor"]) == (4, 5)
    identities = [cell["id"] for cell in found["cells"]]
    assert len(set(identities)) == len(identities)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in identities)
    for cell in found["cells"]:
        more = {"attachments"} & set(cell)
        if cell["cell_type"] == "code":
            more = {"execution_count", "outputs"}
        assert set(cell) == {"id", "cell_type", "metadata", "source"} | more
        assert "".join(cell["source"]).strip()
    if importlib.util.find_spec("nbformat") is not None:
        import nbformat

        nbformat.validate(nbformat.from_dict(found))


def test_a_link_to_another_page_becomes_text(notebooks, tmp_path):
    (tmp_path / "a.md").write_text("# A\n\nSee [there](../b.md#c) and [out](https://example.org).\n")
    cell = json.loads(notebooks.notebook_text(tmp_path / "a.md"))["cells"][0]
    assert "".join(cell["source"]) == "# A\n\nSee there and [out](https://example.org)."
