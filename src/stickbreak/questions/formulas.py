"""Formulas over columns beside the documents, such as "year + source": the values of their terms."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.numerics.arrays import Float, Int
from stickbreak.questions.columns import columns_of_dates, days_of
from stickbreak.questions.weights import warn_of_gaps

if TYPE_CHECKING:
    import pandas as pd

_DAYS_OF_A_YEAR = 365.25
_NAME = re.compile(r"`([^`]+)`|([^\W\d][\w.]*)(?![\w.]|\(|\s*=(?!=))")  # no function, and no keyword
_FUNCTIONS = set("C I bs cr cs cc poly center scale log log2 log10 exp exp2 exp10".split())
_HARMLESS = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Name, ast.Constant, ast.Call, ast.keyword, ast.Attribute,
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Mod, ast.Pow, ast.BitXor, ast.BitOr, ast.unaryop, ast.cmpop,
    ast.expr_context,
)  # fmt: skip
_CURVE = re.compile(r"\w+\(\s*(?:`([^`]+)`|([^\W\d][\w.]*))")
_KINDS = {"numerical", "categorical", "constant"}  # of factors
_DEPENDENT = 1e-9  # a direction of the columns, made equally long, that is shorter is none


class Terms(NamedTuple):
    """The terms of a formula in documents.

    Attributes
    ----------
    terms : list of str
        Their names.
    values : ndarray of shape (n, p)
    rows : ndarray of int, of shape (n,)
        The documents that have words and a value of each column.
    memory : dict
        Plain values from which `values_of_terms` makes the terms of other documents; empty unless asked for.
    """

    terms: list[str]
    values: Float
    rows: Int
    memory: dict[str, Any]


def design_of(
    corpus: Corpus,
    formula: str,
    date_format: str | None = None,
    *,
    parameter: str = "formula",
    remembered: bool = False,
) -> Terms:
    """Return the terms of a formula in documents.

    Parameters
    ----------
    corpus : Corpus
    formula : str
    date_format : str, optional
        How columns of dates are written.
    parameter : str, default="formula"
        The name of what was given, for messages.
    remembered : bool, default=False
        Whether terms of other documents are asked for later: then nothing is said of documents without values, and the
        formula may call some functions only, as it may come from a model of strangers.
    """
    if remembered:
        check_harmless(formula, parameter)
    read = _read(formula, parameter)
    named = columns_named(corpus, formula, parameter)
    assert corpus.metadata is not None
    dates = {name: None for name in columns_of_dates(corpus.metadata.select(named), date_format)}
    frame, means = _frame_of(corpus, named, dates, date_format)
    lacking_value = frame.isna().any(axis=1).to_numpy()
    rows = np.flatnonzero(~lacking_value & (np.asarray(corpus.document_lengths) > 0))
    if not remembered:
        warn_of_gaps(lacking_value, "value of the formula")
    if lists := [name for name in named if frame[name].map(lambda value: isinstance(value, np.ndarray)).any()]:
        raise InputError(f"{parameter} names {lists[0]!r}, which holds lists; give a column of single values.")
    if alike := [name for name in named if rows.size and frame[name].iloc[rows].nunique() == 1]:
        raise InputError(
            f"{parameter} is {formula!r}, but {alike[0]!r} has one value in all documents; leave this column out."
        )
    matrix, terms, design = _matrix_of(read, frame.iloc[rows], formula, parameter)
    if len(rows) <= 2 * len(terms):
        raise InputError(
            f"{parameter} has {len(terms)} terms, but only {len(rows)} documents have words and values; give fewer "
            "terms."
        )
    lengths = np.linalg.norm(design, axis=0)
    if not lengths.all() or np.linalg.svd(design / lengths, compute_uv=False)[-1] < _DEPENDENT:
        raise InputError(
            f"{parameter} is {formula!r}, whose terms follow from each other in these documents; leave one out."
        )
    if not remembered:
        return Terms(terms, design, rows, {})
    spec = matrix.model_spec
    categories = {name: state.get("categories") for name, (_, state) in spec.encoder_state.items()}
    kinds = {name: kind.value for name, (kind, _) in spec.encoder_state.items()}
    state = {"transforms": _packed(spec.transform_state), "categories": _packed(categories), "kinds": kinds}
    memory = {"formula": formula, "columns": named, "dates": means, "terms": terms, **state}
    return Terms(terms, design, rows, memory)


def is_memory(memory: Mapping[str, Any]) -> bool:
    """Whether loaded values can be those that `design_of` remembers; a KeyError where one is lacking."""
    names, kinds = [memory["columns"], memory["terms"], list(memory["dates"])], memory["kinds"]
    categories, transforms = _unpacked(memory["categories"]), _unpacked(memory["transforms"])
    if not all(isinstance(of, Mapping) for of in (memory["dates"], kinds, categories, transforms)):
        return False
    return (
        isinstance(memory["formula"], str)
        and all(isinstance(own, list) and all(isinstance(name, str) for name in own) for own in names)
        and set(memory["dates"]) <= set(memory["columns"])
        and all(isinstance(mean, float) and np.isfinite(mean) for mean in memory["dates"].values())
        and set(kinds) >= set(categories)
        and set(kinds.values()) <= _KINDS
        and all(levels is None or isinstance(levels, list) for levels in categories.values())
    )


def values_of_terms(corpus: Corpus, memory: Mapping[str, Any], parameter: str) -> Float | None:
    """Return the terms of other documents, (D, p).

    NaN where a document lacks a value, has a new category, or a value outside the range of a curve. None where the
    documents lack a column.
    """
    from formulaic import ModelSpec
    from formulaic.parser.types import Factor

    named, formula = memory["columns"], memory["formula"]
    check_harmless(formula, parameter)
    if corpus.metadata is None or not set(named) <= set(corpus.metadata.column_names):
        return None
    frame, _ = _frame_of(corpus, named, memory["dates"], None)
    for name in named:
        if memory["kinds"].get(name, memory["kinds"].get(f"`{name}`")) == "numerical":
            frame[name] = _numbers(frame[name])
    categories, known = _unpacked(memory["categories"]), frame.notna().all(axis=1).to_numpy(copy=True)
    for factor, levels in categories.items():
        name = _category_of(factor)
        if levels is not None and name in frame:
            known &= frame[name].isin(levels).to_numpy()
    transforms = _unpacked(memory["transforms"])
    for term, bounds in transforms.items():
        curve = _CURVE.match(term)
        if isinstance(bounds, Mapping) and "lower_bound" in bounds and curve is not None:
            values = _numbers(frame[curve[1] or curve[2]])
            known &= values.between(bounds["lower_bound"], bounds["upper_bound"]).to_numpy()
    found = np.full((len(corpus), len(memory["terms"])), np.nan)
    if known.any():
        states = {
            factor: (Factor.Kind(memory["kinds"][factor]), {} if levels is None else {"categories": levels})
            for factor, levels in categories.items()
        }
        read = _read(formula, parameter)
        spec = ModelSpec(formula=read, transform_state=transforms, encoder_state=states)
        _, terms, found[known] = _matrix_of(spec, frame[known], formula, parameter)
        if terms != memory["terms"]:
            raise InputError(f"{parameter} is {formula!r}, whose terms are others in these documents than in the fit.")
    return found


def columns_named(corpus: Corpus, formula: str, parameter: str) -> list[str]:
    """Return the columns of a corpus that a formula names; refuse one that names none, or lacks one."""
    asked = {
        str(name) for name in _read(formula, parameter).required_variables
    }  # not of all functions: not of bs(year)
    there = [] if corpus.metadata is None else list(corpus.metadata.column_names)
    if lacking := sorted(asked - set(there)):
        has = f"have the columns {', '.join(map(repr, there))}" if there else "have no columns"
        raise InputError(
            f"{parameter} names {lacking[0]!r}, but the documents {has}; keep the column when they are read."
        )
    named = [name for name in there if name in asked | names_in_formula(formula)]
    if not named:
        raise InputError(f"{parameter} is {formula!r}, which names no column; give one as 'year + source'.")
    return named


def check_harmless(formula: str, parameter: str) -> None:
    """Refuse a formula that may be more than columns and some functions of them."""
    _names(formula, parameter)


def _names(formula: str, parameter: str) -> list[str]:
    """Return the names of a formula that are not those of functions; refuse what is not harmless.

    It is read as Python reads it, with + in place of : and a name in place of each one in backticks.
    """
    quoted = re.findall(r"`([^`]*)`", formula)
    places = iter(range(len(quoted)))
    plain = re.sub(r"`[^`]*`", lambda _: f"quoted_{next(places)}", formula).replace(":", "+")
    advice = f"give columns and functions of them, without quotes: {', '.join(sorted(_FUNCTIONS))}."
    try:
        nodes = list(ast.walk(ast.parse(plain.strip(), mode="eval")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f"{parameter} is {formula!r}, which cannot be read; {advice}") from None
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    called = [ast.unparse(name) for name in calls if not (isinstance(name, ast.Name) and name.id in _FUNCTIONS)]
    texts = [node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)]
    endless = any(
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Pow)
        and not any(isinstance(below, ast.Name) for below in ast.walk(node.left))
        for node in nodes
    )  # of numbers alone, which grow without end
    if called or texts or endless or "__" in plain or not all(isinstance(node, _HARMLESS) for node in nodes):
        what = f"calls {min(called)}" if called else "holds code"
        raise InputError(f"{parameter} is {formula!r}, which {what}; {advice}")
    inner = [node.value for node in nodes if isinstance(node, ast.Attribute)]
    found = [node for node in nodes if isinstance(node, ast.Name | ast.Attribute) and node not in [*calls, *inner]]
    names = [ast.unparse(node) for node in found]
    known = {f"quoted_{i}": name for i, name in enumerate(quoted)}
    return [known.get(name, name) for name in dict.fromkeys(names) if not name.startswith("contr.")]


def variables_of(formula: str, parameter: str) -> list[str]:
    """Return the columns that a formula needs, whatever columns there are."""
    return _names(formula, parameter)


def names_in_formula(formula: str) -> set[str]:
    """Return all names in a formula but those of functions that it calls and of their keywords."""
    return {quoted or plain for quoted, plain in _NAME.findall(formula)}


def _read(formula: str, parameter: str) -> Any:
    """Return a formula as formulaic reads it."""
    try:
        from formulaic import Formula
        from formulaic.errors import FormulaicError
    except ImportError:
        what = "effects" if parameter == "formula" else parameter
        raise InputError(f'{what} needs the package formulaic; pip install "stickbreak[effects]".') from None
    try:
        read = Formula(formula)
        read.required_variables  # noqa: B018
    except (FormulaicError, SyntaxError, TypeError) as error:
        raise InputError(
            f"{parameter} is {formula!r}, which cannot be read ({_plain(error)}); give one as 'year + source', with a "
            "name that has a blank in backticks: `first name`."
        ) from None
    if hasattr(read, "lhs"):
        raise InputError(
            f"{parameter} is {formula!r}; give its right side only, as 'year + source': the left are topics."
        )
    return read


def _frame_of(
    corpus: Corpus, named: list[str], dates: Mapping[str, float | None], date_format: str | None
) -> tuple[pd.DataFrame, dict[str, float]]:
    """Return columns with dates as years from their mean, which is given or that of these documents; and the means."""
    assert corpus.metadata is not None
    frame, means = corpus.metadata.select(named).to_pandas(date_as_object=False), {}
    for name in named:
        if frame[name].dtype == bool or _are_flags(frame[name]):
            frame[name] = frame[name].astype(object).map({True: 1.0, False: 0.0}).astype(np.float64)
    for name, mean in dates.items():
        if mean is not None and frame[name].isna().all():
            frame[name] = np.full(len(frame), np.nan)
            means[name] = mean
            continue
        days = days_of(corpus, name, date_format)
        years = np.where(np.isnat(days), np.nan, days.astype(np.int64) / _DAYS_OF_A_YEAR)
        means[name] = float(np.nanmean(years)) if mean is None else mean
        frame[name] = years - means[name]
    return frame, means


def _are_flags(values: pd.Series) -> bool:
    """Tell whether a column holds True and False, and perhaps gaps."""
    known = values.dropna()
    return bool(len(known)) and known.map(lambda value: isinstance(value, bool)).all()


def _numbers(values: pd.Series) -> pd.Series:
    """Return a column as numbers; what is none is missing."""
    import pandas as pd

    return pd.to_numeric(values, errors="coerce").astype(np.float64)


def _matrix_of(read: Any, frame: pd.DataFrame, formula: str, parameter: str) -> tuple[Any, list[str], Float]:
    """Return what formulaic makes of a formula, or of one that has seen other documents: names and values of terms."""
    from formulaic.errors import DataMismatchWarning, FormulaicError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DataMismatchWarning)
            matrix = read.get_model_matrix(frame.reset_index(drop=True), na_action="raise", context={})
    except (
        DataMismatchWarning,
        FormulaicError,
        ValueError,
        TypeError,
        NameError,
        KeyError,
        SyntaxError,
        AttributeError,
    ) as error:
        raise InputError(
            f"{parameter} is {formula!r}, which the columns do not allow ({_plain(error)}); give another."
        ) from None
    try:
        design, terms = np.asarray(matrix, dtype=np.float64), [str(name) for name in matrix.columns]
    except (ValueError, TypeError, AttributeError):  # several parts, or no numbers
        raise InputError(
            f"{parameter} is {formula!r}, whose terms are not numbers in each document; give another."
        ) from None
    if not np.isfinite(design).all():
        raise InputError(
            f"{parameter} is {formula!r}, which is infinite or no number for some documents; give another."
        )
    return matrix, terms, design


def _category_of(factor: str) -> str:
    """Return the column of a factor that is a category: source of source, and of C(source, ...)."""
    found = re.match(r"C\(\s*(`[^`]+`|[^\s,)]+)", factor)
    return (found.group(1) if found else factor).strip("`")


def _packed(value: Any) -> Any:
    """Return nested values of formulaic as JSON can hold them: a dict as the pairs of its keys and values."""
    if isinstance(value, Mapping):
        return {"dict": [[_packed(key), _packed(one)] for key, one in value.items()]}
    if isinstance(value, list | tuple | np.ndarray):
        return {"list": [_packed(one) for one in value]}
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, str | int | float):
        return value
    raise InputError(f"a term of the formula depends on a {type(value).__name__}, which cannot be saved; leave it out.")


def _unpacked(value: Any) -> Any:
    """Return what `_packed` was given."""
    if not isinstance(value, dict):
        return value
    if "list" in value:
        return [_unpacked(one) for one in value["list"]]
    return {_unpacked(key): _unpacked(one) for key, one in value["dict"]}


def _plain(error: BaseException) -> str:
    """Return what an error says, without the colours of a terminal and the marks of a place in the formula."""
    return re.sub(r"\x1b\[[0-9;]*m|[⧛⧚]", "", str(error))
