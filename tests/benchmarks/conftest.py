"""What the tests of the harness share."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(0)
