"""Public text keeps to plain English: what a reader stumbled over once does not come back.

Public are the pages, and the docstrings and messages of the package. A hit is reported as file:line with what to
write instead. A row of `TICS` makes the list longer.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

CHECKED = (
    "src/stickbreak",
    "docs",
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
)

TICS = [  # a pattern, and what to write instead
    (r"\bof now\b", "'current', 'present' or 'today's'"),
    (r"\banew\b", "'again', 'newly' or 'from the start'"),
    (r"\bafresh\b", "'again' or 'from the start'"),
    (r"\bnone does\b", "say what None does: 'None disables the test.'"),
    (r"\bNone: none\b", "say what None does: 'None disables the test.'"),
    (r"\bso many\b", "the number, or 'as many'"),
    (
        r"(?<![Tt]here\s)\b(?:is|are|was|were|be|been) no (?!longer\b|more\b|less\b|other\b|better\b|such\b)(?=[a-z{])",
        "'is not a'",
    ),
    (r"\bis hard on\b", "say what becomes worse"),
    (r"\bhas not the\b", "'does not have the'"),
    (r"\bnot the \w+ for\b", "'too few'"),
    (r"\bup to there\b", "'so far' or 'until then'"),
    (r"\bbreaks off in\b", "'fails while'"),
]
ALLOWED = {  # file: {phrase: why it stays}
    "src/stickbreak/variational/visits.py": {"afresh": "the name of an argument"},
}


def checked_files() -> Iterator[Path]:
    for root in CHECKED:
        place = ROOT / root
        yield from [place] if place.is_file() else sorted([*place.rglob("*.py"), *place.rglob("*.md")])


def prose_of_python(source: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and messages of a module with their first lines: all strings, values in them left out."""
    pieces: set[ast.AST] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            pieces.update(node.values)
            yield node.lineno, "".join(p.value if isinstance(p, ast.Constant) else "{}" for p in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in pieces:
            yield node.lineno, node.value


def prose_of_markdown(text: str) -> Iterator[tuple[int, str]]:
    """Yield a page without its blocks of code; of a changelog its first section."""
    text = re.sub(r"(?ms)^ *```.*?^ *```", lambda block: "\n" * block[0].count("\n"), text)
    sections = [match.start() for match in re.finditer(r"^## ", text, re.MULTILINE)]
    is_changelog = text.startswith("# Changelog") and len(sections) > 1
    yield 1, text[: sections[1]] if is_changelog else text


def hits(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the lines, counted from 0, and phrases of a text that should be written otherwise, and how."""
    text = re.sub(r"\n[ \t]+", "\n", text)  # a phrase may be divided between two lines
    for pattern, instead in TICS:
        for match in re.finditer(pattern.replace(" ", r"\s+"), text):
            yield text[: match.start()].count("\n"), " ".join(match[0].split()), instead


def found_in(file: Path) -> list[str]:
    text, name = file.read_text(encoding="utf-8"), file.relative_to(ROOT).as_posix()
    prose = prose_of_python(text) if file.suffix == ".py" else prose_of_markdown(text)
    return [
        f"{name}:{first + line}: {phrase!r}: write {instead}"
        for first, piece in prose
        for line, phrase, instead in hits(piece)
        if phrase not in ALLOWED.get(name, {})
    ]


def test_public_text_is_plain_english():
    found = [hit for file in checked_files() for hit in found_in(file)]
    assert not found, f"{len(found)} phrases to write otherwise:\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("the defaults of now", "of now"),
        ("fit it\n        anew.", "anew"),
        ("None: none does.", "none does"),
        ("every so many sweeps", "so many"),
        ("that is no table", "is no"),
        ("they are\n    no whole numbers", "are no"),
    ],
)
def test_a_tic_is_found(text, phrase):
    assert phrase in {found for _, found, _ in hits(text)}


@pytest.mark.parametrize(
    "text", ["there is no table", "There\n    are no words", "it is no longer there", "has no rows"]
)
def test_correct_english_is_not_a_tic(text):
    assert list(hits(text)) == []


def test_messages_and_docstrings_are_read_with_their_lines():
    source = '"""A page.\n\nof now\n"""\nx = 1\nraise ValueError(f"{x} is no table; " "fit anew")  # anew\n'
    found = [(first + line, phrase) for first, prose in prose_of_python(source) for line, phrase, _ in hits(prose)]
    assert sorted(found) == [(3, "of now"), (6, "anew"), (6, "is no")]


def test_code_and_old_sections_of_pages_are_left_out():
    page = "# Changelog\n\n## 2.0\n\n```\nanew\n```\n\nanew\n\n## 1.0\n\nanew\n"
    found = [(first + line, phrase) for first, prose in prose_of_markdown(page) for line, phrase, _ in hits(prose)]
    assert found == [(9, "anew")]
