"""The commands on a model: topics, transform, evaluate, update, report, reduce, label, compare."""

import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stickbreak.cli import options as o
from stickbreak.cli.documents import Documents, check_input, labels_of
from stickbreak.cli.loading import check_model, load_model, load_words_model
from stickbreak.cli.output import (
    MOST_LEAVES,
    TOPICS_SHOWN,
    check_output,
    next_lines,
    print_json,
    printable,
    say,
    several,
    show,
    show_rest,
)
from stickbreak.cli.settings import joined
from stickbreak.cli.tables import (
    WEIGHT_FORMATS,
    check_table_file,
    print_rows,
    print_topics,
    table_in,
    tell_table,
    with_notes,
    without_quote,
    write_weights,
)
from stickbreak.exceptions import InputError, NoDocuments
from stickbreak.storage.urls import location_of

if TYPE_CHECKING:
    from stickbreak.model.naming import AskedName

__all__ = ["compare", "evaluate", "label", "reduce", "report", "topics", "transform", "update"]

_NUMBERS = {"overview": "overview", "best": "best", "within-one-error": "smallest_within_one_error"}
_ENDS = {"split": "split", "joined": "joined", "part": "part of another", "changed": "changed", "gone": "gone"}
_WORDS = 10  # of each new topic
_EXCERPTS = 3  # documents of a topic that a language model is shown


def topics(
    model: o.ModelPath,
    words: Annotated[
        int, o.option("--words -n", "NUMBER", "Words of each topic; of vectors: coordinates of each mean.", min=1)
    ] = 10,
    topics_shown: o.TopicsShown = TOPICS_SHOWN,
    all_topics: Annotated[bool, o.option("--all", None, "Print all topics.")] = False,
    verbose: o.Verbose = False,
    as_csv: Annotated[
        bool, o.option("--csv", None, "Print all topics as CSV: topic, label, share, corpus_weight, words.")
    ] = False,
    as_json: o.Json = False,
    out: o.TableFile = None,
) -> None:
    """Print the largest topics of a model: number, share, labels that were given, words.

    Topics of seeds come first. share is the share of all tokens of the fit that belong to the
    topic. Words are in the order of their relevance. --verbose adds its corpus weight:
    the share that the model expects in a new collection. JSON has all topics and both
    numbers; of a tree the 100 largest, or with --all every one. A
    model of vectors has components: spread is the standard deviation of a
    coordinate, directions are the shares of the variance along the three leading
    ones, and the means are those that differ most from the other components. Last
    comes the held-out score of a fit with --held-out.
    """
    check_table_file(out, model)
    fitted, kind = load_model(model)
    n_topics = kind.n_topics(fitted)
    if as_csv or out is not None:
        if not issubclass(kind, Documents):
            raise InputError(f"{model} holds a model of vectors, which has no words for a table; use --json")
        tell_table(fitted.topics_table(n_words=words), as_json=False, as_csv=as_csv, out=out, rows=n_topics)
        return
    wanted = n_topics if all_topics else topics_shown
    described = kind.topics(fitted, words, max(wanted, MOST_LEAVES))
    score = kind.told_score(fitted)
    if as_json:
        noun, held_out = f"{kind.topic}s", None if score is None else score.values
        print_json({f"n_{noun}": n_topics, noun: described, "held_out": held_out})
        return
    print_topics([kind.cells(topic, verbose=verbose) for topic in described[:wanted]])
    show_rest(n_topics - min(wanted, len(described)), model)
    if score is not None:
        numbers = [f"{label:<12}{text}" for label, text in score.lines] if verbose else []
        show("\n".join(["", score.sentence, *numbers]))


