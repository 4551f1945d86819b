"""What the samplers refuse: parameters, documents, checkpoints and saved models that do not fit."""

import json

import numpy as np
import pytest

import stickbreak
from stickbreak import GibbsHDP
from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError, InvalidCorpus, ModelFormatError
from stickbreak.fitting import checks

from .fits import fit


@pytest.mark.parametrize("part", ["kept.chain0.z", "kept.kept0.reference"])
def test_damaged_chains_are_refused_when_they_should_go_on(corpus, tmp_path, part):
    model = fit(corpus, estimate="average")
    model._kept.arrays[part.removeprefix("kept.")][0] = 10_000
    model.save(tmp_path / "model")
    loaded = stickbreak.load(tmp_path / "model")
    assert loaded.transform(corpus).shape[0] == 40
    with pytest.raises(ModelFormatError, match="state of this model is damaged"):
        loaded.continue_fit(corpus, n_laps=1)


@pytest.mark.parametrize(
    ("name", "change"),
    [("eta", {"eta": 0.3}), ("thin", {"thin": 3}), ("burn_in", {"burn_in": 2}), ("random_state", {"random_state": 1}),
     ("estimate", {"estimate": "best"}), ("n_chains", {"n_chains": 2}), ("learn", {"learn": ()})],
)  # fmt: skip
def test_resume_with_another_parameter_is_refused(corpus, tmp_path, name, change):
    fit(corpus, n_laps=4, checkpoint=tmp_path / "cut")
    with pytest.raises(InputError, match=f"a fit that differs in its {name}"):
        fit(corpus, checkpoint=tmp_path / "cut", resume=True, **change)


def test_resume_without_a_seed_takes_that_of_the_checkpoint(corpus, tmp_path):
    first = fit(corpus, n_laps=5, random_state=None, checkpoint=tmp_path / "cut")
    resumed = fit(corpus, random_state=None, checkpoint=tmp_path / "cut", resume=True)
    np.testing.assert_array_equal(resumed.trace_["objective"][:5], first.trace_["objective"])
    assert resumed.n_laps_ == 8


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda meta: meta["chains"].pop(), "number of chains"),
        (lambda meta: meta["trace"].pop("gamma"), "lacks the column"),
        (lambda meta: meta["trace"].pop("gamma_1"), "lacks the column"),
        (lambda meta: meta["chains"][0]["chain"].update(n_topics=99), "damaged"),
        (lambda meta: meta.pop("burn_in"), "lacks 'burn_in'"),
    ],
)
def test_checkpoint_whose_parts_do_not_fit_is_refused(corpus, tmp_path, damage, words):
    fit(corpus, n_chains=2, n_laps=4, checkpoint=tmp_path / "cut")
    file = tmp_path / "cut" / "model.json"
    head = json.loads(file.read_text())
    damage(head["meta"])
    file.write_text(json.dumps(head))
    with pytest.raises(ModelFormatError, match=words):
        fit(corpus, n_chains=2, checkpoint=tmp_path / "cut", resume=True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"learn": ["beta"]}, "learn names 'beta'"),
        ({"learn": ["eta", "eta"]}, "more than once"),
        ({"alpha_prior": (1.0,)}, "alpha_prior is"),
        ({"gamma_prior": (1.0, 0.0)}, "shape and the rate"),
        ({"eta_prior": ("a", 1.0)}, "eta_prior is"),
        ({"burn_in": 8}, "burn_in is 8, but n_laps is 8"),
        ({"sampler": "dense", "representation": "franchise"}, "sampler is 'dense'"),
        ({"init": "kmeans"}, "'sequential', 'random', 'single', 'lda'"),
        ({"init": np.ones((2, 7))}, "init has shape"),
    ],
)
def test_parameters_that_do_not_fit_are_refused_in_one_sentence(corpus, change, words):
    with pytest.raises(InputError, match=words) as found:
        fit(corpus, **change)
    assert str(found.value).count(". ") == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_topics", 0), ("alpha", 0.0), ("gamma", np.inf), ("eta", -1.0), ("learn", "alpha"), ("alpha_prior", 1.0),
     ("representation", "crf"), ("subtopic_trials", -1), ("subtopic_passes", 0),
     ("split_merge_trials", -1), ("split_merge_sweeps", 0),
     ("split_merge_scans", -1), ("init_sweeps", 0), ("n_laps", 0), ("burn_in", -1), ("thin", 0), ("n_chains", 0),
     ("estimate", "mean"), ("random_state", -1), ("n_jobs", 1.5), ("verbose", "yes")],
)  # fmt: skip
def test_parameter_out_of_range_is_refused(corpus, name, value):
    with pytest.raises(ValueError, match=rf"'{name}' parameter of GibbsHDP must be"):
        fit(corpus, **{name: value})


