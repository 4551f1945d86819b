"""The groups of the options of `fit`, in the order of `--help-all`, and which parameters of a model belong to which."""

from fnmatch import fnmatchcase

__all__ = ["GROUPS", "INPUT", "MODEL", "OUTPUT", "STOPPING", "TEXT", "group_of"]

INPUT, TEXT, MODEL, PRIORS, INFERENCE, MOVES, STOPPING, OUTPUT = GROUPS = (
    "Input",
    "Text to counts",
    "Model",
    "Priors",
    "Inference",
    "Moves",
    "Stopping and checkpoints",
    "Output",
)

_PATTERNS = {
    MODEL: (
        "n_topics",
        "n_components",
        "n_super",
        "n_levels",
        "top_level",
        "branching",
        "stages",
        "stage_sweeps",
        "likelihood",
        "init*",
        "seed*",
    ),
    PRIORS: (
        "alpha",
        "sub_alpha",
        "smoothing_share",
        "level_*",
        "gamma",
        "eta",
        "learn",
        "learn_every",
        "*_prior",
    ),
    MOVES: ("moves", "merge_*", "split_*", "held_back", "delete_*", "restarts", "subtopic_*"),
    STOPPING: ("n_laps", "tolerance", "burn_in", "thin"),
}


def group_of(parameter: str) -> str:
    """Return the group of a parameter of a model; one that no pattern names is about inference."""
    for group, patterns in _PATTERNS.items():
        if any(fnmatchcase(parameter, pattern) for pattern in patterns):
            return group
    return INFERENCE
