"""`stickbreak fit`."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from stickbreak.cli import options as o
from stickbreak.cli.config import read_config
from stickbreak.cli.documents import InputSettings, read_limits
from stickbreak.cli.fitting import FitJob
from stickbreak.cli.groups import MODEL
from stickbreak.cli.help import HelpAll
from stickbreak.cli.kinds import MATERIALS
from stickbreak.cli.methods import DEFAULT, GROUPS_OF_METHODS, METHODS
from stickbreak.cli.model_options import ModelOption, model_options, parameters_of
from stickbreak.cli.output import TOPICS_SHOWN, say
from stickbreak.cli.paths import check_input, check_output
from stickbreak.cli.steering import (
    Labels,
    LabelSeparator,
    Seeds,
    check_labels,
    seeds_of,
    with_column,
)
from stickbreak.cli.text_options import kept_fields, text_options
from stickbreak.cli.wording import joined
from stickbreak.cli.workers import check_workers, workers_of
from stickbreak.exceptions import InputError, ReadError

__all__ = ["fit"]

_MARKUP = re.compile(r"\[(?=[a-z/#@])")  # what a terminal would take for a style, and swallow
_OF_ONE_RUN = (
    "config",
    "estimate",
    "force",
    "resume",
)  # not repeated by the file beside the model: what is there may be another


def _with_model_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an argument for every option of the model, in place of its `**model`."""
    signature = inspect.signature(command)
    *own, rest = signature.parameters.values()
    made = [
        inspect.Parameter(key, rest.KEYWORD_ONLY, default=None, annotation=_annotated(option))
        for key, option in model_options().items()
    ]
    command.__signature__ = signature.replace(parameters=[*own, *made])  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in [*own, *made]} | {"return": None}
    command.__doc__ = "\n\n".join([inspect.getdoc(command) or "", *map(_told, GROUPS_OF_METHODS)])
    return command


def _told(group: str) -> str:
    """Return the lines of the help on a group of methods; methods with the same purpose share a line."""
    names: dict[str, list[str]] = {}
    for name, method in METHODS.items():
        if method.group == group:
            names.setdefault(method.purpose, []).append(name)
    lines = (f"- {', '.join(those)}: {purpose}" for purpose, those in names.items())
    return "\n".join([f"{GROUPS_OF_METHODS[group]}:", *lines])


def _annotated(option: ModelOption) -> Any:
    """Return the type of the argument of an option."""

    def complete(incomplete: str) -> list[str]:
        before, comma, _ = incomplete.rpartition(",")
        return [before + comma + choice for choice in option.choices]

    made = typer.Option(
        *option.names,
        metavar=option.metavar,
        help=_MARKUP.sub(r"\\[", option.help),
        rich_help_panel=option.group,
        autocompletion=complete if option.choices else None,
    )
    return Annotated[str | None, made]


def _check_method(method: str) -> str:
    if method not in METHODS:
        raise InputError(f"--method is {method!r}; give {joined(list(METHODS), 'or')}")
    return method


def _take_config(ctx: typer.Context, path: Path | None) -> Path | None:
    """Let the options in a file stand where the command line names none."""
    if path is not None and not ctx.resilient_parsing:
        ctx.default_map = read_config(path, _in_a_file())
    return path


def _in_a_file() -> dict[str, tuple[str, type]]:
    """Return the argument, and its type, behind each key that a file of options may have."""
    model = model_options()
    keys: dict[str, tuple[str, type]] = {}
    for name, argument in inspect.signature(fit).parameters.items():
        if name in model:
            keys |= dict.fromkeys((option.removeprefix("--") for option in model[name].names), (name, object))
        elif name not in ("ctx", "config", "help_all"):
            type_ = get_args(argument.annotation)[0]
            keys[name.replace("_", "-")] = name, (get_args(type_) or (type_,))[0]
    return keys


MethodName = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="METHOD",
        callback=_check_method,
        autocompletion=lambda: [(name, method.purpose) for name, method in METHODS.items()],
        rich_help_panel=MODEL,
        help="One of the methods above.",
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        is_eager=True,
        callback=_take_config,
        help="TOML file of options, such as the fit.toml of a model.",
    ),
]


