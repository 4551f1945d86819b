"""How the shares of topics depend on several columns at once: a regression, with the uncertainty of the weights.

Roberts and others, Structural topic models for open-ended survey responses (2014); Treier and Jackman, Democracy as a
latent variable (2008), for the method of composition; Rubin, Multiple imputation for nonresponse in surveys (1987);
Barnard and Rubin, Small-sample degrees of freedom with multiple imputation (1999). Errors are those of MacKinnon and
White (1985), HC3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_whole
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.streams import stream_at
from stickbreak.prediction.topics import FlatTopics
from stickbreak.prediction.words import document_blocks
from stickbreak.questions.by_category import ROUNDING, adjusted
from stickbreak.questions.formulas import design_of
from stickbreak.questions.intervals import LEVEL
from stickbreak.questions.labels import LabelledTopics, labelled_topics
from stickbreak.questions.weights import documents_with

if TYPE_CHECKING:
    import pandas as pd

DRAWS = 25
_FIRST_SWEEPS, _BETWEEN = 20, 2  # sweeps before the first draw, and between two that are kept
_LEAST_PRIOR = 0.01  # of the mean share of a topic: what the formula leaves at least to each document
_AT_ONCE, _WIDE = 1 << 20, 512  # numbers of a block of tokens, and of a document in a block of these


def effects(
    model: FlatTopics,
    X: Any,
    formula: str,
    *,
    topic: int | None = None,
    date_format: str | None = None,
    n_draws: int = DRAWS,
    random_state: int = 0,
    callback: Callable[[dict[str, Any]], None] | None = None,
) -> pd.DataFrame:
    """Return how the share of each topic in a document depends on columns beside the documents.  docs/math (Q10), (Q11)

    Each document counts once, however long it is. The intervals hold the scatter of the documents and the uncertainty
    of their weights; the topics stay fixed. It needs the package formulaic: ``pip install "stickbreak[effects]"``.

    Parameters
    ----------
    X : Corpus, or a data frame of a model that was fitted to one
        Documents with columns beside them. Those that lack a value, or have no words, are left out.
    formula : str
        The right side of a formula, as R has them: "year + source", "year * source", "C(year)", "bs(year, df=4)". Dates
        count in years from their mean. A formula is code, as it may call functions: take none from strangers.
    topic : int, optional
        Only this topic, without any adjustment of p for the others.
    date_format : str, optional
        How columns of dates are written, as in `topics_over_time`.
    n_draws : int, default=25
        Draws of the weights of all documents.
    random_state : int, default=0
        Seed of the draws.
    callback : callable, optional
        Called with a dict after each sweep over the documents: {"stage": "draw", "done", "total"}.

    Returns
    -------
    DataFrame
        A row for each topic and term: topic, label, term, estimate, low, high (95 % interval), p (of no effect;
        adjusted for the number of topics after Benjamini and Hochberg; NaN for the intercept).

    Raises
    ------
    InputError
        If the formula cannot be read or names no column, its terms depend on each other, the counts are not whole
        numbers, or the weights of the model have no prior, as those of a tree.
    """
    n_draws = check_whole("n_draws", n_draws, 2)
    asked, corpus = labelled_topics(model, topic), documents_with(model, X, None)
    prior = prior_of(model)
    terms, design, rows, _ = design_of(corpus, formula, date_format)
    corpus = replace(corpus[rows], names=None, metadata=None)
    if (corpus.counts.data % 1 != 0).any():
        raise InputError("effects draws the topic of each token, but the counts are not whole numbers; give counts.")
    regression = Regression(design)
    pooled = Pooled(regression)
    draws = weight_draws(
        model.topic_word_, prior, corpus, regression, n_draws, random_state, callback, strength=model._strength
    )
    for theta in draws:
        pooled.add(theta[:, asked.numbers])
    table = table_of_effects(asked, terms, *pooled.result())
    table.attrs = {"formula": formula, "documents": int(rows.size), "draws": n_draws}
    return table


def table_of_effects(
    asked: LabelledTopics, terms: Sequence[str], estimate: Float, error: Float, freedom: Float
) -> pd.DataFrame:
    """Return the table of the effects of terms on topics, of which estimates, errors and so on are (p, n)."""
    import pandas as pd

    reach = stats.t.ppf((1 + LEVEL) / 2, freedom) * error
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(error > 0, 2 * stats.t.sf(np.abs(estimate) / error, freedom), np.where(estimate == 0, 1.0, 0.0))
    intercept = np.array([name == "Intercept" for name in terms])
    p[intercept] = np.nan
    return pd.DataFrame(
        {
            "topic": np.repeat(asked.numbers, len(terms)),
            "label": np.repeat(np.array(asked.labels, dtype=object), len(terms)),
            "term": list(terms) * asked.numbers.size,
            "estimate": estimate.T.ravel(),
            "low": (estimate - reach).T.ravel(),
            "high": (estimate + reach).T.ravel(),
            "p": np.array([adjusted(of_term) for of_term in p]).T.ravel(),
        }
    )


def prior_of(model: FlatTopics) -> Float:
    """Return the concentrations of the topics in a document, (K,)."""
    try:
        with_rest: Callable[[], Float] = model._document_prior  # type: ignore[attr-defined]
    except AttributeError:
        raise InputError(
            f"effects draws weights of documents from their posterior, which a {type(model).__name__} does not have; "
            "give a TopicModel, VariationalHDP, HybridHDP or GibbsHDP."
        ) from None
    return with_rest()[:-1]


class Regression:
    """Least squares of all topics at once on a design of D documents and p terms.                  docs/math (Q10)"""

    def __init__(self, design: Float) -> None:
        self.design = design
        Q, R = np.linalg.qr(design)
        self.inverse = np.linalg.solve(R, Q.T)  # (p, D): coefficients of shares
        self.leverage = (Q**2).sum(axis=1)
        self.least = ROUNDING * np.linalg.norm(self.inverse, axis=1)[:, None]  # (p, 1): a smaller coefficient is zero

    def fit(self, shares: Float) -> tuple[Float, Float]:
        """Return coefficients and their squared errors (HC3), (p, n) each, of shares, (D, n)."""
        found = self.inverse @ shares
        residual = (shares - self.design @ found) / (1 - np.minimum(self.leverage, 1 - 1e-9))[:, None]
        return found, self.inverse**2 @ residual**2

    def resampled(self, shares: Float, rng: np.random.Generator) -> Float:
        """Return the predicted shares, (D, n), by coefficients of resampled documents (Bayesian bootstrap)."""
        v = np.sqrt(rng.standard_exponential(len(shares)))[:, None]
        Q, R = np.linalg.qr(v * self.design)
        return np.asarray(self.design @ np.linalg.solve(R, Q.T @ (v * shares)))


class Pooled:
    """Coefficients of several draws as one, after Rubin.                                           docs/math (Q11)"""

    def __init__(self, regression: Regression) -> None:
        self.regression = regression
        self.n = 0
        self.total: Float = np.zeros(())
        self.squares: Float = np.zeros(())
        self.within: Float = np.zeros(())

    def add(self, shares: Float) -> None:
        """Add a draw of the shares, (D, n)."""
        found, squared_error = self.regression.fit(shares)
        self.n, self.total, self.squares = self.n + 1, self.total + found, self.squares + found**2
        self.within = self.within + squared_error

    def result(self) -> tuple[Float, Float, Float]:
        """Return estimates, standard errors and degrees of freedom, (p, n) each."""
        m, (D, p) = self.n, self.regression.design.shape
        mean, within = np.asarray(self.total / m), np.asarray(self.within / m)
        between = np.maximum(self.squares / m - mean**2, 0.0) * m / (m - 1)
        total = within + (1 + 1 / m) * between
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.where(total > 0, (1 + 1 / m) * between / total, 0.0)
            complete = D - p
            observed = (complete + 1) / (complete + 3) * complete * (1 - part)
            freedom = 1 / (part**2 / (m - 1) + 1 / np.maximum(observed, 1.0))
        error, least = np.sqrt(total), self.regression.least
        return np.where(np.abs(mean) > least, mean, 0.0), np.where(error > least, error, 0.0), freedom


def weight_draws(
    phi: Float,
    prior: Float,
    corpus: Corpus,
    regression: Regression | None,
    n_draws: int,
    seed: int,
    callback: Callable[[dict[str, Any]], None] | None = None,
    *,
    strength: float = math.inf,
) -> Iterator[Float]:
    """Yield draws of the weights of documents, (D, K), with a prior whose means follow the formula.  docs/math (Q11)

    Without a regression the prior is that of the model: then effects are drawn towards zero.
    """
    total = float(prior.sum())
    a = np.tile(prior, (len(corpus), 1))
    theta: Float = a / total
    n_sweeps = _FIRST_SWEEPS + _BETWEEN * n_draws
    for sweep in range(n_sweeps):
        rng = stream_at(seed, "weights of documents", sweep)
        for block in document_blocks(len(corpus), _WIDE):
            theta[block] = drawn_weights(phi, a[block], theta[block], corpus[block], rng, strength)
        if regression is not None:
            predicted = np.maximum(regression.resampled(theta, rng), _LEAST_PRIOR * theta.mean(axis=0))
            a = total * predicted / predicted.sum(axis=1, keepdims=True)
        if callback is not None:
            callback({"stage": "draw", "done": sweep + 1, "total": n_sweeps})
        if sweep >= _FIRST_SWEEPS and (sweep - _FIRST_SWEEPS) % _BETWEEN == _BETWEEN - 1:
            yield theta.copy()


def drawn_weights(
    phi: Float, a: Float, theta: Float, corpus: Corpus, rng: np.random.Generator, strength: float
) -> Float:
    """Draw the topic of each fresh token, then the weights of each document, (D, K).              docs/math (Q11)"""
    counts, K = corpus.counts, a.shape[1]
    repeats = counts.data.astype(np.int64)
    document = np.repeat(np.repeat(np.arange(len(corpus)), np.diff(counts.indptr)), repeats)
    word = np.repeat(counts.indices, repeats)
    before = np.arange(word.size) - np.repeat(np.cumsum(repeats) - repeats, repeats)  # tokens of the word, j - 1
    n = np.zeros((len(corpus), K))
    step = max(1, _AT_ONCE // K)
    for begin in range(0, word.size, step):
        part = slice(begin, begin + step)
        upto: Float = np.cumsum(theta[document[part]] * phi[:, word[part]].T, axis=1)
        at = rng.random((len(upto), 1)) * upto[:, -1:]
        topic = np.minimum((upto < at).sum(axis=1), K - 1)
        cell = document[part] * K + topic
        if strength < math.inf:
            p = upto[:, -1]
            cell = cell[rng.random(p.size) * (p + before[part] / strength) < p]
        n += np.bincount(cell, minlength=n.size).reshape(n.shape)
    g = np.maximum(rng.standard_gamma(n + a), 1e-300)
    return np.asarray(g / g.sum(axis=1, keepdims=True))
