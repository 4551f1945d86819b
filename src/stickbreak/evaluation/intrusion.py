"""Word intrusion: lists of words with one that does not belong, answers of people or a language model, and scores."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from stickbreak.corpus.metadata import in_tables
from stickbreak.evaluation.measures import top_words_of_table
from stickbreak.exceptions import InputError, NoAnswer, ServerError
from stickbreak.fitting.checks import check_whole
from stickbreak.questions.documents import wilson_lower_bound

if TYPE_CHECKING:
    import pandas as pd

_RARE_HERE = 0.5  # an intruder is in the lower half of the words of the topic
_BETWEEN = ", "  # words of a list: a phrase has blanks inside


def word_intrusion(
    topic_word: ArrayLike, words: Sequence[str], *, n_words: int = 5, random_state: int = 0
) -> pd.DataFrame:
    """Return lists of words for people, who look for the word that does not belong (Chang et al. 2009).

    A list has the top words of a topic and one intruder: a top word of another topic that is rare in this one. The
    more often people find it, the better is the topic (`intrusion_scores`).

    Parameters
    ----------
    topic_word : array-like of shape (n_topics, n_words_total)
        Word probabilities.
    words : sequence of str of length n_words_total
        The words of the columns, such as ``model.vocabulary_``.
    n_words : int, default=5
        Number of top words.
    random_state : int, default=0
        Seed of the choice and of the order.

    Returns
    -------
    DataFrame
        A row for each topic: topic, words (with commas between them, in random order), intruder. Topics have no row
        where all top words of the other topics are frequent in them, too.

    Raises
    ------
    InputError
        If the shapes do not fit, or an argument is out of range.
    """
    import pandas as pd

    phi = np.asarray(topic_word, dtype=np.float64)
    top = top_words_of_table(phi, n_words, len(words), least=1)
    rng, candidates = np.random.default_rng(check_whole("random_state", random_state, 0)), np.unique(top)
    rows, words = [], in_tables(words)
    for k, own in enumerate(top):
        rare = phi[k] <= np.quantile(phi[k], _RARE_HERE)
        possible = np.setdiff1d(candidates[rare[candidates]], own)
        if not possible.size:
            continue
        intruder = int(rng.choice(possible))
        shown = rng.permutation(np.append(own, intruder))
        rows.append((k, _BETWEEN.join(words[w] for w in shown), words[intruder]))
    return pd.DataFrame(rows, columns=["topic", "words", "intruder"])


def answered_intrusion(
    sheet: pd.DataFrame,
    find: Callable[[list[str]], str],
    callback: Callable[[dict[str, Any]], None] | None = None,
) -> pd.DataFrame:
    """Return lists of words with the answers of a language model, or of any function.

    Parameters
    ----------
    sheet : DataFrame
        As from `word_intrusion`. The column of intruders is not shown to `find`.
    find : callable
        From a list of words to the one that does not belong, such as ``ChatModel(url, model).intruder``. Where it
        raises `NoAnswer` there is no answer. Where the server is gone, the rest is not asked.
    callback : callable, optional
        Called with {"stage": "judge", "done", "total"}.

    Returns
    -------
    DataFrame
        The sheet with the columns answer, and reason: why there is none.

    Raises
    ------
    ServerError
        If the server does not answer the first question.
    """
    answers: list[tuple[str, str]] = []
    gone = False
    for words in sheet["words"].tolist():
        try:
            answers.append(("", "not asked, as the server gave no answer") if gone else (find(_listed(words)), ""))
        except NoAnswer as error:
            answers.append(("", str(error)))
        except ServerError as error:
            if not answers:
                raise
            answers.append(("", str(error)))
            gone = True
        if callback is not None:
            callback({"stage": "judge", "done": len(answers), "total": len(sheet)})
    return sheet.assign(answer=[answer for answer, _ in answers], reason=[reason for _, reason in answers])


def intrusion_scores(sheet: pd.DataFrame, key: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return how often the intruder was found in each topic, beside chance.

    Parameters
    ----------
    sheet : DataFrame
        Answers: the columns topic and words of `word_intrusion`, and one column of answers or more, whose names begin
        with "answer", such as one for each person. Rows of several people may also follow each other. An empty answer
        is left out. Capital and small letters are the same.
    key : DataFrame, optional
        What `word_intrusion` returned, where the sheet has no column of intruders.

    Returns
    -------
    DataFrame
        A row for each topic with an answer: topic, right (answers), answers, share_right, low, high (the ends of its
        95 % interval, Wilson 1927), chance (one over the number of words of a list). `attrs` has share_right, low, high
        and chance of all topics (the mean over topics, each counted once), n_answers, n_empty and n_unknown (answers
        that are none of the words, which are wrong).

    Raises
    ------
    InputError
        If a column is missing, no answer is there, or the intruder of a list is not known.

    Examples
    --------
    >>> import pandas as pd
    >>> sheet = pd.DataFrame({"topic": [0, 1], "words": ["sea, ship, oven", "court, jury, sail"],
    ...                       "intruder": ["oven", "sail"], "answer": ["Oven", "jury"]})
    >>> intrusion_scores(sheet)["share_right"].tolist()
    [1.0, 0.0]
    """
    import pandas as pd

    lacking = [name for name in ("topic", "words") if name not in sheet.columns]
    answers = [name for name in sheet.columns if str(name).casefold().startswith("answer")]
    if lacking or not answers:
        raise InputError(
            f"the sheet has no column {lacking[0] if lacking else 'answer'!r}; take the table of word_intrusion, and "
            "write the answers into a column answer."
        )
    intruders = _intruders(sheet, key)
    found: dict[int, list[tuple[bool, float]]] = {}
    n_empty = n_unknown = 0
    for row, intruder in zip(sheet.to_dict("records"), intruders, strict=True):
        words = [_plain(word) for word in _listed(str(row["words"]))]
        topic = _whole(row["topic"])
        for name in answers:
            answer = "" if pd.isna(row[name]) else _plain(row[name])
            if not answer:
                n_empty += 1
                continue
            n_unknown += answer not in words
            found.setdefault(topic, []).append((answer == intruder, 1 / len(words)))
    if not found:
        raise InputError(f"no row has an answer; write the word that does not belong into the column {answers[0]!r}.")
    right = np.array([sum(one for one, _ in rows) for rows in found.values()])
    n = np.array([len(rows) for rows in found.values()])
    table = pd.DataFrame({"topic": list(found), "right": right, "answers": n, "share_right": right / n})
    table["low"], table["high"] = _interval(right / n, n)
    table["chance"] = [float(np.mean([chance for _, chance in rows])) for rows in found.values()]
    mean = float(table["share_right"].mean())
    low, high = _interval(np.array([mean]), np.array([len(table)]))
    table = table.sort_values("topic", ignore_index=True)
    table.attrs = {
        "share_right": mean, "low": float(low[0]), "high": float(high[0]), "chance": float(table["chance"].mean()),
        "n_answers": int(n.sum()), "n_empty": n_empty, "n_unknown": n_unknown,
    }  # fmt: skip
    return table


