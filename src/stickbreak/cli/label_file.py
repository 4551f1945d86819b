"""Labels of topics in a CSV file."""

import csv
from pathlib import Path
from typing import Any

from stickbreak.exceptions import InputError, ReadError

__all__ = ["labels_in"]

_SEPARATORS = ",;\t"  # spreadsheets of some countries write semicolons


def labels_in(path: Path, fitted: Any) -> dict[int, str | None]:
    """Return the labels that a file gives to topics; None takes one away.

    Parameters
    ----------
    path : Path
        CSV with columns topic and label. Others are not read. Labels that the model makes of words are left out.
    fitted : fitted model of words

    Raises
    ------
    ReadError
        If the file cannot be read.
    InputError
        If it lacks a column, or a topic is not a number.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        raise ReadError(f"--file: {path} cannot be read ({error}); give a CSV file in UTF-8") from error
    head = lines[0] if lines else ""
    rows = csv.DictReader(lines, delimiter=max(_SEPARATORS, key=head.count))
    if not {"topic", "label"} <= set(rows.fieldnames or ()):
        raise InputError(f"--file: {path} needs columns topic and label; stickbreak topics --out FILE.csv writes them")
    asked, given = fitted.labelled_topics(), fitted.labels_
    made = {str(k): label for k, label in zip(asked.numbers, asked.labels, strict=True) if int(k) not in given}
    found: dict[int, str | None] = {}
    for row in rows:
        topic, label = (row["topic"] or "").strip(), (row["label"] or "").strip()
        if not topic.isdecimal():
            raise InputError(f"--file: line {rows.line_num} of {path} has the topic {topic!r}; give its number")
        if label != made.get(topic):
            found[int(topic)] = label or None
    return found
