"""What fitted models of groups are asked, and what is no groups."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.model_selection import GridSearchCV

from stickbreak import GaussianDPMixture, GaussianHDP, GroupedVectors
from stickbreak.corpus import planted_gaussians
from stickbreak.exceptions import InputError

OPTIONS = {"n_components": 5, "likelihood": "full", "n_laps": 2, "random_state": 0}


@pytest.fixture(scope="module")
def groups():
    return planted_gaussians(12, 15, n_components=2, seed=0)[0]


def test_empty_groups_alone_have_the_weights_of_the_corpus(groups):
    model = GaussianHDP(**OPTIONS).fit(groups)
    for empty in ([[]], [np.zeros((0, 2)), []], GroupedVectors(np.zeros((0, 2)), np.array([0, 0]))):
        np.testing.assert_allclose(model.transform(empty), np.tile(model.weights_, (len(empty), 1)))
        assert model.predict(empty).size == 0
        assert model.predict_proba(empty).shape == (0, model.n_components_)
    for nothing in ([[]], groups[:0]):
        with pytest.raises(InputError, match="all groups are empty"):
            GaussianHDP(**OPTIONS).fit(nothing)


@pytest.mark.parametrize(
    ("X", "says"),
    [
        (pd.DataFrame({"x": [1.0]}), r"X is a DataFrame; turn it into groups with GroupedVectors\.from_table"),
        (pa.table({"x": [1.0]}), r"X is a Table; turn it into groups with GroupedVectors\.from_table"),
        ({"a": np.eye(2)}, "X is a dict; give GroupedVectors or a list of arrays"),
        (None, "X is None; give"),
        (5, "X is a single number; give"),
        ("text", "X is a single string; give"),
        ([np.eye(2) * 1j], "must be .* of real numbers, not complex128"),
    ],
    ids=["frame", "arrow", "dict", "none", "int", "str", "complex"],
)
def test_what_is_no_groups_is_refused_in_one_sentence(groups, X, says):
    with pytest.raises(InputError, match=says):
        GaussianHDP(**OPTIONS).fit(X)


def test_groups_are_searched_over(groups):
    search = GridSearchCV(GaussianHDP(**OPTIONS), {"alpha": [0.2, 1.0]}, cv=3, error_score="raise").fit(groups)
    folds = [np.setdiff1d(np.arange(12), np.arange(4 * i, 4 * i + 4)) for i in range(3)]
    scores = [
        GaussianHDP(**OPTIONS).set_params(alpha=1.0).fit(groups[f]).score(groups[4 * i : 4 * i + 4])
        for i, f in enumerate(folds)
    ]
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(np.mean(scores), rel=1e-12)


def test_a_mixture_says_where_the_vectors_of_groups_are(groups):
    with pytest.raises(InputError, match=r"give its `\.values`, or use GaussianHDP"):
        GaussianDPMixture(**OPTIONS).fit(groups)
    with pytest.raises(InputError, match=r"give its `\.values`"):
        GaussianDPMixture(**OPTIONS).fit(groups.values).predict(groups)


def test_batches_of_empty_groups_are_no_steps(groups):
    """The first step has size 1: were it one of an empty batch, the start would be forgotten."""
    some = [groups.values[:100], *[[]] * 5]
    options = {**OPTIONS, "schedule": "stochastic", "moves": (), "learning_offset": 0.0}
    alone = GaussianHDP(n_batches=1, **options).fit(some)
    cut = GaussianHDP(n_batches=6, **options).fit(some)
    assert cut.counts_.sum() == pytest.approx(600)  # one step a lap, of the one group that stands for six
    assert alone.counts_.sum() == pytest.approx(100)
