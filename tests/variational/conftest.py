"""Values of the independent slow code (exact sums and enumerations on tiny corpora)."""

import json
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def oracle():
    """The oracle's cases, as nested lists."""
    return json.loads((Path(__file__).parents[1] / "data" / "hdp_vb_elbo.json").read_text())
