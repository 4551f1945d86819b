"""`stickbreak fit`: its options, and what they ask for."""

import inspect
import textwrap
from collections.abc import Collection, Mapping
from copy import copy
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from stickbreak.cli import options as o
from stickbreak.cli.documents import Documents, DocumentsAndVectors, check_input
from stickbreak.cli.job import FitJob
from stickbreak.cli.loading import kind_of
from stickbreak.cli.methods import DEFAULT, GROUPS_OF_METHODS, METHODS
from stickbreak.cli.output import TOPICS_SHOWN, say
from stickbreak.cli.settings import (
    Settings,
    counting_names,
    joined,
    limits_of,
    parameters_of,
    stripped,
    text_options,
    values_set,
)
from stickbreak.exceptions import InputError, ReadError
from stickbreak.storage.plain_files import read_json, read_toml
from stickbreak.storage.urls import Location

__all__ = ["FitCommand", "fit"]

_TEXT = ("stop_words", "min_df", "max_df", "phrases", "strip")  # options that mean nothing to vectors
_FIRST = (
    "input out text_field method topics held_out stop_words min_df max_df dates labels seeds set_ random_state jobs "
    "no_report estimate force help_all"
).split()
"""The options on the first screen of the help, in this order."""

_ALL = "stickbreak.help_all"
_SETTING, _OUTPUT, _WHERE = "The model", "What is written and printed", "Where and how long it runs"


class FitCommand(TyperCommand):
    """A command whose help has the options of `_FIRST` alone, in one panel, unless `--help-all` asks for the others."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help: that of a copy which has only the options to be shown."""
        shown = copy(self)
        if not ctx.meta.get(_ALL):
            known = {param.name: param for param in self.params}
            shown.params = [_brief(known[name]) for name in _FIRST]
        super(FitCommand, shown).format_help(ctx, formatter)


def _brief(param: Any) -> Any:
    """Return an option without its panel, range and default."""
    param = copy(param)
    param.rich_help_panel = param.min = param.max = None
    param.show_default = False
    return param


def _show_all(ctx: typer.Context, asked: bool) -> None:
    """Print all options, then what `--set` can set."""
    if not asked or ctx.resilient_parsing:
        return
    ctx.meta[_ALL] = True
    typer.echo(ctx.get_help())
    method = ctx.params.get("method") or DEFAULT
    known = (f"{name}={one.default!r}" for name, one in parameters_of(method).items())
    groups = {
        f"Parameters of --method {method}, for --set": known,
        "Of counting words": [*sorted(counting_names()), "copies"],
    }
    for title, names in groups.items():
        typer.echo(textwrap.fill(f"{title}: {', '.join(names)}", 80, subsequent_indent="  ", break_on_hyphens=False))
    for group, title in GROUPS_OF_METHODS.items():
        rows = (f"  {name}: {method.purpose}" for name, method in METHODS.items() if method.group == group)
        typer.echo("\n".join([f"{title}:", *rows]))
    raise typer.Exit


def _check_method(method: str) -> str:
    if method not in METHODS:
        raise InputError(f"--method is {method!r}; give {joined(list(METHODS), 'or')}")
    return method