@o.spread(reading=o.READING)
def transform(
    model: o.ModelPath,
    documents: o.InputPath,
    reading: dict[str, Any],
    out: Annotated[
        Path | None,
        o.option("--out -o", "FILE", "File to write: .csv, .jsonl, .npz or .parquet; without it, CSV is printed."),
    ] = None,
    label_columns: Annotated[
        bool, o.option("--label-columns", None, "Name the columns of .csv and .parquet by the labels of the topics.")
    ] = False,
    workers: o.Workers = None,
    metadata: o.Metadata = None,
    scratch: o.Scratch = None,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
) -> None:
    """Write the weights of the topics in documents, one row per document.

    Documents are read as those of the fit were, unless an option says otherwise.
    Words that the model does not know are left out. The row of a document without a
    known word is empty. A file without documents gives a table without rows. Of a
    tree there is a row for each topic of each document, as a document has few of
    many. For a model of vectors the rows are groups, or with --method
    gaussian-mixture single vectors. --json prints JSON lines.
    """
    on_workers = o.workers_of(workers, scratch)
    check_input(documents)
    check_table_file(out, documents, formats=WEIGHT_FORMATS)
    if label_columns and (as_json or (out is not None and out.suffix not in (".csv", ".parquet"))):
        raise InputError(
            "--label-columns names columns, which only CSV and Parquet have; give --out FILE.csv, or leave it out"
        )
    fitted, kind = load_model(model)
    _check_columns(fitted, metadata)
    try:
        read = kind.read_for(documents, fitted, o.given_options(reading), metadata=metadata)
    except NoDocuments:
        read = kind.nothing(fitted)
    if not quiet:
        say(read.summary)
    with on_workers:
        table = read.weights(fitted)
    if label_columns:
        if table.columns is None:
            raise InputError("--label-columns names columns of topics, but the topics of a tree are rows; leave it out")
        table = replace(table, columns=load_words_model(model).labelled_topics().labels)
    if out is None:
        for line in table.jsonl() if as_json else table.csv():
            typer.echo(line, nl=False)
        return
    write_weights(table, out)
    n_topics = kind.n_topics(fitted)
    if as_json:
        print_json({"out": str(out), **read.counts(), f"n_{kind.topic}s": n_topics})
    elif not quiet:
        say(f"weights of {several(n_topics, kind.topic)} written to {out}")


@o.spread(reading=o.READING)
def evaluate(
    model: o.ModelPath,
    documents: o.InputPath,
    reading: dict[str, Any],
    random_state: o.RandomState = 0,
    left_to_right: Annotated[
        int | None,
        o.option(
            "--left-to-right",
            "PARTICLES",
            "Also the left-to-right likelihood (Wallach et al. 2009) from this number of samples per "
            "document: 20 are usual.",
            min=1,
        ),
    ] = None,
    workers: o.Workers = None,
    metadata: o.Metadata = None,
    scratch: o.Scratch = None,
    as_json: o.Json = False,
) -> None:
    """Score a model on documents that it has not seen.

    The score says how well the model predicts the second half of each document
    from the first, and how much better than the frequencies of words alone.
    Coherence says whether the top words of a topic occur together.

    A model of vectors is scored by the log density of half of each group, given
    the other half, or with --method gaussian-mixture of each vector.
    """
    on_workers = o.workers_of(workers, scratch)
    check_input(documents)
    fitted, kind = load_model(model)
    _check_columns(fitted, metadata)
    read = kind.read_for(documents, fitted, o.given_options(reading), metadata=metadata)
    with on_workers:
        told = read.evaluate(fitted, random_state, left_to_right)
    if as_json:
        print_json(told.values)
    else:
        show("\n".join(told.lines))


def _check_columns(fitted: Any, metadata: Path | None) -> None:
    """Refuse columns of documents where the model does not ask for any."""
    if metadata is not None and getattr(fitted, "prevalence", None) is None:
        raise InputError(
            "--metadata gives columns, which only a model fitted with prevalence uses for new documents; leave it out"
        )


