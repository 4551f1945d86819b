"""Bytes to text: which encoding a file is in, and what is said where it is another one."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

import numpy as np

from stickbreak.exceptions import InputError, ReadError

__all__ = ["checked_encoding", "decoded", "decoded_pieces", "encoding_of", "is_utf8", "line_end_of"]

_MARKS = (  # the longer ones first: that of UTF-32 begins as that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OF_ONE_BYTE = ("utf-8", "utf-8-sig", "ascii")
_EAST_ASIAN = ("gb18030", "shift_jis", "euc_kr", "big5")
_NAME_IT = "name its encoding with --encoding (in Python: encoding)"
_FEWEST = 8  # bytes that can look like UTF-16


def checked_encoding(encoding: object) -> str:
    """Return the name of an encoding that Python knows.

    Parameters
    ----------
    encoding : object
        What was given.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If it is not the name of an encoding of text.
    """
    if not isinstance(encoding, str):
        raise InputError(f"encoding is {encoding!r:.40}; give a name such as 'utf-8' or 'latin-1'")
    try:
        "\n".encode(encoding)
        codecs.getincrementaldecoder(encoding)
    except (LookupError, ValueError) as error:  # ValueError: a name that holds a zero byte, or "undefined"
        raise InputError(
            f"encoding {encoding!r:.40} is unknown; give --encoding (in Python: encoding) a name such as 'utf-8'"
        ) from error
    return encoding


def line_end_of(encoding: str) -> bytes:
    r"""Return the bytes of "\n" in an encoding, without a byte order mark.

    Parameters
    ----------
    encoding : str
        A name that `checked_encoding` let pass.

    Returns
    -------
    bytes
    """
    end = "\n".encode(encoding)
    for mark in (codecs.BOM_UTF8, *(mark for mark, _ in _MARKS)):
        if len(end) > len(mark):
            end = end.removeprefix(mark)
    return end


def encoding_of(start: bytes, asked: str, where: str) -> str:
    """Return the encoding of a file: that of its byte order mark where UTF-8 was asked for, else the one asked for.

    Parameters
    ----------
    start : bytes
        The first bytes of the file.
    asked : str
        The encoding that the caller names; "utf-8" stands for "not named".
    where : str
        The file, for the message.

    Returns
    -------
    str

    Raises
    ------
    ReadError
        If the file has no byte order mark but needs one: "utf-16" was asked for, or it looks like UTF-16.
    """
    name = codecs.lookup(asked).name
    marked = next((encoding for mark, encoding in _MARKS if start.startswith(mark)), None)
    if name in ("utf-16", "utf-32") and marked is None:
        raise ReadError(f"{where} has no byte order mark; {_NAME_IT}, such as '{name}-le', '{name}-be' or 'utf-8'")
    if name not in _OF_ONE_BYTE:
        return asked
    if marked is not None:
        return marked
    wide = _looks_wide(start)
    if wide is not None:
        raise ReadError(
            f"{where} looks like UTF-16 without a byte order mark; convert it to UTF-8, or {_NAME_IT}, {wide!r}"
        )
    return asked


def _looks_wide(start: bytes) -> str | None:
    """Tell UTF-16 by its zero bytes: most of the high ones, and no low one, in any text of mostly Latin letters."""
    half = len(start) // 2
    if len(start) < _FEWEST:
        return None
    even, odd = start[0 : 2 * half : 2].count(0), start[1 : 2 * half : 2].count(0)
    if even == 0 and odd > 0.5 * half:
        return "utf-16-le"
    return "utf-16-be" if odd == 0 and even > 0.5 * half else None


def decoded(content: bytes, encoding: str, where: str, offset: int = 0) -> str:
    """Decode bytes strictly.

    Parameters
    ----------
    content : bytes
        A line or a whole file.
    encoding : str
        Its encoding.
    where : str
        File, and line if there is one, for the message.
    offset : int
        Place of `content` in the file, in bytes.

    Returns
    -------
    str

    Raises
    ------
    ReadError
        Naming the first byte that does not fit, and encodings that may.
    """
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise _undecodable(error, encoding, where, offset) from error
    except UnicodeError as error:  # of codecs that say no more: "idna", "punycode"
        raise _undecodable_at_all(error, encoding, where) from error


def is_utf8(content: bytes) -> bool:
    """Whether bytes are valid UTF-8; other threads go on while Arrow looks.

    Parameters
    ----------
    content : bytes

    Returns
    -------
    bool
    """
    import pyarrow as pa

    ends = pa.py_buffer(np.array([0, len(content)], np.int64))
    try:
        pa.Array.from_buffers(pa.large_string(), 1, [None, ends, pa.py_buffer(content)]).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def decoded_pieces(pieces: Iterable[bytes], encoding: str, where: str) -> Iterator[str]:
    """Decode a file that comes piece by piece, cut anywhere; a byte order mark at its start is dropped.

    Parameters
    ----------
    pieces : iterable of bytes
        The content.
    encoding : str
        Its encoding.
    where : str
        The file, for the message.

    Yields
    ------
    str

    Raises
    ------
    ReadError
        Naming the first byte that does not fit, and its line.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    seen = offset = 0  # bytes given to the decoder; of these, those that it has finished
    number, first = 1, True  # of the line
    for piece, final in _marked_last(pieces):
        try:
            text = decoder.decode(piece, final)
        except UnicodeDecodeError as error:
            number += error.object[: error.start].count(line_end_of(encoding))
            raise _undecodable(error, encoding, f"{where}, line {number}", offset) from error
        except UnicodeError as error:
            raise _undecodable_at_all(error, encoding, where) from error
        number += text.count("\n")
        offset = seen + len(piece) - len(decoder.getstate()[0])
        seen += len(piece)
        if first and text:
            text, first = text.removeprefix("\ufeff"), False
        if text:
            yield text


def _marked_last(pieces: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    for piece in pieces:
        yield piece, False
    yield b"", True


def _undecodable(error: UnicodeDecodeError, encoding: str, where: str, offset: int) -> ReadError:
    """Say which byte is not of the encoding, and which encodings would take it."""
    content = error.object
    names = ["cp1252", "latin-1"]
    high = sum(byte > 127 for byte in content)
    if high > 0.3 * len(content):  # letters of Western Europe are rarer than that
        names = [*(name for name in _EAST_ASIAN if _decodes(content, name)), "latin-1"]
    shown = " or ".join(repr(name) for name in names)
    return ReadError(
        f"{where} is not {encoding.upper()}: byte 0x{content[error.start]:02x} at position {offset + error.start} of "
        f"the file; convert the file, or {_NAME_IT}, such as {shown}"
    )


def _undecodable_at_all(error: UnicodeError, encoding: str, where: str) -> ReadError:
    said = " ".join(f"{error}".split())
    return ReadError(f"{where} is not {encoding.upper()} ({said:.80}); {_NAME_IT}")


def _decodes(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeDecodeError as error:
        return error.start >= len(content) - 3  # cut inside a character
    return True
