"""Tables of topic weights of documents: CSV, JSON lines, NumPy and Parquet."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stickbreak.cli.output import printable, strict_json
from stickbreak.exceptions import InputError
from stickbreak.storage.atomic import replace_file

if TYPE_CHECKING:
    import numpy as np

    from stickbreak.corpus import Corpus

__all__ = ["WEIGHT_FORMATS", "check_weight_file", "csv_lines", "jsonl_lines", "write_weights"]

WEIGHT_FORMATS = (".csv", ".jsonl", ".npz", ".parquet")
_FORMULA, _SEPARATORS = "=+-@\uff1d\uff0b\uff0d\uff20", ";\t"  # with the wide forms of the four

Blocks = Iterator[tuple[tuple[str, ...], "np.ndarray"]]


def check_weight_file(path: Path | None, model: Any = None) -> None:
    """Refuse a file name whose ending names no format, or one that does not suit the model.

    Parameters
    ----------
    path : Path or None
        The file; None stands for standard output.
    model : fitted model, optional
        Sparse weights can only be written as .npz.

    Raises
    ------
    InputError
        If it does not end in one of `WEIGHT_FORMATS`.
    """
    if getattr(model, "sparse_weights", False) and (path is None or path.suffix != ".npz"):
        raise InputError("the weights of a tree are sparse; give --out FILE.npz")
    if path is not None and path.suffix not in WEIGHT_FORMATS:
        raise InputError(f"--out {path} does not say a format; end it in {', '.join(WEIGHT_FORMATS)}")


def weight_blocks(model: Any, corpus: "Corpus") -> Blocks:
    """Yield the names and the topic weights of consecutive documents, in blocks that need little memory.

    Parameters
    ----------
    model : fitted model
        Any family.
    corpus : Corpus
        Documents in the words of the model.

    Yields
    ------
    names : tuple of str
    weights : ndarray of shape (n_block, n_topics)
        Rows sum to one.
    """
    from stickbreak.prediction.fitted import document_blocks

    names = corpus.document_names
    for block in document_blocks(corpus.n_documents, model.topic_word_.shape[0]):
        yield names[block], model.transform(corpus[block])


def csv_lines(model: Any, corpus: "Corpus") -> Iterator[str]:
    """Yield the table as CSV: a header, then a line for each document.

    A spreadsheet takes no name for a formula: those that would be one get a single quote in front. Control characters
    become U+FFFD, but for line ends and tabs inside a name.

    Parameters
    ----------
    model : fitted model
    corpus : Corpus

    Yields
    ------
    str
        With its line end.
    """
    yield _csv_line(["document", *_columns(model)])
    for names, weights in weight_blocks(model, corpus):
        for name, row in zip(names, weights.tolist(), strict=True):
            yield _csv_line([_cell(name), *row])


def jsonl_lines(model: Any, corpus: "Corpus") -> Iterator[str]:
    """Yield the table as JSON lines: {"document": name, "weights": [...]}.

    Parameters
    ----------
    model : fitted model
    corpus : Corpus

    Yields
    ------
    str
        With its line end.
    """
    for names, weights in weight_blocks(model, corpus):
        for name, row in zip(names, weights.tolist(), strict=True):
            yield strict_json({"document": name, "weights": row}) + "\n"


def write_weights(model: Any, corpus: "Corpus", path: Path) -> None:
    """Write the topic weights of documents in the format that the file's name says, complete or not at all.

    Parameters
    ----------
    model : fitted model
        Any family.
    corpus : Corpus
        Documents in the words of the model.
    path : Path
        Ends in .csv or .jsonl (as `csv_lines`, `jsonl_lines`), .npz (arrays "names" and "weights"; of a tree
        "names" and what `scipy.sparse.load_npz` reads: "data", "indices", "indptr", "shape", "format") or
        .parquet (columns "document", "topic_0", ...). An existing file is replaced.

    Raises
    ------
    InputError
        If the ending is another one.
    WriteError
        If the file cannot be written.
    """
    check_weight_file(path, model)
    with replace_file(path) as temporary:
        if path.suffix == ".npz":
            _write_npz(model, corpus, temporary)
        elif path.suffix == ".parquet":
            _write_parquet(model, corpus, temporary)
        else:
            lines = csv_lines if path.suffix == ".csv" else jsonl_lines
            with open(temporary, "w", encoding="utf-8", newline="", errors="backslashreplace") as file:
                file.writelines(lines(model, corpus))


def _write_npz(model: Any, corpus: "Corpus", file: Path) -> None:
    import numpy as np

    if getattr(model, "sparse_weights", False):
        from scipy.sparse import csr_array

        rows = model.transform(corpus) if len(corpus) else csr_array((0, model.n_leaves_))
        with open(file, "wb") as handle:
            np.savez_compressed(
                handle, names=_names(corpus), format=b"csr", data=rows.data, indices=rows.indices,
                indptr=rows.indptr, shape=np.array(rows.shape),
            )  # fmt: skip
        return
    no_rows = np.empty((0, model.topic_word_.shape[0]))
    weights = np.concatenate([no_rows, *(block for _, block in weight_blocks(model, corpus))])
    with open(file, "wb") as handle:  # savez would change a name that does not end in .npz
        np.savez_compressed(handle, names=_names(corpus), weights=weights)


def _write_parquet(model: Any, corpus: "Corpus", file: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = _columns(model)
    schema = pa.schema([("document", pa.string()), *((name, pa.float64()) for name in columns)])
    with pq.ParquetWriter(file, schema) as writer:
        for names, weights in weight_blocks(model, corpus):
            arrays = [pa.array(names, pa.string()), *(pa.array(column) for column in weights.T)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _names(corpus: "Corpus") -> "np.ndarray":
    import numpy as np

    return np.array(corpus.document_names, dtype=np.str_)


def _columns(model: Any) -> list[str]:
    return [f"topic_{k}" for k in range(model.topic_word_.shape[0])]


def _cell(name: str) -> str:
    """Return a name as a spreadsheet takes it: as text, never as a formula."""
    text = printable(name.replace("\r\n", "\n"), keep="\n\t")
    is_formula = name[:1] in ("\t", "\r", "\n") or text.lstrip()[:1] in tuple(_FORMULA)
    return "'" + text if is_formula else text


def _csv_line(row: list[Any]) -> str:
    """Return a line; a name with what separates cells in some countries is quoted, too."""
    line = io.StringIO()
    if any(separator in row[0] for separator in _SEPARATORS):
        csv.writer(line, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC).writerow(row)
    else:
        csv.writer(line, lineterminator="\n").writerow(row)
    return line.getvalue()
