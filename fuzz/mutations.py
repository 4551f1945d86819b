"""Changes by chance of bytes and text: bits, numbers, tokens, lines, splices; and of what is packed by gzip."""

from __future__ import annotations

import gzip
import re
import struct
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from random import Random

Mutation = Callable[[Random, bytes], bytes]

TOKENS = (
    b"0", b"-1", b"1", b"127", b"128", b"255", b"256", b"32768", b"65536", b"2147483647", b"2147483648",
    b"4294967295", b"4294967296", b"9223372036854775807", b"9223372036854775808", b"18446744073709551616",
    b"99999999999999999999", b"300000000", b"2000000000", b"1e308", b"1e309", b"-1e308", b"1e-320", b"nan", b"NaN",
    b"inf", b"Infinity", b"-inf", b"-0", b"+1", b"1.5", b"1e5", b"1E5", b"0x10", b"1_000", b"1,5", b"01", b".", b"-",
    b"\x00", b"\xff\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\r", b"\r\n", b"\n", b"\n\n", b"\x0b", b"\x0c",
    b"\x85", b"\xc2\x85", b"\xe2\x80\xa8", b"\x1a", b"\x1b[31m", b"\x7f", b'"', b'""', b"'", b"\\", b"{", b"}", b"[",
    b"]", b"[[[[", b'{"', b"\\u0000", b"\\ud800", b"\\u001b", b":", b",", b";", b"|", b"  ", b" ", b"\t", b"%", b"%%",
    b"#", b"pattern", b"complex", b"hermitian", b"symmetric", b"skew-symmetric", b"integer", b"real", b"array",
    b"coordinate", b"vector", b"general", b"null", b"true", b"false", "١٢".encode(), "é".encode("latin1"),
    "é".encode(), "漢字".encode(), "\U0001f600".encode(), "\u202e".encode(), b"\xed\xa0\x80", b"\xf4\x90\x80\x80",
    b"=cmd|' /C calc'!A0", b"../../x", b"%MatrixMarket", b"PK\x03\x04", b"PAR1", b"\x1f\x8b", b"\x93NUMPY",
)  # fmt: skip
"""Pieces that parsers have tripped over."""

LONG = (b"9" * 400, b"9" * 5000, b"0" * 3000, b"[" * 100_000, b"a" * 140_000, b" " * 20_000, b"\n" * 5000)
_NUMBER = re.compile(rb"\d+")
_WORDS = (0, 1, -1, 127, 255, 2**15, 2**16, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, -(2**31), -(2**63))


def mutate_bytes(random: Random, content: bytes, others: Sequence[bytes] = ()) -> bytes:
    """Change bytes one to five times, whatever they mean; `others` lend pieces for splices."""
    for _ in range(random.choice((1, 1, 1, 2, 3, 5))):
        content = random.choice(_BYTE_CHANGES)(random, content or b"x", others)
    return content


def mutate_text(random: Random, content: bytes, others: Sequence[bytes] = ()) -> bytes:
    """Change lines, numbers, tokens or bytes of a text one to five times."""
    for _ in range(random.choice((1, 1, 1, 2, 3, 5))):
        change = random.choice(_TEXT_CHANGES if random.random() < 0.7 else _BYTE_CHANGES)
        content = change(random, content or b"x", others)
    return content


def packed(mutation: Mutation) -> Mutation:
    """Return the mutation of a gzip file: mostly of what is inside, else of the packed bytes."""

    def mutate(random: Random, content: bytes) -> bytes:
        if random.random() < 0.3:
            return mutate_bytes(random, content)
        parts = [gzip.compress(mutation(random, _unpacked(content)), 1, mtime=0)]
        if random.random() < 0.05:
            parts.append(random.choice((b"junk", b"\x00" * 8, parts[0], gzip.compress(b"", mtime=0))))
        if random.random() < 0.0005:
            parts.insert(random.randrange(2), bomb(random.choice((b"a", b"\n", b"1 ", b"\x00", b"9"))))
        return b"".join(parts)

    return mutate


def encoded(mutation: Mutation, encoding: str) -> Mutation:
    """Return the mutation of a text in another encoding: of its characters, or of its bytes."""

    def mutate(random: Random, content: bytes) -> bytes:
        if random.random() < 0.5:
            return mutate_bytes(random, content)
        text = mutation(random, content.decode(encoding).encode())
        return text.decode("utf-8", "replace").encode(encoding)

    return mutate


