"""A fit does not go on from a checkpoint that is of another fit, or damaged."""

import copy

import numpy as np
import pytest

import stickbreak
from stickbreak import GibbsHDP, VariationalHDP
from stickbreak.corpus import Corpus, toy_bars
from stickbreak.exceptions import InputError, ModelFormatError, WriteError
from stickbreak.storage import persistence

from .fits import STOCHASTIC, fit

OTHER_PARAMETERS = {
    "n_topics": 14,
    "alpha": 0.6,
    "gamma": 9.0,
    "eta": 0.2,
    "learn": ("gamma",),
    "bound": "quadratic",
    "init": "documents",
    "moves": ("reorder",),
    "delete_documents": 100,
    "n_batches": 2,
    "batches_at_once": 2,
    "schedule": "stochastic",
    "learning_decay": 0.6,
    "learning_offset": 2.0,
    "stick_rule": "natural",
    "local_tolerance": 1e-3,
    "local_sweeps": 7,
    "restarts": 2,
    "random_state": 1,
}


def test_every_parameter_either_belongs_to_the_fit_or_may_change():
    may_change = {
        "n_jobs", "verbose", "n_laps", "tolerance", "document_weights", "init_sweeps", "total_documents", "scratch"
    }  # fmt: skip
    assert set(VariationalHDP().get_params()) == OTHER_PARAMETERS.keys() | {"seeds", "seed_tokens"} | may_change


@pytest.mark.parametrize("estimator", [VariationalHDP, GibbsHDP])
def test_resume_with_other_words_is_refused(corpus, tmp_path, estimator):
    """The counts are the same: columns that are called otherwise are other documents."""
    limit = {"n_laps": 2}
    words = [f"word{w}" for w in range(40)]
    small = {"n_topics": 6, "init_sweeps": 2, "random_state": 0, **limit}
    for vocabulary in (words, words, ["b", *words[1:]]):
        other = Corpus.from_counts(corpus.counts, vocabulary=vocabulary)
        model = estimator(**small)
        if vocabulary[0] == "b":
            with pytest.raises(InputError, match="a fit that differs in its vocabulary; resume with the same input"):
                model.fit(other, checkpoint=tmp_path / "checkpoint", resume=True)
        else:
            assert model.fit(other, checkpoint=tmp_path / "checkpoint", resume=True).n_laps_ == 2


def test_checkpoint_does_not_replace_a_saved_model(corpus, tmp_path):
    fit(corpus, n_laps=2).save(tmp_path / "model")
    with pytest.raises(WriteError, match="model"):
        fit(corpus, n_laps=2, checkpoint=tmp_path / "model")
    assert stickbreak.load(tmp_path / "model").n_laps_ == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("counts", np.full((40, 6), np.nan)),
        ("counts", np.full((40, 6), -1.0)),
        ("counts", np.zeros((39, 6))),
        ("tokens", np.zeros(5)),
        ("rho", np.full(6, 1.5)),
        ("scale", 0.0),
        ("n_steps", -1),
        ("objective", float("nan")),
    ],
)
def test_damaged_stochastic_checkpoint_is_refused(corpus, tmp_path, name, value):
    fit(corpus, n_laps=2, checkpoint=tmp_path / "checkpoint", **STOCHASTIC)
    arrays, meta = persistence.read_folder(tmp_path / "checkpoint")
    (arrays if name in arrays else meta)[name] = value
    persistence.write_folder(tmp_path / "damaged", kind="checkpoint", arrays=arrays, meta=meta)
    with pytest.raises(ModelFormatError, match="damaged"):
        fit(corpus, checkpoint=tmp_path / "damaged", resume=True, **STOCHASTIC)


def _poke(name, index, value):
    def change(arrays, meta):
        arrays[name][index] = value

    return change


def _replace(name, edit):
    def change(arrays, meta):
        arrays[name] = np.ascontiguousarray(edit(arrays[name]))

    return change


