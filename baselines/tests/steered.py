"""What seeds and eta by word or topic have in common in all families: tables that say the same, fits that go on."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import stickbreak
from stickbreak.corpus import Corpus

Make = Callable[..., Any]  # an estimator, of a number of laps and further parameters


def check_fits_go_on(make: Make, corpus: Corpus, given: Mapping[str, Any], cut: int, folder: Path) -> None:
    """Compare a whole fit with one that is saved and continued, and with one that is resumed."""
    folder.mkdir()
    whole = make(**given).fit(corpus)
    make(cut, **given).fit(corpus, checkpoint=folder / "fit").save(folder / "model")
    loaded = stickbreak.load(folder / "model").continue_fit(corpus, n_laps=whole.n_laps_ - cut)
    resumed = make(**given).fit(corpus, checkpoint=folder / "fit", resume=True)
    for other in (loaded, resumed):
        np.testing.assert_array_equal(other.components_, whole.components_)
    assert np.isfinite(whole.score(corpus))
