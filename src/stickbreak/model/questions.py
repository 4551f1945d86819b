"""What a reader asks of a fitted model, each question a method that returns a data frame."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stickbreak.corpus import Corpus, TextOptions
from stickbreak.corpus.text_columns import is_frame, kept_columns
from stickbreak.corpus.text_counter import preparation
from stickbreak.fitting.loop import logger
from stickbreak.fitting.requirements import check_whole
from stickbreak.model.notebook import ShownInNotebooks
from stickbreak.prediction.relevance import RELEVANCE
from stickbreak.questions import by_category, documents, over_time, similar, table
from stickbreak.questions import word_topics as of_words
from stickbreak.questions import words as of_topic
from stickbreak.questions.columns import categories_of, days_of, fitting_period
from stickbreak.questions.intervals import RESAMPLES

if TYPE_CHECKING:
    import pandas as pd


class Questions(ShownInNotebooks):
    """The side of `TopicEstimator` that answers questions about topics and documents.

    A table of topics is about all of them; of a tree about its 100 largest leaves. Weights of documents are those of
    `transform`: those of short documents lean towards the whole collection.
    """

    text_column_: str | None
    text_options_: TextOptions | None

    def topics_table(self, X: Any = None, *, n_words: int = 10) -> pd.DataFrame:
        """Return the topics, one in each row.

        Parameters
        ----------
        X : Corpus, sparse matrix or array of shape (D, W), optional
            Documents to be described, too.
        n_words : int, default=10
            Maximum number of words of each topic.

        Returns
        -------
        DataFrame
            Columns: topic (its number), label, share (of the tokens of the fit), corpus_weight (the share that the
            model expects in a new collection) and words (the most relevant). With X also coherence (NPMI of the ten
            most probable words in X), mean_weight (over X, weighted by tokens), documents (in which the topic is the
            largest) and examples (names of the documents that show it best).
        """
        asked = self._asked()
        corpus = None if X is None else self._corpus(X)
        return table.topics_table(self, corpus, asked, check_whole("n_words", n_words, 1))

    def topics_over_time(
        self,
        X: Any,
        dates: Any = None,
        by: str | None = None,
        *,
        topic: int | None = None,
        date_format: str | None = None,
        n_resamples: int = RESAMPLES,
        random_state: int = 0,
    ) -> pd.DataFrame:
        """Return the share of each topic in the tokens of each period, with 95 % intervals.    math.md (Q1), (Q2)

        The intervals say how the share would vary with other documents of the same kind: the documents of a period are
        resampled (Bayesian bootstrap). The topics stay fixed.

        Parameters
        ----------
        X : Corpus, sparse matrix or array of shape (D, W)
        dates : str or array-like of length D, optional
            A column of `Corpus.metadata`, or of X if that is a data frame; or the date of each document. Years as
            numbers are dates, too. The default is the only column of dates. Documents without a date are left out.
        by : {"day", "week", "month", "quarter", "year"}, optional
            The periods. Weeks begin on Monday. The default is the shortest of which the dates span 60 at most, or else
            year. Dates that all lie in different months are counted by month, or by a longer period that tells them
            apart. `attrs["by"]` of the table says which.
        topic : int, optional
            Only this topic, without any adjustment of p for the others. The default is all; of a tree the 100 largest
            leaves.
        date_format : str, optional
            How dates are written, as in `datetime.strptime`. By default text must be as in ISO 8601 (2026-11-23).
        n_resamples : int, default=500
            Number of resamples of the documents.
        random_state : int, default=0
            Seed of the resamples.

        Returns
        -------
        DataFrame
            A row for each topic and period: topic, label, period (its first day), mean_weight, low, high, tokens and
            documents of the period. Periods without tokens have no row. low and high are NaN where there is a single
            document.

        Raises
        ------
        InputError
            If there are no dates, or they cannot be read.
        """
        corpus, asked = self._about(X, topic, dates)
        days = days_of(corpus, dates, date_format)
        _tell_left_out(np.isnat(days), "date")
        by = fitting_period(days) if by is None else by
        n = check_whole("n_resamples", n_resamples, 2)
        table = over_time.topics_over_time(self, corpus, days, by, asked, n_resamples=n, seed=random_state)
        table.attrs["by"] = by
        return table

    def topic_trends(
        self, X: Any, dates: Any = None, *, topic: int | None = None, date_format: str | None = None
    ) -> pd.DataFrame:
        """Return how fast the share of each topic grows, the fastest first.                        math.md (Q4)

        Parameters
        ----------
        X : Corpus, sparse matrix or array of shape (D, W)
            Choose documents to look at some years only.
        dates, topic, date_format
            As in `topics_over_time`.

        Returns
        -------
        DataFrame
            A row for each topic: topic, label, mean_weight, change (of it in a year), low, high (95 % interval of the
            change), p (of no change; adjusted for the number of topics after Benjamini and Hochberg).

        Raises
        ------
        InputError
            If there are no dates, or fewer than three documents with them, or all are of one day.
        """
        corpus, asked = self._about(X, topic, dates)
        days = days_of(corpus, dates, date_format)
        _tell_left_out(np.isnat(days), "date")
        return over_time.topic_trends(self, corpus, days, asked)

    def topics_by(
        self,
        X: Any,
        category: Any,
        *,
        topic: int | None = None,
        n_resamples: int = RESAMPLES,
        random_state: int = 0,
    ) -> pd.DataFrame:
        """Return the share of each topic in the tokens of each category, with 95 % intervals and a test.

        Intervals are those of `topics_over_time`. Each share is compared with the share in the documents of all other
        categories, p adjusted for the number of rows after Benjamini and Hochberg.               math.md (Q1) to (Q3)

        Parameters
        ----------
        X : Corpus, sparse matrix or array of shape (D, W)
        category : str, int or array-like of length D
            A column of `Corpus.metadata`, or of X if that is a data frame; or the category of each document. Documents
            without one are left out.
        topic, n_resamples, random_state
            As in `topics_over_time`.

        Returns
        -------
        DataFrame
            A row for each topic and category: topic, label, category, mean_weight, low, high, difference, p, tokens and
            documents of the category.

        Raises
        ------
        InputError
            If there is no such column, no category or more than 1,000, or a value is not one, as a list is.
        """
        corpus, asked = self._about(X, topic, category)
        values = categories_of(corpus, category, "category")
        _tell_left_out(values.isna().to_numpy(), "category")
        n = check_whole("n_resamples", n_resamples, 2)
        return by_category.topics_by(self, corpus, values, asked, n_resamples=n, seed=random_state)

    def documents_of(self, topic: int, X: Any, n: int = 10) -> pd.DataFrame:
        """Return the documents that show a topic best.

        Parameters
        ----------
        topic : int
            Number of the topic; of a tree a leaf.
        X : Corpus, sparse matrix or array of shape (D, W)
        n : int, default=10
            Number of documents.

        Returns
        -------
        DataFrame
            A row for each document, the best first: document (its name), row, weight (of the topic), low (the lower end
            of Wilson's 95 % interval of the weight), tokens. The order is that of low, so that three words do not win.
        """
        corpus, _ = self._about(X, topic)
        return documents.documents_of(self, corpus, int(topic), n)

    def topics_of(self, X: Any, n: int = 5) -> pd.DataFrame:
        """Return the largest topics of each document.

        Parameters
        ----------
        X : Corpus, sparse matrix or array of shape (D, W)
            Documents; ``corpus[[3]]`` is one.
        n : int, default=5
            Number of topics of each document.

        Returns
        -------
        DataFrame
            A row for each document and topic: document (its name), row, topic, label, weight. Documents without a word
            of the model have no row.
        """
        check_is_fitted(self)
        return self._labelled(documents.topics_of(self, self._corpus(X), n))

    def word_topics(self, X: Any, n: int = 1) -> pd.DataFrame:
        """Return the topics of each word of each document: exact expectations given the fitted topics.    math.md (Q8)

        Parameters
        ----------
        X : Corpus, sparse matrix or array of shape (D, W)
        n : int, default=1
            Number of topics of each word, the most probable first.

        Returns
        -------
        DataFrame
            A row for each document, word and topic: document (its name), row, word, count (in the document), topic,
            label, probability.
        """
        check_is_fitted(self)
        return self._labelled(of_words.word_topics(self, self._corpus(X), n))

    def words_of(self, topic: int, relevance: float = RELEVANCE, n: int = 20) -> pd.DataFrame:
        """Return the words of a topic by relevance (Sievert and Shirley 2014).                     math.md (Q5)

        Parameters
        ----------
        topic : int
            Number of the topic; of a tree a leaf.
        relevance : float, default=0.6
            From 0 (words that other topics do not have first) to 1 (frequent words first).
        n : int, default=20
            Number of words.

        Returns
        -------
        DataFrame
            A row for each word: word, relevance, probability (in the topic), lift (by how many times the word is more
            frequent in the topic than in all), share_of_word (of the tokens of the word that belong to the topic).
        """
        check_is_fitted(self)
        return of_topic.words_of(self, topic, relevance, n)

    def search(self, words: str | Iterable[str]) -> pd.DataFrame:
        """Find the topics of words.                                                                math.md (Q6)

        Parameters
        ----------
        words : str or iterable of str
            Words of the model, in a list or in one string with spaces between them; * stands for any characters. Words
            that it does not know as they are given are made lower case, and lose accents, if the texts of the fit did.

        Returns
        -------
        DataFrame
            A row for each topic with a lift of 1 or more, the largest share first: topic, label, share_of_word
            (mean over the words of the share of their tokens that the topic has), lift (by how many times they are
            more frequent in the topic than in all).

        Raises
        ------
        InputError
            If the model does not know a word; the message names similar ones.
        """
        import pandas as pd

        check_is_fitted(self)
        as_counted = preparation(self.text_options_ or TextOptions())
        numbers, shares, lift = of_topic.search(self, words, as_counted)
        return self._labelled(pd.DataFrame({"topic": numbers, "share_of_word": shares, "lift": lift}))

    def similar_documents(self, X: Any, document: int | str, n: int = 10) -> pd.DataFrame:
        """Return the documents that are most like one document.                                    math.md (Q7)

        The distance is that of Hellinger between the topic weights.

        Parameters
        ----------
        X : Corpus, sparse matrix or array of shape (D, W)
        document : int or str
            Row or name of the document, which is one of X.
        n : int, default=10
            Number of documents.

        Returns
        -------
        DataFrame
            A row for each document, the nearest first: document (its name), row, distance (0: the same weights; 1: no
            topic in common), tokens.
        """
        check_is_fitted(self)
        corpus = self._corpus(X)
        return similar.similar_documents(self, corpus, similar.row_of(corpus, document), n)

    def active_weights(self, X: Any) -> Any:
        """Return what `transform` does, as an array whatever scikit-learn's `set_output` says, (D, K)."""
        weights = self.expected_weights(X)[:, :-1]
        return weights / weights.sum(axis=1, keepdims=True)

    def _about(self, X: Any, topic: int | None, column: Any = "") -> tuple[Corpus, Any]:
        """Return the documents and the topics that a question is about.

        Of a data frame the column that is named comes with the documents; None: all columns.
        """
        asked, corpus = self._asked(topic), self._corpus(X)
        if is_frame(X) and self.text_column_ is not None and (column is None or isinstance(column, str | Integral)):
            keep = "all" if column is None else [column] if column else None
            corpus = replace(corpus, metadata=kept_columns(X, keep, self.text_column_))
        return corpus, asked

    def _labelled(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Add the labels of the topics of a table."""
        asked = self._asked()
        numbers = np.union1d(asked.numbers, frame["topic"].to_numpy(dtype=np.int64))
        label = dict(zip(numbers.tolist(), self._labels_of(numbers), strict=True))
        frame.insert(frame.columns.get_loc("topic") + 1, "label", [label[k] for k in frame["topic"].tolist()])
        return frame


def _tell_left_out(lacking: np.ndarray, what: str) -> None:
    """Log how many documents have no value."""
    n = int(lacking.sum())
    if n:
        number = "1 document has" if n == 1 else f"{n:,} documents have"
        logger.warning("%s no %s and %s left out", number, what, "is" if n == 1 else "are")
