"""The documentation says what the code does: labels, parameters, help texts and links; tests/docs runs its blocks."""

import inspect
import re
from collections import Counter
from dataclasses import fields
from pathlib import Path

import pytest

from stickbreak.corpus import FORMATS, VECTOR_FORMATS, TextOptions
from stickbreak.methods import methods

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
CODE = ("src", "baselines/src", "sequences/src")
_LABEL = r"\(([A-Z]\d+)\)"


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def math_pages() -> str:
    files = [*sorted(DOCS.glob("math/*.md")), ROOT / "baselines/mathematics.md"]
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def defined_labels(math: str) -> Counter[str]:
    """Labels that a heading of the pages defines, with how often."""
    return Counter(re.findall(rf"^#+ {_LABEL}", math, re.MULTILINE))


def cited_labels() -> dict[str, list[str]]:
    """Labels that the code cites, with the files that do."""
    cited: dict[str, list[str]] = {}
    for file in sorted(file for folder in CODE for file in (ROOT / folder).rglob("*.py")):
        for line in file.read_text(encoding="utf-8").splitlines():
            if "docs/math" in line:
                for label in re.findall(_LABEL, line.split("docs/math", 1)[1]):
                    cited.setdefault(label, []).append(str(file.relative_to(ROOT)))
    return cited


def test_math_defines_every_label_once():
    labels = defined_labels(math_pages())
    assert labels
    assert [label for label, times in labels.items() if times > 1] == []


def test_math_and_code_have_the_same_labels():
    defined, cited = set(defined_labels(math_pages())), cited_labels()
    assert {label: cited[label] for label in set(cited) - defined} == {}, "cited in src, not defined in docs/math/"
    assert defined - set(cited) == set(), "defined in docs/math/, cited nowhere in src"


def test_math_shows_the_label_beside_its_equation():
    math = math_pages()
    for label in defined_labels(math):
        after = re.split(rf"^#+ \({label}\)", math, maxsplit=1, flags=re.MULTILINE)[1]
        section = re.split(r"^#+ ", after, maxsplit=1, flags=re.MULTILINE)[0]
        typeset = rf"&& \\text\{{\({label}\)\}}(?: \\\\)?$"
        assert re.search(rf"^    .*\({label}\)$|{typeset}", section, re.MULTILINE), label


def test_formats_page_has_every_format_and_text_option():
    text = page("formats.md")
    named = set(re.findall(r"`(\w+)`", text))
    assert {*FORMATS, *VECTOR_FORMATS} <= named
    assert {field.name for field in fields(TextOptions)} <= named


def anchors(file: Path) -> set[str]:
    """The anchors that the headings of a page give it, or name themselves."""
    headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    named = [re.search(r"\{#([\w-]+)\}", heading) for heading in headings]
    return {
        name[1] if name else re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        for heading, name in zip(headings, named, strict=True)
    }


@pytest.mark.parametrize("name", sorted(file.name for file in ROOT.glob("*.md")))
def test_links_of_the_pages_at_the_top_lead_to_files_and_headings(name):
    text = re.sub(r"^```.*?^```", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", text):
        if not target.startswith(("http", "mailto:")):
            file = ROOT / (target or name)
            assert file.exists(), target
            assert not anchor or anchor in anchors(file), f"{target}#{anchor}"


@pytest.mark.parametrize("name", methods())
def test_docstrings_name_the_defaults_of_the_signature(name):
    kind = methods()[name].load()
    defaults = {key: one.default for key, one in inspect.signature(kind).parameters.items()}
    stated = {}
    for names, text in re.findall(r"^    (\w[\w, ]*) : .*default=(.+)$", kind.__doc__, re.MULTILINE):
        keys, value = names.split(", "), eval(text.replace(" and ", ", "))
        one_for_all = len(keys) == 1 or not isinstance(value, tuple) or text.startswith("(")
        stated |= dict.fromkeys(keys, value) if one_for_all else dict(zip(keys, value, strict=True))
    assert len(stated) > 0.8 * len(defaults)
    assert stated == {key: defaults[key] for key in stated}
