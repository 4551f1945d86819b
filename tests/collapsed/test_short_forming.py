"""Topics of short documents form by Gibbs sampling in all passes: their number, alpha, and the bits of a fit."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stickbreak import CollapsedHDP, load
from stickbreak.collapsed import plans, trial, trials
from stickbreak.collapsed.cvb0 import ALONE
from stickbreak.collapsed.growing import taking_part
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.plans import OF_MANY_SHORT, OF_SHORT, OF_VAGUE, Plan
from stickbreak.collapsed.predictive import is_due
from stickbreak.collapsed.shards import Aside, Shard, Shares
from stickbreak.collapsed.state import Priors
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.evaluation import document_completion
from stickbreak.exceptions import ModelFormatError
from stickbreak.numerics.arrays import Float

from .problems import FORM, begun, formed, go_on, near

PASSES = OF_SHORT.passes


@pytest.fixture(autouse=True, scope="module")
def parts() -> Iterator[None]:
    """Let collections of a few seconds be swept in parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trials, "PART", 10_000)
        yield


@pytest.fixture(scope="module")
def short() -> tuple[Corpus, Any]:
    """40 topics in 6,000 documents of ten words, of which words show fewer."""
    return planted_lda(6000, 1500, n_topics=40, mean_tokens=10, alpha=0.025, seed=1)


@pytest.mark.parametrize(
    ("few", "many", "numbers"),
    [
        (38, 420, [38, 76, 152, 304, 420]),
        (40, 330, [40, 80, 160, 320]),
        (197, 268, [197, 268]),
        (9, 9, [9]),
        (9, 5, [9]),
    ],
)
def test_the_numbers_that_are_tried_double(few: int, many: int, numbers: list[int]) -> None:
    assert OF_SHORT.numbers(few, many) == numbers


def test_planted_topics_are_found_that_words_do_not_show(short: tuple[Corpus, Any]) -> None:
    corpus, truth = short
    forming = formed(corpus, FORM)
    assert forming is not None
    assert forming.trial.n_topics < 38  # those that are shown
    model = CollapsedHDP(random_state=0).fit(corpus)
    assert "The topics come from words that occur in the same documents." in model.stop_reason_
    assert model.final_passes_ == "sampled"
    near = np.abs(truth.topic_word[:, None] - model.topic_word_[None]).sum(axis=2).min(axis=1)
    assert np.mean(near < 0.7) >= 0.9  # two different topics are nearly 2 apart
    assert 36 <= np.searchsorted(np.cumsum(model.topic_shares_), 0.95) <= 55
    assert model.components_.sum() - model.eta_ * model.components_.size == pytest.approx(corpus.n_tokens)


def test_the_start_does_not_matter(short: tuple[Corpus, Any]) -> None:
    first, second = (CollapsedHDP(n_topics=n, n_laps=30, random_state=0).fit(short[0]) for n in (1, 50))
    np.testing.assert_array_equal(first.components_, second.components_)


