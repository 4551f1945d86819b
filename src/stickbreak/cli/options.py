"""The options that several commands share, and how their values are read."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stickbreak.cli.methods import METHODS, STARTS
from stickbreak.exceptions import InputError, ReadError

if TYPE_CHECKING:
    from stickbreak.corpus import TextOptions

_READING, _WORDS, _MODEL, _OUTPUT = "Reading", "Text to counts", "Model", "Output"
_GIBBS = "Model, with --method gibbs"
_HYBRID = "Model, with --method hybrid"
_COLLAPSED = "Model, with --method collapsed"
_TREE = "Model, with --method tree"


def _choice(option: str, *names: str, metavar: str | None = None, panel: str = _MODEL, help: str) -> Any:
    """Return an option of the model that takes one of some names."""

    def checked(value: str | None) -> str | None:
        if value is not None and value not in names:
            raise InputError(f"{option} is {value!r}; give {', '.join(names[:-1])} or {names[-1]}")
        return value

    metavar = metavar or "|".join(names)
    return typer.Option(option, rich_help_panel=panel, metavar=metavar, help=help, callback=checked)


InputPath = Annotated[Path, typer.Argument(metavar="INPUT", help="File or folder with the documents.")]
ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="Folder that fit wrote.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no messages.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything random.")]

Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        rich_help_panel=_READING,
        help="jsonl, csv, tsv, parquet, lines, folder, uci, ldac, mtx, npz or corpus; "
        "otherwise told by name and content.",
    ),
]
TextField = Annotated[
    str | None,
    typer.Option("--text-field", rich_help_panel=_READING, help="Column or JSON field of the text."),
]
NameField = Annotated[
    str | None,
    typer.Option("--name-field", rich_help_panel=_READING, help="Column or field of the documents' names."),
]
Vocabulary = Annotated[
    Path | None,
    typer.Option(
        "--vocabulary",
        rich_help_panel=_READING,
        help="File with a word on each line: the columns of counts, or the words to count in texts.",
    ),
]
Encoding = Annotated[str, typer.Option("--encoding", rich_help_panel=_READING, help="Encoding of text files.")]

StopWords = Annotated[
    str,
    typer.Option(
        "--stop-words",
        rich_help_panel=_WORDS,
        help="english, none, a file with the words to leave out, or english+FILE for both.",
    ),
]
MinDf = Annotated[
    str,
    typer.Option(
        "--min-df",
        rich_help_panel=_WORDS,
        help="Leave out words in fewer documents: a number (5) or a share (0.01).",
    ),
]
MaxDf = Annotated[
    str,
    typer.Option(
        "--max-df",
        rich_help_panel=_WORDS,
        help="Leave out words in more documents: a share (0.5) or a number (500).",
    ),
]
MaxFeatures = Annotated[
    int | None,
    typer.Option("--max-features", min=1, rich_help_panel=_WORDS, help="Keep only the most frequent words."),
]
NgramMin = Annotated[
    int,
    typer.Option("--ngram-min", min=1, max=5, rich_help_panel=_WORDS, help="2 leaves out single words."),
]
NgramMax = Annotated[
    int,
    typer.Option("--ngram-max", min=1, max=5, rich_help_panel=_WORDS, help="2 counts also pairs of words."),
]
TokenPattern = Annotated[
    str | None,
    typer.Option("--token-pattern", rich_help_panel=_WORDS, help="Regular expression of a word."),
]
KeepCase = Annotated[bool, typer.Option("--keep-case", rich_help_panel=_WORDS, help="Do not make the text lower case.")]
StripAccents = Annotated[
    str | None,
    typer.Option("--strip-accents", rich_help_panel=_WORDS, help="ascii or unicode: remove accents."),
]

MethodName = Annotated[
    str,
    _choice(
        "--method",
        *METHODS,
        help="Fit by optimisation, draw from the posterior (slower, and exact), both, by minibatches, "
        "by collapsed optimisation (predicts best), or sample the leaves of a tree of up to millions of topics.",
    ),
]
Topics = Annotated[
    int,
    typer.Option("--topics", min=1, rich_help_panel=_MODEL, help="Topics to start with; unneeded ones go away."),
]
Alpha = Annotated[
    float | None,
    typer.Option("--alpha", rich_help_panel=_MODEL, help="Concentration of a document on few topics."),
]
Gamma = Annotated[
    float | None,
    typer.Option("--gamma", rich_help_panel=_MODEL, help="Concentration of the collection on few topics."),
]
DocumentWeights = Annotated[
    str | None,
    _choice(
        "--document-weights",
        "mean_field",
        "collapsed",
        help="How the weights of documents are inferred: sparse, or smoother and better at prediction.",
    ),
]
Eta = Annotated[float | None, typer.Option("--eta", rich_help_panel=_MODEL, help="Pseudo-count of a word in a topic.")]
Learn = Annotated[
    str | None,
    typer.Option(
        "--learn",
        rich_help_panel=_MODEL,
        metavar="NAMES",
        help="Learn alpha, gamma, eta or several (alpha,eta) from the documents; none: keep them all.",
    ),
]
Bound = Annotated[
    str | None,
    _choice(
        "--bound",
        "surrogate",
        "quadratic",
        help="Bound in the objective: that of the paper, for alpha below 1, or a tighter one.",
    ),
]
Init = Annotated[
    str | None,
    _choice(
        "--init",
        *STARTS,
        metavar="START",
        help="Start: collapsed, near-uniform, documents or anchors; for gibbs also sequential, random or single; "
        "for hybrid also random.",
    ),
]
Laps = Annotated[
    int | None,
    typer.Option("--laps", min=1, rich_help_panel=_MODEL, help="Most passes over the documents."),
]
Batches = Annotated[
    int | None,
    typer.Option("--batches", min=1, rich_help_panel=_MODEL, help="Parts that the documents are cut into."),
]
Schedule = Annotated[
    str | None,
    _choice(
        "--schedule",
        "memoized",
        "stochastic",
        help="How the passes go: with exact sums and moves, or by steps after each part (of the moves only reorder, "
        "less memory).",
    ),
]
LearningDecay = Annotated[
    float | None,
    typer.Option("--learning-decay", rich_help_panel=_MODEL, help="Stochastic: step t is (t + offset) ** -decay."),
]
LearningOffset = Annotated[
    float | None,
    typer.Option("--learning-offset", rich_help_panel=_MODEL, help="Stochastic: larger makes the first steps smaller."),
]
StickRule = Annotated[
    str | None,
    _choice(
        "--stick-rule",
        "interpolate",
        "natural",
        help="Stochastic: how steps move the weights of the topics.",
    ),
]
Moves = Annotated[
    str | None,
    typer.Option(
        "--moves",
        rich_help_panel=_MODEL,
        metavar="NAMES",
        help="Out of merge,delete,birth,refine,reorder; none: keep all topics.",
    ),
]
DeleteDocuments = Annotated[
    str | None,
    typer.Option(
        "--delete-documents",
        rich_help_panel=_MODEL,
        metavar="NUMBER|all",
        help="Most documents that deletes infer anew in a pass; otherwise 500.",
    ),
]
Restarts = Annotated[
    int | None,
    typer.Option(
        "--restarts",
        min=0,
        rich_help_panel=_MODEL,
        help="Topics, the smallest first, that each document is tried without; otherwise 5.",
    ),
]
Sweeps = Annotated[
    int | None,
    typer.Option("--sweeps", min=1, rich_help_panel=_GIBBS, help="Passes over all tokens; otherwise 200."),
]
BurnIn = Annotated[
    int | None,
    typer.Option("--burn-in", min=0, rich_help_panel=_GIBBS, help="Sweeps before the first sample; otherwise half."),
]
Thin = Annotated[
    int | None,
    typer.Option("--thin", min=1, rich_help_panel=_GIBBS, help="Sweeps from sample to sample; otherwise 10."),
]
Chains = Annotated[
    int | None,
    typer.Option("--chains", min=1, rich_help_panel=_GIBBS, help="Independent chains, of which the best is kept."),
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
    int | None,
    typer.Option("--split-merge", min=0, rich_help_panel=_GIBBS, help="Split-merge trials after each early sweep."),
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
    typer.Option(
        "--shards", min=1, rich_help_panel=_GIBBS, help="Parts sampled at the same time; more than 1 is approximate."
    ),
]
BatchSize = Annotated[
    int | None,
    typer.Option("--batch-size", min=1, rich_help_panel=_HYBRID, help="Documents of a minibatch; otherwise 100."),
]
BurnInSweeps = Annotated[
    int | None,
    typer.Option(
        "--burn-in-sweeps",
        min=0,
        rich_help_panel=_HYBRID,
        help="Sweeps of a document before the first that counts; otherwise 5.",
    ),
]
SavedSweeps = Annotated[
    int | None,
    typer.Option("--saved-sweeps", min=1, rich_help_panel=_HYBRID, help="Sweeps that count; otherwise 5."),
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
MergeLaps = Annotated[
    int | None,
    typer.Option(
        "--merge-laps",
        min=0,
        rich_help_panel=_COLLAPSED,
        help="Laps, from the first, in which topics are merged; otherwise 50. 0: no merges.",
    ),
]
HeldBack = Annotated[
    float | None,
    typer.Option(
        "--held-back",
        max=0.5,
        rich_help_panel=_COLLAPSED,
        help="Share of the tokens that is held back in these laps and decides about merges; otherwise 0.1.",
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
Branching = Annotated[
    str | None,
    typer.Option(
        "--branching",
        rich_help_panel=_TREE,
        metavar="wide|tall|NUMBERS",
        help="Shape of the tree for --topics leaves, or the children of a node of each level (3,6,6).",
    ),
]
Stages = Annotated[
    str | None,
    typer.Option(
        "--stages",
        rich_help_panel=_TREE,
        metavar="NUMBERS",
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
Jobs = Annotated[
    int | None, typer.Option("--jobs", min=1, rich_help_panel=_MODEL, help="Threads; otherwise all cores.")
]

Out = Annotated[Path, typer.Option("--out", "-o", rich_help_panel=_OUTPUT, help="Folder to write the model to.")]
HeldOut = Annotated[
    float | None,
    typer.Option(
        "--held-out",
        rich_help_panel=_OUTPUT,
        help="Share of documents (0.1) or their number (500) to hold out and score.",
    ),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option("--checkpoint", rich_help_panel=_OUTPUT, help="Folder to save the state to after each lap."),
]
Resume = Annotated[bool, typer.Option("--resume", rich_help_panel=_OUTPUT, help="Go on from the checkpoint.")]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--report",
        rich_help_panel=_OUTPUT,
        help="File of the HTML report; otherwise report.html in the model.",
    ),
]
NoReport = Annotated[bool, typer.Option("--no-report", rich_help_panel=_OUTPUT, help="Write no report.")]
Force = Annotated[bool, typer.Option("--force", rich_help_panel=_OUTPUT, help="Replace a model that is there already.")]


def text_options(
    stop_words: str,
    min_df: str,
    max_df: str,
    max_features: int | None,
    ngram_min: int,
    ngram_max: int,
    token_pattern: str | None,
    keep_case: bool,
    strip_accents: str | None,
) -> "TextOptions":
    """Build the library's options from those of the command line.

    Parameters
    ----------
    stop_words, min_df, max_df, max_features, ngram_min, ngram_max, token_pattern, keep_case, strip_accents
        As the options of the same names.

    Returns
    -------
    TextOptions

    Raises
    ------
    InputError
        If a value cannot be.
    """
    from stickbreak.corpus import TextOptions

    if ngram_min > ngram_max:
        raise InputError(
            f"--ngram-min is {ngram_min} but --ngram-max is {ngram_max}; give --ngram-max {ngram_min} or more"
        )
    return TextOptions(
        stop_words=_stop_words(stop_words),
        min_df=_number_or_share("--min-df", min_df),
        max_df=_number_or_share("--max-df", max_df),
        max_features=max_features,
        ngram_range=(ngram_min, ngram_max),
        token_pattern=token_pattern,
        lowercase=not keep_case,
        strip_accents=strip_accents,
    )


def _number_or_share(option: str, text: str) -> int | float:
    """Read 5 as a number of documents, 0.05 as a share of them."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{option} is {text!r}; give a number of documents (5) or a share of them (0.05)") from None


def _stop_words(text: str) -> str | tuple[str, ...] | None:
    """Read english, none, FILE or english+FILE."""
    if text == "english":
        return "english"
    if text == "none":
        return None
    words = _words_of(Path(text.removeprefix("english+")))
    if text.startswith("english+"):
        from stickbreak.cli.stop_words import english_and

        return english_and(words)
    return words


def _words_of(file: Path) -> tuple[str, ...]:
    try:
        return tuple(file.read_text(encoding="utf-8-sig").split())
    except OSError as error:
        raise ReadError(
            f"--stop-words: {file} cannot be read ({error.strerror}); give english, none or a file of words"
        ) from error
    except UnicodeDecodeError as error:
        raise ReadError(f"--stop-words: {file} is not UTF-8; convert it to UTF-8") from error
