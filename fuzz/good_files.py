"""A good file of every format that is read, in each of its variations, with what may be changed in it."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from fuzz.mutations import Mutation, encoded, mutate_bytes, mutate_text, packed
from fuzz.structure import (
    members,
    mutate_array,
    mutate_json,
    mutate_json_lines,
    mutate_matrix_market,
    mutate_npy,
    mutate_npz,
    mutate_parquet,
    npy,
    zipped,
)
from stickbreak.corpus import Corpus, GroupedVectors, write_corpus, write_vectors

COUNTS = np.array([[2, 0, 1, 0], [0, 3, 0, 0], [0, 0, 0, 0], [1, 1, 1, 5]])
TEXTS = ("Bread and butter.", "salt, salt and bread", "", "péppér — 日本 bread", "two\nlines of butter")
_WORDS = b"bread\nbutter\nsalt\npepper\n"


@dataclass(frozen=True)
class Good:
    """Files that are read well: `call` is what reads `target`; `mutations` says how each file is changed."""

    group: str
    target: str
    files: dict[str, bytes]
    mutations: dict[str, Mutation]
    call: str = "read"
    options: dict[str, Any] = field(default_factory=dict)
    weight: int = 1
    readable: bool = True  # False: what is refused even as it is


def _gzipped(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)  # the same bytes at any time


def _single(group: str, name: str, content: bytes, mutation: Mutation, **more: Any) -> Good:
    return Good(group, name, {name: content}, {name: mutation}, **more)


def _texts() -> list[Good]:
    records = [{"id": f"d{n}", "text": text, "year": 1900 + n, "tags": ["x"]} for n, text in enumerate(TEXTS)]
    lines = "\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    jsonl = (lines + '\n"a bare string of bread"\n{"text": null, "id": 3}\n').encode()
    table = [
        ("id", "text", "note"),
        ("1", 'bread ""and"" butter', "x"),
        ("2", "several\nlines of salt", ""),
        ("3", "", "z"),
    ]
    commas = "".join(f'{a},"{b}",{c}\n' for a, b, c in table).encode()
    words = [f"word{n}" for n in range(12)]
    table_of_counts = "".join(f"{','.join(row)}\n" for row in [["id", *words], ["a", *"012000100003"]]).encode()
    plain = "".join(text.replace("\n", " ") + "\n" for text in TEXTS).encode()
    text = partial(mutate_text, others=(jsonl, commas, plain))
    lined = "\n".join(t.replace("\n", " ") for t in TEXTS).encode()
    return [
        _single("jsonl", "a.jsonl", jsonl, mutate_json_lines, weight=3),
        _single("json array", "a.json", json.dumps(records).encode(), mutate_json, weight=2),
        _single("csv", "a.csv", commas, text, weight=3),
        _single("csv", "b.csv", commas.replace(b",", b";"), text),
        _single("csv", "counts.csv", table_of_counts, text),
        _single("csv", "c.csv", commas.replace(b",", b"\t"), text),
        _single("csv", "d.csv", b"text\nbread and butter\nsalt\n", text),
        _single("tsv", "a.tsv", b"id\ttext\n1\tbread butter\n2\tsalt salt\n", text, weight=2),
        _single("lines", "a.txt", plain, text, weight=2),
        _single("utf-16", "a.txt", plain.decode().encode("utf-16"), encoded(text, "utf-16")),
        _single("utf-16", "a.csv", commas.decode().encode("utf-16"), encoded(text, "utf-16")),
        _single("utf-16", "a.jsonl", jsonl.decode().encode("utf-16"), encoded(mutate_json_lines, "utf-16")),
        _single("gzip", "a.jsonl.gz", _gzipped(jsonl), packed(mutate_json_lines)),
        _single("gzip", "a.csv.gz", _gzipped(commas), packed(text)),
        _single("gzip", "a.txt.gz", _gzipped(plain), packed(text)),
        Good(
            "folder of texts",
            "texts",
            {"texts/a.txt": lined, "texts/b/c.txt": b"salt and bread", "texts/d": b"no ending", "texts/e.bin": b"x\0y"},
            {"texts/a.txt": text, "texts/b/c.txt": text, "texts/d": text, "texts/e.bin": mutate_bytes},
        ),
    ]


def _counts() -> list[Good]:
    uci = b"4\n4\n7\n1 1 2\n1 3 1\n2 2 3\n4 1 1\n4 2 1\n4 3 1\n4 4 5\n"
    ldac = b"2 0:2 2:1\n1 1:3\n0\n4 0:1 1:1 2:1 3:5\n"
    text = partial(mutate_text, others=(uci, ldac))
    with_words = {"vocab.a.txt": _WORDS}
    names: dict[str, bytes] = {}
    return [
        _single("uci", "docword.a.txt", uci, text, weight=4),
        Good(
            "uci", "docword.a.txt", {"docword.a.txt": uci, **with_words}, {"docword.a.txt": text, "vocab.a.txt": text}
        ),
        _single("uci", "plain", uci, text),
        _single("ldac", "a.ldac", ldac, text, weight=3),
        Good(
            "ldac",
            "a.ldac",
            {"a.ldac": ldac, "a.vocab": _WORDS, **names},
            dict.fromkeys(("a.ldac", "a.vocab"), text),
        ),
        _single("ldac", "a.dat", ldac, text),
        _single("gzip", "docword.a.txt.gz", _gzipped(uci), packed(text)),
        _single("gzip", "a.ldac.gz", _gzipped(ldac), packed(text)),
        _single("vocabulary", "vocab.txt", _WORDS, text, call="vocabulary"),
        _single("vocabulary", "vocab.txt.gz", _gzipped(_WORDS), packed(text), call="vocabulary"),
        _single("stop words", "stop.txt", b"the\nand\nof\nd'un\n", text, call="stop words"),
    ]


def _matrix_market(matrix: Any, **more: Any) -> bytes:
    file = io.BytesIO()
    scipy.io.mmwrite(file, matrix, **more)
    return file.getvalue()


def _matrices() -> list[Good]:
    sparse = sp.csr_matrix(COUNTS)
    markets = {
        "integer": _matrix_market(sparse),
        "real": _matrix_market(sparse * 1.5),
        "pattern": _matrix_market(sparse, field="pattern"),
        "array": _matrix_market(COUNTS),
        "array real": _matrix_market(COUNTS * 0.5),
        "unsigned": _matrix_market(sparse.astype(np.uint64)),
    }
    goods = [
        _single("mtx", f"{'_'.join(kind.split())}.mtx", content, mutate_matrix_market, weight=2)
        for kind, content in markets.items()
    ]
    goods += [
        _single("gzip", "a.mtx.gz", _gzipped(markets[kind]), packed(mutate_matrix_market)) for kind in ("real", "array")
    ]
    archives = {
        kind: _npz(sparse.tobsr((2, 2)) if kind == "bsr" else sparse.asformat(kind))
        for kind in ("csr", "csc", "coo", "bsr", "dia")
    }
    archives["csr weights"] = _npz(sparse * 0.5)
    archives["csr wide"] = _npz(_wide(sparse))
    archives["csr array"] = _npz(sp.csr_array(COUNTS))
    archives["coo array"] = _npz(sp.coo_array(COUNTS))
    mutation = partial(mutate_npz, others=tuple(archives.values()))
    goods += [
        _single(f"npz {kind.split()[0]}", "a.npz", content, mutation, weight=2) for kind, content in archives.items()
    ]
    goods.append(_single("npz csr", "packed.npz", _npz(sparse, compressed=True), mutation))
    goods.append(_single("npz csr", "dense.npz", zipped([("arr_0.npy", npy(COUNTS))]), mutation, readable=False))
    return goods


def _npz(matrix: Any, compressed: bool = False) -> bytes:
    file = io.BytesIO()
    sp.save_npz(file, matrix, compressed=compressed)
    return zipped(list(members(file.getvalue()).items()), compressed)  # without the time of day


def _wide(matrix: Any) -> Any:
    """Return a matrix with the indices that very large ones have."""
    wide = matrix.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    return wide


def _parquets() -> list[Good]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = ["bread butter", "salt salt bread", None, "péppér"]
    names = pa.array(["a", "b", "c", "d"])
    kinds: dict[str, tuple[Any, dict[str, Any]]] = {
        "plain": (pa.table({"id": names, "text": texts}), {"use_dictionary": False}),
        "dictionary": (pa.table({"id": names, "text": pa.array(texts).dictionary_encode()}), {}),
        "gzip": (pa.table({"id": [1, 2, 3, 4], "text": texts}), {"compression": "gzip"}),
        "zstd": (pa.table({"id": [0.5, 1, 2, 3], "text": pa.array(texts, pa.large_string())}), {"compression": "zstd"}),
        "brotli": (pa.table({"text": pa.array(texts, pa.string_view())}), {"compression": "brotli"}),
        "nested": (pa.table({"text": texts, "x": [[1], [2, 3], [], None], "y": [{"a": 1}] * 4}), {"compression": None}),
        "binary": (pa.table({"text": pa.array([b"bread", b"\xff\xfe", None, b"salt"], pa.binary())}), {}),
        "times": (pa.table({"title": pa.array([1, 2, 3, 4], pa.timestamp("us")), "text": texts}), {}),
        "pages": (pa.table({"id": names, "text": texts}), {"data_page_version": "2.0", "row_group_size": 2}),
    }
    goods = []
    for kind, (table, more) in kinds.items():
        file = io.BytesIO()
        pq.write_table(table, file, **more)
        goods.append(_single("parquet", f"{kind}.parquet", file.getvalue(), mutate_parquet, readable=kind != "binary"))
    return goods


def _folders() -> list[Good]:
    corpus = Corpus.from_counts(COUNTS, ["bread", "butter", "salt", "pépper"], ["a", "b", "c", "d"])
    vectors = GroupedVectors.from_arrays([[[0.5, 1.0], [2.0, 3.0]], [[2.0, 3.0]]], ["one", "two"])
    goods = []
    for group, content, write, call in (
        ("corpus folder", corpus, write_corpus, "read"),
        ("corpus folder", Corpus.from_counts(COUNTS * 0.5), write_corpus, "open_corpus"),
        ("vectors folder", vectors, write_vectors, "open_vectors"),
    ):
        files = _folder(content, write)
        mutations: dict[str, Mutation] = {
            name: mutate_npy if name.endswith(".npy") else mutate_json_lines if name.endswith(".jsonl") else mutate_json
            for name in files
        }
        goods.append(Good(group, "folder", files, mutations, call, weight=3))
    return goods


def _folder(content: Any, write: Callable[..., None]) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as place:
        write(content, Path(place, "folder"))
        return {f"folder/{file.name}": file.read_bytes() for file in sorted(Path(place, "folder").iterdir())}


def _in_memory() -> list[Good]:
    """Sparse matrices that are given to Corpus.from_counts, kept as the arrays they are made of."""
    goods = []
    for kind in ("csr", "csc", "coo", "bsr", "dia"):
        matrix = sp.csr_matrix(COUNTS)
        content = _npz(matrix.tobsr((2, 2)) if kind == "bsr" else matrix.asformat(kind))
        goods.append(_single(f"in memory {kind}", "matrix.npz", content, _mutate_arrays, call="from_counts", weight=2))
    return goods


def _mutate_arrays(random: Random, content: bytes) -> bytes:
    """Change the arrays of a matrix, leaving them arrays."""
    files = dict(members(content))
    for name in random.sample([name for name in files if name != "format.npy"], random.choice((1, 1, 2))):
        files[name] = npy(mutate_array(random, np.load(io.BytesIO(files[name]), allow_pickle=False)))
    return zipped(list(files.items()))


def good_files() -> tuple[Good, ...]:
    """Return them all."""
    return tuple(_texts() + _counts() + _matrices() + _parquets() + _folders() + _in_memory())