@o.spread(days=o.DATES, reading=o.READING)
def report(
    model: o.ModelPath,
    documents: o.InputPath,
    days: dict[str, Any],
    reading: dict[str, Any],
    out: Annotated[
        Path | None,
        o.option("--out -o", "FILE", "HTML file to write. Default: report.html, or map.html, in the model's folder."),
    ] = None,
    title: Annotated[str | None, o.option("--title", "TEXT", "Heading of the report.")] = None,
    by: Annotated[
        str | None,
        o.option(
            "--by",
            "PERIOD",
            "day, week, month, quarter or year. Default: the shortest that gives 60 periods or fewer.",
        ),
    ] = None,
    classes: Annotated[
        str | None,
        o.option(
            "--classes",
            "NAMES",
            "Columns of classes, such as category,paper; or none. Default: those with few different values.",
        ),
    ] = None,
    others: Annotated[
        list[Path] | None,
        o.option(
            "--other",
            "FOLDER",
            "Folder of another fit, such as one from another seed; may be given several times. The report "
            "says how often each topic comes again.",
        ),
    ] = None,
    only_map: Annotated[
        bool,
        o.option(
            "--map",
            None,
            "Write the map of the documents alone: up to 100,000 of them, where the report shows up to 10,000.",
        ),
    ] = False,
    stability: Annotated[
        int | None,
        o.option(
            "--stability",
            "NUMBER",
            "Fit to INPUT again with NUMBER other seeds, such as 3. The report says in how many of these fits each "
            "topic is found. Each fit takes as long as the first one.",
            min=1,
        ),
    ] = None,
    metadata: o.Metadata = None,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
) -> None:
    """Write the report on a model as one HTML file that opens without a network.

    Where the input has columns beside the texts, it shows shares over time and
    by class; --dates none and --classes none leave them out. With --since and --until these are of the documents of
    some days, as are the documents that it shows.
    """
    from stickbreak.fitting.progress import FitProgress
    from stickbreak.questions.columns import Span

    if only_map and (others or stability or o.given_options({**days, "by": by, "classes": classes})):
        raise InputError("--map writes no shares over time or by class, nor other fits; give it without these options")
    Span.of(days["since"], days["until"], "--")
    if others and stability is not None:
        raise InputError("--other has fits, --stability makes some; give one of them")
    check_input(documents)
    out = out or model / ("map.html" if only_map else "report.html")
    check_output(out, documents)
    for other in others or ():
        check_model(other)
    fitted, kind = (load_words_model(model), Documents) if only_map else load_model(model)
    read = kind.read_for(documents, fitted, o.given_options(reading), keep="all", metadata=metadata)
    if not quiet:
        say(read.summary)
    if only_map:
        read.write_map(fitted, out, title)
        tell_report(out, read, as_json=as_json, quiet=quiet)
        return
    options = o.given_options({**days, "by": by, "categories": [] if classes == "none" else o.kept_fields(classes)})
    if days["dates"] == "none":
        options["dates"] = False
    if others:
        options["others"] = [load_words_model(other) for other in others]
    if stability is not None:
        if not issubclass(kind, Documents):
            raise InputError(f"{model} holds a model of vectors; --stability compares topics of words, leave it out")
        options["n_fits"] = stability
        say(f"Fitting again with {stability} other seeds{_cost_of(fitted, stability)} ...")
    with FitProgress(not quiet and sys.stderr.isatty()) as progress:
        read.write_report(fitted, out, title, progress.update, **options)
    tell_report(out, read, as_json=as_json, quiet=quiet)


def tell_report(out: Path, read: Any, *, as_json: bool, quiet: bool) -> None:
    """Say where a report is."""
    if as_json:
        print_json({"report": str(out), **read.counts()})
    elif not quiet:
        say(f"report written to {out}")


def _cost_of(fitted: Any, n_fits: int) -> str:
    """Say how long fits as that of a model take, if it knows."""
    from stickbreak.report.fit import describe_fit

    fit = describe_fit(fitted, fitted.n_topics_)
    if fit.seconds is None:
        return ""
    once = fit.seconds + (fit.start_seconds or 0.0)
    whole = n_fits * once
    return f": about {whole:,.0f} s, as the fit took {once:,.0f} s" if whole >= 1 else ": about a second"


