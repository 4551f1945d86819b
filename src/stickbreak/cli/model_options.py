"""The options of the model in `fit`: which family, and its parameters."""

from typing import Annotated, Any

import typer

from stickbreak.cli.methods import METHODS, STARTS
from stickbreak.exceptions import InputError

_MODEL = "Model"
_COLLAPSED = "Model, with --method collapsed"
_VARIATIONAL = "Model, with --method variational"
_GIBBS = "Model, with --method gibbs"
_HYBRID = "Model, with --method hybrid"
_TREE = "Model, with --method tree"
_VECTORS = "Model, with --method gaussian-hdp or gaussian-mixture"


def _option(*names: str, least: int | None = None, metavar: str | None = None, panel: str = _MODEL, help: str) -> Any:
    """Return an option of the model; a number may have a least value."""
    return typer.Option(*names, min=least, metavar=metavar, rich_help_panel=panel, help=help)


def _choice(option: str, *names: str, metavar: str | None = None, panel: str = _MODEL, help: str) -> Any:
    """Return an option of the model that takes one of some names."""

    def checked(value: str | None) -> str | None:
        if value is not None and value not in names:
            raise InputError(f"{option} is {value!r}; give {', '.join(names[:-1])} or {names[-1]}")
        return value

    metavar = metavar or "|".join(names)
    return typer.Option(option, rich_help_panel=panel, metavar=metavar, help=help, callback=checked)


