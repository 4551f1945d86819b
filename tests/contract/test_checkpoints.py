"""Checkpoints of all estimators: a fit that was cut goes on to the same bits; no other fit does."""

from functools import partial

import numpy as np
import pytest
from fuzz.models import FITS
from tests.contract.small import FACES, OF_WORDS, SMALL, bits, data_of, frozen, raising, unfitted

from stickbreak.exceptions import InputError, ModelFormatError

TIMES = ("seconds",)


def whole(name, **parameters):
    """Return a fit that nothing has cut."""
    return unfitted(name, **parameters).fit(data_of(name))


def state(model):
    """Return all that a fit has left, but how long it took."""
    trace = {key: frozen(column) for key, column in model.trace_.items() if not key.startswith(TIMES)}
    # values, not types: SciPy chooses the width of its indices by what it is given
    return trace, {key: (array.shape, array.astype(np.float64).tobytes()) for key, array in model._kept.arrays.items()}


@pytest.mark.parametrize("late", [False, True], ids=["early", "late"])
@pytest.mark.parametrize("name", SMALL)
def test_resumed_equals_uncut(name, late, tmp_path):
    """Late in a fit hyperparameters are learned, samples kept and trees grown."""
    fit = FITS[SMALL[name]]
    make, cut = (fit.model, fit.n - 2) if late else (partial(unfitted, name), 3)
    place, X = tmp_path / "c", data_of(name)
    uncut = make().fit(X)
    with pytest.raises(RuntimeError, match="cut"):
        make().fit(X, checkpoint=place, callback=raising(RuntimeError("cut"), cut))
    resumed = make().fit(X, checkpoint=place, resume=True)
    assert bits(resumed, name) == bits(uncut, name)
    assert state(resumed) == state(uncut)


@pytest.mark.parametrize("name", SMALL)
def test_checkpoint_does_not_change_a_fit_and_holds_its_last_lap(name, tmp_path):
    X = data_of(name)
    model = unfitted(name).fit(X, checkpoint=tmp_path / "c")
    assert state(model) == state(whole(name))
    events = []
    again = unfitted(name).fit(X, checkpoint=tmp_path / "c", resume=True, callback=events.append)
    assert not any("lap" in event for event in events), "no lap is left to do"
    assert bits(again, name) == bits(model, name)


@pytest.mark.parametrize("name", SMALL)
def test_checkpoint_of_another_fit_is_refused(name, tmp_path):
    place, X = tmp_path / "c", data_of(name)
    unfitted(name, n_laps=2).fit(X, checkpoint=place)
    with pytest.raises(InputError, match="differs in its random_state"):
        unfitted(name, random_state=5).fit(X, checkpoint=place, resume=True)
    with pytest.raises(InputError, match=r"differs in its (counts|shape|vectors|offsets)"):
        unfitted(name).fit(X[: len(X) - 1], checkpoint=place, resume=True)
    if name in OF_WORDS:
        other = next(each for each in OF_WORDS if each != name)
        with pytest.raises(InputError, match=f"belongs to a {name}"):
            unfitted(other).fit(X, checkpoint=place, resume=True)


@pytest.mark.parametrize("name", FACES)
def test_damaged_checkpoint_is_refused_in_one_sentence(name, tmp_path):
    place, X = tmp_path / "c", data_of(name)
    unfitted(name, n_laps=2).fit(X, checkpoint=place)
    arrays = place / "arrays.safetensors"
    content = bytearray(arrays.read_bytes())
    content[-5] ^= 0xFF
    arrays.write_bytes(content)
    with pytest.raises(ModelFormatError) as refused:
        unfitted(name).fit(X, checkpoint=place, resume=True)
    assert str(refused.value).count("\n") == 0
    np.testing.assert_array_equal(bytearray(arrays.read_bytes()), content, "the damaged file stays for a look")


@pytest.mark.parametrize("name", SMALL)
def test_a_fit_that_was_resumed_goes_on_as_any_other(name, tmp_path):
    X = data_of(name)
    unfitted(name, n_laps=2).fit(X, checkpoint=tmp_path / "c")
    resumed = unfitted(name).fit(X, checkpoint=tmp_path / "c", resume=True)
    longer = whole(name)
    assert bits(resumed.continue_fit(X, n_laps=1), name) == bits(longer.continue_fit(X, n_laps=1), name)