@o.spread(reading=o.READING)
def update(
    model: o.ModelPath,
    documents: o.InputPath,
    reading: dict[str, Any],
    out: Annotated[
        Path | None, o.option("--out -o", "FOLDER", "Folder to write the model to. Default: MODEL-updated.")
    ] = None,
    labels: o.Labels = None,
    label_separator: o.LabelSeparator = None,
    batch_size: Annotated[
        int | None,
        o.option(
            "--batch-size",
            "NUMBER",
            "Documents of a step. Default: the batch size of the fit, or all documents.",
            min=1,
        ),
    ] = None,
    total_documents: Annotated[
        int | None,
        o.option(
            "--total-documents",
            "NUMBER",
            "Documents of the whole stream, for models that take steps. Default: those seen so far.",
            min=1,
        ),
    ] = None,
    grow_vocabulary: Annotated[
        bool,
        o.option("--grow-vocabulary", None, "Let new words join a model of --method hybrid, now and in later updates."),
    ] = False,
    checkpoint: Annotated[
        Path | None, o.option("--checkpoint", "FOLDER", "Folder to save the state to after each pass.")
    ] = None,
    resume: Annotated[bool, o.option("--resume", None, "Continue from the checkpoint.")] = False,
    jobs: o.Jobs = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
) -> None:
    """Go on with new documents.

    INPUT holds the new documents alone. The old model is not changed. With a
    model of --method topics its topics keep their numbers and labels: what it knows
    of the documents before stays as it is, and the new ones add to it. New
    subjects become new topics, with numbers after the old ones, and new words
    join. Models of the other methods with minibatches (variational, hybrid, lda,
    nested-hdp, online-hdp, split-merge-online) take a step on each minibatch of
    the new documents, and forget the old ones little by little.
    """
    from stickbreak.fitting.progress import FitProgress
    from stickbreak.storage.persistence import check_target

    o.check_separator(labels, label_separator)
    check_input(documents)
    out = out or _beside(model, "updated")
    check_target(out, overwrite=force)
    o.check_resumed(checkpoint, resume=resume)
    if checkpoint is not None:
        check_target(checkpoint, overwrite=resume or force, advice=o.TAKEN_CHECKPOINT)
    fitted = load_words_model(model)
    if not hasattr(fitted, "update") and not hasattr(fitted, "partial_fit"):
        raise InputError(
            f"{model} holds a {type(fitted).__name__}, which cannot go on with new documents; take a TopicModel."
        )
    by_steps = _takes_steps(fitted)
    grows = by_steps and "grow_vocabulary" in fitted.get_params()
    for option, value, known in (
        ("--labels", labels, not by_steps),
        ("--checkpoint", checkpoint, not by_steps),
        ("--batch-size", batch_size, by_steps),
        ("--total-documents", total_documents, by_steps),
        ("--grow-vocabulary", grow_vocabulary, grows),
    ):
        if value and not known:
            raise InputError(f"{model} holds a {type(fitted).__name__}, whose update knows no {option}; leave it out")
    if total_documents is not None:
        fitted.set_params(total_documents=total_documents)
    if grow_vocabulary:
        fitted.set_params(grow_vocabulary=True)
    keep = None if labels is None else [labels]
    new_words = not by_steps or (grows and fitted.grow_vocabulary)
    read = Documents.read_for(documents, fitted, o.given_options(reading), keep=keep, new_words=new_words)
    before, n_words = fitted.n_topics_, fitted.n_features_in_
    if not quiet:
        n_new = read.corpus.n_words - n_words
        say(f"{read.size}, {n_new:,} new{_left_out(read)}; updating {before} topics ...")
    parameters = fitted.get_params()
    here = {name: value for name, value in (("n_jobs", jobs or -1), ("scratch", None)) if name in parameters}
    fitted.set_params(**here)
    if by_steps:
        size = batch_size or parameters.get("batch_size") or read.corpus.n_documents
        for first in range(0, read.corpus.n_documents, size):
            fitted.partial_fit(read.corpus[first : first + size])
    else:
        of_documents = None if labels is None else labels_of(read.corpus, labels, label_separator)
        with FitProgress(not quiet and sys.stderr.isatty()) as progress:
            fitted.update(
                read.corpus, labels=of_documents, callback=progress.update, checkpoint=checkpoint, resume=resume
            )
    fitted.set_params(**{name: parameters[name] for name in here})
    _add_counts(fitted, read)
    fitted.save(out, overwrite=force)
    told = {
        "model": str(out),
        "n_topics_before": before,
        "n_topics": fitted.n_topics_,
        "n_new_words": fitted.n_features_in_ - n_words,
    }
    if by_steps:
        if as_json:
            print_json({**told, "n_steps": fitted.n_steps_})
        else:
            say(f"{told['n_topics']} topics after {fitted.n_steps_} steps ({before} before), written to {out}")
        return
    new = [topic for topic in Documents.topics(fitted, _WORDS, fitted.n_topics_) if topic["id"] >= before]
    if as_json:
        print_json({**told, "new_topics": new})
        return
    print_topics([Documents.cells(topic) for topic in new])
    say(f"{len(new)} new topics after the {before} of before, written to {out}")


