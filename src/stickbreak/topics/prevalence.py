"""What the topics of documents depend on: the terms of a formula in a fit, and their effects. docs/math (L27), (L29)"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting.checkpoint import is_table, require
from stickbreak.fitting.loop import logger
from stickbreak.numerics.arrays import Float
from stickbreak.questions.formulas import check_harmless, design_of, is_memory, names_in_formula, values_of_terms
from stickbreak.questions.labels import labelled_topics
from stickbreak.questions.regression import table_of_effects
from stickbreak.sparse_gibbs.columns import Design

if TYPE_CHECKING:
    import pandas as pd

PARAMETER = "prevalence"


@dataclass(frozen=True, slots=True)
class Prevalence:
    """The terms of a formula as the documents of a fit have them.

    Attributes
    ----------
    memory : dict
        What makes the terms of other documents.
    terms : tuple of str
        Without an intercept.
    means, scales : tuple of float
        Of each term in the documents of the fit. A term of only 0 and 1 has the scale 1, others their standard
        deviation.
    """

    memory: dict[str, Any]
    terms: tuple[str, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]

    @classmethod
    def of(cls, corpus: Corpus, formula: str, *, warns: bool = False) -> tuple[Self, Design]:
        """Return the terms of a formula in the documents of a fit, and their design."""
        terms, values, rows, memory = design_of(corpus, formula, parameter=PARAMETER, remembered=True)
        own = _own_terms(terms)
        if not own:
            raise InputError(f"{PARAMETER} is {formula!r}, which has no term; name a column, as 'year + source'.")
        values = values[:, own]
        are_flags = ((values == 0.0) | (values == 1.0)).all(axis=0)
        means, scales = values.mean(axis=0), np.where(are_flags, 1.0, values.std(axis=0))
        found = cls(memory, tuple(terms[j] for j in own), tuple(means.tolist()), tuple(scales.tolist()))
        x = np.zeros((len(corpus), len(own)))
        x[rows] = found._scaled(values)
        lacking = np.ones(len(corpus), bool)
        lacking[rows] = False
        n = int((lacking & (np.asarray(corpus.document_lengths) > 0)).sum())
        if n and warns:
            logger.warning("%d of %d documents lack a value of %s: they get its mean", n, len(corpus), PARAMETER)
        return found, Design.of(x)

    def of_documents(self, corpus: Corpus) -> Float | None:
        """Return the terms of other documents as the fit has them, (D, p); None where these lack a column."""
        values = values_of_terms(corpus, self.memory, PARAMETER)
        if values is None:
            return None
        return np.nan_to_num(self._scaled(values[:, _own_terms(self.memory["terms"])]), nan=0.0)

    def _scaled(self, values: Float) -> Float:
        return (values - np.array(self.means)) / np.array(self.scales)

    def plain(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {"memory": self.memory, "terms": self.terms, "means": self.means, "scales": self.scales}

    @classmethod
    def from_plain(cls, values: dict[str, Any]) -> Self:
        """Return what `plain` returned; a ValueError for what cannot be."""
        terms, memory = tuple(values["terms"]), dict(values["memory"])
        numbers = [tuple(map(float, values[name])) for name in ("means", "scales")]
        require(all(len(of) == len(terms) and np.isfinite(of).all() for of in numbers), "its terms are damaged")
        require(is_memory(memory) and min(numbers[1]) > 0.0, "its terms are damaged")
        require(terms == tuple(memory["terms"][j] for j in _own_terms(memory["terms"])), "its terms are damaged")
        check_harmless(memory["formula"], PARAMETER)
        return cls(memory, terms, *numbers)


def _own_terms(terms: list[str]) -> list[int]:
    """Return the places of terms, but for that of an intercept."""
    return [j for j, name in enumerate(terms) if name != "Intercept"]


def columns_in(formula: str, there: list[str], text: str | None) -> list[str]:
    """Return the columns that a formula names, of those that are there, but for that of the texts."""
    named = names_in_formula(formula)
    return [name for name in there if name in named and name != text]


def are_effects_of(effects: Float, n_topics: int, n_terms: int) -> bool:
    """Whether an array can hold estimates, errors and degrees of freedom, (3, K, p)."""
    return effects.shape == (3, n_topics, n_terms) and is_table(effects.reshape(-1), effects.size)


def prevalence_effects(model: Any, *, topic: int | None = None) -> pd.DataFrame:
    """Return how the prior of each topic depends on the terms of `prevalence`, as the fit learned it. docs/math (L29)

    A topic has the weight a_dk = exp(x_d^T lambda_k) in the prior of document d: an estimate of 0.7 says that one unit
    of the term, with the others held fixed, doubles it. The intervals hold the uncertainty of the topics of all tokens.

    Parameters
    ----------
    topic : int, optional
        Only this topic, without any adjustment of p for the others.

    Returns
    -------
    DataFrame
        As `effects` returns it, without an intercept.

    Raises
    ------
    InputError
        If the model was fitted without `prevalence`, or the fit was interrupted before its effects were drawn.
    """
    check_is_fitted(model)
    known: Prevalence | None = getattr(model, "_prevalence", None)
    if known is None:
        raise InputError("the model was fitted without prevalence; fit it with one, or ask effects with a formula.")
    asked = labelled_topics(model, topic)
    estimate, error, freedom = (part[asked.numbers].T for part in model.effects_)
    if not freedom.all():
        advice = "fit it again" if model._kept is None else "call continue_fit(X, n_laps=1), which draws them"
        raise InputError(f"the fit was interrupted before its effects were drawn; {advice}.")
    scales = np.array(known.scales)[:, None]
    table = table_of_effects(asked, known.terms, estimate / scales, error / scales, freedom)
    table.attrs = {"formula": known.memory["formula"]}
    return table