def test_every_parameter_is_validated():
    assert GibbsHDP().get_params().keys() <= GibbsHDP._parameter_constraints.keys()


def test_empty_documents_are_refused():
    with pytest.raises(InvalidCorpus, match="all documents are empty"):
        fit(np.zeros((3, 4)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda model: setattr(model, "tables_", model.tables_[1:]), "tables_"),
        (lambda model: setattr(model, "tables_", 0 * model.tables_), "tables_"),
        (lambda model: setattr(model, "components_", 0 * model.components_), "components_"),
        (lambda model: setattr(model, "alpha_", -1.0), "alpha_"),
        (lambda model: setattr(model, "burn_in_", -1), "burn_in_"),
        (lambda model: setattr(model, "chain_", 1), "chain"),
        (lambda model: setattr(model, "n_tokens_", "many"), "n_tokens_"),
        (lambda model: setattr(model, "n_chains_", 2), "lacks the column alpha_0"),
        (lambda model: setattr(model, "n_chains_", "two"), "n_chains_"),
        (lambda model: setattr(model, "learned_", ["beta"]), "learned_"),
    ],
)
def test_saved_state_that_no_fit_can_have_left_is_refused(corpus, tmp_path, change, words):
    model = fit(corpus)
    change(model)
    model.save(tmp_path / "model")
    with pytest.raises(ModelFormatError, match=words):
        stickbreak.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "give fewer documents, or fit by HybridHDP"),
        ({"representation": "partially-collapsed"}, "give fewer documents, or fit by HybridHDP"),
        ({"n_topics": 6000}, "give fewer topics or fewer words"),
    ],
)
def test_fit_that_memory_cannot_hold_is_refused(monkeypatch, change, words):
    """At 30 MiB; 12 million tokens over 400 words need more."""
    monkeypatch.setattr(checks, "memory_installed", lambda: 30 * 2.0**20)
    corpus = Corpus.from_counts(np.full((1200, 400), 25))
    model = GibbsHDP(**{"n_topics": 10, "n_laps": 1, "burn_in": 0, **change})
    with pytest.raises(InputError, match=words) as refused:
        model.fit(corpus)
    assert str(refused.value).count(". ") == 0


def test_more_chains_and_threads_need_more_memory(monkeypatch):
    """Chains keep their topics all the time; trials of as many chains as there are threads have their lists."""
    corpus, needed = Corpus.from_counts(np.full((30, 400), 100)), []
    for chains, jobs in ((1, 1), (4, 1), (4, 4)):
        model = GibbsHDP(n_topics=10, n_chains=chains, n_jobs=jobs)
        least, most = 1.0, 2.0**40
        while most > 1.01 * least:
            size = (least + most) / 2 if most < 4 * least else (least * most) ** 0.5
            monkeypatch.setattr(checks, "memory_installed", lambda size=size: size)
            try:
                model._check_documents(corpus)
                most = size
            except InputError:
                least = size
        needed.append(most)
    assert 1.5 < needed[1] / needed[0] < 4
    assert 1.2 < needed[2] / needed[1] < 4