def _beside(model: Path, suffix: str) -> Path:
    """Return the folder of a model that is made of another one, beside it."""
    folder = model if model.name not in ("", "..") else model.resolve()
    return folder.with_name(f"{folder.name}-{suffix}")


def _takes_steps(fitted: Any) -> bool:
    """Tell whether a model takes new documents by steps alone, as all with minibatches do."""
    return hasattr(fitted, "partial_fit") and not hasattr(fitted, "update")


def _left_out(read: Documents) -> str:
    """Say how many words neither the model knows nor enough of the new documents have; nothing where there are none."""
    if not read.n_outside:
        return ""
    share = read.n_outside / (read.n_outside + read.corpus.n_tokens)
    return f"; {read.n_outside:,.0f} others ({share:.1%}) are new and in too few of these documents, and are left out"


def _add_counts(fitted: Any, read: Documents) -> None:
    """Add the counts of words of new documents to those that a model remembers."""
    import numpy as np

    known = None if fitted._reading is None else fitted._reading.get("word_counts")
    if known is not None:
        counts = np.asarray(read.corpus.counts.sum(axis=0), dtype=np.float64).ravel()
        counts[: len(known)] += known
        fitted._reading = {**fitted._reading, "word_counts": counts}


def reduce(
    model: o.ModelPath,
    out: Annotated[
        Path | None,
        o.option("--out -o", "FOLDER", "Folder to write the model to. Default: MODEL-20, with the number of topics."),
    ] = None,
    topics: Annotated[
        str | None,
        o.option(
            "--topics", "NUMBER", "Number of topics, or one of overview, best and within-one-error. Default: overview."
        ),
    ] = None,
    merge: Annotated[
        list[str] | None, o.option("--merge", "NUMBERS", "Topics to make one, such as 3,7; may be given again.")
    ] = None,
    drop: Annotated[
        list[str] | None, o.option("--drop", "NUMBERS", "Topics to leave out, such as 5 or 5,9; may be given again.")
    ] = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
) -> None:
    """Write a model with fewer, broader topics, without fitting again.

    A fit also joins its topics pair by pair, down to one, each time the pair that
    costs held-out words least. This command stops at a number of topics: overview
    is 20, best the number that predicts held-out words best (all of them, unless fewer
    are better by more than two standard errors), and within-one-error the smallest
    that is within one standard error of it. No documents are needed.
    The new model works with all commands.

    --merge and --drop change only the topics that they name. A merged topic keeps the label of the first
    of its topics that has one. A topic that is dropped is forgotten with its tokens: the weights of documents
    are of the topics that are left. Topics are numbered by size again, and labels stay with their topics.
    """
    from stickbreak.path.joining_topics import regrouped
    from stickbreak.storage.persistence import check_target

    by_hand = bool(merge or drop)
    if by_hand and topics is not None:
        raise InputError("--topics is given with --merge or --drop; give a number, or name topics")
    fitted, kind = load_model(model)
    if out is not None:
        check_target(out, overwrite=force)
    if not issubclass(kind, Documents):
        name = type(fitted).__name__
        raise InputError(f"the components of a {name} cannot be joined: they are not counts of words")
    told: list[str] = []
    numbers: dict[str, Any] = {}
    if by_hand:
        groups, gone = [_numbers("--merge", text) for text in merge or ()], [_numbers("--drop", t) for t in drop or ()]
        reduced, place = regrouped(fitted, groups, [k for group in gone for k in group])
        told = list(_changes(fitted, reduced, groups, place.tolist()))
        numbers = {"numbers": {str(old): None if new < 0 else new for old, new in enumerate(place.tolist())}}
    else:
        if fitted.joins_topics and fitted._path is None:
            raise InputError(
                f"{model} has no path of joined topics (it was fitted with --no-path, updated, joined by hand, or "
                "could not be joined); fit again without --no-path, or name topics with --merge and --drop"
            )
        number = _number("overview" if topics is None else topics)
        n_asked = getattr(fitted.path_, number) if isinstance(number, str) else number
        if n_asked == fitted.n_topics_ and out is None:
            if as_json:
                print_json({"model": str(model), "n_topics_before": n_asked, "n_topics": n_asked})
            elif not quiet:
                say(f"--topics {number} is {n_asked:,}, and {model} has as many topics: nothing is written")
            return
        reduced = fitted.reduced(n_asked)
    reduced._reading = fitted._reading
    out = out or _beside(model, str(reduced.n_topics_))
    reduced.save(out, overwrite=force)
    before, n_after = fitted.n_topics_, reduced.n_topics_
    if as_json:
        print_json({"model": str(out), "n_topics_before": before, "n_topics": n_after, **numbers})
    elif not quiet:
        say("\n".join([*told, f"{before} topics became {n_after}, numbered by size, written to {out}"]))


