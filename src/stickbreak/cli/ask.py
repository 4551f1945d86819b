"""`stickbreak ask MODEL QUESTION`: each question is a method of a model, and its answer a table."""

import inspect
import sys
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stickbreak.cli.documents import Documents, check_input
from stickbreak.cli.models import load_words_model
from stickbreak.cli.options import (
    DATES,
    READING,
    InputPath,
    Json,
    Metadata,
    ModelPath,
    Quiet,
    TableFile,
    option,
    set_signature,
)
from stickbreak.cli.options import given as given_options
from stickbreak.cli.output import print_json, printable, say, words_as_json
from stickbreak.cli.settings import joined
from stickbreak.cli.tables import check_table_file, tell_table, with_notes
from stickbreak.exceptions import InputError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from rich.tree import Tree

    from stickbreak.backoff_tree import TopicNode
    from stickbreak.corpus import Corpus

__all__ = ["ask"]

_SNIPPET = 200  # characters of a text
_CHANCE = 0.05
_FEW = 3  # words of a document: of fewer, the weights are mostly those of the whole collection
_SCORES = ("npmi", "umass", "c_v", "exclusivity")
_LEAST_NPMI, _LEAST_EXCLUSIVITY = 0.02, 0.1  # of a topic that says something
_UNFOLDED = 100_000  # columns, where the output is no terminal: a node is one line

ask = typer.Typer(help="Ask a model about its topics, words and documents.", no_args_is_help=True)


@ask.callback()
def _ask(ctx: typer.Context, model: ModelPath) -> None:
    """Ask a model about its topics, words and documents; the answer is a table.

    For example: stickbreak ask MODEL words --topic 3, or stickbreak ask MODEL
    trends INPUT. INPUT is read as the documents of the fit were. Each question
    has its own help: stickbreak ask MODEL words --help.
    """
    ctx.obj = model


OPTIONS: dict[str, Any] = {
    "topic": Annotated[str | None, option("--topic", "TOPIC", "Only this topic, by number or label. Default: all.")],
    "document": Annotated[
        str | None, option("--document", "NAME", "Only this document, by name or by its number from 0.")
    ],
    "n": Annotated[int | None, option("-n", "NUMBER", "How many.", min=1)],
    "words": Annotated[int, option("--words -n", "NUMBER", "Top words of each topic or node.", min=1)],
    "terms": Annotated[list[str], typer.Argument(metavar="WORD...", help="Words; * stands for any characters.")],
    "relevance": Annotated[
        float, option("--relevance", "NUMBER", "0: words of this topic alone. 1: frequent words.", min=0.0, max=1.0)
    ],
    "by": Annotated[
        str | None, option("--by", "PERIOD", "day, week, month, quarter or year. Default: one that makes 60 at most.")
    ],
    "column": Annotated[str, option("--column", "NAME", "Column of the categories.")],
    "category": Annotated[
        list[str] | None, option("--category", "VALUE", "Print only this category; may be given again.")
    ],
    "all_labels": Annotated[bool, option("--all-labels", None, "Also print labels that are not likely.")],
    "sort": Annotated[
        str | None, option("--sort", "COLUMN", "Order by npmi, umass, c_v or exclusivity, the worst first.")
    ],
    "window": Annotated[int, option("--window", "NUMBER", "Words in a window of c_v.", min=2)],
    "random_state": Annotated[int, option("--random-state", "NUMBER", "Seed of the choice.", min=0)],
    **{name: annotation for name, (annotation, _) in DATES.items()},
}
"""The options of questions by the names of the arguments of these."""

_ANSWER: dict[str, tuple[Any, Any]] = {
    "rows": (Annotated[int, option("--rows", "NUMBER", "Most rows to print.", min=1)], 50),
    "as_csv": (Annotated[bool, option("--csv", None, "Print all rows as CSV.")], False),
    "out": (TableFile, None),
    "as_json": (Json, False),
}
_OF_DOCUMENTS = {"metadata": (Metadata, None), "quiet": (Quiet, False), **READING}