@pytest.mark.parametrize(("wanted", "tried"), [(0, 2), (1, 3), (2, 3)])
def test_more_topics_are_tried_as_long_as_they_predict_better(
    wanted: int, tried: int, short: tuple[Corpus, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def scores(now: Any, *more: Any) -> Float:
        if now.weights.size not in asked:
            asked.append(now.weights.size)
        return np.array([0.0, -float(abs(len(asked) - 1 - wanted))])

    monkeypatch.setattr(trials.Trial, "scores", scores)
    monkeypatch.setattr(Plan, "numbers", lambda plan, few, many: [few, 2 * few, 3 * few])
    forming = formed(short[0], replace(FORM, max_topics=80))
    assert forming is not None
    while forming.is_trying:
        assert forming.trial.passes < PASSES
        forming.go_on()
    assert asked == [asked[0], 2 * asked[0], 3 * asked[0]][:tried]
    assert forming.trial.weights.size == asked[wanted]
    assert (forming.trial.passes, forming.has_all) == (PASSES, False)
    assert forming.is_full == (wanted == 2)  # where fewer were taken, more could have been
    forming.go_on()
    assert (forming.trial.passes, forming.has_all) == (PASSES + 1, True)  # all documents go on with the topics
    assert forming.trial.counts()[0].sum() == pytest.approx(short[0].n_tokens)
    assert forming.n_left is None
    assert not forming.is_over


def test_documents_that_are_set_apart_are_halved_in_several_ways(
    short: tuple[Corpus, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[list[Any]] = []
    score = trials.Trial.scores
    monkeypatch.setattr(trials.Trial, "scores", lambda now, judges, *m: told.append(judges) or score(now, judges, *m))
    forming = formed(short[0], FORM)
    assert forming is not None
    while not told:
        forming.go_on()
    assert len(told) == 4
    halves = [np.concatenate([shard.held for shard in judges]) for judges in told]
    assert all(half.size == halves[0].size for half in halves)
    assert not any(np.array_equal(half, halves[0]) for half in halves[1:])


def test_alpha_of_many_counts_is_judged_by_the_documents_set_apart(
    short: tuple[Corpus, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "OF_MANY_SHORT", replace(OF_MANY_SHORT, least=10_000))
    forming = formed(short[0], FORM)
    assert forming is not None
    while forming.trial.passes < 81 or forming.is_trying:
        before, passes, n = forming.trial.priors.alpha, forming.trial.passes, forming.trial.weights.size
        forming.go_on()
        if forming.trial.weights.size == n and forming.trial.passes == passes + 1:
            assert forming.trial.priors.alpha == pytest.approx(before, rel=1e-9) or is_due(passes + 1)
    assert 0.3 < forming.trial.priors.alpha < 2.0  # 40 topics of 0.025


def test_all_documents_take_part_once_the_number_is_chosen(short: tuple[Corpus, Any]) -> None:
    forming = formed(short[0], FORM)
    assert forming is not None
    assert forming.trial.counts()[0].sum() < 0.98 * short[0].n_tokens
    alpha = FORM.priors.alpha
    while not forming.has_all and forming.trial.passes <= PASSES:
        alpha = forming.trial.priors.alpha
        forming.go_on()
    assert forming.trial.priors.alpha == pytest.approx(alpha, rel=1e-9)  # it is the one that was learned
    assert alpha != FORM.priors.alpha
    for _ in range(2):
        assert forming.trial.counts()[0].sum() == pytest.approx(short[0].n_tokens)
        forming.go_on()
    assert forming.trial.passes == PASSES + 3  # they go on
    model = CollapsedHDP(n_laps=5 * PASSES, random_state=0).fit(short[0])
    assert model.components_.sum() - model.eta_ * model.components_.size == pytest.approx(short[0].n_tokens)


def test_alpha_that_is_not_learned_stays(short: tuple[Corpus, Any]) -> None:
    model = CollapsedHDP(learn=(), alpha=2.0, n_laps=PASSES + 12, random_state=0).fit(short[0])
    forming = formed(short[0], replace(FORM, learn=(), priors=Priors(2.0, 1.0, 0.05)))
    assert forming is not None
    while forming.trial.passes < PASSES - 1:
        forming.go_on()
    assert forming.trial.priors.alpha == pytest.approx(2.0)
    assert model.alpha_ == pytest.approx(2.0)
    assert set(model.trace_["alpha"]) == {2.0}


def test_alpha_is_judged_by_the_last_pass(short: tuple[Corpus, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Others are tried after fewer passes, in as many dimensions as before."""
    told: list[Any] = []
    judge = trial.predictive_alpha
    monkeypatch.setattr(trial, "predictive_alpha", lambda drawn, *m: told.append(drawn) or judge(drawn, *m))
    monkeypatch.setattr(plans, "OF_MANY_SHORT", replace(OF_MANY_SHORT, least=10_000))
    forming = formed(short[0], FORM)
    assert forming is not None
    while len(told) < 2 and forming.trial.passes < 40:
        forming.go_on()
    assert len(told) == 2
    assert forming.trial.passes in (0, OF_MANY_SHORT.passes)  # the next one has begun, or it goes on
    assert all((topics.S == np.rint(topics.S)).all() for topics in told)  # a mean of passes would have parts of tokens


@pytest.mark.parametrize("case", ["learns eta", "expected", "few counts", "weights", "weights set apart", "few apart"])
def test_others_begin_otherwise(case: str, short: tuple[Corpus, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, rules = short[0], FORM
    if case == "learns eta":
        rules = replace(rules, learn=("alpha", "eta"))
    elif case == "expected":
        rules = replace(rules, final_passes="expected")
    elif case == "few counts":
        corpus = corpus[:1200]
    elif case == "weights":
        corpus = Corpus.from_counts(corpus.counts * 0.7)
    elif case == "weights set apart":
        documents = InMemory(corpus)
        documents.set_aside(Aside(apart=0.05, apart_seed=rules.seed), ALONE)
        row = np.setdiff1d(np.arange(corpus.n_documents), taking_part(documents, ALONE))[0]
        counts = corpus.counts.astype(np.float64)
        counts.data[counts.indptr[row]] = 0.5
        corpus = Corpus.from_counts(counts)
    else:
        monkeypatch.setattr(trials, "JUDGES", 900)
    assert formed(corpus, rules) is None


@pytest.fixture(scope="module")
def vague() -> tuple[Corpus, Any]:
    """5 topics in short documents, whose words show too few to be sure of."""
    return planted_lda(3000, 400, n_topics=5, mean_tokens=10, seed=2)


def test_weights_set_apart_begin_otherwise_where_words_show_few(
    vague: tuple[Corpus, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They take part in the end, also where those of many documents whose words show more do not."""
    monkeypatch.setattr(plans, "OF_MANY_SHORT", replace(OF_MANY_SHORT, least=OF_SHORT.least))
    assert formed(vague[0], FORM) is not None
    documents = InMemory(vague[0])
    documents.set_aside(Aside(apart=0.05, apart_seed=FORM.seed), ALONE)
    row = np.setdiff1d(np.arange(vague[0].n_documents), taking_part(documents, ALONE))[0]
    counts = vague[0].counts.astype(np.float64)
    counts.data[counts.indptr[row]] = 0.5
    assert formed(Corpus.from_counts(counts), FORM) is None


def test_many_topics_of_short_documents_become_few_where_words_show_few(vague: tuple[Corpus, Any]) -> None:
    corpus, truth = vague
    forming = begun(corpus)
    assert forming.trial.n_topics > 60
    assert not forming.is_trying
    go_on(forming, OF_VAGUE.merging[0] - 1)
    assert (forming.n_merged, forming.last_merging) == (0, OF_VAGUE.merging[-1])
    forming.go_on()
    assert forming.n_merged > 20
    model = CollapsedHDP(random_state=0).fit(corpus)
    assert model.n_laps_ > OF_VAGUE.merging[2]
    assert near(truth, model.topic_word_).all()
    assert 5 <= model.n_topics_ <= 7  # chance decides about two of a thousandth of the tokens or so
    assert np.sort(model.topic_shares_)[-5:].sum() > 0.99
    assert model.components_.sum() - model.eta_ * model.components_.size == pytest.approx(corpus.n_tokens)


def test_a_fit_whose_words_show_few_topics_has_the_same_bits_when_resumed(
    vague: tuple[Corpus, Any], tmp_path: Path
) -> None:
    """Cut before the first round, after it, before and after all documents join."""
    monkey = replace(OF_VAGUE, merging=(20, 30, 40, 50))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plans, "OF_VAGUE", monkey)
        patch.setattr(trials, "OF_VAGUE", monkey)
        settings: dict[str, Any] = {"random_state": 3, "n_laps": 54}
        whole = CollapsedHDP(**settings).fit(vague[0])
        for cut in (7, 20, 50, 51):
            part = CollapsedHDP(**{**settings, "n_laps": cut}).fit(vague[0], checkpoint=tmp_path / f"{cut}")
            assert part._kept.values["is_vague"]
            assert part._kept.values["has_all"] == (cut == 51)
            again = CollapsedHDP(n_jobs=2, **settings).fit(vague[0], checkpoint=tmp_path / f"{cut}", resume=True)
            np.testing.assert_array_equal(again.components_, whole.components_)
        early = CollapsedHDP(random_state=3, n_laps=7).fit(vague[0])
        early._kept.values["is_vague"] = False
        with pytest.raises(ModelFormatError, match="damaged"):
            early.continue_fit(vague[0], n_laps=1)


CHOSEN = 4 * PASSES  # passes of the trials of 4,000 of the documents, seed 3


@pytest.fixture(scope="module")
def whole(short: tuple[Corpus, Any]) -> CollapsedHDP:
    return CollapsedHDP(n_laps=CHOSEN + 12, random_state=3).fit(short[0][:4000])


@pytest.mark.parametrize("cut", [3, PASSES, PASSES + 2, CHOSEN, CHOSEN + 1, CHOSEN + 7])
def test_a_resumed_fit_has_the_same_bits(
    cut: int, whole: CollapsedHDP, short: tuple[Corpus, Any], tmp_path: Path
) -> None:
    """Cut in the first trial, where it ends, in the next one, where the last ends, after all documents have joined."""
    corpus = short[0][:4000]
    part = CollapsedHDP(n_laps=cut, random_state=3).fit(corpus, checkpoint=tmp_path / "fit")
    assert part._kept.values["has_all"] == (cut > CHOSEN)
    assert (part._kept.values["n_judged"] == len(part._kept.values["numbers"])) == (cut >= CHOSEN)
    settings: dict[str, Any] = {"n_laps": CHOSEN + 12, "random_state": 3, "n_jobs": 2}
    again = CollapsedHDP(**settings).fit(corpus, checkpoint=tmp_path / "fit", resume=True)
    np.testing.assert_array_equal(again.components_, whole.components_)
    np.testing.assert_array_equal(again.trace_["objective"], whole.trace_["objective"])
    assert again.alpha_ == whole.alpha_


def test_a_fit_with_files_and_a_continued_one_have_the_same_bits(
    whole: CollapsedHDP, short: tuple[Corpus, Any], tmp_path: Path
) -> None:
    corpus = short[0][:4000]
    filed = CollapsedHDP(n_laps=CHOSEN + 12, random_state=3, scratch=tmp_path / "scratch").fit(corpus)
    np.testing.assert_array_equal(filed.components_, whole.components_)
    CollapsedHDP(n_laps=CHOSEN + 5, random_state=3).fit(corpus).save(tmp_path / "model")
    more = load(tmp_path / "model").continue_fit(corpus, n_laps=7)
    np.testing.assert_array_equal(more.components_, whole.components_)


def test_rows_are_those_of_the_best_trial(short: tuple[Corpus, Any]) -> None:
    trace = CollapsedHDP(n_laps=PASSES + 3, random_state=0).fit(short[0][:4000]).trace_
    assert len(set(trace["objective"][: PASSES - 1])) == PASSES - 1
    assert len(set(trace["objective"][PASSES - 1 :])) == len(set(trace["n_topics"][PASSES - 1 :])) == 1


def test_a_fit_goes_on_until_topics_are_formed_and_says_what_was_not_tried(short: tuple[Corpus, Any]) -> None:
    model = CollapsedHDP(random_state=0, tolerance=10.0).fit(short[0])
    assert model.converged_
    assert model.n_laps_ > OF_SHORT.settled
    early = CollapsedHDP(random_state=0, n_laps=4).fit(short[0])
    assert "More topics were not tried yet" in early.stop_reason_
    assert "More topics" not in model.stop_reason_


def test_more_topics_predict_new_documents_better(short: tuple[Corpus, Any]) -> None:
    """Than those that are shown."""
    train, held = short[0].split(0.2, seed=1)
    halves = held.halves(seed=0)
    found = CollapsedHDP(random_state=0).fit(train)
    few = CollapsedHDP(random_state=0, max_topics=20).fit(train)
    assert few.n_topics_ <= 20
    assert "The number of topics reached max_topics=20" in few.stop_reason_
    assert "reached max_topics" not in found.stop_reason_
    for model in (found, few):
        assert (model.trace_["objective"] < 0).all()
    gain = document_completion(found, *halves).active - document_completion(few, *halves).active
    assert gain > 0.1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("trial.passes", 10**6),
        ("best.passes", 2),
        ("numbers", [50, 5]),
        ("n_judged", 9),
        ("formed", 3),
        ("n_quiet", 1),
        ("has_all", True),
        ("best.scores", "short"),
        ("best.mean", "zero"),
        ("best.mean", "twice"),
    ],
)
def test_a_damaged_state_is_refused(name: str, value: Any, short: tuple[Corpus, Any]) -> None:
    corpus = short[0][:4000]
    model = CollapsedHDP(n_laps=PASSES + 2, random_state=0).fit(corpus)
    arrays, values = model._kept.arrays, model._kept.values
    if name in values:
        values[name] = value
    else:
        part = arrays[name]
        arrays[name] = part[:-1] if value == "short" else part * (2.0 if value == "twice" else 0.0)
    with pytest.raises(ModelFormatError, match="damaged"):
        model.continue_fit(corpus, n_laps=1)


@pytest.mark.parametrize(
    ("n_shards", "words", "documents", "kept"),
    [(10, 100, 10, [0, 3, 6, 9]), (10, 100, 3, list(range(10))), (10, 5, 10, list(range(10))), (0, 0, 0, [])],
)
def test_some_of_many_documents_judge(n_shards: int, words: int, documents: int, kept: list[int]) -> None:
    """300 stored counts and 20 documents are enough."""
    numbers = np.zeros(words, np.int64)
    shards = [
        Shard(d, np.zeros(documents + 1, np.int64), numbers, numbers, Shares.none(words)) for d in range(n_shards)
    ]
    assert [shard.first for shard in trials._some_of(shards, 300, 20)] == kept


def test_words_at_random_have_one_topic() -> None:
    """Frequent words are in the same documents as all others: that alone makes no topics."""
    rng, share = np.random.default_rng(0), 1.0 / np.arange(1, 1001)
    counts = rng.multinomial(rng.poisson(8, size=8000), share / share.sum())
    assert CollapsedHDP(random_state=0).fit(Corpus.from_counts(counts.astype(np.float64))).n_topics_ == 1
