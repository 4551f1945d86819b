"""`stickbreak ask MODEL QUESTION`: a question is a function of a model, and its answer a table.

To add one, decorate a function with `question(NAME)`. Its docstring is the help, and its parameters say what it needs:

    model          the fitted model
    X              INPUT, read as the documents of the fit were: a `Corpus`
    documents      the same, with what else is known of them: `Documents`
    texts, dates   of these documents: a list of str or None, and days
    any other      an option of this name, as in `OPTIONS`, or else made of its type (int, float, str or bool)

`question(NAME, FUNCTION)` asks a function of `stickbreak.questions`, or "evaluation.topic_scores" and the like: its
parameters are the options. The decorated function gets the answer as `table`, and whatever else it names, and returns
it with what is said of it to a person (`with_notes`). A question with documents knows --since and --until, too.
"""

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from stickbreak.cli.documents import Documents, check_input
from stickbreak.cli.loading import load_words_model
from stickbreak.cli.options import (
    DATES,
    READING,
    InputPath,
    Json,
    Metadata,
    ModelPath,
    Quiet,
    Server,
    ServerModel,
    TableFile,
    Timeout,
    chat_model,
    given_options,
    option,
    set_signature,
)
from stickbreak.cli.output import printable, say
from stickbreak.cli.settings import joined
from stickbreak.cli.tables import check_table_file, table_in, tell_table, with_notes
from stickbreak.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

    from stickbreak.corpus import Corpus

__all__ = ["OPTIONS", "ask", "question"]

_SNIPPET = 200  # characters of a text
_CHANCE = 0.05
_NAMED = 20  # categories, at most, in an error
_FEW = 3  # words of a document: of fewer, the weights are mostly those of the whole collection
_SCORES = ("npmi", "umass", "c_v", "exclusivity")
_LEAST_NPMI, _LEAST_EXCLUSIVITY = 0.02, 0.1  # of a topic that says something
_UNFOLDED = 100_000  # columns, where the output is no terminal: a node of a tree is one line

OPTIONS: dict[str, Any] = {
    "topic": Annotated[str | None, option("--topic", "TOPIC", "This topic alone, by number or label.")],
    "document": Annotated[str | None, option("--document", "NAME", "Document, by its name or its number from 0.")],
    "n": Annotated[int | None, option("-n", "NUMBER", "Most words, documents or topics of each.", min=1)],
    "n_words": Annotated[int, option("--words -n", "NUMBER", "Top words of each topic or node.", min=1)],
    "words": Annotated[list[str], typer.Argument(metavar="WORD...", help="Words; * stands for any characters.")],
    "relevance": Annotated[
        float, option("--relevance", "NUMBER", "0: words of this topic alone. 1: frequent words.", min=0.0, max=1.0)
    ],
    "by": Annotated[
        str | None,
        option(
            "--by", "PERIOD", "day, week, month, quarter or year. Default: the shortest that gives 60 periods or fewer."
        ),
    ],
    "category": Annotated[str, option("--column", "NAME", "Column of the categories.")],
    "level": Annotated[
        float, option("--level", "NUMBER", "Largest p: the share of the rows that may be chance.", min=1e-9, max=1.0)
    ],
    "formula": Annotated[str, option("--formula", "FORMULA", "Columns: 'year + source', 'year * source', 'C(year)'.")],
    "n_draws": Annotated[int, option("--draws", "NUMBER", "Draws of the weights of all documents.", min=2)],
    "only": Annotated[list[str] | None, option("--category", "VALUE", "Print only this one; may be given again.")],
    "all_labels": Annotated[bool, option("--all-labels", None, "Also print labels that are not likely.")],
    "sort": Annotated[
        str | None, option("--sort", "COLUMN", "Order by npmi, umass, c_v or exclusivity, the worst first.")
    ],
    "window": Annotated[int, option("--window", "NUMBER", "Words in a window of c_v.", min=2)],
    "n_resamples": Annotated[
        int, option("--resamples", "NUMBER", "How often documents are drawn again, for the intervals.", min=2)
    ],
    "score": Annotated[
        list[Path] | None,
        option("--score", "FILE", "CSV or JSON file with a column answer to score; may be given again."),
    ],
    "server": Server,
    "server_model": ServerModel,
    "timeout": Timeout,
    "random_state": Annotated[int, option("--random-state", "NUMBER", "Seed of the random numbers.", min=0)],
    "depth": Annotated[int, option("--depth -d", "NUMBER", "Levels below the node.", min=0)],
    "children": Annotated[int, option("--children -c", "NUMBER", "Most children of a node, the largest first.", min=1)],
    "node": Annotated[str | None, option("--node", "PATH", "Start at this node, by its path as printed: 2.0.5.")],
    "leaf": Annotated[int | None, option("--leaf", "TOPIC", "Only the path from the root to this topic.")],
}
"""The options of questions by the names of parameters; a default is that of the parameter."""

