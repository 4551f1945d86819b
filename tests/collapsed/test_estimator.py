"""`CollapsedHDP`: what a user gives, what a fit leaves, fits that go on, topics that are found again."""

import copy
import shutil

import numpy as np
import pytest
from scipy import sparse

import stickbreak
from stickbreak import CollapsedHDP
from stickbreak.collapsed import aside, moves, sampled
from stickbreak.collapsed.cvb0 import random_start, sweep
from stickbreak.collapsed.learning import learn
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.state import Priors
from stickbreak.corpus import Corpus, planted_lda, toy_bars
from stickbreak.exceptions import InputError, InvalidCorpus, ModelFormatError
from stickbreak.fitting.executor import ThreadExecutor

from .problems import dense, dense_r

SETTINGS = {
    "n_topics": 6,
    "eta": 0.1,
    "n_laps": 27,
    "learn": ("alpha", "gamma", "eta"),
    "merge_laps": 0,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return planted_lda(40, 30, n_topics=4, mean_tokens=30, seed=1)[0]


@pytest.fixture(scope="module")
def fitted(corpus) -> CollapsedHDP:
    """A model of some laps, the last of which learn; not to be changed."""
    return fit(corpus)


def fit(corpus, **changes) -> CollapsedHDP:
    options = {name: changes.pop(name) for name in ("checkpoint", "resume", "callback") if name in changes}
    return CollapsedHDP(**{**SETTINGS, **changes}).fit(corpus, **options)


def assert_same(left: CollapsedHDP, right: CollapsedHDP) -> None:
    for name in ("components_", "tables_", "topic_word_", "objective_", "alpha_", "gamma_", "eta_", "n_laps_"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), err_msg=name)
    assert left.trace_.keys() == right.trace_.keys()
    for name in left.trace_.keys() - {"seconds"}:
        np.testing.assert_array_equal(left.trace_[name], right.trace_[name], err_msg=name)


def test_fit_is_sweeps_and_learning(corpus, fitted):
    state, priors = random_start(corpus, 6, 0), Priors(5.0, 1.0, 0.1)
    objective = []
    for _ in range(27):
        sweep(state, priors, 1 / 15, 0, ThreadExecutor(1))
        priors = learn(state, priors, SETTINGS["learn"], np.asarray(corpus.document_lengths, float))
        objective.append(state.log_p / corpus.n_tokens)
    np.testing.assert_allclose(fitted.trace_["objective"], objective)
    assert (fitted.alpha_, fitted.gamma_, fitted.eta_) == pytest.approx((priors.alpha, priors.gamma, priors.eta))
    for name in ("alpha", "gamma", "eta"):
        assert fitted.trace_[name][-1] == getattr(fitted, name + "_")
    counts = np.einsum("dw,dwk->kw", dense(corpus), dense_r(corpus, state))
    order = np.argsort(-counts.sum(axis=1), kind="stable")[: fitted.n_topics_]
    np.testing.assert_allclose(fitted.components_, counts[order] + priors.eta, atol=1e-9)
    np.testing.assert_allclose(fitted.tables_, state.tables[order])
    np.testing.assert_allclose(fitted.topic_weights_, fitted.tables_ / (fitted.tables_.sum() + fitted.gamma_))


def test_topics_are_the_largest_first_and_none_without_tokens(corpus):
    model = fit(corpus, n_topics=60, n_laps=40, learn=("alpha",))
    tokens = (model.components_ - model.eta_).sum(axis=1)
    assert (np.diff(tokens) <= 0).all()
    assert tokens[-1] >= 0.5
    assert model.n_topics_ < 60
    assert model.trace_["n_topics"][-1] == model.n_topics_


def test_weights_are_those_of_the_fixed_point(corpus, fitted):
    """Of (N_dk + alpha b_k) / (N_d + alpha), with r ∝ phi_kw (N_dk + alpha b_k)."""
    weights, counts = fitted.expected_weights(corpus), dense(corpus)
    prior = fitted.alpha_ * fitted.topic_weights_
    for d in (0, 7):
        theta = weights[d, :-1]
        r = fitted.topic_word_ * theta[:, None]
        n = (r / r.sum(axis=0)) @ counts[d]
        mass = (1 - weights[d, -1]) / (n.sum() + prior.sum())
        np.testing.assert_allclose(theta, (n + prior) * mass, atol=1e-5)
        assert weights[d, -1] == pytest.approx((fitted.alpha_ - prior.sum()) / (counts[d].sum() + fitted.alpha_))


