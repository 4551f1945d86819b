"""Samples for ArviZ."""

import numpy as np
import pytest

from stickbreak import GibbsHDP
from stickbreak.corpus import planted_lda
from stickbreak.sampling.estimator import _STATISTICS

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")  # of ArviZ's own imports


NAMES = ("n_topics", "n_tables", "alpha", "gamma", "eta")


@pytest.fixture(scope="module")
def corpus():
    return planted_lda(40, 30, n_topics=4, mean_tokens=30, seed=1)[0]


def fit(corpus, **changes):
    return GibbsHDP(**{"n_laps": 20, "burn_in": 5, "thin": 3, "random_state": 0, **changes}).fit(corpus)


@pytest.mark.parametrize("n_chains", [1, 3])
def test_samples_are_all_rows_of_the_trace_after_burn_in(corpus, n_chains):
    pytest.importorskip("arviz")
    model = fit(corpus, n_chains=n_chains, split_merge_trials=2, learn=("alpha", "gamma", "eta"))
    for data, rows in ((model.to_arviz(), np.arange(5, 20)), (model.to_arviz(thin=4), [5, 9, 13, 17])):
        for group, names in (("posterior", NAMES), ("sample_stats", _STATISTICS)):
            assert set(data[group].data_vars) == {*names, *(["log_joint"] if group == "posterior" else [])}
            for name in names:
                columns = [name] if n_chains == 1 else [f"{name}_{c}" for c in range(n_chains)]
                assert data[group][name].dims == ("chain", "draw")
                np.testing.assert_array_equal(data[group][name], [model.trace_[column][rows] for column in columns])
        kept = data["posterior"]["log_joint"].values[model.chain_]
        np.testing.assert_allclose(kept, model.trace_["objective"][rows] * corpus.n_tokens)
