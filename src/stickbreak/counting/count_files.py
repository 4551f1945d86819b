"""Texts of any size to a corpus folder."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stickbreak.corpus.arguments import checked_location
from stickbreak.corpus.folder import corpus_writer, is_corpus_folder
from stickbreak.corpus.metadata import Layout
from stickbreak.corpus.preparing import settled
from stickbreak.corpus.reading.counts import given_words
from stickbreak.corpus.reading.decoding import Dirt
from stickbreak.corpus.reading.files import ReadLimits, reading
from stickbreak.corpus.reading.source import Piece, ReadSettings, TextSource
from stickbreak.corpus.text_settings import TextOptions, checked_options
from stickbreak.counting.parts import Counting, Part, Words, add_parts, count_job, done_before, folder_of_parts, jobs_of
from stickbreak.exceptions import InputError, InvalidCorpus, NoDocuments, ReadError, WriteError
from stickbreak.fitting.engine import Engine, count_jobs, threads_and_workers
from stickbreak.storage.atomic import TAKEN, told_as_write_error
from stickbreak.storage.places import PathLike, place_of
from stickbreak.storage.urls import Location, UrlPath

if TYPE_CHECKING:
    from stickbreak.corpus.corpus import Corpus

STEP = 1 << 23  # bytes of text of a job; a part has at most about twice as many


@dataclass(frozen=True, slots=True)
class Counted:
    """What was counted.

    Attributes
    ----------
    path : Path
        The corpus folder.
    n_documents, n_words, n_tokens : int
    n_jobs, n_jobs_before : int
        Jobs that the texts were cut into, and those of them that an earlier call had done.
    """

    path: Path
    n_documents: int
    n_words: int
    n_tokens: int
    n_jobs: int
    n_jobs_before: int

    def open(self) -> Corpus:
        """Open the corpus; the counts stay on disk."""
        from stickbreak.corpus.folder import open_corpus

        return open_corpus(self.path)


def count_files(
    inputs: PathLike | Sequence[PathLike],
    out: PathLike,
    *,
    format: str | None = None,
    text_field: str | None = None,
    name_field: str | None = None,
    vocabulary: Sequence[str] | PathLike | None = None,
    text: TextOptions | None = None,
    keep: Sequence[str] | str | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    header: bool | None = None,
    bad_rows: str = "fail",
    encoding_errors: str = "strict",
    limits: ReadLimits | None = None,
    overwrite: bool = False,
    n_jobs: int | None = None,
    callback: Callable[[dict[str, Any]], None] | None = None,
) -> Counted:
    r"""Count the words of texts of any size and write them to a corpus folder.

    Words and counts are those of `stickbreak.corpus.read`, of all files together. The texts are cut into jobs of about
    8 MB by their content alone; threads do them, or in a block `with stickbreak.cluster(...)` its workers. Memory
    follows the jobs at work and the number of different words, not the size of the collection. What is done is kept in
    the folder OUT.parts until all is: after a kill the same call goes on where it was.

    Parameters
    ----------
    inputs : path-like or sequence of path-like
        Files of texts, patterns of their names ("part-*.jsonl.gz"), folders. A folder that holds only JSON
        lines, CSV, TSV or Parquet stands for its files; in any other each file is a document. Or URLs of these (s3://,
        gs://, any that pyarrow or fsspec read), with the signs * and [ in patterns. On a cluster all machines must see
        them.
    out : path-like
        The corpus folder to make; on a cluster where all machines see it.
    format, text_field, name_field, text, keep, encoding, delimiter, header, bad_rows, encoding_errors, limits
        As in `stickbreak.corpus.read`, for all files.
    vocabulary : sequence of str or path, optional
        Count exactly these words, without pruning.
    overwrite : bool
        Whether an existing corpus folder may be replaced.
    n_jobs : int or None
        Number of threads; None means 1, -1 all cores. They do not change the folder. A tokenizer of your own is called
        in all of them.
    callback : callable, optional
        Called as the work goes on, in any of the threads but in one at a time, with a dict of the "stage" ("count",
        then "write"), and of how many jobs or parts are "done" of how many in "total".

    Returns
    -------
    Counted

    Raises
    ------
    ReadError
        If a file cannot be read, or holds counts already; the message names path and line.
    InvalidCorpus
        If no word is left.
    InputError
        If an argument is unknown.
    WriteError
        If the folder exists and may not be replaced, cannot be written, or another call counts to it now.

    Examples
    --------
    >>> import stickbreak, tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> for day in ("monday", "tuesday"):
    ...     _ = (folder / f"{day}.txt").write_text("bread and butter\nbread with salt\n")
    >>> stickbreak.count_files(folder / "*.txt", folder / "counts", format="lines").open()
    Corpus(4 documents, 3 words, 8 tokens)
    """
    count_jobs(n_jobs)
    options = checked_options(text)
    if options.finds_phrases:
        raise InputError(
            "phrases=True needs all texts at once, which count_files does not hold; give a list of phrases, such as "
            "text_options.phrases of a corpus that stickbreak.corpus.read made of a part of them"
        )
    settings = ReadSettings(
        format, text_field, name_field, keep, encoding, delimiter, header, bad_rows, encoding_errors, limits=limits
    )
    words = given_words(vocabulary, settings.encoding, settings.limits)
    target = place_of(out).absolute()
    _check_target(target, overwrite=overwrite)
    pieces = _pieces(_files_of(inputs), settings)
    if words is None:
        options, _ = settled(options, pieces[0].blocks(Dirt(True, True)))
    with folder_of_parts(target) as folder:
        counting = Counting.of(folder, options, words, settings.asked.keep, 2 * STEP)
        jobs = list(jobs_of(pieces, STEP))
        known = [done_before(counting, job) for job in jobs]
        missing = [job for job, done in zip(jobs, known, strict=True) if done is None]
        with threads_and_workers(n_jobs) as runner:
            told = _teller(callback, "count", len(jobs), before=len(jobs) - len(missing))
            new = iter(runner.run(count_job, missing, counting, told))
            all_done = [done or next(new) for done in known]
            parts = [part for done in all_done for part in done.parts]
            dirt = settings.dirt()
            for done in all_done:
                dirt.add(done.dirt)
            dirt.tell()
            told = _teller(callback, "write", len(parts))
            sizes = _write(target, parts, counting, dirt, pieces[0], told, runner, overwrite=overwrite)
    return Counted(target, *sizes, n_jobs=len(jobs), n_jobs_before=len(jobs) - len(missing))


def _teller(
    callback: Callable[[dict[str, Any]], None] | None, stage: str, total: int, before: int = 0
) -> Callable[[int], None]:
    """Return what tells how many of the jobs or parts of a stage are done; it begins with those done before."""

    def told(done: int) -> None:
        if callback is not None:
            callback({"stage": stage, "done": before + done, "total": total})

    told(0)
    return told


def _check_target(target: Path, *, overwrite: bool) -> None:
    """Refuse, before the long work, what cannot be written at its end."""
    with told_as_write_error(target):
        if os.path.lexists(target) and not overwrite:
            raise WriteError(f"{target} already exists. {TAKEN}")
        if target.exists() and not is_corpus_folder(target):
            raise WriteError(f"{target} exists and is not a corpus folder, so it is not replaced; choose another name")


def _pieces(files: Sequence[Location], settings: ReadSettings) -> list[Piece]:
    """Cut all files; those that are empty are passed over, if others are not."""
    pieces: list[Piece] = []
    empty: NoDocuments | None = None
    for path in files:
        try:
            source = TextSource.checked(path, "count_files", settings)
        except NoDocuments as error:
            empty = empty or error
            continue
        if not source.holds_texts:
            raise InputError(f"{path} is of format {source.kind!r}, which holds counts already; fit them as they are")
        pieces.extend(source.pieces(STEP))
    if not pieces:
        raise empty or NoDocuments(f"{files[0]} holds no documents; a corpus needs at least one")
    return pieces


def _write(
    target: Path,
    parts: Sequence[Part],
    counting: Counting,
    dirt: Dirt,
    first: Piece,
    told: Callable[[int], None],
    runner: Engine,
    *,
    overwrite: bool,
) -> tuple[int, int, int]:
    """Write the corpus; return its documents, words and tokens."""
    n_documents = sum(part.sizes()[0] for part in parts)
    if not n_documents:
        raise NoDocuments(f"{first.source.path} holds no documents; a corpus needs at least one")
    try:
        if counting.vocabulary is None:
            words = Words.chosen(parts, n_documents, counting.options)
        else:
            words = Words(list(counting.vocabulary), sum(part.sizes()[1] for part in parts))
    except InvalidCorpus as error:
        raise InvalidCorpus(f"{first.source.path}: {error}") from error
    layout = Layout.of([part.forms() for part in parts] if counting.keep else [])
    with corpus_writer(
        target,
        len(words.words),
        vocabulary=words.words,
        most_entries=words.n_entries,
        text_options=counting.options,
        left_out=dirt.sentences(),
        overwrite=overwrite,
    ) as writer:
        add_parts(writer, parts, words, layout, told, runner)
        n_tokens = int(writer.n_tokens)
    return n_documents, len(words.words), n_tokens


def _files_of(inputs: Any) -> list[Location]:
    """Return the files and folders of texts that were asked for, each once, by absolute paths.

    They come in the order in which they were asked for, files of a pattern by their names.
    """
    given: Sequence[Any] = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    asked = [checked_location(one, "count_files") for one in given]
    found = [path for one in asked for path in _matching(one)]
    if not found:
        raise InputError("there is nothing to count; name at least one file")
    return list(dict.fromkeys(path.absolute() for path in found))


def _matching(path: Location) -> Sequence[Location]:
    """Return the files that a pattern ("part-*.jsonl.gz") matches; a file may also be named as a pattern is."""
    with reading(path):
        if path.exists() or not any(sign in str(path) for sign in "*?["):
            return [path]
        files: list[Location] = []
        files += path.matches() if isinstance(path, UrlPath) else map(Path, glob.glob(str(path), recursive=True))
    if not files:
        raise ReadError(f"no file matches {path}; check the pattern")
    return sorted(files, key=str)