MethodName = Annotated[
    str,
    _choice(
        "--method",
        *METHODS,
        metavar="METHOD",
        help="\n\n".join(f"{name}: {method.purpose}" for name, method in METHODS.items()),
    ),
]
Topics = Annotated[
    int | None,
    _option(
        "--topics",
        "--components",
        least=1,
        help="Topics (components of vectors) to start with; unneeded ones go away. For tree: its leaves, at least. "
        "Otherwise 200 for collapsed, 972 for tree, 100 for the others, and fewer for a small collection.",
    ),
]
Alpha = Annotated[
    float | None,
    _option(
        "--alpha",
        help="Concentration of a document on few topics. For tree: sum of the discounts of documents, below 1.",
    ),
]
Gamma = Annotated[float | None, _option("--gamma", help="Concentration of the collection on few topics.")]
Eta = Annotated[
    float | None,
    _option("--eta", help="Pseudo-count of a word in a topic. For tree: sum of the discounts of words, below 1."),
]
Learn = Annotated[
    str | None,
    _option(
        "--learn",
        metavar="NAMES",
        help="Learn alpha, gamma, eta or several (alpha,eta) from the documents; none: keep them all.",
    ),
]
Laps = Annotated[int | None, _option("--laps", least=1, help="Most passes over the documents. A sampler does as many.")]
Jobs = Annotated[int | None, _option("--jobs", least=1, help="Threads; otherwise all cores.")]
MergeLaps = Annotated[
    int | None,
    _option(
        "--merge-laps",
        least=0,
        panel=_COLLAPSED,
        help="Laps, from the first, in which topics are merged; otherwise 50. 0: no merges.",
    ),
]
HeldBack = Annotated[
    float | None,
    typer.Option(
        "--held-back",
        max=0.5,
        rich_help_panel=_COLLAPSED,
        help="Share of the tokens that is held back in these laps and decides about merges, above 0; otherwise 0.1.",
    ),
]
SmallestShare = Annotated[
    float | None,
    typer.Option(
        "--smallest-share",
        min=0.0,
        max=0.5,
        rich_help_panel=_COLLAPSED,
        help="Smaller shares of a topic in a token are rounded at random; 0 keeps all. Otherwise 1/15.",
    ),
]
Init = Annotated[
    str | None,
    _choice(
        "--init",
        *STARTS,
        metavar="START",
        panel=_VARIATIONAL,
        help="Start: collapsed, near-uniform, documents or anchors; with --method gibbs also sequential, random or "
        "single; with hybrid also random.",
    ),
]
Bound = Annotated[
    str | None,
    _choice(
        "--bound",
        "surrogate",
        "quadratic",
        panel=_VARIATIONAL,
        help="Bound in the objective: that of the paper, for alpha below 1, or a tighter one.",
    ),
]
DocumentWeights = Annotated[
    str | None,
    _choice(
        "--document-weights",
        "mean_field",
        "collapsed",
        panel=_VARIATIONAL,
        help="How the weights of documents are inferred: sparse, or smoother and better at prediction.",
    ),
]
Batches = Annotated[
    int | None, _option("--batches", least=1, panel=_VARIATIONAL, help="Parts that the documents are cut into.")
]
Schedule = Annotated[
    str | None,
    _choice(
        "--schedule",
        "memoized",
        "stochastic",
        panel=_VARIATIONAL,
        help="How the passes go: with exact sums and moves, or by steps after each part (of the moves only reorder, "
        "less memory).",
    ),
]
LearningDecay = Annotated[
    float | None,
    _option(
        "--learning-decay",
        panel=_VARIATIONAL,
        help="Stochastic, and with --method hybrid: step t is (t + offset) ** -decay.",
    ),
]
LearningOffset = Annotated[
    float | None,
    _option(
        "--learning-offset",
        panel=_VARIATIONAL,
        help="Stochastic, and with --method hybrid: larger makes the first steps smaller.",
    ),
]
StickRule = Annotated[
    str | None,
    _choice(
        "--stick-rule",
        "interpolate",
        "natural",
        panel=_VARIATIONAL,
        help="Stochastic: how steps move the weights of the topics.",
    ),
]
Moves = Annotated[
    str | None,
    _option(
        "--moves",
        metavar="NAMES",
        panel=_VARIATIONAL,
        help="Out of merge,delete,birth,refine,reorder; none: keep all topics.",
    ),
]
DeleteDocuments = Annotated[
    str | None,
    _option(
        "--delete-documents",
        metavar="NUMBER|all",
        panel=_VARIATIONAL,
        help="Most documents that deletes infer anew in a pass; otherwise 500.",
    ),
]
Restarts = Annotated[
    int | None,
    _option(
        "--restarts",
        least=0,
        panel=_VARIATIONAL,
        help="Topics, the smallest first, that each document is tried without; otherwise 5.",
    ),
]
BurnIn = Annotated[
    int | None, _option("--burn-in", least=0, panel=_GIBBS, help="Sweeps before the first sample; otherwise half.")
]
Thin = Annotated[
    int | None, _option("--thin", least=1, panel=_GIBBS, help="Sweeps from sample to sample; otherwise 10.")
]
Chains = Annotated[
    int | None, _option("--chains", least=1, panel=_GIBBS, help="Independent chains, of which the best is kept.")
]
Representation = Annotated[
    str | None,
    _choice(
        "--representation",
        "indicator",
        "franchise",
        "direct",
        panel=_GIBBS,
        help="What a chain keeps of the tables: their numbers (fast), all of them, or weights of the topics.",
    ),
]
SplitMerge = Annotated[
    int | None, _option("--split-merge", least=0, panel=_GIBBS, help="Split-merge trials after each early sweep.")
]
Estimate = Annotated[
    str | None,
    _choice(
        "--estimate",
        "last",
        "best",
        "average",
        panel=_GIBBS,
        help="Topics of the last sweep, of the best one, or the average over samples.",
    ),
]
Shards = Annotated[
    int | None,
    _option("--shards", least=1, panel=_GIBBS, help="Parts sampled at the same time; more than 1 is approximate."),
]
BatchSize = Annotated[
    int | None, _option("--batch-size", least=1, panel=_HYBRID, help="Documents of a minibatch; otherwise 100.")
]
BurnInSweeps = Annotated[
    int | None,
    _option(
        "--burn-in-sweeps",
        least=0,
        panel=_HYBRID,
        help="Sweeps of a document before the first that counts; otherwise 5.",
    ),
]
SavedSweeps = Annotated[
    int | None, _option("--saved-sweeps", least=1, panel=_HYBRID, help="Sweeps that count; otherwise 5.")
]
Sampler = Annotated[
    str | None,
    _choice(
        "--sampler",
        "sparse",
        "dense",
        panel=_HYBRID,
        help="Topics outside a document by tables of the words, or one by one: the same law, slower.",
    ),
]
Branching = Annotated[
    str | None,
    _option(
        "--branching",
        metavar="wide|tall|NUMBERS",
        panel=_TREE,
        help="Shape of the tree for --topics leaves, or the children of a node of each level (3,6,6).",
    ),
]
Stages = Annotated[
    str | None,
    _option(
        "--stages",
        metavar="NUMBERS",
        panel=_TREE,
        help="Levels of coarser trees to begin with (3,5), ten sweeps each; none: the whole tree from the start.",
    ),
]
Updates = Annotated[
    str | None,
    _choice(
        "--updates",
        "parallel",
        "serial",
        panel=_TREE,
        help="Words of a sweep as they were at its beginning, or changing with every draw (slower, one thread).",
    ),
]
Likelihood = Annotated[
    str | None,
    _choice(
        "--likelihood",
        "zero_mean",
        "full",
        "diagonal",
        panel=_VECTORS,
        help="Gaussians of mean zero, of any mean and covariance, or of independent coordinates; otherwise zero_mean "
        "for gaussian-hdp, full for gaussian-mixture.",
    ),
]
Precision = Annotated[
    str | None,
    _choice("--precision", "float64", "float32", panel=_VECTORS, help="Of the vectors; float32 takes half the time."),
]
