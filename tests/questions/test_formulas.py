"""Formulas that may come with a model: what they may hold, their columns, and other documents than those of the fit."""

from datetime import datetime
from typing import Any

import numpy as np
import pytest

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.questions.formulas import check_harmless, design_of, values_of_terms, variables_of


def documents(**columns: Any) -> Corpus:
    n = len(next(iter(columns.values())))
    return Corpus.from_counts(np.ones((n, 2), int), metadata=columns)


@pytest.mark.parametrize(
    "formula",
    [
        "I((print)((chr)(72)))+year",
        "I((lambda: 1)())",
        "I(year.to_csv(1))",
        "I([x for x in year])",
        "I(year if year else 0)",
        "C(year, 'a')",
        "I(__import__)",
        "{year}",
        "bs(*year)",
        "ｐrint(year)",
        "I(year := 1)",
        "I(9**9**9)",
        "I(1 << 9**9)",
    ],
)
def test_a_formula_that_may_run_code_is_refused(formula):
    with pytest.raises(InputError, match="give columns and functions of them"):
        check_harmless(formula, "prevalence")


@pytest.mark.parametrize(
    ("formula", "names"),
    [
        ("year + source", ["year", "source"]),
        ("year * C(source) - 1", ["year", "source"]),
        ("year:source + `first name`", ["year", "source", "first name"]),
        ("poly(year, degree=2, raw=True) + I(x / 1e3)", ["year", "x"]),
        ("(a + b)**2 + I(year > 2000)", ["a", "b", "year"]),
        ("C(source, contr.sum) + a.b", ["source", "a.b"]),
        ("year + year", ["year"]),
    ],
)
def test_the_columns_of_a_formula_are_its_names(formula, names):
    assert sorted(variables_of(formula, "prevalence")) == sorted(names)


def remembered(corpus: Corpus, formula: str) -> dict[str, Any]:
    return design_of(corpus, formula, parameter="prevalence", remembered=True).memory


def test_new_documents_all_without_a_date_lack_a_value():
    days = [datetime(2020, 1, 1 + d) for d in range(20)]
    memory = remembered(documents(when=days), "when")
    assert np.isnan(values_of_terms(documents(when=np.array([None], "datetime64[s]")), memory, "prevalence")).any()
    assert np.isfinite(values_of_terms(documents(when=days[:1]), memory, "prevalence")).all()


@pytest.mark.parametrize("gap", [[], [None]])
def test_flags_are_numbers_with_and_without_gaps(gap):
    memory = remembered(documents(flag=[True, False] * 10 + gap), "flag")
    assert memory["terms"] == ["Intercept", "flag"]
    found = values_of_terms(documents(flag=[True, None, False]), memory, "prevalence")
    assert found[[0, 2], 1].tolist() == [1.0, 0.0]
    assert np.isnan(found[1]).all()


def test_numbers_that_come_as_text_are_numbers():
    memory = remembered(documents(year=list(range(1990, 2010))), "year")
    found = values_of_terms(documents(year=["1995", "unknown"]), memory, "prevalence")
    assert found[0, 1] == 1995
    assert np.isnan(found[1]).all()


def test_a_new_category_of_a_name_with_a_blank_lacks_a_value():
    memory = remembered(documents(**{"first name": list("abab") * 5}), "C(`first name`)")
    found = values_of_terms(documents(**{"first name": ["a", "z"]}), memory, "prevalence")
    assert np.isfinite(found[0]).all()
    assert np.isnan(found[1]).all()


def test_a_value_outside_the_range_of_a_curve_lacks_a_value():
    memory = remembered(documents(year=list(range(30))), "bs(year, df=4)")
    found = values_of_terms(documents(year=[3, 40]), memory, "prevalence")
    assert np.isfinite(found[0]).all()
    assert np.isnan(found[1]).all()


def test_a_column_may_be_called_as_a_function_or_its_keyword_is():
    plain = {"year": list(range(30)), "source": list("ab") * 15}
    corpus = documents(**plain, C=[None, *range(29)], df=[1] * 30)
    for formula in ("C(source)", "bs(year, df = 4)", "I(year == 3)"):
        found, expected = design_of(corpus, formula), design_of(documents(**plain), formula)
        assert found.terms == expected.terms
        assert np.array_equal(found.values, expected.values)


def test_a_column_of_lists_is_refused():
    with pytest.raises(InputError, match="'tags', which holds lists"):
        design_of(documents(tags=[["a"], ["b"]] * 10), "tags")
