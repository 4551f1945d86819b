"""Fits of long documents in parts: resumed, in files, cut short, damaged; and those that end with shares."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stickbreak import CollapsedHDP, load
from stickbreak.collapsed import plans, trials
from stickbreak.collapsed.plans import BEFORE_SHARES, OF_LONG
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.exceptions import ModelFormatError

from .problems import begun, go_on, near

FIRST, LAST = OF_LONG.merging[0], OF_LONG.merging[-1]
ALL = LAST + 20
FORMING = BEFORE_SHARES.forming or 0


@pytest.fixture(autouse=True, scope="module")
def small() -> Iterator[None]:
    """Let collections of a few seconds form like this, in parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plans, "BEFORE_SHARES", replace(BEFORE_SHARES, least=10_000))
        patch.setattr(trials, "PART", 10_000)
        yield


@pytest.fixture(scope="module")
def planted() -> tuple[Corpus, Any]:
    """12 topics in 600 long documents."""
    corpus, truth = planted_lda(1200, 500, n_topics=12, mean_tokens=60, alpha=0.1, seed=2)
    return corpus[:600], truth


@pytest.fixture(scope="module")
def half(planted: tuple[Corpus, Any]) -> Corpus:
    return planted[0]


@pytest.fixture(scope="module")
def whole(half: Corpus) -> CollapsedHDP:
    return CollapsedHDP(n_laps=ALL, random_state=3).fit(half)


@pytest.fixture(scope="module")
def rounds(whole: CollapsedHDP) -> int:
    """Return the pass of the last round of this fit, the second in a row that merges none."""
    merges = [whole.trace_["merge_accepted"][number - 1] for number in OF_LONG.merging]
    quiet = next(i for i in range(1, len(merges)) if not merges[i - 1] + merges[i])
    assert 0 < sum(merges[:quiet])
    assert quiet < len(merges) - 1  # before the rounds must end
    return OF_LONG.merging[quiet]


def passes(cut: int | str, rounds: int) -> int:
    """Return a number of passes, which a text counts from the last round on."""
    return cut if isinstance(cut, int) else rounds + int(cut)


@pytest.mark.parametrize("cut", [3, FIRST, FIRST + 5, "-10", "0", "1", "8"])
def test_a_resumed_fit_has_the_same_bits(
    cut: int | str, rounds: int, whole: CollapsedHDP, half: Corpus, tmp_path: Path
) -> None:
    """Cut before the first round, after it, between two rounds, before all documents join, after that."""
    cut = passes(cut, rounds)
    part = CollapsedHDP(n_laps=cut, random_state=3).fit(half, checkpoint=tmp_path / "fit")
    assert part._kept.values["n_quiet"] == {rounds - 10: 1}.get(cut, 2 * (cut >= rounds))
    assert part._kept.values["has_all"] == (cut > rounds)
    settings: dict[str, Any] = {"n_laps": ALL, "random_state": 3, "n_jobs": 2}
    again = CollapsedHDP(**settings).fit(half, checkpoint=tmp_path / "fit", resume=True)
    np.testing.assert_array_equal(again.components_, whole.components_)
    for name in ("objective", "n_topics", "alpha", "merge_accepted"):
        np.testing.assert_array_equal(again.trace_[name], whole.trace_[name])


def test_files_threads_and_continued_fits_have_the_same_bits(whole: CollapsedHDP, half: Corpus, tmp_path: Path) -> None:
    filed = CollapsedHDP(n_laps=ALL, random_state=3, scratch=tmp_path / "scratch").fit(half)
    threads = CollapsedHDP(n_laps=ALL, random_state=3, n_jobs=3).fit(half)
    CollapsedHDP(n_laps=FIRST + 3, random_state=3).fit(half).save(tmp_path / "model")
    more = load(tmp_path / "model").continue_fit(half, n_laps=ALL - FIRST - 3)
    for model in (filed, threads, more):
        np.testing.assert_array_equal(model.components_, whole.components_)


@pytest.mark.parametrize("cut", [1, FIRST, FIRST + 7, "0", "1"])
def test_a_short_fit_has_all_tokens_and_says_what_is_left(cut: int | str, rounds: int, half: Corpus) -> None:
    n_laps = passes(cut, rounds)
    model = CollapsedHDP(n_laps=n_laps, random_state=3).fit(half)
    assert model.components_.sum() - model.eta_ * model.components_.size == pytest.approx(half.n_tokens)
    assert len(model.trace_["objective"]) == n_laps
    told = f"Topics that are alike become one until pass {LAST} at most: more passes may change their number."
    assert (told in model.stop_reason_) == (n_laps < rounds)
    assert model.score(half) > -5.6  # of topics of words at random it is -6.2


