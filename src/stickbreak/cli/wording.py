"""Lists of words in a sentence."""

from collections.abc import Mapping, Sequence

__all__ = ["by_method", "joined"]


def joined(words: Sequence[str], last: str) -> str:
    """Return "a", "a or b", "a, b or c", with the word `last` before the last one."""
    *several, end = words
    return f"{', '.join(several)} {last} {end}" if several else end


def by_method(facts: Mapping[str, str]) -> str:
    """Say what differs by method: "5 for topics and hybrid, 10 for tree, 1 for the others".

    Parameters
    ----------
    facts : mapping
        Method -> what holds for it.
    """
    methods: dict[str, list[str]] = {}
    for method, fact in facts.items():
        methods.setdefault(fact, []).append(method)
    if len(methods) == 1:
        return next(iter(methods))
    most = max(methods, key=lambda fact: len(methods[fact]))
    rest = [] if len(methods[most]) == 1 else [f"{most} for the others"]
    told = [f"{fact} for {joined(names, 'and')}" for fact, names in methods.items() if not rest or fact != most]
    return ", ".join(told + rest)
