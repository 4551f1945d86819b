"""The table of what each estimator offers, in docs/families.md, says what the estimators have."""

import re
from pathlib import Path

import pytest
from tests.contract.small import SMALL, fitted

PAGE = Path(__file__).parents[2] / "docs" / "families.md"
COLUMNS = (
    "TopicModel",
    "VariationalHDP",
    "HybridHDP",
    "OnlineHDP",
    "SplitMergeOnlineHDP",
    "GibbsHDP",
    "LDA",
    "Pachinko",
    "HierarchicalPachinko",
    "NestedCRP",
    "NestedHDP",
    "BackoffTreeTopics",
    "GaussianHDP",
    "GaussianDPMixture",
)
METHODS = (
    "fit", "continue_fit", "forget_state", "partial_fit", "save", "score", "trace_", "transform", "shown_topics",
    "top_word_indices", "complete", "top_words", "left_to_right",
)  # fmt: skip


def cells() -> dict[str, list[str]]:
    """Return what the table says: the first cell of a row -> its other cells."""
    table = PAGE.read_text(encoding="utf-8").split("## What each estimator offers")[1]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*\|$", table, re.MULTILINE)
    ]
    return {row[0]: row[1:] for row in rows[2:]}


def claims() -> dict[str, list[str]]:
    """Return the cells of each method or attribute that the table names."""
    named = {name: row for first, row in cells().items() for name in re.findall(r"`(\w+)", first.split(":")[0])}
    return {name: row for name, row in named.items() if name in METHODS}


def test_table_names_every_method_that_not_all_have_and_has_a_column_for_each_estimator():
    assert set(claims()) == set(METHODS)
    assert set(COLUMNS) == set(SMALL)
    assert all(len(row) == len(COLUMNS) for row in cells().values())


@pytest.mark.parametrize("name", METHODS)
def test_estimator_has_what_the_table_says_and_lacks_what_it_gives_a_reason_for(name):
    for estimator, cell in zip(COLUMNS, claims()[name], strict=True):
        assert hasattr(fitted(estimator), name) == cell.startswith("+"), (estimator, name, cell)


def test_weights_of_documents_have_one_name():
    assert not any(callable(getattr(fitted(name), "document_weights", None)) for name in SMALL)