@cache
def bomb(filling: bytes, n_bytes: int = 1 << 30) -> bytes:
    """Return a small gzip file of 1 GiB."""
    member = gzip.compress(filling * ((1 << 24) // len(filling)), 9, mtime=0)
    return member * (n_bytes >> 24)


@cache
def zip_bomb(n_bytes: int = 1 << 30) -> tuple[bytes, int, int]:
    """Return a raw deflate stream of 1 GiB of zeros, the CRC 32 of what it holds, and its size."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = bytes(1 << 24)
    piece = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = 0
    for _ in range(n_bytes >> 24):
        checksum = zlib.crc32(block, checksum)
    return piece * (n_bytes >> 24) + packer.flush(zlib.Z_FINISH), checksum, n_bytes


@cache
def _unpacked(content: bytes) -> bytes:
    return gzip.decompress(content)


# --- changes of bytes -----------------------------------------------------------------------------------------------

Change = Callable[[Random, bytes, Sequence[bytes]], bytes]


def _span(random: Random, content: bytes) -> tuple[int, int]:
    start = random.randrange(len(content))
    return start, min(len(content), start + random.choice((1, 1, 2, 4, 8, 30)))


def _flip_bit(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    at = random.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << random.randrange(8))]) + content[at + 1 :]


def _set_byte(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    at = random.randrange(len(content))
    return content[:at] + bytes([random.randrange(256)]) + content[at + 1 :]


def _cut_out(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    start, stop = _span(random, content)
    return content[:start] + content[stop:]


def _repeat(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    start, stop = _span(random, content)
    times = random.choice((1, 1, 1, 2, 100))
    return content[:start] + content[start:stop] * times + content[start:]


def _insert_token(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    start, stop = _span(random, content)
    token = random.choice(LONG) if random.random() < 0.02 else random.choice(TOKENS)
    return content[:start] + token + content[stop if random.random() < 0.5 else start :]


def _truncate(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    return content[: random.randrange(len(content))]


def _set_word(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """Write an extreme whole number over two, four or eight bytes."""
    size = random.choice((2, 4, 8))
    if len(content) < size:
        return content
    at = random.randrange(len(content) - size + 1)
    value = struct.pack(random.choice(("<q", ">q")), random.choice(_WORDS))
    return content[:at] + (value[:size] if random.random() < 0.5 else value[8 - size :]) + content[at + size :]


def _splice(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    other = random.choice(others) if others else content
    at, start = random.randrange(len(content)), random.randrange(max(len(other), 1))
    if random.random() < 0.3:
        return content[:at] + other[start:]
    return content[:at] + other[start : start + random.randrange(60)] + content[at:]


_BYTE_CHANGES: tuple[Change, ...] = (
    _flip_bit,
    _set_byte,
    _cut_out,
    _repeat,
    _insert_token,
    _insert_token,
    _truncate,
    _set_word,
    _splice,
)


# --- changes of text ------------------------------------------------------------------------------------------------


def _set_number(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    found = list(_NUMBER.finditer(content[:4000]))
    if not found:
        return content
    place = random.choice(found)
    if random.random() < 0.4:
        value = b"%d" % max(int(place.group()[:18]) + random.choice((-1, 1, 2)), 0)
    else:
        value = random.choice(TOKENS[:38]) if random.random() < 0.98 else random.choice(LONG[:3])
    return content[: place.start()] + value + content[place.end() :]


def _shuffle_lines(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    lines = content.split(b"\n")
    random.shuffle(lines)
    return b"\n".join(lines)


def _drop_line(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    lines = content.split(b"\n")
    lines.pop(random.randrange(len(lines)))
    return b"\n".join(lines)


def _double_line(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    lines = content.split(b"\n")
    line = lines[random.randrange(len(lines))]
    lines.insert(random.randrange(len(lines) + 1), line)
    return b"\n".join(lines)


def _change_ends(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    return content.replace(b"\n", random.choice((b"\r\n", b"\r", b"\n\n", b" \n", b"\t\n", b"")))


def _cut_end(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """Take the last line end away, and perhaps put something else there."""
    ends = (b"", b" ", b"x", b"\t", b"\r", b"\x00", b" 1", b" \xe9", b"\xff", b"\n\n\n", b"\n ", b"e", b"-", b"\n%")
    return content.rstrip(b"\n") + random.choice(ends)


def _take_from_other(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """Put a line of another file among these."""
    if not others:
        return content
    lines, line = content.split(b"\n"), random.choice(random.choice(others).split(b"\n"))
    lines.insert(random.randrange(len(lines) + 1), line[:200])
    return b"\n".join(lines)


_TEXT_CHANGES: tuple[Change, ...] = (
    _set_number,
    _set_number,
    _set_number,
    _shuffle_lines,
    _drop_line,
    _double_line,
    _change_ends,
    _cut_end,
    _insert_token,
    _take_from_other,
)
