"""JSON lines read in one pass over their bytes, where each is a flat object: what is not is left to Python."""

from __future__ import annotations

from stickbreak.numerics.compiling import njit

__all__ = ["ESCAPED", "MISSING", "NULL", "OTHER", "PLAIN", "STRING", "WHOLE", "copy_texts", "copy_values", "scan_lines"]

MISSING, PLAIN, STRING, ESCAPED, WHOLE, OTHER, NULL = 0, 1, 2, 3, 4, 5, 6
"""What a value is: not there; a string of ASCII, with other characters, with escapes; digits; another scalar; null."""

_TAB, _END, _RETURN, _BLANK, _QUOTE, _SLASH, _ESCAPE = 9, 10, 13, 32, 34, 47, 92
_COMMA, _COLON, _OPEN, _CLOSE, _MINUS, _PLUS, _POINT, _ZERO, _NINE = 44, 58, 123, 125, 45, 43, 46, 48, 57
_LONGEST_NUMBER = 18  # characters: Python reads one of any length
_LETTERS, _MEANT = (98, 102, 110, 114, 116), (8, 12, 10, 13, 9)  # escapes: b, f, n, r, t


@njit(cache=True, nogil=True)
def scan_lines(block, keys, key_ends, spans, forms, good, starts):
    """Find the values of some keys in each line.

    Parameters
    ----------
    block : ndarray of uint8
        Whole lines, UTF-8.
    keys, key_ends : ndarray of uint8, ndarray of int64 of shape (K,)
        The keys, one after another, and where each ends.
    spans : ndarray of int64 of shape (n_lines, K, 2)
        Filled here: where each value begins and ends; of a string without its quotes.
    forms : ndarray of uint8 of shape (n_lines, K)
        Filled here: what each value is.
    good : ndarray of bool of shape (n_lines,)
        Filled here: whether the line is a flat object of valid JSON without escapes in its keys.
    starts : ndarray of int64 of shape (n_lines + 1,)
        Filled here: where each line begins, and where the last one ends.

    Returns
    -------
    int
        The number of lines.
    """
    at, line, n = 0, 0, block.size
    while at < n:
        starts[line] = at
        for k in range(key_ends.size):
            forms[line, k] = MISSING
        while at < n and (block[at] == _BLANK or block[at] == _TAB or block[at] == _RETURN):
            at += 1
        fine = at < n and block[at] == _OPEN
        more = fine
        while more:
            at += 1  # after { or a comma
            while at < n and (block[at] == _BLANK or block[at] == _TAB or block[at] == _RETURN):
                at += 1
            fine = at < n and block[at] == _QUOTE
            at += 1
            begin = at
            while at < n and block[at] != _QUOTE and block[at] != _ESCAPE and block[at] >= _BLANK:
                at += 1
            fine = fine and at < n and block[at] == _QUOTE
            key = _place(block, begin, at, keys, key_ends)
            at += 1
            while at < n and (block[at] == _BLANK or block[at] == _TAB or block[at] == _RETURN):
                at += 1
            fine = fine and at < n and block[at] == _COLON
            at += 1
            while at < n and (block[at] == _BLANK or block[at] == _TAB or block[at] == _RETURN):
                at += 1
            fine = fine and at < n
            begin, end, form = at, at, PLAIN
            if fine and block[at] == _QUOTE:
                at += 1
                begin = at
                high = 0
                while at < n and block[at] != _QUOTE and block[at] >= _BLANK:
                    high |= block[at]
                    size = 1
                    if block[at] == _ESCAPE:
                        form, size = ESCAPED, _length_of_escape(block, at)
                        if size == 0:
                            fine, size = False, 1
                    at += size
                fine = fine and at < n and block[at] == _QUOTE
                if form == PLAIN and high >= 0x80:
                    form = STRING
                end = at
                at += 1
            elif fine:
                at, form = _scalar(block, at)
                fine, end = at >= 0, at
            if fine and key >= 0:  # the last of several, as Python does
                spans[line, key, 0], spans[line, key, 1], forms[line, key] = begin, end, form
            while fine and at < n and (block[at] == _BLANK or block[at] == _TAB or block[at] == _RETURN):
                at += 1
            fine = fine and at < n and (block[at] == _COMMA or block[at] == _CLOSE)
            more = fine and block[at] == _COMMA
        at += 1
        while fine and at < n and (block[at] == _BLANK or block[at] == _TAB or block[at] == _RETURN):
            at += 1
        fine = fine and (at >= n or block[at] == _END)
        if not fine:
            at = starts[line]
            while at < n and block[at] != _END:
                at += 1
        at = min(at + 1, n)
        good[line], starts[line + 1] = fine, at
        line += 1
    return line


