"""`stickbreak fit`."""

from pathlib import Path

from stickbreak.cli import model_options as m
from stickbreak.cli import options as o
from stickbreak.cli.documents import InputSettings, read_limits
from stickbreak.cli.fitting import FitJob
from stickbreak.cli.kinds import MATERIALS
from stickbreak.cli.methods import DEFAULT, METHODS, parameters_of
from stickbreak.cli.output import say
from stickbreak.cli.paths import check_input, check_output
from stickbreak.cli.text_options import text_options
from stickbreak.exceptions import InputError

_ALL_CORES = -1


def fit(
    documents: o.InputPath,
    out: o.Out,
    format: o.Format = None,
    text_field: o.TextField = None,
    name_field: o.NameField = None,
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
    method: m.MethodName = DEFAULT,
    topics: m.Topics = None,
    alpha: m.Alpha = None,
    gamma: m.Gamma = None,
    eta: m.Eta = None,
    learn: m.Learn = None,
    laps: m.Laps = None,
    jobs: m.Jobs = None,
    merge_laps: m.MergeLaps = None,
    held_back: m.HeldBack = None,
    smallest_share: m.SmallestShare = None,
    bound: m.Bound = None,
    document_weights: m.DocumentWeights = None,
    init: m.Init = None,
    batches: m.Batches = None,
    schedule: m.Schedule = None,
    learning_decay: m.LearningDecay = None,
    learning_offset: m.LearningOffset = None,
    stick_rule: m.StickRule = None,
    moves: m.Moves = None,
    delete_documents: m.DeleteDocuments = None,
    restarts: m.Restarts = None,
    burn_in: m.BurnIn = None,
    thin: m.Thin = None,
    chains: m.Chains = None,
    representation: m.Representation = None,
    split_merge: m.SplitMerge = None,
    estimate: m.Estimate = None,
    shards: m.Shards = None,
    batch_size: m.BatchSize = None,
    burn_in_sweeps: m.BurnInSweeps = None,
    saved_sweeps: m.SavedSweeps = None,
    sampler: m.Sampler = None,
    branching: m.Branching = None,
    stages: m.Stages = None,
    updates: m.Updates = None,
    likelihood: m.Likelihood = None,
    precision: m.Precision = None,
    seed: o.Seed = 0,
    held_out: o.HeldOut = None,
    checkpoint: o.Checkpoint = None,
    resume: o.Resume = False,
    report: o.ReportFile = None,
    no_report: o.NoReport = False,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
) -> None:
    """Learn the topics of a collection, and how many there are.

    INPUT is a file of texts (JSON lines, CSV, TSV, Parquet, a document on each
    line), a folder of text files, or a file of counts (UCI bag of words, LDA-C,
    Matrix Market, SciPy). Prints the topics; writes the model and a report.
    With --method gaussian-hdp or gaussian-mixture it is real vectors: a NumPy
    array, a table of numbers (CSV, TSV, Parquet), a folder of vectors, images.
    """
    job = FitJob(
        out=out,
        report=_report_file(out, report, no_report),
        method=method,
        parameters=parameters_of(
            method,
            {
                "n_topics": topics,
                "alpha": alpha,
                "gamma": gamma,
                "eta": eta,
                "learn": None if learn is None else _names(learn),
                "bound": bound,
                "document_weights": document_weights,
                "init": init,
                "n_laps": laps,
                "n_batches": batches,
                "schedule": schedule,
                "learning_decay": learning_decay,
                "learning_offset": learning_offset,
                "stick_rule": stick_rule,
                "moves": None if moves is None else _names(moves),
                "delete_documents": delete_documents,
                "restarts": restarts,
                "burn_in": burn_in,
                "thin": thin,
                "n_chains": chains,
                "representation": representation,
                "split_merge_trials": split_merge,
                "estimate": estimate,
                "n_shards": shards,
                "batch_size": batch_size,
                "burn_in_sweeps": burn_in_sweeps,
                "saved_sweeps": saved_sweeps,
                "sampler": sampler,
                "merge_laps": merge_laps,
                "held_back": held_back,
                "smallest_share": smallest_share,
                "branching": _branching(branching),
                "stages": None if stages is None else _numbers("--stages", stages),
                "updates": updates,
                "likelihood": likelihood,
                "dtype": precision,
                "random_state": seed,
                "n_jobs": jobs or _ALL_CORES,
            },
        )
        | _delete_documents(delete_documents),
        held_out=held_out,
        seed=seed,
        checkpoint=checkpoint,
        resume=resume,
        force=force,
        quiet=quiet,
    )
    check_input(documents)
    if job.report is not None:
        check_output(job.report, documents)
    job.check()
    limits = read_limits(max_document_bytes, max_unpacked_bytes, max_declared)
    text = text_options(
        stop_words, min_df, max_df, max_features, ngram_min, ngram_max, token_pattern, keep_case, strip_accents, limits
    )
    settings = InputSettings(
        format, text_field, name_field, encoding, vocabulary, text, delimiter, limits, group_field, patch_size, patches
    )
    if not quiet:
        say(f"reading {documents} ...")
    material = MATERIALS[METHODS[method].data].read(documents, settings, method)
    if not quiet:
        say(material.size)
    job.run(material).show(as_json=as_json)


def _report_file(out: Path, report: Path | None, no_report: bool) -> Path | None:
    if report is not None and no_report:
        raise InputError("--report and --no-report contradict each other; give one of them")
    return None if no_report else report or out / "report.html"


def _branching(text: str | None) -> str | tuple[int, ...] | None:
    """Read wide and tall as they are, 3,6,6 as numbers of children."""
    return text if text in (None, "wide", "tall") else _numbers("--branching", str(text))


def _numbers(option: str, text: str) -> tuple[int, ...]:
    """Read 3,5 as two numbers, none as no number."""
    parts = [] if text == "none" else [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise InputError(f"{option} is {text!r}; give whole numbers, as 3,6,6")
    return tuple(map(int, parts))


def _names(text: str) -> tuple[str, ...]:
    """Read alpha,eta as two names, none as no name."""
    return () if text == "none" else tuple(name.strip() for name in text.split(","))


def _delete_documents(text: str | None) -> dict[str, int | None]:
    """Read 500 as a number of documents, all as no limit; the parameter keeps its default if nothing is given."""
    if text is None:
        return {}
    if text == "all":
        return {"delete_documents": None}
    if text.isdecimal() and int(text) > 0:
        return {"delete_documents": int(text)}
    raise InputError(f"--delete-documents is {text!r}; give a number of documents (500) or all")