def _numbers(option: str, text: str) -> list[int]:
    """Read numbers of topics with commas between them."""
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise InputError(f"{option} is {text!r}; give numbers of topics, such as 3,7") from None


def _changes(before: Any, after: Any, groups: list[list[int]], number: list[int]) -> Iterator[str]:
    """Yield what became of the topics that were named."""
    old, new = before.labelled_topics().labels, after.labelled_topics().labels
    for group in groups:
        of_group = joined([f"{k} ({old[k]})" for k in group], "and")
        yield f"Topics {of_group} are now topic {number[group[0]]} ({new[number[group[0]]]})."
    for k in (k for k, now in enumerate(number) if now < 0):
        yield f"Topic {k} ({old[k]}) is dropped with {before.topic_shares_[k]:.2%} of the tokens."


def _number(text: str) -> Any:
    """Return a number of topics, or the attribute of a path that has it."""
    if text in _NUMBERS:
        return _NUMBERS[text]
    if not text.isdecimal() or int(text) == 0:
        raise InputError(f"--topics is {text!r}; give a number of topics, {joined(list(_NUMBERS), 'or')}")
    return int(text)


@o.spread(reading=o.READING)
def label(
    model: o.ModelPath,
    reading: dict[str, Any],
    labels: Annotated[
        list[str] | None,
        typer.Argument(metavar="NUMBER=LABEL...", help="Labels to give; NUMBER= takes one away. Without: print them."),
    ] = None,
    file: Annotated[
        Path | None,
        o.option(
            "--file",
            "FILE",
            "CSV file with the columns topic and label, as stickbreak topics MODEL --out FILE.csv writes it. A label "
            "that you do not change is not saved.",
        ),
    ] = None,
    server: o.Server = None,
    server_model: o.ServerModel = None,
    documents: Annotated[
        Path | None,
        typer.Option(
            "--documents",
            parser=location_of,
            metavar="INPUT",
            help="With --with: also send the beginnings of some documents of each topic.",
        ),
    ] = None,
    again: Annotated[bool, o.option("--again", None, "With --with: also name what has a label.")] = False,
    timeout: o.Timeout = None,
    as_json: o.Json = False,
) -> None:
    """Give labels to topics, or print those that were given.

    They are kept in the model, and take the place of words in all tables. For
    example: stickbreak label MODEL 3=encryption "5=mail and news". Labels of a
    file that are empty are taken away.

    --with URL --model NAME lets a language model name all topics without a label,
    and the groups that they join to. It is sent the words of each, and with --documents
    the beginnings of three documents. What is sent, and where, is printed before. A
    key is taken from the variable STICKBREAK_API_KEY. Where an answer is not a name,
    the old label stays.
    """
    namer = o.chat_model(server, server_model, timeout)
    if namer is None and (documents is not None or again or o.given_options(reading)):
        raise InputError("--documents, --again and options for reading need --with, the server of a language model")
    if namer is not None and (labels or file is not None):
        raise InputError("--with names topics by itself; give labels by NUMBER=LABEL or --file in another call")
    if documents is not None:
        check_input(documents)
    fitted = load_words_model(model)
    typed = [_label(text) for text in labels or []]
    twice = next((k for i, (k, _) in enumerate(typed) if k in dict(typed[:i])), None)
    if twice is not None:
        raise InputError(f"topic {twice} is given two labels; give one")
    given = ({} if file is None else _labels_in(file, fitted)) | dict(typed)
    rows = [] if namer is None else _asked_names(fitted, namer, documents, o.given_options(reading), again=again)
    given |= {row.number: row.name for row in rows if row.name is not None}
    if given:
        from stickbreak.model.labels import save_labels

        save_labels(fitted.label(given), model)
        page = model / "report.html"
        if page.is_file():
            again_made = shlex.join(["stickbreak", "report", str(model), "INPUT"])
            say(f"{page} is older than these labels; make it again with the documents as INPUT: {again_made}")
    known, groups = fitted.labels_, fitted.group_labels_
    kept = {row.number: row.reason for row in rows if row.name is None}
    if as_json:
        values = {"labels": known, "groups": groups, **({} if namer is None else {"unnamed": kept})}
        print_json({name: {str(k): text for k, text in numbers.items()} for name, numbers in values.items()})
    elif not known and not groups and namer is None:
        say(f"no topic has a label; give one: {shlex.join(['stickbreak', 'label', str(model), '0=NAME'])}")
    else:
        _print_labels(fitted, known, groups, kept)
    if namer is not None:
        rest = "; the others keep the labels that they had" if kept else ""
        say(f"{len(rows) - len(kept):,} of {len(rows):,} named by {namer.model}{rest}")


