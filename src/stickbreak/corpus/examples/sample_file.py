"""A small file of real texts to try things on."""

import csv
import os

from stickbreak.corpus.examples.standard_library import standard_library_docstrings
from stickbreak.storage.atomic import replace_file

__all__ = ["write_sample"]

_MOST_DOCUMENTS = 2000


def write_sample(path: str | os.PathLike[str]) -> int:
    """Write a CSV file with some documentation strings of Python's standard library.

    The columns are "title" (the name of the module, class or function) and "text". The texts are
    spread evenly over the library. The same Python gives the same file.

    Parameters
    ----------
    path : str or PathLike
        The file to be written. An existing file is replaced.

    Returns
    -------
    int
        Number of documents, at most 2,000.

    Raises
    ------
    ReadError
        If this Python is installed without the source of its standard library.
    WriteError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "sample.csv"
    >>> 500 < write_sample(path) <= 2000
    True
    >>> path.read_text(encoding="utf-8").splitlines()[0]
    'title,text'
    """
    names, texts = standard_library_docstrings()
    step = -(-len(names) // _MOST_DOCUMENTS)
    documents = list(zip(names, texts, strict=True))[::step]
    with replace_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["title", "text"])
        table.writerows(documents)
    return len(documents)
