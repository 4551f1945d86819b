"""Any family starts from the topics of any other, or of itself, over the same words."""

import numpy as np
import pytest
from tests.contract.small import FACES_OF_WORDS, OF_WORDS, bits, data_of, fitted, unfitted

import stickbreak
from stickbreak.exceptions import InputError
from stickbreak.likelihoods import ZeroMeanGaussian

STARTED = [name for name in OF_WORDS if "init" in unfitted(name).get_params()]  # of the families that have starts


@pytest.mark.parametrize("other", FACES_OF_WORDS)
@pytest.mark.parametrize("name", STARTED)
def test_fitted_model_starts_a_fit_as_its_table_does(name, other):
    X = data_of(name)
    model, table = (unfitted(name, init=init).fit(X) for init in (fitted(other), fitted(other).token_shares()))
    assert bits(model, name) == bits(table, name)
    assert model.trace_["objective"][0] != fitted(name).trace_["objective"][0]


@pytest.mark.parametrize("name", STARTED)
def test_start_from_a_model_survives_saving_checkpoints_and_going_on(name, tmp_path):
    X, init = data_of(name), fitted("VariationalHDP")
    model = unfitted(name, init=init).fit(X, checkpoint=tmp_path / "cut")
    resumed = unfitted(name, init=init).set_params(n_laps=6).fit(X, checkpoint=tmp_path / "cut", resume=True)
    model.save(tmp_path / "m")
    again = stickbreak.load(tmp_path / "m")
    assert bits(again.continue_fit(X, n_laps=2), name) == bits(resumed, name)
    np.testing.assert_array_equal(again.init, init.token_shares())


def test_other_given_topics_are_another_fit(tmp_path):
    X = data_of("VariationalHDP")
    one, other = (np.random.default_rng(seed).dirichlet(np.full(X.n_words, 0.5), 4) for seed in (0, 1))
    model = unfitted("VariationalHDP", init=one).fit(X, checkpoint=tmp_path / "cut")
    with pytest.raises(InputError, match="differs in its init"):
        unfitted("VariationalHDP", init=other).fit(X, checkpoint=tmp_path / "cut", resume=True)
    with pytest.raises(InputError, match="differs in its init"):
        model.set_params(init=other).continue_fit(X, n_laps=1)


def test_vector_model_from_another_or_with_an_own_likelihood_goes_on_after_loading(tmp_path):
    X = data_of("GaussianDPMixture")
    started = unfitted("GaussianDPMixture", init=fitted("GaussianDPMixture")).fit(X)
    own = unfitted("GaussianDPMixture", likelihood=ZeroMeanGaussian.from_data(X)).fit(X)
    for number, model in enumerate((started, own)):
        model.save(tmp_path / str(number))
        again = stickbreak.load(tmp_path / str(number)).continue_fit(X, n_laps=2)
        assert bits(again, "GaussianDPMixture") == bits(model.continue_fit(X, n_laps=2), "GaussianDPMixture")


@pytest.mark.parametrize("name", ["GaussianHDP", "GaussianDPMixture"])
def test_minibatch_of_vectors_that_no_saved_model_could_hold_is_refused(name, tmp_path):
    X = data_of(name)
    model = unfitted(name, **({"learn": ()} if name == "GaussianHDP" else {})).partial_fit(X)
    before = bits(model, name)
    huge = [1e90 * np.asarray(group) for group in (X if name == "GaussianHDP" else [X])]
    with pytest.raises(InputError, match="too large to be summed"):
        model.partial_fit(huge if name == "GaussianHDP" else huge[0])
    assert bits(model, name) == before
    model.save(tmp_path / "m")
    stickbreak.load(tmp_path / "m")