@njit(cache=True, inline="always")
def _length_of_escape(block, at):
    """Return how many bytes an escape has; 0 for none that JSON knows."""
    if at + 1 >= block.size:
        return 0
    byte = block[at + 1]
    if byte == _QUOTE or byte == _SLASH or byte == _ESCAPE:
        return 2
    for letter in _LETTERS:
        if byte == letter:
            return 2
    if byte != 117 or at + 6 > block.size:  # u
        return 0
    for i in range(at + 2, at + 6):
        if _hexadecimal(block[i]) < 0:
            return 0
    return 6


@njit(cache=True, inline="always")
def _hexadecimal(byte):
    if _ZERO <= byte <= _NINE:
        return int(byte) - _ZERO
    letter = int(byte) | 32
    return letter - 87 if 97 <= letter <= 102 else -1


@njit(cache=True, inline="always")
def _scalar(block, at):
    """Return where a number, true, false or null ends, and what it is; -1 for anything else."""
    if _is_at(block, at, (110, 117, 108, 108)):  # null
        return at + 4, NULL
    if _is_at(block, at, (116, 114, 117, 101)):  # true
        return at + 4, OTHER
    if _is_at(block, at, (102, 97, 108, 115)) and at + 4 < block.size and block[at + 4] == 101:  # false
        return at + 5, OTHER
    begin, form = at, WHOLE
    if block[at] == _MINUS:
        at, form = at + 1, OTHER
    first = at
    at = _after_digits(block, at)
    if at == first or (block[first] == _ZERO and at > first + 1):
        return -1, form
    if at < block.size and block[at] == _POINT:
        first, form = at + 1, OTHER
        at = _after_digits(block, first)
        if at == first:
            return -1, form
    if at < block.size and (block[at] == 101 or block[at] == 69):  # e, E
        first, form = at + 1, OTHER
        if first < block.size and (block[first] == _MINUS or block[first] == _PLUS):
            first += 1
        at = _after_digits(block, first)
        if at == first:
            return -1, form
    return at if at - begin <= _LONGEST_NUMBER else -1, form


@njit(cache=True, inline="always")
def _is_at(block, at, word):
    if at + 4 > block.size:
        return False
    for i in range(4):
        if block[at + i] != word[i]:
            return False
    return True


@njit(cache=True, inline="always")
def _after_digits(block, at):
    while at < block.size and _ZERO <= block[at] <= _NINE:
        at += 1
    return at


@njit(cache=True, inline="always")
def _place(block, begin, end, keys, key_ends):
    """Return which of the keys stands here; -1: none."""
    key, first = -1, 0
    for k in range(key_ends.size):
        size = key_ends[k] - first
        if size == end - begin and key < 0:
            i = 0
            while i < size and block[begin + i] == keys[first + i]:
                i += 1
            if i == size:
                key = k
        first = key_ends[k]
    return key