def question(
    name: str, keep: str | None = None
) -> Callable[[Callable[..., "pd.DataFrame"]], Callable[..., "pd.DataFrame"]]:
    """Make a question of a function from a model, perhaps documents, and its own options to a table.

    Parameters
    ----------
    name : str
        On the command line. The docstring of the function is the help.
    keep : str, optional
        The own option that names a column to be kept beside the documents; where that is None, all are kept.
    """

    def decorate(answer: Callable[..., "pd.DataFrame"]) -> Callable[..., "pd.DataFrame"]:
        parameters = dict(inspect.signature(answer).parameters)
        own = [one for key, one in parameters.items() if key not in ("model", "documents")]
        reads = "documents" in parameters

        def command(ctx: typer.Context, **arguments: Any) -> None:
            folder, paths = ctx.obj, [arguments["input"]] if reads else []
            check_table_file(arguments["out"], folder, *paths)
            for path in paths:
                check_input(path)
            model = load_words_model(folder)
            options = {one.name: arguments[one.name] for one in own}
            if options.get("topic") is not None:
                options["topic"] = topic_number(model, options["topic"])
            if reads:
                column = None if keep is None else options[keep]
                kept: Any = None if keep is None else "all" if column is None else [column]
                reading = given_options({key: arguments[key] for key in READING})
                documents = Documents.read_for(
                    arguments["input"], model, reading, keep=kept, metadata=arguments["metadata"]
                )
                if not arguments["quiet"]:
                    say(documents.told_briefly)
                options["documents"] = documents
            tell_table(answer(model, **options), **{key: arguments[key] for key in _ANSWER})

        kind = inspect.Parameter.KEYWORD_ONLY
        made = [inspect.Parameter("ctx", kind, annotation=typer.Context)]
        if reads:
            made.append(inspect.Parameter("input", kind, annotation=InputPath))
        made += [one.replace(kind=kind, annotation=OPTIONS[one.name]) for one in own]
        for key, (annotation, default) in {**(_OF_DOCUMENTS if reads else {}), **_ANSWER}.items():
            made.append(inspect.Parameter(key, kind, annotation=annotation, default=default))
        set_signature(command, made)
        command.__doc__ = answer.__doc__
        ask.command(name)(command)
        return answer

    return decorate


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
    advice = f"did you mean {near[0]!r}?" if near else "stickbreak topics prints numbers and labels"
    raise InputError(f"--topic is {text!r}, but no topic has this label; {advice}")


@question("words")
def _words(model: Any, *, topic: str, relevance: float = 0.6, n: int = 20) -> "pd.DataFrame":
    """Print the words of a topic by relevance.

    lift says by how many times a word is more frequent in the topic than in all,
    share_of_word which part of its tokens belongs to the topic.
    """
    return model.words_of(topic, relevance, n)


@question("search")
def _search(model: Any, *, terms: list[str]) -> "pd.DataFrame":
    """Print the topics of words: those that have most of their tokens first."""
    return model.search(terms)