def _swap_topics(name):
    """Swap two topics of one document, or of one word."""

    def change(arrays, meta):
        topic, indptr = arrays[f"{name}topic"], arrays[f"{name}indptr"]
        at = int(indptr[np.flatnonzero(np.diff(indptr) > 1)[0]])
        topic[at], topic[at + 1] = topic[at + 1], topic[at]

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_replace("rho", lambda x: x[:-1]), "sticks"),
        (_poke("rho", 0, 1.0), "sticks"),
        (_poke("omega", 0, np.nan), "sticks"),
        (_poke("omega", 0, 0.0), "sticks"),
        (_replace("topic_ids", lambda x: x[:-1]), "topic_ids"),
        (_poke("topic_ids", slice(None), 1), "topic_ids"),
        (_replace("totals.S", lambda x: x[:-1]), r"totals\.S"),
        (_replace("totals.S", lambda x: x[:, :-1]), r"totals\.S"),
        (_replace("totals.N", lambda x: x[:-1]), r"totals\.N"),
        (_replace("batch1.T", lambda x: x[:-1]), r"batch1\.T"),
        (_replace("batch1.H", lambda x: x.astype(np.float32)), r"batch1\.H"),
        (_poke("batch2.Q", 0, np.inf), r"batch2\.Q"),
        (_poke("batch0.words", 0, -1), r"batch0\.words"),
        (_poke("batch0.words", -1, 40), r"batch0\.words"),
        (_replace("batch0.words", lambda x: x[::-1]), r"batch0\.words"),
        (_replace("batch0.words", lambda x: x[:-1]), r"batch0\.S_indptr"),
        (_replace("batch0.words", lambda x: x.astype(np.float64)), r"batch0\.words"),
        (_poke("batch1.S_indptr", 0, 1), r"batch1\.S_indptr"),
        (_poke("batch1.S_indptr", 1, 10**9), r"batch1\.S_indptr"),
        (_poke("batch1.S_indptr", -1, 10**9), r"batch1\.S_indptr"),
        (_replace("batch1.S_indptr", lambda x: x.astype(np.int32)), r"batch1\.S_indptr"),
        (_poke("batch1.S_topic", 0, 60), r"batch1\.S_topic names no topic"),
        (_replace("batch1.S_topic", lambda x: x.astype(np.int32)), r"batch1\.S_topic"),
        (_replace("batch1.S_topic", lambda x: x[:, None]), r"batch1\.S_topic"),
        (_swap_topics("batch1.S_"), r"batch1\.S_topic does not ascend"),
        (_replace("batch1.S_value", lambda x: x[:-1]), r"batch1\.S_value"),
        (_poke("batch1.S_value", 0, np.nan), r"batch1\.S_value"),
        (lambda arrays, meta: arrays.pop("batch1.S_value"), r"lacks 'batch1\.S_value'"),
        (_poke("batch0.topic", 0, -1), r"batch0\.topic"),
        (_poke("batch0.topic", -1, 60), r"batch0\.topic"),
        (_swap_topics("batch0."), r"batch0\.topic does not ascend"),
        (_replace("batch0.topic", lambda x: x.astype(np.int64)), r"batch0\.n_dk"),
        (_replace("batch0.n_dk", lambda x: x[:-1]), r"batch0\.n_dk"),
        (_poke("batch0.n_dk", 0, -1.0), r"batch0\.n_dk"),
        (_poke("batch0.n_dk", 0, 1e308), r"batch0\.n_dk holds a number out of its range"),
        (_replace("batch0.n_dk", lambda x: 1.001 * x), r"batch0\.N is not that of its documents"),
        (_replace("batch0.indptr", lambda x: x[:-1]), r"batch0\.indptr"),
        (_poke("batch0.indptr", 0, 1), r"batch0\.indptr"),
        (_poke("batch0.indptr", -1, 10**9), r"batch0\.indptr"),
        (_poke("batch0.indptr", 1, 10**9), r"batch0\.indptr"),
        (_poke("batch0.scalars", 0, 19), "batch0 is not of 20 documents"),
        (_poke("totals.scalars", 0, 59), "totals is not of 60 documents"),
        (_poke("totals.scalars", 0, np.inf), "damaged"),
        (_replace("totals.scalars", lambda x: x[:1]), "damaged"),
        (
            lambda arrays, meta: arrays.update({"totals.transitions": np.zeros((1, 1))}),
            r"totals\.transitions do not suit",
        ),
        (lambda arrays, meta: meta.update(n_batches=2), "batch0 is not of 30"),
        (lambda arrays, meta: meta.update(n_batches=0), "number of batches"),
        (lambda arrays, meta: meta.update(n_batches="x"), "damaged"),
        (lambda arrays, meta: meta.update(accepted=[[1, "merge", 0.5, 3, [0.5]]]), "damaged"),
        (lambda arrays, meta: meta.update(accepted=[[1, "merge", 0.5, 3, [[10**6]]]]), "damaged"),
        (lambda arrays, meta: meta["hyperparameters"].update(alpha=-1.0), "not all positive"),
        (lambda arrays, meta: meta["hyperparameters"].update(eta=np.nan), "not all positive"),
        (lambda arrays, meta: meta["hyperparameters"].pop("gamma"), "gamma"),
        (lambda arrays, meta: meta["hyperparameters"].update(gamma=[1.0]), "damaged"),
        (lambda arrays, meta: meta["hyperparameters"].update(eta=[0.1]), "damaged"),
        (lambda arrays, meta: meta.update(fresh_share=2.0), "shares of fresh starts"),
        (lambda arrays, meta: meta.update(restart_share=-1.0), "shares of fresh starts"),
        (lambda arrays, meta: meta.update(identity=[]), "damaged"),
        (lambda arrays, meta: meta.update(moves=[]), "damaged"),
        (lambda arrays, meta: meta["moves"]["merge"].update(rejected=[1]), "damaged"),
        (lambda arrays, meta: meta["trace"].update(lap=[1]), "trace"),
        (lambda arrays, meta: meta["trace"].pop("moved"), "its trace lacks the column moved"),
        (lambda arrays, meta: meta["trace"].update(lap=["a", "b"]), "trace"),
        (lambda arrays, meta: meta.update(trace=3), "damaged"),
    ],
)
def test_checkpoint_whose_parts_do_not_fit_is_refused(cut_fit, tmp_path, change, words):
    corpus, arrays, meta = cut_fit
    arrays, meta = copy.deepcopy((arrays, meta))
    change(arrays, meta)
    persistence.write_folder(tmp_path / "changed", kind="checkpoint", arrays=arrays, meta=meta)
    with pytest.raises(ModelFormatError, match=rf"changed .*{words}.*; start the fit again without it\.$"):
        fit(corpus, checkpoint=tmp_path / "changed", resume=True)