def _asked_names(fitted: Any, namer: Any, path: Any, reading: dict[str, Any], *, again: bool) -> "list[AskedName]":
    """Say what is sent to a language model, and ask it for names of topics and groups."""
    from stickbreak.fitting.progress import StageProgress
    from stickbreak.model.labels import ask_for_names, unnamed
    from stickbreak.model.naming import EXCERPT

    known = {} if again else {**fitted.labels_, **fitted.group_labels_}
    numbers = unnamed(fitted, groups=True, known=known)
    examples: dict[str, Any] = {}
    what = "their words alone, and nothing of the documents"
    if path is not None:
        read = Documents.read_for(path, fitted, reading)
        if read.texts is None:
            raise InputError(f"--documents {path} holds counts, not texts; give the texts, or leave it out")
        examples = {"X": read.corpus, "texts": read.texts}
        what = f"their words, and excerpts of documents: the first {EXCERPT} characters of {_EXCERPTS} for each"
    n_groups = sum(k >= fitted.n_topics_ for k in numbers) if fitted.joins_topics else 0
    groups = f" and {n_groups:,} groups of topics" if n_groups else ""
    if not numbers:
        say("all topics and groups have labels, so nothing is sent; --again replaces the labels")
        return []
    say(f"Sent to {namer.description}: {len(numbers) - n_groups:,} topics{groups}; {what}.")
    with StageProgress(sys.stderr.isatty()) as progress:
        return ask_for_names(fitted, namer, numbers, **examples, n_texts=_EXCERPTS, callback=progress.update)


def _print_labels(fitted: Any, known: dict[int, str], groups: dict[int, str], kept: dict[int, str]) -> None:
    """Print the labels of topics and groups, and why some got none."""
    if known or groups:
        rows = [(str(k), printable(text)) for k, text in {**known, **groups}.items()]
        print_rows(("topic", "label"), rows, left=(1,))
    if groups:
        n = fitted.n_topics_
        show(f"Numbers from {n} on are groups of the path: {n} is what its first join makes, {n + 1} the second.")
    for number, reason in kept.items():
        show(f"{'Topic' if number < fitted.n_columns_ else 'Group'} {number} has no new name: {reason}")