@pytest.mark.parametrize("saved", [False, True])
def test_continued_fit_equals_an_uncut_one(corpus, tmp_path, saved):
    model = fit(corpus, n_laps=3)
    if saved:
        model.save(tmp_path / "m")
        model = stickbreak.load(tmp_path / "m")
    model.continue_fit(corpus, n_laps=2)
    model.continue_fit(corpus, n_laps=17)
    assert_same(model.continue_fit(corpus, n_laps=5), fit(corpus))


def test_fit_resumed_from_its_checkpoint_equals_an_uncut_one(corpus, tmp_path, fitted):
    place = tmp_path / "c"
    fit(corpus, n_laps=5, checkpoint=place)
    assert_same(fit(corpus, checkpoint=place, resume=True), fitted)
    assert_same(fit(corpus, checkpoint=place, resume=True), fitted)  # at its end there is nothing left to do


@pytest.mark.parametrize("cut", [1, 3, 4, 5, 6, 7])
def test_fit_with_merges_continues_as_an_uncut_one(corpus, monkeypatch, tmp_path, cut):
    """Cut before, at and after a merge, and where the tokens held back join."""
    monkeypatch.setattr(moves, "FIRST_MERGE", 2)
    monkeypatch.setattr(moves, "EVERY", 2)
    settings = {"merge_laps": 5, "n_topics": 12, "births": False}
    whole = fit(corpus, **settings, n_laps=8)
    assert whole.trace_["merge_accepted"].sum() > 0
    assert whole.trace_["birth_tried"].sum() == 0
    assert whole.trace_["merge_tried"].nonzero()[0].tolist() == [1, 3]
    model = fit(corpus, **settings, n_laps=cut, checkpoint=tmp_path / "c")
    assert_same(model.continue_fit(corpus, n_laps=8 - cut), whole)
    assert_same(fit(corpus, **settings, n_laps=8, checkpoint=tmp_path / "c", resume=True), whole)


@pytest.mark.parametrize("kind", ["sampled", "expected"])
def test_fit_with_births_and_a_trial_continues_as_an_uncut_one(corpus, monkeypatch, tmp_path, kind):
    """Cut after any pass: before, at and after a round, in the trial, where it is decided, and after that."""
    for name, value in {"FIRST_MERGE": 4, "EVERY": 2, "EVERY_EARLY": 2}.items():
        monkeypatch.setattr(moves, name, value)
    for name, value in {"FEWEST_DOCUMENTS": 10, "APART": 0.2}.items():
        monkeypatch.setattr(aside, name, value)
    for name, value in {"TRIAL": 4, "BURN_IN": 2}.items():
        monkeypatch.setattr(sampled, name, value)
    compare, settings = sampled.as_good, {"merge_laps": 8, "n_topics": None}

    def judged(*args):
        compare(*args)
        return kind == "sampled"

    monkeypatch.setattr(sampled, "as_good", judged)

    def keep(event):
        """Keep the checkpoint of the pass before: that of this one is not written yet."""
        if event.get("lap", 1) > 1:
            shutil.copytree(tmp_path / "c", tmp_path / str(event["lap"] - 1))

    whole = fit(corpus, **settings, n_laps=16, checkpoint=tmp_path / "c", callback=keep)
    assert whole.trace_["birth_accepted"].nonzero()[0].size > 1
    assert whole._kept.values["final_passes"] == kind
    model = fit(corpus, **settings, n_laps=1)
    for cut in range(1, 16):
        assert_same(fit(corpus, **settings, n_laps=16, checkpoint=tmp_path / str(cut), resume=True), whole)
        assert model.n_laps_ == cut
        assert_same(copy.deepcopy(model).continue_fit(corpus, n_laps=16 - cut), whole)
        model.continue_fit(corpus, n_laps=1)


