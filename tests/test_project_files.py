"""The files that people and sites read about the project agree with it: citation, guide, security, packaging."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from stickbreak import ESTIMATORS, VECTOR_ESTIMATORS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
PAGES = ["CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md"]
LINK = re.compile(r"\[[^\]]+\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)")


def plain(title: str) -> str:
    return " ".join(re.sub(r"[^a-z ]", " ", title.lower()).split())


def test_citation_has_what_its_format_requires():
    assert CITATION["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= CITATION.keys()
    assert all(author.keys() & {"name", "family-names"} for author in CITATION["authors"])


def test_citation_is_of_this_version_and_licence():
    assert CITATION["version"] == PROJECT["version"]
    assert CITATION["license"] == PROJECT["license"]


@pytest.mark.parametrize("reference", CITATION["references"], ids=lambda reference: reference["title"])
def test_a_cited_paper_is_complete(reference):
    assert {"type", "title", "authors", "year", "notes"} <= reference.keys()
    assert {"journal", "collection-title"} & reference.keys()
    assert all({"given-names", "family-names"} <= author.keys() for author in reference["authors"])
    assert re.fullmatch(r"10\.\d{4,5}/\S+", reference.get("doi", "10.1000/none"))


def test_the_papers_of_the_notation_are_cited():
    notation = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
    papers = [
        " ".join(entry.split()) for entry in re.findall(r"^- \*\*\w+\*\*: (.*(?:\n  .*)*)", notation, re.MULTILINE)
    ]
    assert len(papers) == 6
    cited = [plain(reference["title"]) for reference in CITATION["references"]]
    for paper in papers:
        assert any(title in plain(paper) for title in cited), paper


@pytest.mark.parametrize("name", sorted(ESTIMATORS | VECTOR_ESTIMATORS))
def test_the_paper_of_every_family_is_cited(name):
    assert any(name in reference["notes"] for reference in CITATION["references"])


@pytest.mark.parametrize("page", PAGES)
def test_links_of_the_pages_beside_the_readme_lead_somewhere(page):
    targets = LINK.findall((ROOT / page).read_text(encoding="utf-8"))
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_the_guide_names_make_targets_that_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"`?make ([a-z-]+)", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
    assert {"test", "docs"} <= named
    assert {target for target in named if not re.search(rf"^{target}:", makefile, re.MULTILINE)} == set()
