"""Files of counts (Matrix Market, UCI, LDA-C) that ended the process, took gigabytes or raised raw errors: refused."""

import gzip
import io

import numpy as np
import pytest
import scipy.sparse as sp

from stickbreak.corpus import read
from stickbreak.corpus.reading.ldac import read_ldac
from stickbreak.corpus.reading.limits import ReadLimits
from stickbreak.corpus.reading.matrix_market import read_matrix_market
from stickbreak.corpus.reading.uci import read_uci
from stickbreak.exceptions import ReadError

from .broken import refusal, write

BANNER = b"%%MatrixMarket matrix coordinate integer general\n"
REAL = b"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n"
PATTERN = b"%%MatrixMarket matrix coordinate pattern general\n"
ARRAY = b"%%MatrixMarket matrix array real general\n"
BODY = b"".join(b"%d %d 1\n" % (i % 100 + 1, i % 50 + 1) for i in range(1000))

# ---------------------------------------------------------------- Matrix Market


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"a\nb\nc", "begins with 'a', so it is not a Matrix Market file"),
        (b"a\n", "not a Matrix Market file"),
        (b"hello\nworld\nfoo\n", "not a Matrix Market file"),
        (b"%%MatrixMarke matrix coordinate integer general\n2 2 1\n1 1 3\n", "not a Matrix Market file"),
        (b"MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 3\n", "not a Matrix Market file"),
        (b"id,text\n1,hello there\n2,foo bar\n", "not a Matrix Market file"),
        (b"<html>\n<body>404 not found</body>\n</html>\n", "not a Matrix Market file"),
        (b"\xff\xfe\x00" * 9, "not a Matrix Market file"),
        (b"\n" + BANNER + b"1 1 1\n1 1 1\n", "not a Matrix Market file"),
        (BANNER.replace(b"integer", b"strange") + b"100 50 1000\n" + BODY, "line 1 names 'strange general'"),
        (BANNER.replace(b"general", b"diagonal") + b"100 50 1000\n" + BODY, "line 1 names 'integer diagonal'"),
        (b"%%MatrixMarket matrix array pattern general\n1 1\n1\n", "line 1 names 'pattern general'"),
        (BANNER.replace(b"matrix ", b"vector ") + b"2 1\n1 1\n", "line 1 must read"),
        (b"%%MatrixMarket matrix\n2 2 1\n1 1 1\n", "line 1 must read"),
        (BANNER.replace(b"integer", b"complex") + b"100 50 1000\n" + BODY, "complex numbers"),
        (BANNER, "ends before its line of sizes"),
        (BANNER + BODY, "line 3 names row 2, but the Matrix Market file has 1"),
        (BANNER + b"-100 50 1000\n" + BODY, "line 2 is '-100 50 1000'"),
        (BANNER + b"100 99999999999999999999999 1000\n" + BODY, "line 2 is '100 99999"),
        (BANNER + b"100 50\n" + BODY, "line 2 is '100 50'"),
        (BANNER + b"% x\n\n100 50 1000\n" + BODY.replace(b"17 17 1\n", b"17 x 1\n", 1), "line 21 is '17 x 1'"),
        (BANNER + b"10 50 1000\n" + BODY, "line 13 names row 11"),
        (BANNER + b"100 50 2000\n" + BODY, "of 1000 entries, but its line 2 asks for 2000"),
        (BANNER + b"100 50 10\n" + BODY, "of 1000 entries, but its line 2 asks for 10"),
        (BANNER + b"1 1 1\n1 1 9223372036854775808\n", "whole number below 2^63"),
        (BANNER + b"1 1 1\n1 1 1.5\n", "line 3 holds '1.5' where this Matrix Market file must have a whole number"),
        (BANNER + b"1 1 1\n1 1 0x10\n", "line 3 holds '0x10'"),
        (REAL + b"2 2 7\xe9", r"line 4 holds '7\\xe9'"),
        (REAL + b"2 2 7.5\x0e", r"line 4 holds '7.5\x0e'"),
        (REAL + b"2 2 7x", "line 4 holds '7x'"),
        (REAL + b"2 2 7\x00", r"line 4 holds '7\x00'"),
        (REAL + b"2 2 7\x00\n", r"line 4 holds '7\x00'"),
        (REAL + b"2 2 1_0\n", "line 4 holds '1_0'"),
        (REAL + b"2 2 \n", "line 4 is '2 2'; an entry of this Matrix Market file must read: row, column, value"),
        (REAL + b"2 2", "line 4 is '2 2'"),
        (REAL + b"2 2 nanx", "line 4 holds 'nanx'"),
        (REAL + b"2 2 nan", "is nan; counts must be finite"),
        (REAL + b"2 2 1e999", "is inf; counts must be finite"),
        (ARRAY + b"2 1\n1\n2x", "line 4 holds '2x'"),
        (ARRAY + b"0 3\n1\n", "of 1 entries, but its line 2 asks for 0"),
        (ARRAY + b"0 3\n", "no documents"),
        (ARRAY.replace(b"general", b"symmetric") + b"2 3\n1\n2\n3\n", "declares 2 rows and 3 columns"),
        (ARRAY.replace(b"general", b"symmetric") + b"2 2\n7\n", "asks for 3"),
        (BANNER.replace(b"general", b"symmetric") + b"2 3 1\n1 3 5\n", "not square, so it cannot be symmetric"),
        (BANNER + b"2000000000 2 1\n1 1 1\n", "declares 2000000000 documents in 70 bytes"),
        (BANNER + b"2 2000000000 1\n1 1 1\n", "declares 2000000000 words in 70 bytes"),
        (BANNER + b"9000000000000000000 2 1\n1 1 1\n", "declares 9000000000000000000 documents"),
        (BANNER + b"2 2 1000000000000\n1 1 1\n", "asks for 1000000000000"),
        (ARRAY + b"3000000000 3000000000\n1\n", "asks for 9000000000000000000"),
        (BANNER + b"1 1 2\n1 1 9223372036854775807\n1 1 9223372036854775807\n", "counts above 2147483647"),
    ],
)
def test_broken_matrix_market_files_are_refused(tmp_path, content, part, packed):
    path = write(tmp_path / ("a.mtx.gz" if packed else "a.mtx"), gzip.compress(content) if packed else content)
    assert part in refusal(path)


