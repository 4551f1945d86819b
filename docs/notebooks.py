"""The pages of the gallery as Jupyter notebooks: prose and code of the page in cells, its pictures inside.

A notebook is JSON of the format nbformat 4.5. It is made from its page when the site is built, so that there is one
source. Links to other pages become plain text, because a downloaded file does not lie beside them.
"""

import base64
import json
import re
from pathlib import Path
from typing import Any

_BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$\n?", re.DOTALL | re.MULTILINE)
_PICTURE = re.compile(r"!\[([^\]]*)\]\(([\w-]+\.svg)\)")
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:|attachment:)[^)]*\)")


def is_notebook_page(name: str) -> bool:
    """Tell whether a page has a notebook.

    Parameters
    ----------
    name : str
        Path of the page in the folder of the documentation, with slashes.
    """
    return re.fullmatch(r"gallery/(?!index\.md$)[\w-]+\.md", name) is not None


def notebook_text(page: Path) -> str:
    """Return the notebook of a page, as the text of its file.

    Parameters
    ----------
    page : Path
        The Markdown file; its pictures lie beside it.
    """
    cells = []
    for kind, text in _pieces(page.read_text(encoding="utf-8")):
        cell = _prose(text, page.parent) if kind == "prose" else _code(text if kind == "python" else _in_a_shell(text))
        cells.append({"id": f"{page.stem}-{len(cells)}", **cell})
    python = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": python, "language_info": {"name": "python"}}
    notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def with_link(markdown: str, name: str) -> str:
    """Return the text of a page with a link to its notebook below the first heading.

    Parameters
    ----------
    markdown : str
    name : str
        Of the file of the notebook.
    """
    heading, rest = markdown.split("\n", 1)
    return f'{heading}\n\n[Download this page as a notebook]({name}){{ download="{name}" }}\n{rest}'


def _pieces(markdown: str) -> list[tuple[str, str]]:
    """Cut a page into prose and blocks of code."""
    prose, *rest = _BLOCK.split(markdown)
    pieces = [("prose", prose)]
    for language, code, prose in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        pieces += [(language, code), ("prose", prose)]
    return [(kind, text.strip("\n")) for kind, text in pieces if text.strip()]


def _prose(text: str, folder: Path) -> dict[str, Any]:
    pictures = {
        name: {"image/svg+xml": base64.b64encode((folder / name).read_bytes()).decode()}
        for _, name in _PICTURE.findall(text)
    }
    source = _LINK.sub(r"\1", _PICTURE.sub(r"![\1](attachment:\2)", text))
    attachments = {"attachments": pictures} if pictures else {}
    return {"cell_type": "markdown", "metadata": {}, **attachments, "source": source.splitlines(keepends=True)}


def _code(text: str) -> dict[str, Any]:
    source = text.splitlines(keepends=True)
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}


def _in_a_shell(commands: str) -> str:
    """Return the commands as a cell of a notebook passes them to a shell."""
    return "\n".join(f"!{line}" for line in commands.splitlines())
