"""Lists of stop words: the English one with others joined to it, and those of the demonstration."""

from collections.abc import Iterable

__all__ = ["DOCSTRING_STOP_WORDS", "english_and"]

DOCSTRING_STOP_WORDS = tuple(
    """
    allow allows arg args argument arguments associated attribute attributeerror attributes available bar
    bool boolean call called calling calls class classes cls contain containing contains corresponding
    create created creates current currently def default defaults define defined defines dict different
    does example false following foo func function functions given gives implement implementation
    implemented implements instance instances instead int just keyerror keyword keywords kwargs like list
    lists make makes means method methods needed new non none note number numbers obj object objects
    optional optionally override param parameter parameters pass passed possible provide provided
    provides python raise raised raises result results return returned returning returns self set sets
    simple specific specified specify standard str subclass subclasses support supported supports true
    tuple tuples typ type typeerror types use used useful user uses using usually value valueerror values
    want way work works
    """.split()
)
"""Words of nearly every documentation string of Python code, whatever it is about."""


def english_and(words: Iterable[str]) -> tuple[str, ...]:
    """Join words to the English stop words.

    Parameters
    ----------
    words : iterable of str
        More stop words.

    Returns
    -------
    tuple of str
        Sorted.
    """
    from stickbreak.corpus import stop_words_of

    return tuple(sorted(stop_words_of("english") | set(words)))