@pytest.mark.parametrize(
    ("content", "table"),
    [
        (REAL + b"2 2 7 ", [[1, 0], [0, 7]]),
        (REAL + b"2 2 7", [[1, 0], [0, 7]]),
        (REAL + b"2 2 7\r", [[1, 0], [0, 7]]),
        (REAL.replace(b"\n", b"\r\n") + b" 2\t2  7.0 \r\n \r\n\r\n", [[1, 0], [0, 7]]),
        (REAL + b"\n \t\n2 2 7 what follows is ignored\n", [[1, 0], [0, 7]]),
        (REAL + b"2 2 1.5D+01\n", [[1, 0], [0, 15]]),
        (PATTERN + b"2 2 2\n1 2\n2 1", [[0, 1], [1, 0]]),
        (PATTERN + b"2 2 2\n1 2\n2 1\r", [[0, 1], [1, 0]]),
        (PATTERN.replace(b"general", b"symmetric") + b"2 2 2\n1 1\n2 1\n", [[1, 1], [1, 0]]),
        (BANNER.replace(b"general", b"hermitian") + b"2 2 1\n2 1 5.0\n", [[0, 5], [5, 0]]),
        (BANNER.replace(b"integer", b"unsigned-integer") + b"% x\n  % y\n\n1 2 1\n1 2 5\n", [[0, 5]]),
        (b" %MatrixMarket MATRIX  Coordinate DOUBLE general x\n2 1 3\n1 1 .5\n2 1 1e1\n1 1 00.5\n", [[1], [10]]),
        (ARRAY + b"2 3\n1\n\n2\n3\r\n4 x\n 5\n6", [[1, 3, 5], [2, 4, 6]]),
        (ARRAY.replace(b"general", b"symmetric") + b"3 3\n1\n2\n3\n4\n5\n6\n", [[1, 2, 3], [2, 4, 5], [3, 5, 6]]),
        (ARRAY.replace(b"general", b"skew-symmetric") + b"2 2\n0\n", [[0, 0], [0, 0]]),
    ],
)
def test_matrix_market_is_read_in_every_layout(tmp_path, content, table):
    assert read(write(tmp_path / "a.mtx", content)).counts.toarray().tolist() == table
    assert read(write(tmp_path / "b.mtx", gzip.compress(content))).counts.toarray().tolist() == table