_COLUMNS = ("dates", "category")  # parameters that name a column, which is read beside the texts
_KINDS: dict[str, Any] = {"int": int, "float": float, "str": str, "bool": bool}
_ANSWER: dict[str, tuple[Any, Any]] = {
    "rows": (Annotated[int, option("--rows", "NUMBER", "Most rows to print.", min=1)], 50),
    "as_csv": (Annotated[bool, option("--csv", None, "Print all rows as CSV.")], False),
    "out": (TableFile, None),
    "as_json": (Json, False),
}
_READ = {name: (annotation, None) for name, annotation in {**DATES, **READING}.items()}
_OF_DOCUMENTS = {"metadata": (Metadata, None), "quiet": (Quiet, False), **_READ}
_QUESTIONS: dict[str, tuple[Callable[..., "pd.DataFrame"], str | None]] = {}


def question(
    name: str, function: str | None = None
) -> Callable[[Callable[..., "pd.DataFrame"]], Callable[..., "pd.DataFrame"]]:
    """Make a question of a function, or of another one whose answer the function completes: see above."""

    def decorate(answer: Callable[..., "pd.DataFrame"]) -> Callable[..., "pd.DataFrame"]:
        _QUESTIONS[name] = answer, function
        return answer

    return decorate


class _Questions(TyperGroup):
    """Makes the command of a question when it is asked: the functions of a model take a second to load."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(_QUESTIONS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in _QUESTIONS:
            return None
        app = typer.Typer(add_completion=False)
        app.command(cmd_name)(_command(*_QUESTIONS[cmd_name]))
        return typer.main.get_command(app)


ask = typer.Typer(cls=_Questions, no_args_is_help=True)


@ask.callback()
def _ask(ctx: typer.Context, model: ModelPath) -> None:
    """Ask a model about its topics, words and documents; the answer is a table.

    For example: stickbreak ask MODEL words --topic 3, or stickbreak ask MODEL
    trends INPUT. INPUT is read as the documents of the fit were. Each question
    has its own help: stickbreak ask MODEL words --help.
    """
    ctx.obj = model


def _command(answer: Callable[..., "pd.DataFrame"], function: str | None) -> Callable[..., None]:
    """Return a question as a command, whose options are the parameters."""
    asked = None if function is None else _function(function)
    of_asked = {} if asked is None else dict(inspect.signature(asked).parameters)
    of_answer = dict(inspect.signature(answer).parameters)
    parameters = of_answer | of_asked
    own = [one for one in (_as_option(one) for one in (of_asked | of_answer | of_asked).values()) if one is not None]
    reads = not parameters.keys().isdisjoint(("X", "documents"))

    def run(ctx: typer.Context, **arguments: Any) -> None:
        folder, inputs = ctx.obj, [arguments["input"]] if reads else []
        check_table_file(arguments["out"], folder, *inputs)
        for path in inputs:
            check_input(path)
        model = load_words_model(folder)
        values = {"model": model, **{one.name: arguments[one.name] for one in own}}
        if values.get("topic") is not None:
            values["topic"] = topic_number(model, values["topic"])
        if reads:
            values |= _documents(model, arguments, parameters.keys())
        if asked is not None:
            from stickbreak.fitting.progress import StageProgress

            with StageProgress(
                "callback" in of_asked and not arguments.get("quiet") and sys.stderr.isatty()
            ) as progress:
                values["callback"] = progress.update
                values["table"] = asked(**{name: values[name] for name in of_asked if name in values})
        table = answer(**{name: values[name] for name in of_answer})
        tell_table(table, **{name: arguments[name] for name in _ANSWER})

    kind = inspect.Parameter.KEYWORD_ONLY
    made = [inspect.Parameter("ctx", kind, annotation=typer.Context)]
    if reads:
        made.append(inspect.Parameter("input", kind, annotation=InputPath))
    shared = (_OF_DOCUMENTS if reads else {}) | _ANSWER
    made += [*own, *(inspect.Parameter(name, kind, annotation=a, default=d) for name, (a, d) in shared.items())]
    set_signature(run, made)
    run.__doc__ = answer.__doc__
    return run


def _function(name: str) -> Any:
    module, _, function = name.rpartition(".")
    return getattr(importlib.import_module(f"stickbreak.{module or 'questions'}"), function)


def _as_option(one: inspect.Parameter) -> inspect.Parameter | None:
    """Return the option of a parameter; None for what no option gives."""
    if one.name in ("model", "table", "X", "documents", "texts", *DATES):
        return None
    made = OPTIONS.get(one.name)
    if made is None:
        text = one.annotation if isinstance(one.annotation, str) else inspect.formatannotation(one.annotation)
        kind = _KINDS.get(text.removesuffix(" | None"))
        if kind is None:
            return None
        made = Annotated[kind | None, option(f"--{one.name.replace('_', '-')}", None, "")]
    return one.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=made)


def _documents(model: Any, arguments: dict[str, Any], wanted: Any) -> dict[str, Any]:
    """Read the documents of a question, or those of some days, and what else it wants of them."""
    import numpy as np

    from stickbreak.questions.columns import Span, days_of

    span = Span.of(arguments["since"], arguments["until"], "--")
    dated = "dates" in wanted or not span.whole
    columns = [arguments[name] for name in _COLUMNS if name in wanted or (name == "dates" and dated)]
    keep: Any = "all" if None in columns or "formula" in wanted else columns or None
    reading = given_options({name: arguments[name] for name in READING})
    documents = Documents.read_for(arguments["input"], model, reading, keep=keep, metadata=arguments["metadata"])
    if not arguments["quiet"]:
        say(documents.short_summary)
    found: dict[str, Any] = {}
    if dated:
        days = days_of(documents.corpus, *documents.dating(arguments["dates"], arguments["date_format"]))
        if not span.whole:
            rows = np.flatnonzero(span.holds(days))
            documents, days = documents.only(rows), days[rows]
        found["dates"] = days
    elif arguments["dates"] is not None:
        raise InputError(
            "--dates names the days of documents, which this question does not ask for; leave it out, or choose "
            "documents by --since and --until"
        )
    elif "date_format" in wanted:
        _, found["date_format"] = documents.dating(None, arguments["date_format"])
    if "texts" in wanted and documents.texts is not None:
        found["texts"] = documents.texts(range(documents.corpus.n_documents))
    return {"texts": None, **found, "documents": documents, "X": documents.corpus}


def topic_number(model: Any, text: str) -> int:
    """Return the number of a topic that is given by its number, or by its label in capital or small letters.

    Digits are a number wherever there is a topic of that number, and the label of a topic only elsewhere.
    """
    text = text.strip()
    if text.isdecimal() and (model.is_topic(int(text)) or text not in model.labels_.values()):
        return int(text)
    asked = model.labelled_topics()
    labels = dict(zip(asked.numbers.tolist(), asked.labels, strict=True)) | model.labels_
    alike = [k for k, label in labels.items() if label.casefold() == text.casefold()]
    exact = [k for k in alike if labels[k] == text]
    if len(exact or alike) == 1:
        return (exact or alike)[0]
    if alike:
        raise InputError(
            f"--topic is {text!r}, the label of topics {joined(list(map(str, alike)), 'and')}; give one number"
        )
    near = get_close_matches(text, list(labels.values()), 1)
    advice = f"did you mean {near[0]!r}?" if near else "stickbreak topics MODEL --csv prints numbers and labels"
    raise InputError(f"--topic is {text!r}, but no topic has this label; {advice}")


# Topics and words.


@question("words", "words_of")
def _words(table: "pd.DataFrame") -> "pd.DataFrame":
    """Print the words of a topic by relevance.

    lift says by how many times a word is more frequent in the topic than in all,
    share_of_word which part of its tokens belongs to the topic.
    """
    return table


@question("search", "search")
def _search(table: "pd.DataFrame") -> "pd.DataFrame":
    """Print the topics of words: those that have most of their tokens first."""
    return table


@question("scores", "evaluation.topic_scores")
def _scores(table: "pd.DataFrame", *, sort: str | None = None) -> "pd.DataFrame":
    """Print how good each topic is: whether its top words occur together, and in no other topic.

    npmi (from -1 to 1; 0 is chance) and umass (0 is best) count documents, c_v
    (up to 1) counts windows of texts. exclusivity is the share of its top words
    that a topic has for itself. Give the documents of the fit, or others.
    """
    whole = table.attrs
    worst = table.loc[table["npmi"].idxmin()] if table["npmi"].notna().any() else None
    if sort is not None:
        if sort not in _SCORES or sort not in table:
            there = ", ".join(name for name in _SCORES if name in table)
            raise InputError(f"--sort is {sort!r:.40}, which is not a score of these topics; give one of {there}")
        table = table.sort_values(sort, kind="stable", ignore_index=True)
    junk = dict(_junk(table))
    closing = (
        f"Mean NPMI {whole['mean_npmi']:.3f}; diversity {whole['diversity']:.2f}: the share of different words among "
        "the 25 top words of all topics."
    )
    if junk:
        closing = "\n".join([closing, *(f"Junk: topic {topic}: {reason}" for topic, reason in junk.items())])
    elif worst is not None and len(table) > 1:
        closing += f" Topic {worst['topic']} ({worst['label']}) has the least: read its documents before you use it."
    return with_notes(table, closing=closing, values={**whole, "junk": junk})


def _junk(table: "pd.DataFrame") -> Iterator[tuple[int, str]]:
    """Yield the topics that say little, with the reason."""
    for row in table.to_dict("records"):
        reasons = []
        if row["npmi"] < _LEAST_NPMI:
            reasons.append(f"its top words occur together hardly more often than by chance (NPMI {row['npmi']:.3f})")
        if row["exclusivity"] < _LEAST_EXCLUSIVITY:
            reasons.append(f"other topics have its top words, too (exclusivity {row['exclusivity']:.2f})")
        if reasons:
            yield int(row["topic"]), " and ".join(reasons)


@question("intrusion")
def _intrusion(
    model: Any,
    *,
    n_words: int = 5,
    random_state: int = 0,
    score: list[Path] | None = None,
    server: str | None = None,
    server_model: str | None = None,
    timeout: float | None = None,
) -> "pd.DataFrame":
    """Print lists of words with one that does not belong, to be found by people.

    The more often people find the intruder, the better is the topic (Chang et al.
    2009). Take the column intruder away, let people write into a column answer, and
    give the file back: --score FILE says how often they are right, beside chance.
    --with URL --model NAME lets a language model answer.
    """
    from stickbreak.evaluation import answered_intrusion, word_intrusion
    from stickbreak.fitting.progress import StageProgress

    judge = chat_model(server, server_model, timeout)
    if score and judge is not None:
        raise InputError("--with answers a sheet, --score scores one; write the answers with --out FILE, then score it")
    asked = model.labelled_topics()
    phi = model.word_distributions(asked.numbers)
    table = word_intrusion(phi, model.vocabulary_, n_words=n_words, random_state=random_state)
    table = table.assign(topic=asked.numbers[table["topic"].to_numpy(dtype=int)])
    if table.empty:
        raise InputError(
            f"-n {n_words} leaves no word of another topic as the intruder; give fewer words, such as -n 5, or "
            "a model of more topics"
        )
    labels = dict(zip(asked.numbers.tolist(), asked.labels, strict=True))
    if score:
        return _scored(_sheets(score), table, labels)
    if judge is None:
        return table
    say(f"Sent to {judge.description}: lists of words of {len(table):,} topics, and nothing of the documents.")
    with StageProgress(sys.stderr.isatty()) as progress:
        filled = answered_intrusion(table, judge.intruder, progress.update)
    notes = _scored(filled, None, labels).attrs if filled["answer"].any() else {}
    return with_notes(filled, closing=notes.get("closing", "No list has an answer."), values=notes.get("values"))


def _scored(sheet: "pd.DataFrame", key: "pd.DataFrame | None", labels: dict[int, str]) -> "pd.DataFrame":
    """Return how often intruders were found, with the labels of the topics, and what is said of all."""
    from stickbreak.evaluation import intrusion_scores

    table = intrusion_scores(sheet, key)
    whole = table.attrs
    strange = next((k for k in table["topic"].tolist() if k not in labels), None)
    if strange is not None:
        raise InputError(f"--score: the sheet has topic {strange}, which this model has not; give the model it is of")
    table.insert(1, "label", [labels[k] for k in table["topic"].tolist()])
    closing = (
        f"{whole['share_right']:.0%} of the intruders are found (95 % interval {whole['low']:.0%} to "
        f"{whole['high']:.0%}); by chance it would be {whole['chance']:.0%}."
    )
    if whole["n_unknown"]:
        closing += f" Wrong besides: {whole['n_unknown']:,} answers that are none of the words."
    if whole["n_empty"]:
        closing += f" Left out: {whole['n_empty']:,} without an answer."
    return with_notes(table, closing=closing, values=whole)


def _sheets(paths: list[Path]) -> "pd.DataFrame":
    """Read sheets with answers, one below the other."""
    import pandas as pd

    return pd.concat([table_in(path, "--score") for path in paths], ignore_index=True)


@question("moves")
def _moves(model: Any) -> "pd.DataFrame":
    """Print the merges, deletes and births that a variational fit accepted.

    gain says by how many nats the objective rose, topics how many there were after
    it, words which topics were merged, deleted or born, with " | " between them.
    """
    import pandas as pd

    if not model.moves_:
        raise InputError(
            f"this {type(model).__name__} has no list of accepted moves; fit with --method variational to have one"
        )
    names = {"n_topics": "topics", "topics": "words"}
    table = pd.DataFrame(model.moves_)[["pass", "move", "gain", "n_topics", "topics"]].rename(columns=names)
    words = [" | ".join(" ".join(topic) or "(no tokens)" for topic in topics) for topics in table["words"]]
    return table.assign(words=words)


# Documents.


@question("documents", "documents_of")
def _best_documents(table: "pd.DataFrame", model: Any, documents: Documents, topic: int) -> "pd.DataFrame":
    """Print the documents that show a topic best, with the beginning of their texts.

    The order is that of low, the lower end of a 95 % interval of the weight. A long
    document with a weight of 90 % stands before one of three words with all of its
    weight, because its weight is surer.
    """
    label = model.labelled_topics(topic).labels[0]
    heading = (
        f"The documents that show topic {topic} best ({label}), in the order of low: the weight is at least that, and "
        "surer in long documents."
    )
    return with_notes(_with_texts(table, documents), heading=heading)


@question("topics-of")
def _topics_of(model: Any, X: "Corpus", *, document: str | None = None, n: int | None = None) -> "pd.DataFrame":
    """Print the largest topics of all documents, a row for each, or of one document, a row for each topic.

    -n is 5 for one document and 1 for all of them, whose second and third topic are in
    columns of their own. The row of a document without a word of the model is empty.
    """
    import pandas as pd

    if document is not None:
        return model.topics_of(_one(X, document), n or 5).drop(columns="row")
    table = model.topics_of(X, n or 1)
    place = table.groupby("row").cumcount()
    wide = pd.DataFrame({"document": list(X.names_in_tables)})
    for i in range(int(place.max()) + 1 if len(table) else 1):
        part = table[place == i].set_index("row")[["topic", "label", "weight"]].astype({"topic": "Int64"})
        wide = wide.join(part if i == 0 else part.add_suffix(f"_{i + 1}"))
    return wide


@question("word-topics")
def _word_topics(model: Any, X: "Corpus", *, document: str | None = None, n: int = 1) -> "pd.DataFrame":
    """Print the topics of each word of a document, or of all documents."""
    return model.word_topics(_one(X, document), n).drop(columns="row")


@question("similar", "similar_documents")
def _similar(table: "pd.DataFrame", documents: Documents, document: str) -> "pd.DataFrame":
    """Print the documents that are most like a document, by their topics.

    distance is that of Hellinger between the topic weights: 0 for the same
    weights, 1 where no topic is in both.
    """
    n_own, n_others = float(_one(documents.corpus, document).n_tokens), int((table["tokens"] < _FEW).sum())
    lines = []
    if n_own < _FEW:
        words = f"{n_own:.12g} {'word' if n_own == 1 else 'words'}"
        lines.append(
            f"Document {document} has {words} that the model knows: too few to say which documents are like it."
        )
    if n_others:
        have, places = ("has", "its place says") if n_others == 1 else ("have", "their places say")
        lines.append(
            f"{n_others} of these documents {have} fewer than {_FEW} words that the model knows: {places} little."
        )
    return with_notes(_with_texts(table, documents), closing="\n".join(lines))


@question("predict-labels")
def _predict_labels(model: Any, X: "Corpus", *, all_labels: bool = False) -> "pd.DataFrame":
    """Print the labels of documents with their probabilities.

    The model was fitted with --labels. A label is printed where its probability is
    one half or more, and the most probable one in any case.
    """
    import pandas as pd

    if not hasattr(model, "label_probabilities"):
        raise InputError(
            f"a {type(model).__name__} has no labels to predict; fit a TopicModel or a "
            "GibbsHDP(representation='partially-collapsed') with labels (--labels COLUMN)."
        )
    table = model.label_probabilities(X)
    likely = [list(table.columns)] * len(table) if all_labels else model.predict_labels(X)
    rows = [
        (document, label, table[label].iloc[d])
        for d, (document, labels) in enumerate(zip(table.index, likely, strict=True))
        for label in labels
    ]
    return pd.DataFrame(rows, columns=["document", "label", "probability"])


def _one(corpus: "Corpus", document: str | None) -> "Corpus":
    """Return one document, by its name or number, with its name; all where none is given."""
    from stickbreak.questions.documents import row_of

    if document is None:
        return corpus
    row = row_of(corpus, document)
    return replace(corpus[[row]], names=(corpus.document_names[row],))


def _with_texts(table: "pd.DataFrame", documents: Documents) -> "pd.DataFrame":
    """Add the beginnings of texts, if there are any; row numbers leave."""
    from stickbreak.corpus.preparing import readable

    plain, rows = table.drop(columns="row"), table["row"].tolist()
    if documents.texts is None:
        return plain
    texts = readable(documents.texts(rows), documents.corpus.text_options)
    return plain.assign(text=[" ".join(text.split())[:_SNIPPET] for text in texts])


# Time and categories.


@question("over-time", "topics_over_time")
def _over_time(table: "pd.DataFrame", by: str | None) -> "pd.DataFrame":
    """Print the mean weight of each topic in each period, with 95 % intervals.

    The mean is over the tokens of the documents: share is of the fit, mean_weight of
    the documents given. The intervals say how much it would vary with other documents of the
    same kind.
    """
    heading = f"Shares by {table.attrs['by']}, as suits the dates; --by names another period." if by is None else ""
    return with_notes(table, heading=heading, days=_days(table))


def _days(table: "pd.DataFrame") -> str:
    """Return how periods are printed: a year as 2021."""
    return "%Y" if table.attrs.get("by") == "year" else ""


@question("trends", "topic_trends")
def _trends(table: "pd.DataFrame") -> "pd.DataFrame":
    """Print which topics grow and which shrink, and by how much in a year.

    The fastest growing is first, the fastest shrinking last; of a long table both ends are printed. change is in
    percentage points of the tokens per year, low and high are the
    ends of its 95 % interval, of this topic alone. p is small where the share
    rises or falls along a straight line; it is adjusted for the number of rows, as
    some of many topics seem to change by chance. So an interval can be above 0 where p is not below 0.05.
    """
    sure = table[table["p"] < _CHANCE]
    grow, shrink = int((sure["change"] > 0).sum()), int((sure["change"] < 0).sum())
    change = f"{grow:,} of {len(table):,} topics grow and {shrink:,} shrink"
    if sure.empty:
        change = f"0 of {len(table):,} topics change"
    told = f"{change} by more than chance (p below {_CHANCE})."
    apart = int((((table["low"] > 0) | (table["high"] < 0)) & (table["p"] >= _CHANCE)).sum())
    if apart:
        more = "1 more topic has an interval" if apart == 1 else f"{apart:,} more topics have an interval"
        told += (
            f" {more} without 0: an interval is of one topic alone, p is adjusted for all {len(table):,}, of which "
            "some change by chance."
        )
    return with_notes(table, closing=told, ends=True)


@question("by", "topics_by")
def _by(table: "pd.DataFrame", *, only: list[str] | None = None) -> "pd.DataFrame":
    """Print the mean weight of each topic in each category, with 95 % intervals and a test.

    difference is to the documents of all other categories. p is small where that
    is more than chance; it is adjusted for the number of rows of all categories.
    The largest differences are first: those with p below 0.05, the others, those without p.
    """
    known = table["category"].astype(str)
    for name in only or ():
        if not (known == name).any():
            near = get_close_matches(name, list(known.unique()), 1)
            several = [str(one) for one in sorted(table["category"].unique())]
            there = ", ".join(several[:_NAMED]) + (", ..." if len(several) > _NAMED else "")
            advice = f"did you mean {near[0]!r}?" if near else f"give one of {there}"
            raise InputError(f"no document has the category {name!r}; {advice}")
    asked = table[known.isin(only)].reset_index(drop=True) if only else table
    told = (
        f"{int((asked['p'] < _CHANCE).sum()):,} of {len(asked):,} pairs of a topic and a category differ by more than "
        f"chance (p below {_CHANCE})."
    )
    return with_notes(asked, closing=told)


@question("words-over-time", "words_over_time")
def _words_over_time(table: "pd.DataFrame", by: str | None, level: float) -> "pd.DataFrame":
    """Print the words that rise and fall inside a topic, in each period.

    lift says by how many times the share of the word in the topic is larger than in
    the whole topic. observed are its tokens in the topic in the period, expected those
    it would have. p is adjusted for all words, topics and periods.
    """
    heading = f"By {table.attrs['by']}, as suits the dates; --by names another period." if by is None else ""
    return _changed_words(table, heading, level)


@question("words-by", "words_by")
def _words_by(table: "pd.DataFrame", level: float) -> "pd.DataFrame":
    """Print the words that a topic has more, or less, often in a category than as a whole.

    The columns are those of words-over-time.
    """
    return _changed_words(table, "", level)


def _changed_words(table: "pd.DataFrame", heading: str, level: float) -> "pd.DataFrame":
    """Say of how many tests the rows are."""
    n_tests = table.attrs["tests"]
    closing = (
        f"{len(table):,} of {n_tests:,} pairs of a word and a {table.columns[2]} differ from their topic by more than "
        f"chance; about {level:.0%} of these at most are chance."
    )
    return with_notes(table, heading=heading, closing=closing, values={"tests": n_tests}, days=_days(table))


@question("effects", "effects")
def _effects(table: "pd.DataFrame") -> "pd.DataFrame":
    """Print how the share of each topic in a document depends on several columns at once.

    points are percentage points of the share, low and high the ends of their 95 %
    interval. p is adjusted for the number of topics. Dates count in years. It needs
    the package formulaic.
    """
    told = f"{table.attrs['documents']:,} documents, each counted once; {table.attrs['draws']} draws of their weights."
    return with_notes(table, closing=told, values=table.attrs)


@question("prevalence", "topics.prevalence.prevalence_effects")
def _prevalence(table: "pd.DataFrame") -> "pd.DataFrame":
    """Print what the columns of --set prevalence do to each topic, as the fit learned it.

    One unit of a term multiplies the prior weight of the topic in a document by
    "factor"; 1 leaves it as it is. "factor_low" and "factor_high" are the ends of
    the 95 % interval. p is adjusted for the number of topics. Dates count in years.
    """
    import numpy as np

    factors = {"estimate": "factor", "low": "factor_low", "high": "factor_high"}
    return table.assign(**np.exp(table[list(factors)])).rename(columns=factors)


# Trees.


@question("tree")
def _tree(
    model: Any,
    *,
    depth: int = 2,
    children: int = 6,
    n_words: int = 8,
    node: str | None = None,
    leaf: int | None = None,
) -> "pd.DataFrame":
    """Print the tree of topics of a model that has one: each node with its share, number of words and top words."""
    import pandas as pd

    if node is not None and leaf is not None:
        raise InputError("--node and --leaf contradict each other; give one of them")
    root = model.tree_
    if root is None:
        raise InputError(
            f"this is a {type(model).__name__}, whose topics do not form a tree; print them with stickbreak topics, or "
            "fit a tree with --method tree"
        )
    if leaf is not None:
        nodes = list(_way_to(root.leaf(leaf)))
    else:
        nodes = list(_below(root if node is None else root.descend(_path(node)), depth, children))
    table = pd.DataFrame(
        {
            "path": [".".join(map(str, one.path)) or "all" for one, _ in nodes],
            "name": [one.name for one, _ in nodes],
            "topic": pd.array([one.topic for one, _ in nodes], dtype="Int64"),
            "n_topics": [one.n_topics for one, _ in nodes],
            "n_tokens": [one.n_tokens for one, _ in nodes],
            "share": [one.share for one, _ in nodes],
            "words": [" ".join(word for word, _ in one.words(n_words)) for one, _ in nodes],
            "nodes_left_out": [len(rest) for _, rest in nodes],
            "tokens_left_out": [sum(child.n_tokens for child in rest) for _, rest in nodes],
        }
    )
    values = {"n_topics": root.n_topics, "branching": list(root.branching) or None}
    names = [one.shown_name for one, _ in nodes]
    return with_notes(table, values=values, picture=_picture(table.assign(name=names), root.n_tokens))


def _below(node: Any, depth: int, most: int) -> Iterator[tuple[Any, Sequence[Any]]]:
    """Yield a node and the largest nodes below it, down to a depth, each with the children that are left out."""
    ranked = sorted(node.children, key=lambda child: -child.n_tokens) if depth else []
    yield node, ranked[most:]
    for child in ranked[:most]:
        yield from _below(child, depth - 1, most)


def _way_to(leaf: Any) -> Iterator[tuple[Any, Sequence[Any]]]:
    """Yield the nodes from the root to a leaf, each with the children that are left out."""
    for level in range(leaf.level):
        node, child = leaf.ancestor(level), leaf.ancestor(level + 1)
        yield node, [other for other in node.children if other != child]
    yield leaf, ()


def _picture(table: "pd.DataFrame", n_tokens: int) -> str:
    """Draw nodes, each below the one of which it is a child."""
    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree

    drawn: dict[str, Tree] = {}
    rows = table.astype(object).to_dict("records")
    for row in rows:
        path, topic, n_below = row["path"], row["topic"], row["n_topics"]
        what = _counted(n_below, "topic") if not isinstance(topic, int) else f"topic {topic}"
        if isinstance(topic, int) and n_below > 1:
            what += f" and {n_below - 1:,} below"
        named = f"{path} {row['name']}" if isinstance(row["name"], str) else path
        size = f"{row['share']:.1%}  {_counted(row['n_tokens'], 'word')}"
        label = Text(printable("  ".join((named, size, what, row["words"]))))
        above = drawn.get(path.rpartition(".")[0] or "all")
        drawn[path] = Tree(label) if above is None else above.add(label)
    for row in rows:
        if row["nodes_left_out"]:
            rest = row["tokens_left_out"]
            more = f"and {_counted(row['nodes_left_out'], 'more node')}"
            drawn[row["path"]].add(f"{more}  {rest / (n_tokens or 1):.1%}  {_counted(rest, 'word')}")
    console = Console(width=None if sys.stdout.isatty() else _UNFOLDED, highlight=False, color_system=None)
    with console.capture() as captured:
        console.print(drawn[rows[0]["path"]])
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _path(text: str) -> tuple[int, ...]:
    """Read 2.0.5 as a way down the tree."""
    parts = text.split(".")
    if not all(part.isdecimal() for part in parts):
        raise InputError(f"--node is {text!r}; give the path of a node as it is printed, 2.0.5 for example")
    return tuple(map(int, parts))


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