@pytest.mark.parametrize("n_laps", [1, 3, 4])
def test_topics_have_all_tokens_also_of_a_fit_that_ends_while_some_are_held_back(corpus, n_laps):
    model = fit(corpus, merge_laps=3, held_back=0.4, n_laps=n_laps)
    assert (model.components_ - model.eta_).sum() == pytest.approx(corpus.n_tokens, abs=3)  # less topics not shown


@pytest.mark.parametrize(("n_laps", "merge_laps", "told"), [(3, 4, True), (4, 4, False), (3, 0, False)])
@pytest.mark.parametrize("births", [True, False])
def test_fit_that_ends_before_the_last_round_of_moves_says_so(corpus, n_laps, merge_laps, told, births):
    model = CollapsedHDP(n_topics=5, n_laps=n_laps, merge_laps=merge_laps, births=births, random_state=0).fit(corpus)
    reached = f"reached the limit of {n_laps} passes before the objective stopped rising."
    of_births = " Topics are split and merged until pass 4 at most: more passes may change their number."
    of_merges = " Topics are merged until pass 4 at most: more passes may leave fewer topics."
    assert model.stop_reason_ == reached + (of_births if births else of_merges) * told
    if told:
        assert "merged until" not in model.continue_fit(corpus, n_laps=1).stop_reason_


def test_fit_whose_rounds_have_ended_early_does_not_promise_more_of_them():
    words = np.ones((30, 1), int) * 20  # one word: there is nothing to split
    model = CollapsedHDP(n_laps=25, random_state=0).fit(words)
    assert model._kept.values["moves_end"] == 24
    assert model.stop_reason_ == "reached the limit of 25 passes before the objective stopped rising."
    assert model.n_topics_ == 1


def test_fit_that_ends_in_the_trial_of_sampled_passes_says_so(corpus, monkeypatch):
    monkeypatch.setattr(aside, "FEWEST_DOCUMENTS", 10)
    settings = {"n_topics": 5, "merge_laps": 4, "births": False, "random_state": 0}
    before, model = (CollapsedHDP(**settings, n_laps=n_laps).fit(corpus) for n_laps in (4, 9))
    assert model.stop_reason_.endswith(
        "Sampled passes were tried from pass 5 on, and not yet compared: the topics are those of pass 4."
    )
    np.testing.assert_array_equal(model.components_, before.components_)
    assert "tried" not in before.stop_reason_
    assert "tried" not in model.continue_fit(corpus, n_laps=26).stop_reason_


def test_fit_ends_where_the_mean_objective_of_ten_laps_hardly_rises(corpus):
    model = CollapsedHDP(n_topics=5, merge_laps=4, n_laps=500, tolerance=1e-3, random_state=0).fit(corpus)
    objective, moved = model.trace_["objective"], model.trace_["moved"]
    assert model.converged_
    assert 40 <= model.n_laps_ < 500
    assert model.stop_reason_.startswith(f"converged after {model.n_laps_} passes")
    assert "0.001 nats per token per pass over the last 20 passes." in model.stop_reason_
    rises = np.array(
        [objective[e - 10 : e].mean() - objective[e - 20 : e - 10].mean() for e in range(20, objective.size + 1)]
    )
    settled = np.array([not moved[e - 19 : e].any() for e in range(20, objective.size + 1)])
    assert np.flatnonzero(settled & (rises / 10 < 1e-3)).tolist() == [rises.size - 1]  # the first such lap


def test_fit_does_not_end_before_all_tokens_and_hyperparameters_have_joined(corpus):
    for merge_laps, last in ((0, 20), (30, 31)):
        settings = {"n_topics": 5, "merge_laps": merge_laps, "tolerance": 1e9, "random_state": 0}
        model = CollapsedHDP(**settings).fit(corpus)
        assert np.flatnonzero(model.trace_["moved"]).max() + 1 == last
        assert model.n_laps_ == last + 19


def test_converged_fit_goes_on_where_less_is_tolerated(corpus):
    settings = {"n_topics": 5, "merge_laps": 4, "n_laps": 45, "random_state": 0}
    model = CollapsedHDP(**settings, tolerance=1e9).fit(corpus)
    done = model.n_laps_
    assert model.converged_
    assert model.continue_fit(corpus, n_laps=3).n_laps_ == done
    assert model.set_params(tolerance=0.0).continue_fit(corpus, n_laps=3).n_laps_ == done + 3
    uncut = CollapsedHDP(**{**settings, "n_laps": done + 3}, tolerance=0.0).fit(corpus)
    np.testing.assert_array_equal(model.components_, uncut.components_)


