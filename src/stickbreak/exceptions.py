"""The errors that stickbreak raises on purpose: each says what was given, what is wrong and what to do."""

__all__ = [
    "ClusterError",
    "InputError",
    "InvalidCorpus",
    "ModelFormatError",
    "NoAnswer",
    "NoDocuments",
    "NoPath",
    "ReadError",
    "ServerError",
    "StickbreakError",
    "WriteError",
]


_LONGEST = 800  # characters of a message: names and values may come from a file, and be of any length
_AT_THE_END = 300  # of them, which say what to do


class StickbreakError(Exception):
    """Base of all errors that stickbreak raises on purpose; its text is one sentence for a person.

    Parameters
    ----------
    message : str
        The sentence. What cannot be printed is replaced, and the middle of a very long one is left out.
    """

    def __init__(self, message: str = "") -> None:
        text = "".join(c if c.isprintable() else " " if c.isspace() else "\ufffd" for c in str(message))
        if len(text) > _LONGEST:
            text = f"{text[: _LONGEST - _AT_THE_END]} ... {text[-_AT_THE_END:]}"
        super().__init__(text)


class InputError(StickbreakError, ValueError):
    """Bad input of any kind: a file, a matrix of counts, an argument."""


class InvalidCorpus(InputError):
    """Counts, a vocabulary or names that cannot be a corpus."""


class ReadError(InputError):
    """A file that cannot be read as asked; the text names the path and, where there is one, the line."""


class NoDocuments(ReadError):
    """A file that can be read and holds no document at all."""


class NoPath(InputError, AttributeError):
    """A model without a path of joined topics that is asked for it."""


class ModelFormatError(InputError):
    """A folder that is not a saved model, or one of a version that this stickbreak does not know."""


class WriteError(StickbreakError, OSError):
    """An output that cannot be written."""


class ClusterError(StickbreakError, OSError):
    """A cluster that does not answer, or does not do its work."""


class ServerError(StickbreakError, OSError):
    """A server that does not answer at the address that was given."""


class NoAnswer(StickbreakError):
    """A question to a language model that got no answer that can be used: what was known stays."""
