"""The commands that ask a model: over time, by category, documents, words, search, similar documents, labels."""

import shlex
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stickbreak.cli.asking import Topic, asks_documents, asks_model, load_words_model
from stickbreak.cli.documents import Documents
from stickbreak.cli.label_file import labels_in
from stickbreak.cli.options import DateFormat, Dates, Json, ModelPath, Since, Until
from stickbreak.cli.output import print_json, print_rows, printable, say
from stickbreak.cli.tables import Next, with_notes
from stickbreak.exceptions import InputError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from stickbreak.corpus import Corpus

__all__ = [
    "by",
    "documents",
    "label",
    "moves",
    "over_time",
    "search",
    "similar",
    "topics_of",
    "trends",
    "word_topics",
    "words",
]

_SNIPPET = 200  # characters of a text
_CHANCE = 0.05
_FEW = 3  # words of a document: of fewer, the weights are mostly those of the whole collection

_OneTopic = Annotated[str, typer.Option("--topic", metavar="TOPIC", help="The topic, by number or label.")]
_Number = Annotated[int, typer.Option("-n", min=1, metavar="NUMBER", help="Number of rows.")]
_Document = Annotated[
    str, typer.Option("--document", metavar="NAME", help="Name of the document, or its number from 0.")
]


@asks_documents(keep="dates")
def over_time(
    fitted: Any,
    documents: Documents,
    dates: Dates = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="PERIOD",
            help="day, week, month, quarter or year. Default: the first that makes 60 periods at most.",
        ),
    ] = None,
    topic: Topic = None,
    since: Since = None,
    until: Until = None,
    date_format: DateFormat = None,
) -> "pd.DataFrame":
    """Print the mean weight of each topic in each period, with 95 % intervals.

    The mean is over the tokens of the documents: share is of the fit, mean_weight of
    the documents given. The intervals say how much it would vary with other documents of the
    same kind.
    """
    corpus, days = _dated(documents, dates, date_format, since, until)
    table = fitted.topics_over_time(corpus, days, by, topic=topic)
    of_time = _options_of_time(dates, date_format, since, until)
    heading = f"Shares by {table.attrs['by']}, as suits the dates; --by names another period." if by is None else ""
    if topic is None:
        grow = Next("see which topics grow", "trends", of_time, documents=True)
        return with_notes(table, heading=heading, next=[grow])
    return with_notes(table, heading=heading, next=[_examples(topic, "its documents", of_time)])


@asks_documents(keep="dates")
def trends(
    fitted: Any,
    documents: Documents,
    dates: Dates = None,
    topic: Topic = None,
    since: Since = None,
    until: Until = None,
    date_format: DateFormat = None,
) -> "pd.DataFrame":
    """Print which topics grow and which shrink, and by how much in a year.

    The fastest growing is first, the fastest shrinking last; of a long table both ends are printed. change is in
    percentage points of the tokens per year, low and high are the
    ends of its 95 % interval, of this topic alone. p is small where the share
    rises or falls along a straight line; it is adjusted for the number of rows, as
    some of many topics seem to change by chance. So an interval can be above 0 where p is not below 0.05.
    """
    corpus, days = _dated(documents, dates, date_format, since, until)
    table = fitted.topic_trends(corpus, days, topic=topic)
    of_time, sure = _options_of_time(dates, date_format, since, until), table[table["p"] < _CHANCE]
    following = []
    for verb, changes in (("grows", sure[sure["change"] > 0]), ("shrinks", sure[sure["change"] < 0][::-1])):
        if len(changes):
            fastest = int(changes["topic"].iloc[0])
            following.append(_examples(fastest, f"examples of what {verb} fastest", of_time))
            options = ("--topic", str(fastest), *of_time)
            following.append(Next("follow it", "over-time", options, documents=True))
    return with_notes(table, closing=_told_trends(table), next=following, ends=True)