def _label(text: str) -> tuple[int, str | None]:
    """Read NUMBER=LABEL."""
    number, equals, name = text.partition("=")
    if not equals or not number.strip().isdecimal():
        raise InputError(f"{text!r} is not a label; give NUMBER=LABEL, such as 3=encryption")
    return int(number), name.strip() or None


def _labels_in(path: Path, fitted: Any) -> dict[int, str | None]:
    """Return the labels that a CSV file gives to topics; labels that the model makes of words are left out."""
    rows = table_in(path, "--file")
    if not {"topic", "label"} <= set(rows.columns):
        raise InputError(
            f"--file: {path} needs columns topic and label; stickbreak topics MODEL --out FILE.csv writes them"
        )
    asked, known = fitted.labelled_topics(), fitted.labels_
    made = {str(k): label for k, label in zip(asked.numbers, asked.labels, strict=True) if int(k) not in known}
    pairs = [(topic.strip(), without_quote(label)) for topic, label in zip(rows["topic"], rows["label"], strict=True)]
    for row, (topic, _) in enumerate(pairs, start=1):
        if not topic.isdecimal():
            raise InputError(f"--file: row {row} of {path} has the topic {topic!r}; give its number")
    return {int(topic): label or None for topic, label in pairs if label != made.get(topic)}


def compare(
    model: o.ModelPath,
    other: Annotated[
        Path, typer.Argument(metavar="OTHER", callback=check_model, help="Folder of the model to compare with.")
    ],
    page: Annotated[Path | None, o.option("--page", "FILE", "HTML file to write besides.")] = None,
    rows: Annotated[int, o.option("--rows", "NUMBER", "Most rows to print.", min=1)] = 50,
    as_csv: Annotated[bool, o.option("--csv", None, "Print all rows as CSV.")] = False,
    out: o.TableFile = None,
    as_json: o.Json = False,
) -> None:
    """Print which topics of MODEL are the same in OTHER, and which were split, joined, are gone or new.

    Topic a belongs to MODEL. Topic b is its partner in OTHER, or "none" if it has no partner.
    Topics are matched one to one by the tokens that they can have in common.
    similarity is that share of the tokens of both: from 0.50 on a topic is the same,
    below 0.33 it may be gone. parts names the topics of OTHER that a topic was split
    into, those of MODEL that were joined, or the nearest of one that is gone, new or
    changed. --page draws it.
    """
    from stickbreak.comparison import align

    check_table_file(out, model, other)
    if page is not None:
        check_output(page, other)
    first, second = load_words_model(model), load_words_model(other)
    found = align(first, second)
    if page is not None:
        from stickbreak.report import write_comparison

        a, b = model.resolve(), other.resolve()
        names = (a.name, b.name) if a.name != b.name else (str(model), str(other))
        write_comparison((first, second), names, found.table, found.shared, page)
    table = found.table.assign(parts=[" ".join(map(str, parts)) for parts in found.table["parts"]])
    outcomes = table.loc[table["topic_a"] >= 0, "what"].tolist()
    n_same, n_new = outcomes.count("same"), int((table["what"] == "new").sum())
    ends = [f"{outcomes.count(what):,} {said}" for what, said in _ENDS.items() if what in outcomes]
    closing = (
        f"{n_same:,} of {len(outcomes):,} topics of a are the same in b{', ' if ends else ''}{', '.join(ends)}; "
        f"{n_new:,} of b {'is' if n_new == 1 else 'are'} new. Partners have {found.agreement:.0%} of the tokens in "
        "common."
    )
    if page is None:
        drawn = ["stickbreak", "compare", str(model), str(other), "--page", "compared.html"]
        closing = "\n".join([closing, *next_lines([("draw it", drawn)])])
    values = {"agreement": found.agreement, "n_same": n_same, "n_new": n_new}
    noted = with_notes(table, heading=f"a: {model}, b: {other}", closing=closing, values=values)
    tell_table(noted, as_json=as_json, as_csv=as_csv, out=out, rows=rows)
