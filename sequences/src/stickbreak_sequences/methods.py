"""What `stickbreak fit --method` offers of this package; `pyproject.toml` names it as an entry point."""

from stickbreak.methods import Method

__all__ = ["HMM"]

HMM = Method(
    "stickbreak_sequences.estimator",
    "StickyHDPHMM",
    "finds states of sequences, and their number: rows of a table in their order.",
    data="stickbreak_sequences.command_line:SequenceTable",
)