@o.spread(reading=o.READING)
def fit(
    ctx: typer.Context,
    input: o.InputPath,
    reading: dict[str, Any],
    out: Annotated[Path | None, o.option("--out -o", "FOLDER", "Folder to write to. Default: INPUT-topics.")] = None,
    method: Annotated[
        str,
        o.option(
            "--method",
            "METHOD",
            "topics, tree or another: see --help-all.",
            panel=_SETTING,
            callback=_check_method,
            is_eager=True,
            autocompletion=lambda: [(name, method.purpose) for name, method in METHODS.items()],
        ),
    ] = DEFAULT,
    topics: Annotated[
        int | None, o.option("--topics", "NUMBER", "Number of topics. Default: found.", panel=_SETTING, min=1)
    ] = None,
    laps: Annotated[
        int | None, o.option("--laps", "NUMBER", "Most passes over the data.", panel=_SETTING, min=1)
    ] = None,
    seeds: Annotated[
        Path | None,
        o.option("--seeds", "FILE", "TOML or JSON of words of expected topics.", panel=_SETTING),
    ] = None,
    labels: o.Labels = None,
    label_separator: o.LabelSeparator = None,
    set_: o.Set = None,
    random_state: o.RandomState = 0,
    stop_words: o.StopWords = "english",
    min_df: o.MinDf = "5",
    max_df: o.MaxDf = "0.5",
    strip: o.Strip = None,
    phrases: Annotated[bool, o.option("--phrases", None, "Count phrases, such as new york, as words.")] = False,
    keep: Annotated[str | None, o.option("--keep", "NAMES", "Columns for the report: date,category; or all.")] = None,
    metadata: o.Metadata = None,
    dates: Annotated[str | None, o.option("--dates", "COLUMN", "Column of dates, for shares over time.")] = None,
    date_format: o.DateFormat = None,
    held_out: Annotated[
        float | None, o.option("--held-out", "NUMBER", "Documents to score on: a number (500) or a share (0.1).")
    ] = None,
    report: Annotated[
        Path | None, o.option("--report", "FILE", "The HTML report. Default: in the model's folder.", panel=_OUTPUT)
    ] = None,
    no_report: Annotated[bool, o.option("--no-report", None, "Do not write a report.", panel=_OUTPUT)] = False,
    no_path: Annotated[
        bool,
        o.option(
            "--no-path", None, "Do not join the topics pair by pair. Then reduce has no fewer topics.", panel=_OUTPUT
        ),
    ] = False,
    topics_shown: o.TopicsShown = TOPICS_SHOWN,
    verbose: o.Verbose = False,
    estimate: Annotated[
        bool, o.option("--estimate", None, "Only say what time and memory it takes.", panel=_WHERE)
    ] = False,
    jobs: o.Jobs = None,
    workers: o.Workers = None,
    scratch: o.Scratch = None,
    checkpoint: Annotated[
        Path | None, o.option("--checkpoint", "FOLDER", "Folder to save the state to after each pass.", panel=_WHERE)
    ] = None,
    resume: Annotated[bool, o.option("--resume", None, "Continue from the checkpoint.", panel=_WHERE)] = False,
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
    help_all: Annotated[
        bool,
        o.option("--help-all", None, "Show all options, methods, parameters.", is_eager=True, callback=_show_all),
    ] = False,
) -> None:
    """Learn the topics of a collection, and how many there are.

    INPUT is a file of texts (JSON lines, CSV, TSV, Parquet, a text on each line),
    a folder of text files, or a file of counts. Methods to begin with: topics
    finds how many topics there are; tree finds a tree of up to millions of them.
    """
    if reading["vectors"] is not None and not _is_given(ctx, "method"):
        method = "vectors"
    kind: Any = kind_of(METHODS[method])
    if reading["vectors"] is not None and kind is Documents:
        raise InputError(f"--vectors is for --method vectors, but --method is {method}; leave one of them out")
    if held_out is not None and kind is DocumentsAndVectors:
        raise InputError("--held-out predicts words, which --method vectors does not; leave it out")
    if estimate:
        unused = {"--checkpoint": checkpoint, "--resume": resume, "--held-out": held_out, "--metadata": metadata}
        _check_estimate(method, unused | {"--workers": workers})
    out = out or Path(f"{_name_of(input)}-topics")
    if date_format is not None and dates is None:
        raise InputError("--date-format says how a column of dates is written; name the column with --dates")
    if report is not None and no_report:
        raise InputError("--report and --no-report contradict each other; give one of them")
    o.check_separator(labels, label_separator)
    settings = Settings.of(values_set(set_ or ()), method)
    reading = {**settings.reading, **o.given_options(reading)}
    counting = {**settings.counting, **({"phrases": True} if phrases else {}), **stripped(strip)}
    parameters = {
        **settings.estimator,
        **_number_of_topics(method, topics),
        **({} if laps is None else {"n_laps": laps}),
        **_seeds(method, seeds),
        **_scratch(method, workers, scratch),
        "random_state": random_state,
        "n_jobs": jobs or o.ALL_CORES,
    }
    on_workers = o.workers_of(workers, scratch)
    job = FitJob(
        out=out,
        report=None if no_report else report or out / "report.html",
        method=method,
        parameters=parameters,
        held_out=held_out,
        seed=random_state,
        checkpoint=checkpoint,
        resume=resume,
        force=force,
        quiet=quiet,
        labels=labels,
        label_separator=label_separator,
        joins=not no_path,
        input=input,
        repeat=lambda **choice: _given_arguments(ctx, **choice),
    )
    check_input(input)
    if not estimate:
        job.check()
    columns = o.kept_fields(keep)
    if columns != "all":
        asked = [*filter(None, (labels, dates)), *_columns_of(parameters.get("prevalence"))]
        columns = list(dict.fromkeys([*(columns or []), *asked])) or None
    words = issubclass(kind, Documents)
    if not words and (counting or any(_is_given(ctx, name) for name in _TEXT)):
        raise InputError(
            "the options that turn text into counts (--stop-words, --min-df, ...) are for words, but this is a "
            "model of vectors; leave them out"
        )
    if not quiet:
        say(f"reading {input} ...")
    if not words:
        beside = o.given_options({"dates": dates, "date_format": date_format, "metadata": metadata, "keep": keep})
        material = kind.read(input, {**reading, **beside}, asking=f"--method {method}")
    else:
        text = text_options(stop_words, min_df, max_df, reading.get("tokenizer"), limits_of(reading), counting)
        if estimate:
            from stickbreak.cli.estimate import print_estimate

            print_estimate(job, input, reading, text, columns, as_json=json)
            return
        material = kind.read(
            input, reading, text=text, keep=columns, metadata=metadata, dates=dates, date_format=date_format
        )
    if not quiet:
        say(material.size)
    with on_workers:
        result = job.run(material)
    result.show(topics_shown, as_json=json, verbose=verbose)