def test_cut_fit_ends_by_tolerance_where_the_uncut_one_does(corpus, tmp_path):
    settings = {"n_topics": 5, "merge_laps": 4, "tolerance": 1e-3, "random_state": 0}
    uncut = CollapsedHDP(**settings).fit(corpus)
    cut = CollapsedHDP(**settings, n_laps=uncut.n_laps_ - 5).fit(corpus, checkpoint=tmp_path / "c")
    assert not cut.converged_
    on = CollapsedHDP(**settings).fit(corpus, checkpoint=tmp_path / "c", resume=True)
    assert (on.n_laps_, on.stop_reason_) == (uncut.n_laps_, uncut.stop_reason_)
    np.testing.assert_array_equal(on.components_, uncut.components_)
    assert not on.partial_fit(corpus).converged_


def test_without_tolerance_all_laps_are_done(corpus):
    settings = {"n_topics": 5, "merge_laps": 0, "n_laps": 60, "random_state": 0}
    assert CollapsedHDP(**settings, tolerance=1e9).fit(corpus).n_laps_ < 60
    whole = CollapsedHDP(**settings, tolerance=None).fit(corpus)
    assert (whole.n_laps_, whole.converged_) == (60, False)


def test_single_token_may_be_held_back():
    for seed in range(8):
        model = CollapsedHDP(n_topics=1, held_back=0.5, n_laps=6, random_state=seed).fit(np.array([[0, 1]]))
        assert np.isfinite(model.trace_["objective"]).all()
        assert model.topic_word_[0, 1] > model.topic_word_[0, 0]


def test_continuation_is_refused_where_it_would_be_another_fit(corpus):
    model = fit(corpus, n_laps=2)
    with pytest.raises(InputError, match="to a fit that differs in its counts; give the same documents"):
        model.continue_fit(corpus[::-1], n_laps=1)
    with pytest.raises(InputError, match="differs in its smallest_share"):
        model.set_params(smallest_share=0.3).continue_fit(corpus, n_laps=1)
    for wrong in (0, 1.5, True):
        with pytest.raises(InputError, match=r"n_laps is .*; give a whole number of at least 1"):
            model.continue_fit(corpus, n_laps=wrong)
    model.forget_state()
    with pytest.raises(InputError, match="has no state to continue from"):
        model.continue_fit(corpus, n_laps=1)


def with_other(content, n_counts, name):
    """The shares of a block as bytes, a number of them changed: first come all shares, then topics, then how many."""
    content, entries = content.copy(), (content.size - 2 * n_counts) // 6
    if name == "share":
        content[:4].view(np.float32)[:] = -1.0
    else:
        begin = {"topic": 4, "kept": 6}[name] * entries
        content[begin : begin + 2].view(np.uint16)[:] += 600
    return content


@pytest.mark.parametrize("name", ["kept", "topic", "share", "beta", "tables"])
def test_damaged_shares_are_refused(corpus, name):
    model = fit(corpus, n_laps=2)
    arrays = model._kept.arrays
    if name == "beta":
        arrays[name] = arrays[name] * 0.0
    elif name == "tables":
        arrays[name] = arrays[name][1:]
    else:
        first = InMemory(corpus).turns[0]
        arrays["shares.0"] = with_other(arrays["shares.0"], sum(part.word.size for part in first), name)
    with pytest.raises(ModelFormatError, match="the state of this model is damaged"):
        model.continue_fit(corpus, n_laps=1)


TRIAL_DAMAGES = [
    {"averaged": None},
    {"expected": None},
    {"final_passes": "sampled"},
    {"final_passes": "expected"},
    {"final_passes": "drawn"},
    {"final_passes_done": 31},
    {"final_passes_done": 0},
]