def random_market(random):
    """Make a valid file in a free layout, and say what is in it."""
    kind = random.choice(["real", "integer", "unsigned-integer", "pattern"])
    symmetry = random.choice(["general", "symmetric", "skew-symmetric"]) if kind != "unsigned-integer" else "general"
    D = int(random.integers(1, 6))
    W = D if symmetry != "general" else int(random.integers(1, 6))
    dense = kind != "pattern" and random.random() < 0.4
    blank = (lambda: random.choice([" ", "  ", "\t", " \t "])) if random.random() < 0.5 else (lambda: " ")
    end = random.choice(["\n", "\r\n"])
    lowest = 1 if symmetry == "skew-symmetric" else 0
    if dense:
        places = [(i, j) for j in range(W) for i in range(D) if symmetry == "general" or i >= j + lowest]
    else:
        places = [tuple(int(n) for n in random.integers(0, (D, W))) for _ in range(random.integers(0, 9))]
    lines = [f"%%MatrixMarket matrix {'array' if dense else 'coordinate'} {kind} {symmetry}", "% a comment", ""]
    lines.append(f"{D}{blank()}{W}" + ("" if dense else f"{blank()}{len(places)}"))
    for i, j in places:
        number = repr(float(random.normal() * 10.0 ** random.integers(-200, 200))) if kind == "real" else ""
        number = number or ("" if kind == "pattern" else str(random.integers(0, 1000)))
        place = "" if dense else f"{i + 1}{blank()}{j + 1}{blank()}"
        lines += [random.choice(["", " ", "\t"]) + place + number + random.choice(["", " ", "\t"])]
        lines += [random.choice(["", " "])] if random.random() < 0.1 else []
    return end.join(lines) + end


def test_matrix_market_is_read_as_scipy_reads_it(tmp_path, seed):
    from scipy.io import mmread

    random = np.random.default_rng(seed)
    for _ in range(300):
        content = random_market(random).encode()
        expected = sp.coo_matrix(mmread(io.BytesIO(content)))
        found = read_matrix_market(write(tmp_path / "a.mtx", content))
        assert found.shape == expected.shape, content
        np.testing.assert_array_equal(found.tocsr().toarray(), expected.tocsr().toarray(), err_msg=repr(content))


# ---------------------------------------------------------------- UCI and LDA-C


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        (
            "docword.txt",
            b"300000000\n5\n1\n1 1 1\n",
            "declares 300000000 documents in 20 bytes; if that is right, raise",
        ),
        (
            "docword.txt",
            b"2147483647\n1\n1\n1 1 1\n",
            "--max-declared (in Python: limits=ReadLimits(declared_size=2147",
        ),
        ("docword.txt", b"3\n2147483647\n1\n1 1 1\n", "declares 2147483647 words"),
        ("docword.txt", b"3\n3\n999999999999\n1 1 1\n", "holds 1 entries but its header declares 999999999999"),
        ("docword.txt", b"3\n3\n1\n1 1 0x1\n", "line 4 is '1 1 0x1'"),
        ("docword.txt", b"3\n3\n1\n1 1 1\xff\n", "line 4 is"),
        ("docword.txt", b"3\n3\xff\n1\n1 1 1\n", "three lines of one number"),
        ("docword.txt", b"1\n1\n2\n1 1 2147483647\n1 1 2147483647\n", "counts above 2147483647"),
        ("docword.txt.gz", gzip.compress(b"1" * 10**6), "line 1 has more than 65536 bytes"),
        ("a.ldac", b"1 2147483647:1\n", "declares 2147483648 words in 15 bytes"),
        ("a.ldac", b"1 2000000000:1\n", "raise the limit with --max-declared"),
        ("a.ldac", b"99999999999 0:1\n", "declares 99999999999 words but holds 1"),
        ("a.ldac", b"1 0:1\n1 \xff:1\n", r"line 2 holds '\\xff:1'"),
    ],
)
def test_small_files_that_ask_for_much_are_refused(tmp_path, name, content, part):
    assert part in refusal(write(tmp_path / name, content))


