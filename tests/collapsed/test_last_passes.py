"""The last passes of a fit: their kind, laps that are taken up again, and damaged checkpoints."""

import numpy as np
import pytest

from stickbreak import CollapsedHDP
from stickbreak.collapsed import moves, sampled
from stickbreak.collapsed.cvb0 import SMALLEST_SHARE
from stickbreak.collapsed.laps import CollapsedLaps
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.sampled import TRIAL
from stickbreak.collapsed.state import Priors
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.exceptions import ModelFormatError
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.storage import persistence

from .test_sampled import weighted

ONE = ThreadExecutor(1)
SHORT = {"n_topics": 4, "eta": 0.1, "merge_laps": 24, "random_state": 0, "tolerance": None, "n_laps": 66}


@pytest.fixture(scope="module")
def corpus():
    return planted_lda(220, 30, n_topics=3, mean_tokens=25, seed=1)[0]


def fit(corpus, *, checkpoint=None, resume=False, **changes):
    return CollapsedHDP(**{**SHORT, **changes}).fit(corpus, checkpoint=checkpoint, resume=resume)


def kind_at_the_end(model):
    return model._kept.values["final_passes"]


@pytest.mark.parametrize("kind", ["sampled", "expected"])
def test_kind_of_the_last_passes_can_be_given(corpus, kind):
    model = fit(corpus, final_passes=kind, n_laps=40)
    assert kind_at_the_end(model) == kind
    topics = (model.components_ - model.eta_).sum()
    assert topics == pytest.approx(corpus.n_tokens, abs=1.5)
    kept = [array.size for name, array in model._kept.arrays.items() if name.startswith("shares.")]
    assert (sum(kept) == 8 * corpus.counts.nnz) == (kind == "sampled")  # bytes of one share and its topic a count


def test_a_fit_that_ends_in_its_moves_has_no_sampled_pass(corpus):
    model, longer = (fit(corpus, final_passes="sampled", n_laps=n) for n in (20, 40))
    assert (model.final_passes_, longer.final_passes_) == ("expected", "sampled")
    assert "sampled" not in model.stop_reason_
    assert "sampled" in longer.stop_reason_


def test_few_documents_end_with_expected_shares():
    corpus = planted_lda(150, 30, n_topics=3, mean_tokens=25, seed=1)[0]
    one, other = fit(corpus, n_laps=40), fit(corpus, n_laps=40, final_passes="expected")
    assert kind_at_the_end(one) == "expected"
    np.testing.assert_array_equal(one.components_, other.components_)
    assert len(one.trace_["moved"]) == 40
    assert one.trace_["moved"].sum() == 25


def test_fit_in_its_trial_shows_the_topics_of_before_it(corpus):
    before, within = fit(corpus, n_laps=24), fit(corpus, n_laps=40)
    assert kind_at_the_end(within) == "auto"
    np.testing.assert_array_equal(before.components_, within.components_)
    assert within.alpha_ == before.alpha_


@pytest.mark.parametrize("kind", sampled.KINDS)
def test_laps_taken_up_anywhere_hold_out_the_same_tokens_and_go_on_to_the_same_bits(corpus, kind):
    """In the rounds, where they end, in the trial, where it ends, and after it."""
    rules = Rules(4, 20, Priors(5.0, 1.0, 0.1), SMALLEST_SHARE, ("alpha",), 0, 24, True, 0.1, kind, 0.05)

    def fresh():
        return CollapsedLaps(InMemory(corpus), rules, ONE)

    def parts(laps):
        return [getattr(part, name) for part in laps.state.documents.shards for name in ("count", "held", "apart")]

    uncut, stored = fresh(), {}
    uncut.begin(lambda _: None, lambda: False)
    for lap, _ in zip(range(1, 67), uncut.laps(0), strict=False):
        arrays, values = uncut.snapshot()
        arrays = {name: array.copy() for name, array in arrays.items()}
        again = fresh()
        again.restore(arrays, values, lap)
        for one, other in zip(parts(uncut), parts(again), strict=True):
            np.testing.assert_array_equal(one, other, err_msg=str(lap))
        if lap in (2, 3, 23, 24, 25, 40, 54, 55, 64):
            stored[lap] = again
    end, values = uncut.snapshot()
    for lap, again in stored.items():
        for _ in zip(range(lap, 66), again.laps(lap), strict=False):
            pass
        arrays, now = again.snapshot()
        assert now == values
        for name in end.keys() | arrays.keys():
            np.testing.assert_array_equal(arrays[name], end[name], err_msg=f"{lap} {name}")


@pytest.fixture(scope="module")
def uncut(corpus):
    return fit(corpus)


@pytest.mark.parametrize("lap", [20, 24, 40, 60])
def test_fit_cut_anywhere_goes_on_to_the_same_bits(corpus, uncut, tmp_path, lap):
    assert kind_at_the_end(uncut) == "sampled"
    cut_short = fit(corpus, n_laps=lap, checkpoint=tmp_path / "c")
    at_its_end = fit(corpus, n_laps=lap, checkpoint=tmp_path / "c", resume=True)
    np.testing.assert_array_equal(at_its_end.components_, cut_short.components_)
    resumed = fit(corpus, checkpoint=tmp_path / "c", resume=True)
    for name in ("components_", "tables_", "topic_weights_", "alpha_"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(uncut, name), err_msg=name)
    for name in uncut.trace_.keys() - {"seconds"}:
        np.testing.assert_array_equal(resumed.trace_[name], uncut.trace_[name], err_msg=name)
    cut_short.continue_fit(corpus, n_laps=SHORT["n_laps"] - lap)
    np.testing.assert_array_equal(cut_short.components_, uncut.components_)


