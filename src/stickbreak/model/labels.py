"""Labels that a reader gives to topics: saved with the model, and kept while a topic keeps its number."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, TypeVar

import numpy as np

from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_whole
from stickbreak.model.naming import AskedName, Namer, asked_names
from stickbreak.numerics.arrays import Float
from stickbreak.prediction.topics import FlatTopics
from stickbreak.prediction.words import relevant_words
from stickbreak.questions.documents import best_documents
from stickbreak.questions.labels import LONGEST, MOST_TOPICS, is_label, kept_labels
from stickbreak.storage.persistence import replace_value
from stickbreak.storage.places import PathLike

Model = TypeVar("Model", bound=FlatTopics)
Texts = Sequence[str] | Callable[[Sequence[int]], list[str]]
logger = logging.getLogger("stickbreak")
_WORDS, _TEXTS = 10, 3  # that a namer is given of a topic


def label(
    model: Model,
    names: Mapping[int, str | None] | Namer,
    *,
    X: Any = None,
    texts: Texts | None = None,
    n_words: int = _WORDS,
    n_texts: int = _TEXTS,
    groups: bool = False,
) -> Model:
    """Give labels to topics. They are saved with the model, and take the place of words in all tables.

    Topics without a label of their own show their most relevant words. `update` keeps all labels, `continue_fit` and
    `partial_fit` those of topics that keep their number, a new `fit` none.

    The groups of a path of joins (`find_path`) can have labels, too. Join i of K topics makes group K + i, as in
    `hierarchy_`. The report shows the labels of groups, and a topic of `reduced` has that of its group. They are
    dropped with the path.

    Parameters
    ----------
    names : mapping of int to str or None, or Namer
        Labels by topic or group; None takes one away. A `Namer`, such as a `ChatModel` or a function of your own, is
        called for every topic, with a list of its most relevant words and a list of example texts, and returns the
        label. Where it raises `NoAnswer`, or returns what cannot be a label, the topic keeps the label that it has,
        and a line of the log says why. A name that another topic has gets a word behind it.
    X : Corpus, sparse matrix or array of shape (D, W), optional
        For a namer: documents of which those with most of the topic are the examples.
    texts : sequence of str of length D, or callable, optional
        For a namer: the texts of X, or a function from rows to texts. Without them the list of texts is empty.
    n_words, n_texts : int
        For a namer: the numbers of words and of texts, at most.
    groups : bool, default=False
        For a namer: whether it also names the groups of the path, from about 20 groups (`TopicPath.overview`) up to
        one. The examples of a group are from its largest topics.

    Returns
    -------
    model

    Raises
    ------
    InputError
        If there is no such topic, two labels are alike, a label is not a text in one line, or an argument is for a
        namer where labels are given, is out of range, or lacks its other half.
    """
    if isinstance(names, Mapping):
        given = X is not None, texts is not None, n_words != _WORDS, n_texts != _TEXTS, groups
        if any(given):
            name = ("X", "texts", "n_words", "n_texts", "groups")[given.index(True)]
            raise InputError(f"{name} is given, which is for a namer, but names holds labels; leave {name} out.")
        return _labelled(model, names)
    if not callable(names):
        raise InputError(f"names is {names!r:.40}; give labels by topic ({{3: 'encryption'}}) or a callable.")
    check_whole("n_words", n_words, 1)
    check_whole("n_texts", n_texts, 0)
    if (X is None) != (texts is None):
        one, other = ("X", "texts") if texts is None else ("texts", "X")
        raise InputError(f"{one} is given, but {other} is not; give X and texts, its texts, or leave {one} out.")
    if X is not None and texts is not None:
        X = model._corpus(X)
        if not callable(texts) and len(texts) != len(X):
            raise InputError(f"texts has {len(texts)} entries, but X has {len(X)} documents; give one for each.")
    numbers = unnamed(model, groups=groups, known={})
    rows = ask_for_names(model, names, numbers, X=X, texts=texts, n_words=n_words, n_texts=n_texts)
    for row in rows:
        if row.name is None:
            logger.warning("topic %d keeps its label: %s", row.number, row.reason)
    return _labelled(model, {row.number: row.name for row in rows if row.name is not None})


def _labelled(model: Model, names: Mapping[Any, str | None]) -> Model:
    """Give labels by numbers of topics, and of groups of the path."""
    owner: Any = model
    known, known_groups, K = owner.labels_, group_labels(model), owner.n_topics_
    n_groups = 0 if owner._path is None else len(owner._path.joins)
    of_groups = {int(k): text for k, text in names.items() if isinstance(k, int | np.integer) and K <= k < K + n_groups}
    of_topics = checked_labels(model, {k: text for k, text in names.items() if k not in of_groups})
    of_groups = {k: None if text is None else checked_label(k, text) for k, text in of_groups.items()}
    topics = {k: text for k, text in sorted({**known, **of_topics}.items()) if text is not None}
    groups = {k: text for k, text in sorted({**known_groups, **of_groups}.items()) if text is not None}
    refuse_alike({**topics, **groups})
    owner._labels = topics
    if of_groups:
        owner._path = replace(owner._path, labels={k - K: text for k, text in groups.items()})
    return model


def group_labels(model: FlatTopics) -> dict[int, str]:
    """Return the labels of groups of the path: of join i of K topics by the number K + i."""
    path: Any = getattr(model, "_path", None)
    return {} if path is None else {model.n_topics_ + i: text for i, text in sorted(path.labels.items())}


def unnamed(model: FlatTopics, *, groups: bool, known: Collection[int]) -> list[int]:
    """Return the numbers of the topics that a namer is asked about, and of the groups of the path if these, too.

    Groups are those that there are with as many as the overview, or fewer. `known` are left out.
    """
    numbers = model.shown_topics(1, most=MOST_TOPICS).numbers.tolist()
    path: Any = getattr(model, "_path", None)
    if groups and path is not None:
        numbers += [len(path.scores) + i for i in path.joins_of_overview()]
    return [k for k in numbers if k not in known]


def ask_for_names(
    model: FlatTopics,
    namer: Namer,
    numbers: Sequence[int],
    *,
    X: Any = None,
    texts: Texts | None = None,
    n_words: int = _WORDS,
    n_texts: int = _TEXTS,
    callback: Callable[[dict[str, Any]], None] | None = None,
) -> list[AskedName]:
    """Ask a namer for names of topics and groups of a model; the arguments are those of `label` and `asked_names`.

    The labels of the model stay as they are.
    """
    path: Any = getattr(model, "_path", None)
    K = len(path.scores) if path is not None else None
    members = {k: [k] for k in numbers}
    if K is not None and max(numbers, default=0) >= K:
        parts, size = path.members(), model.shown_topics(1, most=MOST_TOPICS)
        share = dict(zip(size.numbers.tolist(), size.shares.tolist(), strict=True))
        members |= {k: sorted(parts[k - K], key=lambda t: -share[t]) for k in numbers if k >= K}
    alone = sorted({t for of_number in members.values() for t in of_number})
    ranked = relevant_words(model, np.array(alone, dtype=np.int64), n_words)
    words = {t: [str(model.vocabulary_[w]) for w in row] for t, row in zip(alone, ranked, strict=True)}
    described = model.described_path(n_words) if K is not None else None
    if described is not None and K is not None:
        words |= {K + i: of_join for i, of_join in enumerate(described.words)}
    examples: dict[int, list[int]] = {t: [] for t in alone}
    if X is not None and texts is not None:
        rows, _ = best_documents(model, model._corpus(X), np.array(alone, dtype=np.int64), n_texts)
        examples = {t: [int(d) for d in best if d >= 0] for t, best in zip(alone, rows, strict=True)}
    questions = {}
    for k, parts_of in members.items():
        in_turn = (d for best in zip_longest(*(examples[t] for t in parts_of)) for d in best if d is not None)
        chosen = list(dict.fromkeys(in_turn))[:n_texts]
        shown = [] if texts is None else texts(chosen) if callable(texts) else [texts[d] for d in chosen]
        questions[k] = words[k], list(shown)
    return asked_names(namer, questions, {**model.labels_, **group_labels(model)}, callback)


def checked_labels(model: FlatTopics, given: Mapping[Any, Any]) -> dict[int, str | None]:
    """Refuse what cannot be the label of a topic."""
    for k, label in given.items():
        if not isinstance(k, int | np.integer) or isinstance(k, bool):
            raise InputError(f"a label is for {k!r}; give the number of a topic.")
        if label is None:
            continue
        checked_label(int(k), label)
    if given:
        model.word_distributions([int(k) for k in given])  # refuses a number that is none of a topic
    return {int(k): label.strip() if label else None for k, label in given.items()}


def checked_label(k: int, label: Any) -> str:
    """Return a label without blanks around it; refuse what cannot be one."""
    if not is_label(label):
        raise InputError(f"the label of topic {k} is {label!r:.60}; give one line of at most {LONGEST} characters.")
    return str(label).strip()


def refuse_alike(labels: Mapping[int, str]) -> None:
    """Refuse two topics with one label."""
    number: dict[str, int] = {}
    for k, label in labels.items():
        if label in number:
            raise InputError(f"topics {number[label]} and {k} have the same label {label!r}; give each its own.")
        number[label] = k


def labels_kept(model: FlatTopics, labels: Mapping[int, str], before: Float) -> dict[int, str]:
    """Return the labels of topics that kept their number when a model changed; `before` are their words then."""
    numbers = np.union1d(model.shown_topics(1, most=MOST_TOPICS).numbers, [k for k in labels if model.is_topic(k)])
    kept = kept_labels(labels, before, model.word_distributions(numbers), numbers)
    return {k: label for k, label in labels.items() if model._keeps_number(k) or k in kept}


def save_labels(model: FlatTopics, path: PathLike) -> None:
    """Write the labels of a model into the folder that it is saved in; all else there stays as it is."""
    replace_value(path, "labels", {str(k): label for k, label in model.labels_.items()})
    joins: Any = getattr(model, "_path", None)
    if joins is not None:
        replace_value(path, "path", joins.packed()[1])