def test_fit_that_removed_topics_goes_on(tmp_path):
    """What is left of a topic that has lost its tokens in a batch may be below zero by rounding: here -9e-16."""
    corpus, _ = toy_bars(1000, seed=0)
    settings = {"moves": ("merge", "delete", "reorder"), "init": "documents", "n_topics": 100, "n_batches": 10}
    model = VariationalHDP(learn=(), eta=0.1, random_state=0, n_laps=2, **settings)
    model.fit(corpus, checkpoint=tmp_path / "fit")
    assert model.set_params(n_laps=3).fit(corpus, checkpoint=tmp_path / "fit", resume=True).n_laps_ == 3


@pytest.mark.parametrize("name", OTHER_PARAMETERS)
def test_resume_with_another_parameter_is_refused(corpus, tmp_path, name):
    fit(corpus, n_laps=2, checkpoint=tmp_path / "checkpoint")
    with pytest.raises(
        InputError, match=rf"checkpoint belongs to a fit that differs in its {name}; resume with the same"
    ):
        fit(corpus, checkpoint=tmp_path / "checkpoint", resume=True, **{name: OTHER_PARAMETERS[name]})


@pytest.mark.parametrize("other", ["one document less", "one count more", "documents in another order"])
def test_resume_with_other_documents_is_refused(corpus, tmp_path, other):
    fit(corpus, n_laps=2, checkpoint=tmp_path / "checkpoint")
    counts = corpus.counts.toarray()
    if other == "one document less":
        counts = counts[:-1]
    elif other == "one count more":
        counts[5, counts[5].argmax()] += 1
    else:
        counts = counts[::-1]
    with pytest.raises(InputError, match="resume with the same input"):
        fit(Corpus.from_counts(counts), checkpoint=tmp_path / "checkpoint", resume=True)