def _intruders(sheet: pd.DataFrame, key: pd.DataFrame | None) -> list[str]:
    """Return the intruder of each row: its own, or that of the same list in the key."""
    import pandas as pd

    known = {} if key is None else dict(zip(map(_plain, key["words"]), map(_plain, key["intruder"]), strict=True))
    own = sheet["intruder"].tolist() if "intruder" in sheet.columns else [None] * len(sheet)
    intruders = []
    for words, intruder in zip(map(_plain, sheet["words"].tolist()), own, strict=True):
        lacks = pd.isna(intruder) or not _plain(intruder)
        if lacks and words not in known:
            raise InputError(
                f"the intruder among {words!r:.200} is not known; keep the column intruder, or score with the number "
                "of words and the seed that the lists were made with."
            )
        intruders.append(known[words] if lacks else _plain(intruder))
    return intruders


def _interval(share: Any, n: Any) -> tuple[Any, Any]:
    """Return the ends of the 95 % interval of shares, (m,), each of n answers."""
    return wilson_lower_bound(share, n), 1.0 - wilson_lower_bound(1.0 - share, n)


def _listed(words: str) -> list[str]:
    return [word.strip() for word in words.split(_BETWEEN)]


def _plain(text: Any) -> str:
    """Return a word as it is compared: without the quote that keeps a spreadsheet from taking it for a formula."""
    return unicodedata.normalize("NFC", str(text)).strip().removeprefix("'").strip().casefold()


def _whole(value: Any) -> int:
    """Return the number of a topic, also where a table made it a float."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if number < 0 or not number.is_integer():
        raise InputError(f"the sheet has the topic {value!r:.60}; give the number of a topic in each row.")
    return int(number)
