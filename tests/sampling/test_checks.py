"""What the samplers refuse: parameters, documents, checkpoints and saved models that do not fit."""

import json

import numpy as np
import pytest

import stickbreak
from stickbreak import GibbsHDP
from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError, ModelFormatError
from stickbreak.fitting import checks

from .fits import fit


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
