"""What must hold on real corpora (the marker `data`): the objective never falls, and how high it gets."""

import numpy as np
import pytest
from scipy import sparse

from stickbreak import VariationalHDP
from stickbreak.corpus import Corpus
from stickbreak.evaluation import document_completion

pytestmark = pytest.mark.data

KOS_OBJECTIVE = -7.58  # nats per token, K = 100 at the start, merges on
KOS_COMPLETION = -7.40  # nats per held-out token
KOS_MEAN_FIELD_COMPLETION = -7.45  # by the local step of the fit; seeds move it between -7.41 and -7.43


def part(folder, corpus: str, name: str) -> Corpus:
    return Corpus.from_counts(sparse.load_npz(folder / "splits" / corpus / f"{name}.npz"))


def assert_never_falls(trace) -> None:
    objective = trace["objective"]
    assert len(objective) > 3
    assert np.diff(objective).min() > -1e-10 * abs(objective[-1])


@pytest.mark.long
def test_kos_reaches_its_objective_and_completion_and_never_falls(data_folder, seed):
    train = part(data_folder, "kos", "train")
    model = VariationalHDP(n_topics=100, random_state=seed, n_jobs=-1).fit(train)
    assert_never_falls(model.trace_)
    assert model.trace_["merge_accepted"].sum() > 0
    assert model.objective_ == model.trace_["objective"][-1]
    assert model.objective_ >= KOS_OBJECTIVE
    seen = np.asarray(train.counts.sum(axis=0)).ravel() > 0
    halves = part(data_folder, "kos", "observed"), part(data_folder, "kos", "heldout")
    assert document_completion(model, *halves, seen=seen).active >= KOS_MEAN_FIELD_COMPLETION
    model.set_params(document_weights="collapsed")
    assert document_completion(model, *halves, seen=seen).active >= KOS_COMPLETION


@pytest.mark.long
def test_nips_objective_never_falls_with_merges_and_batches(data_folder, seed):
    train = part(data_folder, "nips", "train")
    model = VariationalHDP(n_topics=60, n_laps=6, n_batches=4, init_sweeps=5, random_state=seed, n_jobs=-1)
    assert_never_falls(model.fit(train).trace_)
    assert model.trace_["merge_tried"].sum() > 0
