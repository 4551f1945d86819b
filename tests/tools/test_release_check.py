"""`make release-check`: each fault of a release is named."""

import pytest
from tools.release_check import faults_of_archives, faults_of_texts, files_of_the_package

CHANGELOG = "# Changelog\n\n## 1.2.0 - 2031-05-17\n\n### Added\n\n## 1.1.0 - 2030-01-01\n"
CITATION = "cff-version: 1.2.0\nversion: 1.2.0\n"


def test_a_tree_in_order_has_no_fault():
    assert faults_of_texts("1.2.0", CHANGELOG, CITATION, ["v1.1.0"]) == []


@pytest.mark.parametrize(
    ("version", "changelog", "citation", "tags", "fault"),
    [
        ("1.3.0", CHANGELOG, "version: 1.3.0\n", [], "CHANGELOG.md begins with '1.2.0'"),
        ("1.2.0", "## Unreleased\n\n" + CHANGELOG, CITATION, [], "begins with 'Unreleased'"),
        ("1.2.0", "# Changelog\n", CITATION, [], "CHANGELOG.md has no section"),
        ("1.2.0", "## 1.2.0\n", CITATION, [], "has no date"),
        ("1.2.0", CHANGELOG, "cff-version: 1.2.0\nversion: 1.1.0\n", [], "CITATION.cff is not of version 1.2.0"),
        ("1.2.0", CHANGELOG, CITATION, ["v1.1.0", "v1.2.0"], "the tag v1.2.0 exists"),
    ],
)
def test_a_fault_of_the_texts_is_named(version, changelog, citation, tags, fault):
    (said,) = faults_of_texts(version, changelog, citation, tags)
    assert fault in said


def test_archives_must_hold_the_package_and_nothing_else():
    complete = ["CHANGELOG.md", "CITATION.cff", "LICENSE", "README.md", "pyproject.toml", "src/stickbreak/py.typed"]
    wheel = ["stickbreak/__init__.py", "stickbreak-1.2.0.dist-info/METADATA"]
    assert faults_of_archives(wheel, complete, ["stickbreak/__init__.py"]) == []
    assert faults_of_archives([*wheel, "tests/x.py"], complete[1:], ["stickbreak/__init__.py", "stickbreak/a.css"]) == [
        "the wheel lacks stickbreak/a.css",
        "the sdist lacks CHANGELOG.md",
        "the wheel also holds tests/x.py",
    ]


def test_the_files_of_the_package_include_templates_and_the_marker_of_types():
    assert {"stickbreak/py.typed", "stickbreak/report/page/base.html"} <= set(files_of_the_package())
