"""A state that is taken up again is held to the rules of a fresh one, before a kernel sees it."""

import numpy as np
import pytest
from fuzz.models import FITS

from stickbreak.exceptions import ModelFormatError
from stickbreak.storage import persistence

FIT = FITS["collapsed"]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    place = tmp_path_factory.mktemp("collapsed") / "checkpoint"
    FIT.model(4).fit(FIT.documents(), checkpoint=place)
    return persistence.read_folder(place)


def resumed(checkpoint, place, arrays=(), meta=()):
    """Go on from a checkpoint with another array or value, its checksum right."""
    old, values = checkpoint
    persistence.write_folder(place, kind="checkpoint", arrays={**old, **dict(arrays)}, meta={**values, **dict(meta)})
    return FIT.model(6).fit(FIT.documents(), checkpoint=place, resume=True)


@pytest.mark.parametrize("name", ["beta", "tables", "shares.0"])
@pytest.mark.parametrize("value", [1e308, np.inf, np.nan, -1.0, 1e-320])
def test_a_number_that_no_sweep_leaves_is_refused(checkpoint, tmp_path, name, value):
    array = checkpoint[0][name].copy()
    numbers = array[:4].view(np.float32) if name == "shares.0" else array  # bytes: shares come first
    with np.errstate(over="ignore"):
        numbers[np.argmax(numbers)] = value
    if name == "tables" and 0 < value < 1:
        assert np.isfinite(resumed(checkpoint, tmp_path / "x", {name: array}).objective_)
        return
    with pytest.raises(ModelFormatError, match="damaged"):
        resumed(checkpoint, tmp_path / "x", {name: array})


@pytest.mark.parametrize(
    ("name", "value"), [("alpha", 1e100), ("eta", 5e-324), ("gamma", np.inf), ("n_sweeps", -1), ("n_sweeps", 10**30)]
)
def test_a_value_out_of_its_range_is_refused(checkpoint, tmp_path, name, value):
    with pytest.raises(ModelFormatError, match="damaged"):
        resumed(checkpoint, tmp_path / "x", meta={name: value})


def test_what_was_not_changed_goes_on(checkpoint, tmp_path):
    again = resumed(checkpoint, tmp_path / "x")
    assert again.objective_ == FIT.model(6).fit(FIT.documents()).objective_
