"""Words and names as tables of texts hold them."""

from collections.abc import Sequence


def in_tables(texts: Sequence[str]) -> tuple[str, ...]:
    """Return texts as tables hold them: halves of surrogate pairs, which no UTF-8 can hold, become question marks.

    Parameters
    ----------
    texts : sequence of str

    Examples
    --------
    >>> in_tables(["bread", chr(0xD800)])
    ('bread', '?')
    """
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return tuple(text.encode("utf-8", "replace").decode() for text in texts)
    return tuple(texts)
