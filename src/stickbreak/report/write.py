"""From the numbers of a report to one HTML file that opens without a network."""

import base64
import hashlib
import html
import re
import zlib
from importlib import resources
from pathlib import Path

from stickbreak.report.data import Page
from stickbreak.storage.atomic import replace_file
from stickbreak.storage.places import PathLike

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


def write_report(data: Page, path: PathLike) -> None:
    """Write a report as one self-contained HTML file.

    The file is complete or absent, never half-written: it is built beside its place and renamed.

    Parameters
    ----------
    data : Page
        What the report says, from `build_report` or `build_component_report`.
    path : str or path-like
        The file; an existing one is replaced.

    Raises
    ------
    WriteError
        If the file cannot be written.
    """
    page = render_html(data)
    with replace_file(path) as temporary:
        Path(temporary).write_bytes(page.encode("utf-8"))


def render_html(data: Page) -> str:
    """Return the report as HTML.

    Style, program, plotly.js and the numbers are inlined. A content security policy forbids the page to load
    anything and to run any script but its own two, which it names by their hashes; words and names only ever
    become text nodes.

    Parameters
    ----------
    data : Page
        What the report says.

    Returns
    -------
    str
        The whole page.
    """
    from plotly.offline import get_plotlyjs  # 4.6 MB of text: read only when a report is written

    program = "".join(_package_text(name) for name in data.programs)
    plotly = get_plotlyjs().replace("\r\n", "\n")
    parts = {
        "title": html.escape(data.title.encode("utf-8", "replace").decode("utf-8")),  # no lone surrogates
        "style": _package_text("style.css"),
        "data": data.to_json(),
        "program": program,
        "plotly": base64.b64encode(zlib.compress(plotly.encode("utf-8"), 9)).decode("ascii"),
        "close": data.close,
        "script_hashes": f"{_source_hash(program)} {_source_hash(plotly)}",
    }
    page = _package_text("template.html").replace("{{body}}", _package_text(data.body))
    # One pass: what is put in is never searched for placeholders again.
    return _PLACEHOLDER.sub(lambda match: parts[match.group(1)], page)


def _package_text(name: str) -> str:
    """Read a file that lies beside this module, with line ends as the browser will hash them."""
    text = resources.files("stickbreak.report").joinpath(name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


def _source_hash(script: str) -> str:
    """Return the source expression of a script for a content security policy."""
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