@njit(cache=True, nogil=True)
def copy_texts(block, spans, forms, out, ends, plain):
    """Put texts together, without escapes.

    Parameters
    ----------
    block : ndarray of uint8
        As for `scan_lines`.
    spans, forms : ndarray of int64 of shape (D, 2), ndarray of uint8 of shape (D,)
        Strings; anything else becomes an empty text.
    out : ndarray of uint8
        Filled here; as long as the block. A character of which an escape gives one half is three bytes, as Python's
        "surrogatepass" has them.
    ends : ndarray of int64 of shape (D,)
        Filled here.
    plain : ndarray of bool of shape (D,)
        Filled here: whether a text is all ASCII.
    """
    to = 0
    for d in range(forms.size):
        first, form = to, forms[d]
        if form == PLAIN or form == STRING:
            given, copied = block[spans[d, 0] : spans[d, 1]], out[to:]  # of slices: many bytes at once
            for i in range(given.size):
                copied[i] = given[i]
            to += given.size
        elif form == ESCAPED:
            to = _unescape(block, spans[d, 0], spans[d, 1], out, to)
        high = 0
        if form == ESCAPED:
            for i in range(first, to):
                high |= out[i]
        ends[d], plain[d] = to, form != STRING and high < 0x80


@njit(cache=True, inline="always")
def _unescape(block, at, end, out, to):
    """Write a string without escapes; return where it ends."""
    while at < end:
        byte = block[at]
        if byte != _ESCAPE:
            out[to] = byte
            at, to = at + 1, to + 1
            continue
        byte = block[at + 1]
        if byte != 117:
            for i in range(len(_LETTERS)):
                if byte == _LETTERS[i]:
                    byte = _MEANT[i]
                    break
            out[to] = byte
            at, to = at + 2, to + 1
            continue
        point = _point(block, at)
        at += 6
        if 0xD800 <= point < 0xDC00 and at + 6 <= end and block[at] == _ESCAPE and block[at + 1] == 117:
            low = _point(block, at)
            if 0xDC00 <= low < 0xE000:
                point = 0x10000 + ((point - 0xD800) << 10) + low - 0xDC00
                at += 6
        to = _encode(point, out, to)
    return to


@njit(cache=True, inline="always")
def _point(block, at):
    """Return the code point of an escape with u."""
    point = 0
    for i in range(at + 2, at + 6):
        point = point << 4 | _hexadecimal(block[i])
    return point


@njit(cache=True, inline="always")
def _encode(point, out, to):
    """Write a code point as UTF-8; return where it ends."""
    if point < 0x80:
        out[to] = point
        return to + 1
    if point < 0x800:
        out[to] = 0xC0 | point >> 6
        out[to + 1] = 0x80 | point & 0x3F
        return to + 2
    if point < 0x10000:
        out[to] = 0xE0 | point >> 12
        out[to + 1] = 0x80 | point >> 6 & 0x3F
        out[to + 2] = 0x80 | point & 0x3F
        return to + 3
    out[to] = 0xF0 | point >> 18
    out[to + 1] = 0x80 | point >> 12 & 0x3F
    out[to + 2] = 0x80 | point >> 6 & 0x3F
    out[to + 3] = 0x80 | point & 0x3F
    return to + 4


@njit(cache=True, nogil=True)
def copy_values(block, spans, forms, quoted, line_ends, out, ends):
    """Put values together as they are written.

    Parameters
    ----------
    block, spans, forms
        As for `copy_texts`.
    quoted : bool
        Whether digits get quotes, and an empty string is nothing, as for names.
    line_ends : bool
        Whether each value, also one that is nothing, ends a line.
    out : ndarray of uint8
        Filled here; strings have their quotes.
    ends : ndarray of int64 of shape (D,)
        Filled here.

    Returns
    -------
    int
        How many values there are that are not nothing.
    """
    to, n_values = 0, 0
    for d in range(forms.size):
        form, begin, end = forms[d], spans[d, 0], spans[d, 1]
        string = form == PLAIN or form == STRING or form == ESCAPED
        if form != MISSING and form != NULL and not (quoted and string and begin == end):
            n_values += 1
            if string or quoted:
                out[to] = _QUOTE
                to += 1
            for i in range(begin, end):
                out[to] = block[i]
                to += 1
            if string or quoted:
                out[to] = _QUOTE
                to += 1
        if line_ends:
            out[to] = _END
            to += 1
        ends[d] = to
    return n_values