@asks_documents(keep="column")
def by(
    fitted: Any,
    documents: Documents,
    column: Annotated[str, typer.Option("--column", metavar="NAME", help="Column of the categories.")],
    topic: Topic = None,
    category: Annotated[
        list[str] | None,
        typer.Option("--category", metavar="VALUE", help="Print only this category; may be given again."),
    ] = None,
) -> "pd.DataFrame":
    """Print the mean weight of each topic in each category, with 95 % intervals and a test.

    difference is to the documents of all other categories. p is small where that
    is more than chance; it is adjusted for the number of rows of all categories.
    """
    table = fitted.topics_by(documents.corpus, column, topic=topic)
    table = table if category is None else _of_categories(table, category)
    sure = table[table["p"] < _CHANCE]
    if sure.empty:
        return with_notes(table)
    largest = sure.loc[sure["difference"].abs().idxmax()]
    gives = f"examples of the largest difference, that of {largest['category']}"
    return with_notes(table, next=[_examples(int(largest["topic"]), gives)])


@asks_documents(keep="dates")
def documents(
    fitted: Any,
    documents: Documents,
    topic: _OneTopic,
    n: _Number = 10,
    dates: Dates = None,
    since: Since = None,
    until: Until = None,
    date_format: DateFormat = None,
) -> "pd.DataFrame":
    """Print the documents that show a topic best, with the beginning of their texts.

    The order is that of low, the lower end of a 95 % interval of the weight. A long
    document with a weight of 90 % stands before one of three words with all of its
    weight, because its weight is surer.
    """
    import numpy as np

    corpus, rows = documents.corpus, np.arange(documents.corpus.n_documents)
    if since is not None or until is not None:
        rows = _rows_of_days(documents, dates, date_format, since, until)[0]
        corpus = corpus[rows]
    table = fitted.documents_of(topic, corpus, n)
    table = table.assign(row=rows[table["row"].to_numpy()])
    if corpus.names is None:  # numbers in the file, not in the days that were chosen
        table = table.assign(document=table["row"].astype(str))
    shown = _with_texts(table, documents)
    label = fitted.labelled_topics(topic).labels[0]
    heading = (
        f"The documents that show topic {topic} best ({label}), in the order of low: the "
        "weight is at least that, and surer in long documents."
    )
    if shown.empty:
        return with_notes(shown, heading=heading)
    first = ("--document", str(shown["document"].iloc[0]))
    others = Next("see which documents are like the first", "similar", first, documents=True)
    all_of_it = Next("see what else is in it", "topics-of", first, documents=True)
    return with_notes(shown, heading=heading, next=[others, all_of_it])


@asks_documents()
def topics_of(
    fitted: Any,
    documents: Documents,
    document: Annotated[
        str | None,
        typer.Option("--document", metavar="NAME", help="Only this document, by name or by its number from 0."),
    ] = None,
    n: Annotated[
        int | None,
        typer.Option("-n", min=1, metavar="NUMBER", help="Topics of a document. Default: 5 of one, 1 of each of all."),
    ] = None,
) -> "pd.DataFrame":
    """Print the largest topics of all documents, a row for each, or of one document, a row for each topic.

    With -n 3 the second and third topic of a document are in columns of their own. The row of a document
    without a word of the model is empty.
    """
    if document is None:
        return _in_rows(fitted.topics_of(documents.corpus, n or 1), documents.corpus)
    return _of_one(fitted.topics_of, documents.corpus, document, n or 5)


@asks_documents()
def word_topics(
    fitted: Any,
    documents: Documents,
    document: _Document,
    n: Annotated[int, typer.Option("-n", min=1, metavar="NUMBER", help="Topics of each word.")] = 1,
) -> "pd.DataFrame":
    """Print the topics of each word of a document."""
    return _of_one(fitted.word_topics, documents.corpus, document, n)


@asks_documents()
def similar(fitted: Any, documents: Documents, document: _Document, n: _Number = 10) -> "pd.DataFrame":
    """Print the documents that are most like a document, by their topics.

    distance is that of Hellinger between the topic weights: 0 for the same
    weights, 1 where no topic is in both.
    """
    row = _row(documents.corpus, document)
    table: pd.DataFrame = fitted.similar_documents(documents.corpus, row, n)
    lines = _told_of_few(document, float(documents.corpus.document_lengths[row]), int((table["tokens"] < _FEW).sum()))
    return with_notes(_with_texts(table, documents), closing="\n".join(lines))