def test_fit_to_weights_cut_in_its_sampled_passes_goes_on(monkeypatch, tmp_path):
    """Whatever rounding has left of the counts of its mean."""
    monkeypatch.setattr(moves, "EARLY_LAPS", 0)
    corpus = weighted(planted_lda(100, 60, n_topics=4, alpha=2, mean_tokens=20, seed=2)[0])
    settings = {"final_passes": "sampled", "merge_laps": 2, "n_topics": 8}
    for lap in (11, 12, 13):
        fit(corpus, n_laps=lap, checkpoint=tmp_path / "c", **settings)
        resumed = fit(corpus, n_laps=16, checkpoint=tmp_path / "c", resume=True, **settings)
    whole = fit(corpus, n_laps=16, **settings)
    np.testing.assert_array_equal(resumed.components_, whole.components_)
    assert (whole.components_ >= whole.eta_).all()


@pytest.fixture(scope="module")
def checkpoint(corpus, tmp_path_factory):
    """Cut in a trial: both a mean and the expected shares of before it are there."""
    place = tmp_path_factory.mktemp("sampled") / "checkpoint"
    fit(corpus, n_laps=36, checkpoint=place)
    arrays, meta = persistence.read_folder(place)
    assert {"mean.data", "kept.0"} <= arrays.keys()
    return arrays, meta


def resumed(checkpoint, corpus, place, arrays=(), meta=(), without=()):
    """Go on from a checkpoint with another array or value, its checksum right."""
    own = {name: array for name, array in {**checkpoint[0], **dict(arrays)}.items() if name not in without}
    values = {name: value for name, value in {**checkpoint[1], **dict(meta)}.items() if name not in without}
    persistence.write_folder(place, kind="checkpoint", arrays=own, meta=values)
    return fit(corpus, n_laps=37, checkpoint=place, resume=True)


ARRAYS = [f"mean.{name}" for name in ("data", "indices", "indptr", "tables")]
ARRAYS += ["shares.0", "kept.0", "expected.beta", "expected.tables"]


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("damage", ["negative", "large", "short", "kind", "absent"])
def test_damaged_array_of_a_mean_or_of_expected_shares_is_refused(checkpoint, corpus, tmp_path, name, damage):
    array = checkpoint[0][name].copy()
    numbers = array[:8].view(np.float32) if array.dtype == np.uint8 else array  # bytes: shares come first
    if damage == "negative":
        numbers[1] = -1
    elif damage == "large":
        numbers[1] = np.inf if numbers.dtype.kind == "f" else 60000
    elif damage == "short":
        array = array[:-1]
    elif damage == "kind":
        array = array.astype(np.float16)
    said = "lacks" if damage == "absent" and name != "kept.0" else "damaged"
    if name == "mean.indices" and damage in ("negative", "large"):
        said = "the counts of its mean do not fit its topics"  # said before SciPy sees them
    with pytest.raises(ModelFormatError, match=said):
        resumed(checkpoint, corpus, tmp_path / "x", {name: array}, without=[name] if damage == "absent" else [])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("final_passes", "both"),
        ("final_passes", ["auto"]),
        ("final_passes_done", -1),
        ("final_passes_done", 2.5),
        ("final_passes_done", TRIAL + 1),
        ("averaged", -1),
        ("averaged", None),
        ("expected", {"alpha": 1.0, "gamma": 1.0}),
        ("expected", {"alpha": -1.0, "gamma": 1.0, "eta": 1.0}),
        ("expected", "shares"),
        ("moves_end", -3),
        ("quiet_rounds", "two"),
    ],
)
def test_damaged_value_of_the_last_passes_is_refused(checkpoint, corpus, tmp_path, name, value):
    with pytest.raises(ModelFormatError, match="damaged"):
        resumed(checkpoint, corpus, tmp_path / "x", meta={name: value})


@pytest.mark.parametrize("name", ["averaged", "expected", "final_passes", "final_passes_done", "moves_end"])
def test_absent_value_of_the_last_passes_is_refused(checkpoint, corpus, tmp_path, name):
    with pytest.raises(ModelFormatError, match=r"damaged|lacks"):
        resumed(checkpoint, corpus, tmp_path / "x", without=[name])


def test_what_was_not_changed_goes_on(checkpoint, corpus, tmp_path):
    assert resumed(checkpoint, corpus, tmp_path / "x").objective_ == fit(corpus, n_laps=37).objective_


def test_one_topic_needs_no_sampled_passes():
    rng = np.random.default_rng(0)
    corpus = Corpus.from_counts(rng.multinomial(30, rng.dirichlet(np.ones(40)), size=300))
    model = CollapsedHDP(random_state=0).fit(corpus)
    assert model.n_topics_ == 1
    assert model.final_passes_ == "expected"
    assert model.converged_