@pytest.mark.parametrize("asked", [{"final_passes": "expected"}, {"learn": ("alpha", "eta")}])
def test_passes_with_shares_follow_where_they_are_asked_for(asked: dict[str, Any], planted: Any) -> None:
    """Topics form, and merge, in the first 60 passes; then they are split and merged."""
    early, formed, model = (
        CollapsedHDP(n_laps=n, random_state=0, **asked).fit(planted[0]) for n in (7, FORMING, FORMING + 2)
    )
    assert f"Gibbs sampling forms topics until pass {FORMING}; then" in early.stop_reason_
    assert "Topics have formed; next they are split and merged" in formed.stop_reason_
    assert f"split and merged until pass {FORMING + 60} at most" in model.stop_reason_
    assert model.trace_["n_topics"][0] > 70
    assert model.trace_["merge_accepted"][FIRST - 1] > 30
    assert 11 <= model.n_topics_ <= 16
    assert near(planted[1], model.topic_word_, 0.5).all()
    for fit in (early, formed, model):
        assert fit.components_.sum() - fit.eta_ * fit.components_.size == pytest.approx(planted[0].n_tokens)


def test_a_fit_that_ends_with_shares_has_the_same_bits_when_resumed(half: Corpus, tmp_path: Path) -> None:
    """Cut between two rounds, where topics are formed, and after a pass with shares."""
    settings: dict[str, Any] = {"n_laps": FORMING + 2, "random_state": 3, "final_passes": "expected"}
    whole = CollapsedHDP(**settings).fit(half)
    for cut in (FIRST + 3, FORMING, FORMING + 1):
        CollapsedHDP(**{**settings, "n_laps": cut}).fit(half, checkpoint=tmp_path / f"{cut}")
        again = CollapsedHDP(n_jobs=2, **settings).fit(half, checkpoint=tmp_path / f"{cut}", resume=True)
        np.testing.assert_array_equal(again.components_, whole.components_)
    filed = CollapsedHDP(scratch=tmp_path / "scratch", **settings).fit(half)
    np.testing.assert_array_equal(filed.components_, whole.components_)


@pytest.mark.parametrize(
    ("at", "name", "value"),
    [
        (FIRST + 4, "trial.passes", 10**6),
        (FIRST + 4, "trial.objective", None),
        (FIRST + 4, "trial.n_samples", 3),
        (FIRST + 4, "trial.n_parts", 2),
        (FIRST + 4, "numbers", []),
        (FIRST + 4, "numbers", [50, 5]),
        (FIRST + 4, "numbers", [5]),
        (FIRST + 4, "numbers", [10**6]),
        (FIRST + 4, "n_judged", 0),
        (FIRST + 4, "n_judged", 9),
        (FIRST + 4, "formed", 3),
        (FIRST + 4, "trial.mean", "zero"),
        (FIRST + 4, "trial.mean", "twice"),
        (FIRST + 4, "n_quiet", -1),
        (FIRST + 4, "n_quiet", 2),
        (FIRST + 4, "n_quiet", 3),
        (FIRST + 4, "is_vague", True),
        (FIRST + 4, "has_all", 2),
        (3, "n_quiet", 2),
        (3, "has_all", True),
    ],
)
def test_a_damaged_state_is_refused(at: int, name: str, value: Any, half: Corpus) -> None:
    model = CollapsedHDP(n_laps=at, random_state=3).fit(half)
    arrays, values = model._kept.arrays, model._kept.values
    if name in values:
        values[name] = value
    else:
        arrays[name] = arrays[name] * (2.0 if value == "twice" else 0.0)
    with pytest.raises(ModelFormatError, match="damaged"):
        model.continue_fit(half, n_laps=1)


def test_passes_that_rounds_cannot_have_are_refused(rounds: int, half: Corpus) -> None:
    """Rounds are over before all documents join, and not before the first."""
    before, merging, joined = (go_on(begun(half), n).packed() for n in (FIRST - 1, FIRST + 3, rounds + 5))
    late = {"trial.passes": LAST + 1, "trial.n_samples": LAST // 5}
    for (arrays, values), wrong in (
        (before, {"n_quiet": 2}),
        (merging, late),
        (joined, {"n_quiet": 1}),
    ):
        begun(half).restore(arrays, values)
        with pytest.raises(ValueError, match="its trial has made other passes than it can have"):
            begun(half).restore(arrays, {**values, **wrong})
    arrays, values = merging
    with pytest.raises(ValueError, match="words show the topics of these documents"):
        begun(half).restore(arrays, {**values, "is_vague": True})
    with pytest.raises(ValueError, match="it is of an older version, whose topics formed otherwise"):
        begun(half).restore(arrays, {name: value for name, value in values.items() if name != "n_quiet"})
    with pytest.raises(ValueError, match=r"tokens|passes"):
        begun(half).restore(arrays, {**values, "has_all": True})


def test_short_documents_have_no_rounds() -> None:
    corpus = planted_lda(4000, 800, n_topics=40, mean_tokens=10, alpha=0.025, seed=1)[0]
    forming = begun(corpus)
    assert forming.last_merging == 0
    assert "alike" not in CollapsedHDP(n_laps=3, random_state=0).fit(corpus).stop_reason_
    arrays, values = forming.packed()
    with pytest.raises(ValueError, match="it has other rounds of merges than it can have"):
        forming.restore(arrays, {**values, "n_quiet": 1})