@question("documents", keep="dates")
def _documents(
    model: Any,
    documents: Documents,
    *,
    topic: int,
    n: int = 10,
    dates: str | None = None,
    date_format: str | None = None,
    since: str | None = None,
    until: str | None = None,
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
    table = model.documents_of(topic, corpus, n)
    table = table.assign(row=rows[table["row"].to_numpy()])
    if corpus.names is None:  # numbers in the file, not in the days that were chosen
        table = table.assign(document=table["row"].astype(str))
    label = model.labelled_topics(topic).labels[0]
    heading = (
        f"The documents that show topic {topic} best ({label}), in the order of low: the weight is at least that, and "
        "surer in long documents."
    )
    return with_notes(_with_texts(table, documents), heading=heading)


@question("topics-of")
def _topics_of(
    model: Any, documents: Documents, *, document: str | None = None, n: int | None = None
) -> "pd.DataFrame":
    """Print the largest topics of all documents, a row for each, or of one document, a row for each topic.

    -n is 5 for one document and 1 for all of them, whose second and third topic are in
    columns of their own. The row of a document without a word of the model is empty.
    """
    import pandas as pd

    corpus = documents.corpus
    if document is not None:
        return _of_one(model.topics_of, corpus, document, n or 5)
    table = model.topics_of(corpus, n or 1)
    place = table.groupby("row").cumcount()
    wide = pd.DataFrame({"document": list(corpus.names_in_tables)})
    for i in range(int(place.max()) + 1 if len(table) else 1):
        part = table[place == i].set_index("row")[["topic", "label", "weight"]].astype({"topic": "Int64"})
        wide = wide.join(part if i == 0 else part.add_suffix(f"_{i + 1}"))
    return wide


@question("word-topics")
def _word_topics(model: Any, documents: Documents, *, document: str, n: int = 1) -> "pd.DataFrame":
    """Print the topics of each word of a document."""
    return _of_one(model.word_topics, documents.corpus, document, n)


@question("similar")
def _similar(model: Any, documents: Documents, *, document: str, n: int = 10) -> "pd.DataFrame":
    """Print the documents that are most like a document, by their topics.

    distance is that of Hellinger between the topic weights: 0 for the same
    weights, 1 where no topic is in both.
    """
    corpus, row = documents.corpus, _row(documents.corpus, document)
    table = model.similar_documents(corpus, row, n)
    n_own, n_others = float(corpus.document_lengths[row]), int((table["tokens"] < _FEW).sum())
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


@question("over-time", keep="dates")
def _over_time(
    model: Any,
    documents: Documents,
    *,
    by: str | None = None,
    topic: int | None = None,
    dates: str | None = None,
    date_format: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> "pd.DataFrame":
    """Print the mean weight of each topic in each period, with 95 % intervals.

    The mean is over the tokens of the documents: share is of the fit, mean_weight of
    the documents given. The intervals say how much it would vary with other documents of the
    same kind.
    """
    corpus, days = _dated(documents, dates, date_format, since, until)
    table = model.topics_over_time(corpus, days, by, topic=topic)
    heading = f"Shares by {table.attrs['by']}, as suits the dates; --by names another period." if by is None else ""
    return with_notes(table, heading=heading)


@question("trends", keep="dates")
def _trends(
    model: Any,
    documents: Documents,
    *,
    topic: int | None = None,
    dates: str | None = None,
    date_format: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> "pd.DataFrame":
    """Print which topics grow and which shrink, and by how much in a year.

    The fastest growing is first, the fastest shrinking last; of a long table both ends are printed. change is in
    percentage points of the tokens per year, low and high are the
    ends of its 95 % interval, of this topic alone. p is small where the share
    rises or falls along a straight line; it is adjusted for the number of rows, as
    some of many topics seem to change by chance. So an interval can be above 0 where p is not below 0.05.
    """
    corpus, days = _dated(documents, dates, date_format, since, until)
    table = model.topic_trends(corpus, days, topic=topic)
    sure = table[table["p"] < _CHANCE]
    grow, shrink = int((sure["change"] > 0).sum()), int((sure["change"] < 0).sum())
    told = f"{grow:,} of {len(table):,} topics grow and {shrink:,} shrink by more than chance (p below {_CHANCE})."
    apart = int((((table["low"] > 0) | (table["high"] < 0)) & (table["p"] >= _CHANCE)).sum())
    if apart:
        more = "1 more topic has an interval" if apart == 1 else f"{apart:,} more topics have an interval"
        told += (
            f" {more} without 0: an interval is of one topic alone, p is adjusted for all {len(table):,}, of which "
            "some change by chance."
        )
    return with_notes(table, closing=told, ends=True)


@question("by", keep="column")
def _by(
    model: Any, documents: Documents, *, column: str, topic: int | None = None, category: list[str] | None = None
) -> "pd.DataFrame":
    """Print the mean weight of each topic in each category, with 95 % intervals and a test.

    difference is to the documents of all other categories. p is small where that
    is more than chance; it is adjusted for the number of rows of all categories.
    """
    table = model.topics_by(documents.corpus, column, topic=topic)
    if not category:
        return table
    known = table["category"].astype(str)
    for name in category:
        if not (known == name).any():
            near = get_close_matches(name, list(known.unique()), 1)
            advice = f"did you mean {near[0]!r}?" if near else "without --category all are printed"
            raise InputError(f"no document has the category {name!r}; {advice}")
    return table[known.isin(category)].reset_index(drop=True)


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
    rows = [
        (
            move["pass"],
            move["move"],
            move["gain"],
            move["n_topics"],
            " | ".join(" ".join(words) or "(no tokens)" for words in move["topics"]),
        )
        for move in model.moves_
    ]
    return pd.DataFrame(rows, columns=["pass", "move", "gain", "topics", "words"])


@question("predict-labels")
def _predict_labels(model: Any, documents: Documents, *, all_labels: bool = False) -> "pd.DataFrame":
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
    table = model.label_probabilities(documents.corpus)
    likely = [list(table.columns)] * len(table) if all_labels else model.predict_labels(documents.corpus)
    rows = [
        (document, label, table[label].iloc[d])
        for d, (document, labels) in enumerate(zip(table.index, likely, strict=True))
        for label in labels
    ]
    return pd.DataFrame(rows, columns=["document", "label", "probability"])


@question("scores")
def _scores(
    model: Any, documents: Documents, *, words: int = 10, sort: str | None = None, window: int = 110
) -> "pd.DataFrame":
    """Print how good each topic is: whether its top words occur together, and in no other topic.

    npmi (from -1 to 1; 0 is chance) and umass (0 is best) count documents, c_v
    (up to 1) counts windows of texts. exclusivity is the share of its top words
    that a topic has for itself. Give the documents of the fit, or others.
    """
    from stickbreak.evaluation import topic_scores

    texts = documents.texts
    if callable(texts):
        texts = texts(range(documents.corpus.n_documents))
    table = topic_scores(model, documents.corpus, texts=texts, n_words=words, window=window)
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
def _intrusion(model: Any, *, words: int = 5, random_state: int = 0) -> "pd.DataFrame":
    """Print lists of words with one that does not belong, to be found by people.

    The more often people find the intruder, the better is the topic (Chang et al.
    2009). Hide the last column from them.
    """
    from stickbreak.evaluation import word_intrusion

    numbers = model.topics_table()["topic"].to_numpy()
    phi = model.word_distributions(numbers)
    table = word_intrusion(phi, model.vocabulary_, n_words=words, random_state=random_state)
    return table.assign(topic=numbers[table["topic"].to_numpy(dtype=int)])


@ask.command("tree")
def _tree(
    ctx: typer.Context,
    depth: Annotated[int, option("--depth -d", None, "Levels to print below the node.", min=0)] = 2,
    children: Annotated[
        int, option("--children -c", None, "Most children to print of a node, the largest first.", min=1)
    ] = 6,
    words: Annotated[int, option("--words -n", None, "Words of each node.", min=1)] = 8,
    node: Annotated[str | None, option("--node", "PATH", "Start at this node, by its path as printed (2.0.5).")] = None,
    leaf: Annotated[int | None, option("--leaf", "TOPIC", "Print only the path from the root to this topic.")] = None,
    as_json: Json = False,
) -> None:
    """Print the tree of topics of a model that has one: each node with its share, number of words and top words."""
    if node is not None and leaf is not None:
        raise InputError("--node and --leaf contradict each other; give one of them")
    model = load_words_model(ctx.obj)
    root = model.tree_
    if root is None:
        raise InputError(
            f"{ctx.obj} is a {type(model).__name__}, whose topics do not form a tree; print them with "
            "stickbreak topics, or fit a tree with --method tree"
        )
    if leaf is not None:
        shown = _Branch.to_leaf(root.leaf(leaf), words)
    else:
        shown = _Branch.below(root if node is None else root.descend(_path(node)), depth, children, words)
    if as_json:
        print_json({"n_topics": root.n_topics, "branching": list(root.branching) or None, "tree": shown.as_json()})
        return
    from rich.console import Console

    terminal = sys.stdout.isatty()
    Console(width=None if terminal else _UNFOLDED, highlight=False).print(shown.drawn(None))


class _Branch:
    """A node as it is shown, with the children that are shown, and how many tokens the others have."""

    def __init__(
        self, node: "TopicNode", n_words: int, children: "list[_Branch]", n_left_out: int, tokens: int
    ) -> None:
        self.node, self.words, self.children = node, node.words(n_words), children
        self.n_left_out, self.tokens_left_out = n_left_out, tokens
        self.share_left_out = node.share * tokens / (node.n_tokens or 1)  # a leaf of pseudo-tokens

    @classmethod
    def below(cls, node: Any, depth: int, most: int, n_words: int) -> "_Branch":
        """Show a node and the largest of its children, down to a depth."""
        nodes: list[Any] = sorted(node.children, key=lambda child: -child.n_tokens)
        shown, rest = (nodes[:most], nodes[most:]) if depth else ([], [])
        children = [cls.below(child, depth - 1, most, n_words) for child in shown]
        return cls(node, n_words, children, len(rest), sum(child.n_tokens for child in rest))

    @classmethod
    def to_leaf(cls, leaf: Any, n_words: int) -> "_Branch":
        """Show the nodes above a leaf, each with the one child that leads there."""
        branch = cls(leaf, n_words, [], 0, 0)
        for level in reversed(range(leaf.level)):
            node = leaf.ancestor(level)
            branch = cls(node, n_words, [branch], len(node.children) - 1, node.n_tokens - branch.node.n_tokens)
        return branch

    def drawn(self, above: "Tree | None") -> "Tree":
        """Return the branch as a picture of lines, hung up below another one."""
        from rich.text import Text
        from rich.tree import Tree

        node = self.node
        what = _counted(node.n_topics, "topic") if node.topic is None else f"topic {node.topic}"
        if node.topic is not None and node.n_topics > 1:
            what += f" and {node.n_topics - 1:,} below"
        path = ".".join(map(str, node.path)) or "all"
        label = Text.assemble(
            (path if node.name is None else f"{path} {printable(node.name)}", "bold"),
            f"  {node.share:.1%}  {_counted(node.n_tokens, 'word')}  {what}  ",
            " ".join(printable(word) for word, _ in self.words),
        )
        here = Tree(label) if above is None else above.add(label)
        for branch in self.children:
            branch.drawn(here)
        if self.n_left_out:
            more = f"and {_counted(self.n_left_out, 'more node')}  "
            here.add(Text(more + f"{self.share_left_out:.1%}  {_counted(self.tokens_left_out, 'word')}", "dim"))
        return here

    def as_json(self) -> dict[str, Any]:
        """Return the branch for `print_json`."""
        node = self.node
        return {
            "path": list(node.path),
            "name": node.name,
            "level": node.level,
            "topic": node.topic,
            **node.place,
            "n_topics": node.n_topics,
            "n_tokens": node.n_tokens,
            "share": node.share,
            "words": words_as_json(self.words),
            "children": [branch.as_json() for branch in self.children],
            "left_out": {
                "n_nodes": self.n_left_out,
                "n_tokens": self.tokens_left_out,
                "share": self.share_left_out,
            },
        }


def _path(text: str) -> tuple[int, ...]:
    """Read 2.0.5 as a way down the tree."""
    parts = text.split(".")
    if not all(part.isdecimal() for part in parts):
        raise InputError(f"--node is {text!r}; give the path of a node as it is printed, 2.0.5 for example")
    return tuple(map(int, parts))


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


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


def _of_one(method: Callable[..., "pd.DataFrame"], corpus: "Corpus", document: str, n: int) -> "pd.DataFrame":
    """Ask about one document, which keeps its name."""
    row = _row(corpus, document)
    return method(corpus[[row]], n).drop(columns="row").assign(document=corpus.document_names[row])


def _with_texts(table: "pd.DataFrame", documents: Documents) -> "pd.DataFrame":
    """Add the beginnings of texts, if there are any; row numbers leave."""
    texts, rows = documents.texts, table["row"].tolist()
    plain = table.drop(columns="row")
    if texts is None:
        return plain
    whole = texts(rows) if callable(texts) else [texts[row] for row in rows]
    return plain.assign(text=[" ".join(text.split())[:_SNIPPET] for text in whole])