@asks_model
def words(
    fitted: Any,
    topic: _OneTopic,
    relevance: Annotated[
        float,
        typer.Option(
            "--relevance",
            min=0.0,
            max=1.0,
            metavar="NUMBER",
            help="From 0 (words of this topic alone) to 1 (frequent).",
        ),
    ] = 0.6,
    n: _Number = 20,
) -> "pd.DataFrame":
    """Print the words of a topic by relevance.

    lift says by how many times a word is more frequent in the topic than in all,
    share_of_word which part of its tokens belongs to the topic.
    """
    table: pd.DataFrame = fitted.words_of(topic, relevance, n)
    return table


@asks_model
def moves(fitted: Any) -> "pd.DataFrame":
    """Print the merges, deletes and births that a variational fit accepted.

    gain says by how many nats the objective rose, topics how many there were after
    it, words which topics were merged, deleted or born, with " | " between them.
    """
    import pandas as pd

    if not fitted.moves_:
        raise InputError(
            f"this {type(fitted).__name__} has no list of accepted moves; fit with --method variational to have one"
        )
    rows = [
        (
            move["pass"],
            move["move"],
            move["gain"],
            move["n_topics"],
            " | ".join(" ".join(words) or "(no tokens)" for words in move["topics"]),
        )
        for move in fitted.moves_
    ]
    return pd.DataFrame(rows, columns=["pass", "move", "gain", "topics", "words"])


@asks_model
def search(
    fitted: Any,
    words: Annotated[list[str], typer.Argument(metavar="WORD...", help="Words; * stands for any characters.")],
) -> "pd.DataFrame":
    """Print the topics of words: those that have most of their tokens first."""
    table = fitted.search(words)
    if table.empty:
        return with_notes(table)
    first = ("--topic", str(table["topic"].iloc[0]))
    return with_notes(table, next=[Next("see all words of the first", "words", first)])


