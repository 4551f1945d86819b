"""What seeds and eta by word or topic have in common in all families: tables that say the same, fits that go on."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from tests.steered_problems import WORDS

import stickbreak
from stickbreak.corpus import Corpus

Make = Callable[..., Any]  # an estimator, of a number of laps and further parameters


def check_a_table_says_what_seeds_say(make: Make, corpus: Corpus, seeds: Mapping[str, list[str]], eta: float) -> Any:
    """Compare rows of eta with seeds of 50 pseudo-tokens a word, and a row with a number; return the fit of the row."""
    rows = np.full((2, len(WORDS)), eta)
    for row, words in zip(rows, seeds.values(), strict=True):
        row[[WORDS.index(word) for word in words]] += 50.0
    table, named = (make(**given).fit(corpus) for given in ({"eta": rows}, {"eta": eta, "seeds": seeds}))
    np.testing.assert_allclose(table.components_, named.components_, rtol=1e-9)
    assert table.labels_ == {}
    number, array = (make(2, eta=given).fit(corpus) for given in (eta, np.full(len(WORDS), eta)))
    np.testing.assert_allclose(array.topic_word_, number.topic_word_, rtol=1e-5)
    return array


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