@pytest.mark.parametrize("damage", TRIAL_DAMAGES, ids=str)
def test_damaged_trials_are_refused(corpus, monkeypatch, damage):
    monkeypatch.setattr(aside, "FEWEST_DOCUMENTS", 10)
    model = fit(corpus, n_laps=34, merge_laps=4)
    assert model._kept.values["final_passes_done"] == 30
    for name, value in damage.items():
        if value is None:
            del model._kept.values[name]
        else:
            model._kept.values[name] = value
    with pytest.raises(ModelFormatError, match="the state of this model is damaged"):
        model.continue_fit(corpus, n_laps=1)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"learn": ("beta",)}, "learn names 'beta'"),
        ({"n_topics": 10**5}, "n_topics"),
        ({"smallest_share": 0.6}, "smallest_share"),
        ({"n_topics": 5000}, "the documents hold only"),
    ],
)
def test_wrong_parameter_is_refused(corpus, changes, words):
    with pytest.raises(ValueError, match=words):
        fit(corpus, **changes)


@pytest.mark.parametrize("changes", [{"births": False}, {"merge_laps": 0}])
def test_a_start_without_a_number_has_no_more_topics_than_are_allowed(corpus, changes):
    assert CollapsedHDP(**changes).starting_topics(corpus) == 200
    assert CollapsedHDP(max_topics=50, **changes).starting_topics(corpus) == 50
    assert CollapsedHDP(max_topics=7, n_laps=2, **changes).fit(corpus).trace_["n_topics"].max() <= 7
    stream = CollapsedHDP(max_topics=7, init_sweeps=1, random_state=0).partial_fit(corpus)
    assert stream.components_.shape[0] <= 7


def test_documents_without_words_are_refused():
    with pytest.raises(InvalidCorpus, match="all documents are empty"):
        fit(sparse.csr_matrix((3, 4), dtype=int))


@pytest.mark.parametrize(("n_documents", "share", "settings"), [(200, 1.0, {"held_back": 0.0005}), (60, 0.3, {})])
def test_few_tokens_held_back_merge_no_topics(n_documents, share, settings):
    """With twenty tokens the standard error of any merge is larger than its loss; most weights hold no whole token."""
    counts = toy_bars(n_documents=n_documents, seed=0)[0].counts
    model = CollapsedHDP(n_topics=40, n_laps=31, random_state=0, **settings).fit(counts * share)
    assert model.trace_["merge_tried"].sum() > 0
    assert model.trace_["merge_accepted"].sum() == 0


def test_short_documents_are_not_merged_into_fewer_topics_than_they_have():
    corpus, _ = planted_lda(60, 300, n_topics=6, mean_tokens=20, seed=97)
    model = CollapsedHDP(n_topics=40, random_state=0).fit(corpus)
    assert (
        6 <= model.n_topics_ <= 8
    )  # 4 where a merge may cost a standard error, whatever the tokens; 16 without merges


@pytest.mark.parametrize("settings", [{}, {"eta": 0.1, "learn": ("alpha", "eta")}], ids=["defaults", "eta learned"])
def test_planted_topics_and_their_concentration_are_found(settings):
    corpus, truth = planted_lda(400, 100, n_topics=5, mean_tokens=100, alpha=0.5, eta=0.05, seed=2)
    model = CollapsedHDP(n_topics=15, random_state=0, **settings).fit(corpus)
    distance = np.abs(truth.topic_word[:, None] - model.topic_word_[None]).sum(axis=2) / 2
    assert 5 <= model.n_topics_ <= 7  # over seeds 0 to 3: 5, 5, 7, 5 and with eta learned 6, 5, 6, 6
    assert (distance.min(axis=1) < 0.1).all()
    assert 1.8 < model.alpha_ < 3.5  # 0.5 for each of five topics
    assert 0.02 < model.eta_ < 0.12


@pytest.mark.parametrize("seed", [0])
def test_bars_are_found(seed):
    """Each bar, and up to four topics too many: a merge may cost little, which bars that share words pay for."""
    corpus, truth = toy_bars(n_documents=300, seed=3)
    model = CollapsedHDP(n_topics=40, random_state=seed).fit(corpus)
    distance = np.abs(truth.topic_word[:, None] - model.topic_word_[None]).sum(axis=2) / 2
    assert 10 <= model.n_topics_ <= 14
    assert (distance.min(axis=1) < 0.2).all()  # one that lost a part to another topic is 0.16 off
    trace = model.trace_["objective"]
    assert trace[-1] > trace[0] + 0.3
