"""What the build of the site adds to MkDocs: the changelog as a page, notebooks, typeset equations, and names.

An equation is a fenced block of the language "math" with an environment "aligned" of LaTeX, which code hosts show, too.
It becomes MathML here. Browsers typeset that without a script or a network.
"""

import re
from pathlib import Path, PurePosixPath
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from notebooks import is_notebook_page, notebook_text, with_link

_ROOT = Path(__file__).parents[1]
_MATH = re.compile(r"^```math\n\\begin\{aligned\}\n(.*?)\n\\end\{aligned\}\n```$", re.DOTALL | re.MULTILINE)
_SEARCH = 'data-md-component="search" role="dialog"'
_MENU = re.compile(
    r'aria-labelledby="(__nav_\w+)_label"'
    r'(.*?<label class="md-nav__title" for="\1">\s*<span[^>]*></span>\s*)([^<]+?)\s*<',
    re.DOTALL,
)
_CORNER = re.compile(r"<th[^>]*></th>")
_LABEL = re.compile(r"^\\text\{(\([A-Z]\d+\))\}$")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add CHANGELOG.md, which stands outside the folder of pages, and the notebooks of the gallery.

    The links of CHANGELOG.md are from the root of the repository.
    """
    text = (_ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](")
    files.append(File.generated(config, "changelog.md", content=text))
    for name in filter(is_notebook_page, list(files.src_uris)):
        content = notebook_text(Path(config.docs_dir, name))
        files.append(File.generated(config, name.removesuffix(".md") + ".ipynb", content=content))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Typeset the equations of a page, and lead to its notebook."""
    if is_notebook_page(page.file.src_uri):
        markdown = with_link(markdown, PurePosixPath(page.file.src_uri).with_suffix(".ipynb").name)
    return _MATH.sub(_equations, markdown)


def on_post_page(output: str, **_: Any) -> str:
    """Give a page the names that the theme leaves out."""
    return _named(output)


def on_post_template(output_content: str, **_: Any) -> str:
    """Do the same for the page that is shown in place of a missing one."""
    return _named(output_content)


def _named(output: str) -> str:
    """Mend what readers by ear miss in the pages of the theme.

    The search has no name, nor has the menu of a section with a page of its own, and the empty corner of a table is not
    a heading.
    """
    output = output.replace(_SEARCH, _SEARCH + ' aria-label="Search"')
    output = _MENU.sub(lambda menu: f'aria-label="{menu[3]}"{menu[2]}{menu[3]}<', output)
    return _CORNER.sub("<td></td>", output)


def _equations(found: re.Match[str]) -> str:
    rows = "".join(_row(line.strip()) for line in re.split(r"\\\\(?=\n|$)", found[1]))
    return f'<div class="equations" markdown="0" tabindex="0" role="group" aria-label="Equations">{rows}</div>'


def _row(line: str) -> str:
    """Typeset one line: an equation, and at its right a remark or the label."""
    equation, _, right = line.partition("&&")
    label = _LABEL.match(right.strip())
    beside = label[1] if label else _typeset(right) if right else ""
    return f"<div>{_typeset(equation)}</div><div>{beside}</div>"


def _typeset(latex: str) -> str:
    return convert(latex.replace("&", "").strip(), display="block")