@_with_model_options
def fit(
    ctx: typer.Context,
    input: o.InputPath,
    out: o.FitOut = None,
    config: Config = None,
    format: o.Format = None,
    text_field: o.TextField = None,
    name_field: o.NameField = None,
    keep: o.Keep = None,
    metadata: o.Metadata = None,
    vocabulary: o.Vocabulary = None,
    encoding: o.Encoding = "utf-8",
    delimiter: o.Delimiter = None,
    group_field: o.GroupField = None,
    patch_size: o.PatchSize = None,
    patches: o.MostPatches = None,
    max_document_bytes: o.MaxDocumentBytes = None,
    max_unpacked_bytes: o.MaxUnpackedBytes = None,
    max_declared: o.MaxDeclared = None,
    stop_words: o.StopWords = "english",
    min_df: o.MinDf = "5",
    max_df: o.MaxDf = "0.5",
    max_features: o.MaxFeatures = None,
    ngram_min: o.NgramMin = 1,
    ngram_max: o.NgramMax = 1,
    token_pattern: o.TokenPattern = None,
    keep_case: o.KeepCase = False,
    strip_accents: o.StripAccents = None,
    phrases: o.Phrases = False,
    tokenizer: o.Tokenizer = None,
    method: MethodName = DEFAULT,
    seeds: Seeds = None,
    dates: o.Dates = None,
    date_format: o.DateFormat = None,
    labels: Labels = None,
    label_separator: LabelSeparator = None,
    jobs: o.Jobs = None,
    workers: o.FitWorkers = None,
    cluster: o.FitCluster = None,
    scratch: o.FitScratch = None,
    checkpoint: o.Checkpoint = None,
    resume: o.Resume = False,
    held_out: o.HeldOut = None,
    report: o.ReportFile = None,
    no_report: o.NoReport = False,
    no_path: o.NoPath = False,
    force: o.Force = False,
    estimate: o.Estimate = False,
    topics_shown: o.TopicsShown = TOPICS_SHOWN,
    verbose: o.Verbose = False,
    seed: o.Seed = 0,
    quiet: o.Quiet = False,
    json: o.Json = False,
    help_all: HelpAll = False,
    **model: str | None,
) -> None:
    """Learn the topics of a collection, and how many there are.

    INPUT is a file of texts (JSON lines, CSV, TSV, Parquet, a document on each
    line), a folder of text files, or a file of counts (UCI bag of words, LDA-C,
    Matrix Market, SciPy). For the gaussian methods it is real vectors: a NumPy
    array, a table of numbers (CSV, TSV, Parquet), a folder of vectors, images.
    Prints the largest topics and writes a model and a report.
    """
    if estimate:
        unused = {"--checkpoint": checkpoint, "--resume": resume, "--held-out": held_out, "--metadata": metadata}
        _check_estimate(method, unused | {"--workers": workers, "--cluster": cluster})
        out = out or Path("model")  # which is not written
    if out is None:
        raise InputError(
            "Missing option '--out': the folder of the model; --estimate alone needs none (see stickbreak fit --help)"
        )
    place = check_workers(METHODS[method].estimator, workers, cluster, scratch)
    on_workers = workers_of(workers, cluster, scratch, scratch_alone=True)
    check_labels(method, labels, label_separator)
    parameters = parameters_of(method, model) | place | seeds_of(method, seeds)
    if date_format is not None and dates is None:
        raise InputError("--date-format says how a column of dates is written; name the column with --dates")
    if report is not None and no_report:
        report, no_report = _one_of_both(ctx, report)
        ctx.params.update(report=report, no_report=no_report)
    job = FitJob(
        out=out,
        report=None if no_report else report or out / "report.html",
        method=method,
        parameters=parameters | {"random_state": seed, "n_jobs": jobs or o.ALL_CORES},
        held_out=held_out,
        seed=seed,
        checkpoint=checkpoint,
        resume=resume,
        force=force,
        quiet=quiet,
        options=_given(ctx, method),
        input=input,
        labels=labels,
        label_separator=label_separator,
        joins=not no_path,
    )
    if _source(ctx, "input") == "DEFAULT_MAP" and not input.exists():
        raise ReadError(
            f"{input}, the input that {config} names, does not exist; run the command in the folder of the first "
            f"fit, or name the input: stickbreak fit INPUT --config {config}"
        )
    check_input(input)
    if not estimate:
        if job.report is not None:
            check_output(job.report, input)
        job.check()
    limits = read_limits(max_document_bytes, max_unpacked_bytes, max_declared)
    text = text_options(
        stop_words, min_df, max_df, max_features, ngram_min, ngram_max, token_pattern, keep_case, strip_accents, limits,
        phrases=phrases, tokenizer=tokenizer,
    )  # fmt: skip
    settings = InputSettings(
        format,
        text_field,
        name_field,
        encoding,
        vocabulary,
        text,
        delimiter,
        limits,
        group_field,
        patch_size,
        patches,
        with_column(with_column(kept_fields(keep), labels), dates),
        dates=dates,
        date_format=date_format,
        metadata=metadata,
    )
    if not quiet:
        say(f"reading {input} ...")
    if estimate:
        from stickbreak.cli.estimate import estimate as print_estimate

        settings.check_of_words()
        print_estimate(job, input, settings, as_json=json)
        return
    material = MATERIALS[METHODS[method].data].read(input, settings, method)
    if not quiet:
        say(material.size)
    with on_workers:
        result = job.run(material)
    result.show(topics_shown, as_json=json, verbose=verbose)


def _check_estimate(method: str, elsewhere: dict[str, Any]) -> None:
    """Refuse an estimate of what a few passes in this process do not show, and what it would not use."""
    if METHODS[method].data != "documents":
        raise InputError(f"--estimate is for methods of words, but --method is {method}; leave it out")
    for option, value in elsewhere.items():
        if value not in (None, False):
            raise InputError(f"--estimate makes a few passes in this process and writes nothing; leave {option} out")


def _source(ctx: typer.Context, argument: str) -> str:
    """Return where a value comes from: COMMANDLINE, DEFAULT_MAP (the file of --config) or DEFAULT."""
    source = ctx.get_parameter_source(argument)
    return "DEFAULT" if source is None else source.name


def _given(ctx: typer.Context, method: str) -> dict[str, Any]:
    """Return what the fit was given, on the line or in a file, to be written beside its model."""
    options = model_options()
    given = {}
    for argument, value in ctx.params.items():
        asked = _source(ctx, argument) != "DEFAULT" and value is not None and value is not False
        if asked and argument not in _OF_ONE_RUN:
            read = options[argument].read(method, value) if argument in options else value
            given[argument] = value if read is None else read
    return given


def _one_of_both(ctx: typer.Context, report: Path) -> tuple[Path | None, bool]:
    """Decide between --report and --no-report: the one on the line goes before the one in the file."""
    sources = _source(ctx, "report"), _source(ctx, "no_report")
    if sources == ("COMMANDLINE", "DEFAULT_MAP"):
        return report, False
    if sources == ("DEFAULT_MAP", "COMMANDLINE"):
        return None, True
    raise InputError("--report and --no-report contradict each other; give one of them")
