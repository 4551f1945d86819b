"""Burkhardt and Kramer 2017, Fig. 2: the number of topics at most, hybrid and mean field; the rest as in Fig. 1."""

from __future__ import annotations

from typing import Any

from benchmarks.harness.records import Record

from .burkhardt_fig1 import PAPER as FIG1
from .burkhardt_fig1 import QUICK as QUICK1
from .burkhardt_fig1 import ahead, drawn, keys, measure, of_ends, rows
from .study import Claim, Study, Verdict, in_all, main

PAPER = {**FIG1, "topics": [50, 100, 200, 500, 1000], "batch_sizes": [100]}
QUICK = {**QUICK1, "topics": [4, 8], "batch_sizes": [20]}


def grows(records: list[Record]) -> Verdict:
    """Judge whether the hybrid gains from more topics."""
    gains = [(c, most - least) for c, least, most in of_ends(records, "hybrid", "K")]
    text = ", ".join(f"{c} {gain:+.2f}" for c, gain in gains)
    return f"from the fewest to the most topics, nats a word: {text}", in_all([gain > 0 for _, gain in gains])


def stays(records: list[Record]) -> Verdict:
    """Judge whether the mean field hardly changes."""
    gains = [(c, most - least) for c, least, most in of_ends(records, "mean field", "K")]
    text = ", ".join(f"{c} {gain:+.2f}" for c, gain in gains)
    return f"from the fewest to the most topics, nats a word: {text}", in_all([abs(gain) < 0.05 for _, gain in gains])


def draw(records: list[Record], plt: Any) -> Any:
    """Draw the score by the number of topics at most."""
    return drawn(records, plt, "K", "topics at most")


STUDY = Study(
    "burkhardt_fig2", PAPER, QUICK,
    "As Fig. 1; minibatches of 100 documents only, not of 1,000.",
    keys, measure, rows,
    (
        Claim("The hybrid has a higher log-likelihood with every truncation", "Fig. 2", ahead),
        Claim("The hybrid improves with more topics", "Fig. 2", grows),
        Claim("The truncation does not influence the mean field with small minibatches", "Fig. 2", stays,
              "It loses 0.05 on KOS. On NIPS 100 topics are best. Four to six topics always have 99 % of the tokens."),
    ),
    draw,
)  # fmt: skip

if __name__ == "__main__":
    main(STUDY, __doc__)