def _name_of(path: Location) -> str:
    """Return the name of an input without its endings: reviews of reviews.csv.gz."""
    name = path.name or Path(str(path)).resolve().name
    return name.removeprefix(".").partition(".")[0] or "documents"


def _is_given(ctx: typer.Context, argument: str) -> bool:
    source = ctx.get_parameter_source(argument)
    return source is not None and source.name == "COMMANDLINE"


def _given_arguments(
    ctx: typer.Context, without: Collection[str] = (), only: Collection[str] | None = None
) -> list[str]:
    """Return the options that were given, as on the command line: all after INPUT without some, or some alone."""
    words = [] if only is not None else [str(ctx.params["input"])]
    for param in ctx.command.params:
        name = str(param.name)
        if name == "input" or name in without or (only is not None and name not in only) or not _is_given(ctx, name):
            continue
        value = ctx.params[name]
        for one in value if isinstance(value, list | tuple) else (value,):
            words += (
                [(param.opts if one else param.secondary_opts)[0]]
                if isinstance(one, bool)
                else [param.opts[0], str(one)]
            )
    return words


def _check_estimate(method: str, elsewhere: Mapping[str, Any]) -> None:
    """Refuse an estimate of what a few passes in this process do not show, and what it would not use."""
    if METHODS[method].data != "documents":
        raise InputError(f"--estimate is for methods of words, but --method is {method}; leave it out")
    for option, value in elsewhere.items():
        if value not in (None, False):
            raise InputError(f"--estimate makes a few passes in this process and writes nothing; leave {option} out")


def _number_of_topics(method: str, number: int | None) -> dict[str, int]:
    """Return the parameter that --topics sets."""
    if number is None:
        return {}
    name = "n_topics" if issubclass(kind_of(METHODS[method]), Documents) else "n_components"
    known = parameters_of(method)
    if name not in known:
        sizes = [
            f"--set {one}={known[one].default}"
            for one in ("branching", "n_levels", "n_super", "n_states")
            if one in known
        ]
        advice = f"its size is {sizes[0]}" if sizes else "leave it out"
        raise InputError(f"--topics is not for --method {method}; {advice}")
    return {name: number}


def _columns_of(prevalence: Any) -> list[str]:
    """Return the columns that a formula names."""
    if not isinstance(prevalence, str):
        return []
    from stickbreak.questions.formulas import variables_of

    return variables_of(prevalence, "prevalence")


def _takes(method: str, name: str) -> bool:
    """Tell whether the estimator of a method has a parameter."""
    return name in inspect.signature(METHODS[method].load()).parameters


_TOML_SEEDS = 'lines such as space = ["orbit", "launch"], or name a JSON file .json'


def _seeds(method: str, path: Path | None) -> dict[str, Any]:
    """Return the parameter `seeds` that a file holds; nothing without a file."""
    if path is None:
        return {}
    if not _takes(method, "seeds"):
        raise InputError(f"--seeds is for methods of words, but --method is {method}; leave it out")
    is_json = path.suffix.lower() == ".json"
    try:
        seeds = read_json(path) if is_json else read_toml(path)
    except OSError as error:
        raise ReadError(f"--seeds: {path} cannot be read ({error.strerror}); give a TOML or JSON file") from error
    except ValueError as error:  # not of this format, or not UTF-8
        name, form = ("JSON", 'one object, {"space": ["orbit", "launch"]}') if is_json else ("TOML", _TOML_SEEDS)
        raise ReadError(f"--seeds: {path} is not {name} ({error}); write {form}") from error
    from stickbreak.model.seeds import check_seeds

    check_seeds(seeds)
    return {"seeds": seeds}


def _scratch(method: str, workers: str | None, scratch: Path | None) -> dict[str, Path]:
    """Return the parameter of the estimator that --scratch sets, unless the folder is that of workers alone."""
    if scratch is not None and _takes(method, "scratch"):
        return {"scratch": scratch}
    if scratch is not None and workers is None:
        able = joined([name for name in METHODS if _takes(name, "scratch")], "or")
        raise InputError(f"--scratch is for --method {able}, or for --workers ADDRESS; leave it out")
    return {}
