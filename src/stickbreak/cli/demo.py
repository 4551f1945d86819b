"""`stickbreak demo`: the main job on text that every machine has."""

import textwrap
from pathlib import Path
from typing import Annotated

from stickbreak.cli.documents import Documents
from stickbreak.cli.job import FitJob
from stickbreak.cli.options import Force, Json, Quiet, RandomState, option
from stickbreak.cli.output import say
from stickbreak.exceptions import StickbreakError, WriteError

__all__ = ["demo"]

_WHAT_NEXT = """
Then with documents of your own (a .jsonl, .csv or .parquet file, a folder of text files, ...):
    stickbreak fit mine.csv --out my-topics --held-out 0.1"""
_FORMAT = "demo"  # how what a model remembers says that it came from here


def demo(
    out: Annotated[Path, option("--out -o", "FOLDER", "Folder to write the model and the report to.")] = Path(
        "stickbreak-demo"
    ),
    topics: Annotated[int | None, option("--topics", "NUMBER", "Number of topics. Default: found.", min=1)] = None,
    laps: Annotated[int, option("--laps", "NUMBER", "Most passes over the documents.", min=1)] = 300,
    random_state: RandomState = 0,
    write_sample: Annotated[
        Path | None,
        option(
            "--write-sample",
            "FILE.csv",
            "Write some of these texts to a CSV file with the columns title and text, and stop.",
        ),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Find the topics of the documentation of Python's standard library, to show what stickbreak does.

    The documents are the documentation strings of its modules, classes and
    functions, as installed on this machine. An earlier demo in the same folder
    is replaced.
    """
    if write_sample is not None:
        _write_sample(write_sample, force=force, quiet=quiet)
        return
    job = FitJob(
        out=out,
        report=out / "report.html",
        parameters={"n_topics": topics, "n_laps": laps, "random_state": random_state, "n_jobs": -1},
        held_out=0.1,
        seed=random_state,
        force=force or _is_demo(out),
        quiet=quiet,
    )
    job.check()
    from stickbreak.corpus import TextOptions, count_texts
    from stickbreak.corpus.examples.standard_library import (
        DOCSTRING_STOP_WORDS,
        english_and,
        standard_library_docstrings,
    )

    _tell(quiet, "1. Collecting the documentation strings of Python's standard library ...")
    names, texts = standard_library_docstrings()
    _tell(quiet, f"   {len(texts):,} documents, such as {_examples(names)}")
    _tell(
        quiet,
        "2. Counting words, without the English stop words and these words of every Python documentation:",
    )
    _tell(
        quiet,
        textwrap.fill(" ".join(DOCSTRING_STOP_WORDS), 100, initial_indent="   ", subsequent_indent="   "),
    )
    options = TextOptions(stop_words=english_and(DOCSTRING_STOP_WORDS))
    corpus = count_texts(texts, options, names)
    _tell(quiet, f"   {corpus.n_words:,} different words, {corpus.n_tokens:,} words in all")
    _tell(quiet, "3. Learning topics from nine tenths of them; the rest are for the score")
    result = job.run(
        Documents(
            corpus, {"settings": {"format": _FORMAT}, "suffix": None}, texts=lambda rows: [texts[row] for row in rows]
        )
    )
    result.show(as_json=as_json)
    _tell(quiet, _WHAT_NEXT)


def _write_sample(path: Path, *, force: bool, quiet: bool) -> None:
    """Write the sample file; refuse to replace a file unless asked."""
    if path.exists() and not force:
        raise WriteError(f"{path} already exists. Add --force to replace it.")
    from stickbreak.corpus.examples.standard_library import write_sample

    n_documents = write_sample(path)
    _tell(quiet, f"{path}: {n_documents:,} documentation strings of Python's standard library")
    _tell(quiet, f"Find their topics:\n    stickbreak fit {path} --out {path.stem}-topics --held-out 0.1")


def _tell(quiet: bool, text: str) -> None:
    if not quiet:
        say(text)


def _examples(names: list[str]) -> str:
    wanted = ("textwrap.wrap", "socket.create_connection", "random.Random.shuffle")
    return ", ".join([name for name in wanted if name in names] or names[:3])


def _is_demo(folder: Path) -> bool:
    """Tell whether a folder was written by an earlier demo."""
    import stickbreak

    try:
        known = stickbreak.load(folder)._reading or {}
    except StickbreakError:
        return False
    return bool(known.get("settings", {}).get("format") == _FORMAT)