def label(
    model: ModelPath,
    labels: Annotated[
        list[str] | None,
        typer.Argument(metavar="NUMBER=LABEL...", help="Labels to give; NUMBER= takes one away. Without: print them."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            metavar="FILE",
            help="CSV file with columns topic and label, such as topics --out FILE.csv writes. Labels made of words "
            "stay so.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Give labels to topics, or print those that were given.

    They are kept in the model, and take the place of words in all tables. For
    example: stickbreak label MODEL 3=encryption "5=mail and news". Labels of a
    file that are empty are taken away.
    """
    fitted = load_words_model(model)
    given = ({} if file is None else labels_in(file, fitted)) | dict(_label(text) for text in labels or [])
    if given:
        from stickbreak.model.labels import save_labels

        save_labels(fitted.label(given), model)
        report = model / "report.html"
        if report.is_file():
            again = shlex.join(["stickbreak", "report", str(model), "INPUT", "--out", str(report)])
            say(f"{report} is older than these labels; make it again with the documents as INPUT: {again}")
    known = fitted.labels_
    if as_json:
        print_json({"labels": {str(k): text for k, text in known.items()}})
    else:
        print_rows(("topic", "label"), [(str(k), printable(text)) for k, text in known.items()], left=(1,))


def _of_categories(table: "pd.DataFrame", wanted: list[str]) -> "pd.DataFrame":
    """Return the rows of some categories; refuse one that there is not."""
    known = table["category"].astype(str)
    for name in wanted:
        if not (known == name).any():
            near = get_close_matches(name, list(known.unique()), 1)
            advice = f"did you mean {near[0]!r}?" if near else "without --category all are printed"
            raise InputError(f"no document has the category {name!r}; {advice}")
    return table[known.isin(wanted)].reset_index(drop=True)


def _told_of_few(document: str, n_own: float, n_others: int) -> Iterator[str]:
    """Yield what makes a comparison with a document say little: few words of it, or of others."""
    if n_own < _FEW:
        words = "word" if n_own == 1 else "words"
        yield (
            f"Document {document} has {n_own:.12g} {words} that the model knows: too few to say which documents are "
            "like it."
        )
    if n_others:
        subject = "1 of these documents has" if n_others == 1 else f"{n_others} of these documents have"
        places = "its place says" if n_others == 1 else "their places say"
        yield f"{subject} fewer than {_FEW} words that the model knows: {places} little."


def _told_trends(table: "pd.DataFrame") -> str:
    """Say how many topics grow and shrink, and why intervals and p may disagree, where they do."""
    sure = table[table["p"] < _CHANCE]
    grow, shrink = int((sure["change"] > 0).sum()), int((sure["change"] < 0).sum())
    told = f"{grow:,} of {len(table):,} topics grow and {shrink:,} shrink by more than chance (p below {_CHANCE})."
    apart = int((((table["low"] > 0) | (table["high"] < 0)) & (table["p"] >= _CHANCE)).sum())
    if not apart:
        return told
    more = "1 more topic has an interval" if apart == 1 else f"{apart:,} more topics have an interval"
    return (
        f"{told} {more} without 0: an interval is of one topic alone, p is adjusted for all {len(table):,}, of which "
        "some change by chance."
    )


def _examples(topic: int | str, gives: str, of_time: tuple[str, ...] = ()) -> Next:
    """Return the command that prints documents of a topic."""
    return Next(f"see {gives}", "documents", ("--topic", str(topic), *of_time), documents=True)


def _in_rows(table: "pd.DataFrame", corpus: "Corpus") -> "pd.DataFrame":
    """Return the largest topics of all documents with a row for each document: topic, label, weight, topic_2, ..."""
    import pandas as pd

    place = table.groupby("row").cumcount()
    found = pd.DataFrame({"document": list(corpus.names_in_tables)})
    for i in range(int(place.max()) + 1 if len(table) else 1):
        part = table[place == i].set_index("row")[["topic", "label", "weight"]].astype({"topic": "Int64"})
        found = found.join(part if i == 0 else part.add_suffix(f"_{i + 1}"))
    return found


def _options_of_time(
    dates: str | None, date_format: str | None, since: str | None, until: str | None
) -> tuple[str, ...]:
    """Return the options that choose the same days again."""
    given = {"--dates": dates, "--date-format": date_format, "--since": since, "--until": until}
    return tuple(text for option, value in given.items() if value is not None for text in (option, value))


def _label(text: str) -> tuple[int, str | None]:
    """Read NUMBER=LABEL."""
    number, equals, name = text.partition("=")
    if not equals or not number.strip().isdecimal():
        raise InputError(f"{text!r} is not a label; give NUMBER=LABEL, such as 3=encryption")
    return int(number), name.strip() or None


def _dated(
    documents: Documents, dates: str | None, date_format: str | None, since: str | None, until: str | None
) -> "tuple[Corpus, np.ndarray]":
    """Return documents of some days, with their days."""
    rows, days = _rows_of_days(documents, dates, date_format, since, until)
    corpus = documents.corpus
    return (corpus if rows.size == days.size else corpus[rows]), days[rows]


def _rows_of_days(
    documents: Documents, dates: str | None, date_format: str | None, since: str | None, until: str | None
) -> "tuple[np.ndarray, np.ndarray]":
    """Return the rows of the documents of some days, and the days of all; without limits all rows."""
    import numpy as np

    from stickbreak.questions.columns import Span, days_of

    days = days_of(documents.corpus, *documents.dating(dates, date_format))
    return np.flatnonzero(Span.of(since, until, "--").holds(days)), days


def _row(corpus: "Corpus", document: str) -> int:
    """Return the row of a document by its name or its number."""
    from stickbreak.questions.documents import row_of

    return row_of(corpus, document)


def _of_one(question: Callable[..., "pd.DataFrame"], corpus: "Corpus", document: str, n: int) -> "pd.DataFrame":
    """Ask about one document, which keeps its name."""
    row = _row(corpus, document)
    return question(corpus[[row]], n).drop(columns="row").assign(document=corpus.document_names[row])


def _with_texts(table: "pd.DataFrame", documents: Documents) -> "pd.DataFrame":
    """Add the beginnings of texts, if there are any; row numbers leave."""
    texts, rows = documents.texts, table["row"].tolist()
    found = table.drop(columns="row")
    if texts is None:
        return found
    whole = texts(rows) if callable(texts) else [texts[row] for row in rows]
    return found.assign(text=[" ".join(text.split())[:_SNIPPET] for text in whole])