def test_sizes_are_believed_as_far_as_the_bytes_or_the_limit_go(tmp_path):
    uci = write(tmp_path / "docword.txt", b"2000000\n3000000\n1\n1 1 1\n")
    ldac = write(tmp_path / "a.ldac", b"1 2999999:1\n")
    market = write(tmp_path / "a.mtx", BANNER + b"2000000 3000000 1\n1 1 1\n")
    believed = ReadLimits(declared_size=3_000_000)
    for limits, allowed in ((ReadLimits(declared_size=2_999_999), False), (believed, True)):
        for call in (
            lambda limits=limits: read_uci(uci, limits),
            lambda limits=limits: read_ldac(ldac, None, limits=limits),
            lambda limits=limits: read_matrix_market(market, limits),
        ):
            if allowed:
                assert call().shape[1] == 3_000_000
            else:
                with pytest.raises(ReadError, match="3000000 words"):
                    call()
    assert read_ldac(ldac, 2**31 - 1).shape == (1, 2**31 - 1), "a vocabulary says how many words there are"
    comment = b"%" * 3_000_000 + b"\n"
    assert read_matrix_market(write(tmp_path / "b.mtx", BANNER + comment + b"2000000 3000000 1\n1 1 1\n")).nnz == 1


def test_vocabulary_says_how_many_words_there_are(tmp_path):
    little = ReadLimits(declared_size=1)
    words = [f"word {i}" for i in range(90)]
    for path in (
        write(tmp_path / "docword.txt", b"1\n90\n1\n1 1 1\n"),
        write(tmp_path / "a.mtx", BANNER + b"1 90 1\n1 1 1\n"),
    ):
        assert "declares 90 words" in refusal(path, limits=little)
        assert read(path, limits=little, vocabulary=words).n_words == 90


def test_packed_counts_are_refused_until_the_limit_is_raised(tmp_path):
    lines = b"1 1 1\n" * 5000
    contents = {
        "docword.txt.gz": b"9\n9\n5000\n" + lines,
        "a.mtx.gz": BANNER + b"9 9 5000\n" + lines,
        "a.ldac.gz": b"1 0:1\n" * 5000,
    }
    for name, content in contents.items():
        path = write(tmp_path / name, gzip.compress(content))
        assert "--max-unpacked-bytes" in refusal(path, limits=ReadLimits(unpacked_bytes=20_000))
        assert read(path, limits=ReadLimits(unpacked_bytes=40_000)).n_tokens == 5000


def test_long_lines_are_refused_until_the_limit_is_raised(tmp_path, monkeypatch):
    from stickbreak.corpus.reading import number_lines

    ldac = write(tmp_path / "a.ldac", b"1 0:" + b"0" * 10 + b"1\n")
    with pytest.raises(ReadError, match=r"line 1 of .*a.ldac is longer than 14 bytes.*--max-document-bytes"):
        read_ldac(ldac, None, limits=ReadLimits(document_bytes=14))
    assert read_ldac(ldac, None, limits=ReadLimits(document_bytes=16)).sum() == 1
    monkeypatch.setattr(number_lines, "_BLOCK_BYTES", 8)
    uci = write(tmp_path / "docword.txt", b"9\n9\n3\n1 1 1\n2 2 2" + b" " * 30 + b"\n3 3 3\n")
    assert read_uci(uci).sum() == 6
    with pytest.raises(ReadError, match=r"line 5 of .* is longer than 20 bytes.*ReadLimits\(document_bytes="):
        read_uci(uci, ReadLimits(document_bytes=20))


def test_blocks_of_any_size_give_the_same_counts_and_places(tmp_path, monkeypatch):
    from stickbreak.corpus.reading import number_lines

    lines = [b"%d %d %d" % (i + 1, i % 7 + 1, i + 1) for i in range(40)]
    path = write(tmp_path / "docword.txt", b"40\n7\n40\n" + b"\n".join(lines))
    whole = read(path).counts
    bad = write(tmp_path / "docword.bad.txt", b"40\n7\n40\n" + b"\n".join([*lines[:30], b"31 8 1", *lines[31:]]))
    for size in (1, 2, 7, 64):
        monkeypatch.setattr(number_lines, "_BLOCK_BYTES", size)
        assert (read(path).counts != whole).nnz == 0
        assert "line 34 names word 8" in refusal(bad)
