"""A fit that is cut and resumed ends where an uncut one does, to the last bit."""

import copy
import json
import os
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest

import stickbreak
from stickbreak import GibbsHDP, VariationalHDP
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.exceptions import InputError, ModelFormatError, WriteError
from stickbreak.fitting.checkpoint import identity_of, identity_of_corpus
from stickbreak.storage import persistence

SETTINGS = {
    "moves": [
        "merge",
        "reorder",
    ],  # so that merges are left for the laps after a cut; all moves have a test of their own
    "n_topics": 60,
    "tolerance": 0.0,
    "init": "near-uniform",
    "n_batches": 3,
    "random_state": 0,
}

FIT = """
import json, os, signal, sys
import numpy as np
import stickbreak
from stickbreak.corpus import planted_lda
settings, checkpoint, result, kill_at = json.loads(sys.argv[1]), *sys.argv[2:4], int(sys.argv[4])
corpus, _ = planted_lda(60, 40, n_topics=4, seed=1)
def callback(event):
    if event.get("lap") == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)
model = stickbreak.VariationalHDP(**settings).fit(corpus, checkpoint=checkpoint, resume=True, callback=callback)
np.savez(result, components=model.components_, rho=model.rho_, omega=model.omega_,
         objective=model.trace_["objective"], n_topics=model.trace_["n_topics"], merges=model.trace_["merge_accepted"])
"""


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return planted_lda(60, 40, n_topics=4, seed=1)[0]


@pytest.fixture(scope="module")
def cut_fit(tmp_path_factory):
    """Documents, and the arrays and meta of the checkpoint of a fit of two laps in three batches."""
    corpus = planted_lda(60, 40, n_topics=4, seed=1)[0]
    place = tmp_path_factory.mktemp("cut") / "checkpoint"
    fit(corpus, n_laps=2, checkpoint=place)
    return corpus, *persistence.read_folder(place)


def fit(corpus, **changes) -> VariationalHDP:
    options = {name: changes.pop(name) for name in ("checkpoint", "resume", "callback") if name in changes}
    return VariationalHDP(**{**SETTINGS, "n_laps": 8, **changes}).fit(corpus, **options)


@pytest.fixture(scope="module")
def whole(corpus):
    """Return a function that gives the fit with some parameters that was never cut: one fit for all tests."""
    made = {}

    def of(**changes):
        key = repr(sorted(changes.items()))
        if key not in made:
            made[key] = fit(corpus, **changes)
        return made[key]

    return of


def assert_same(left: VariationalHDP, right: VariationalHDP) -> None:
    hyperparameters = ("alpha_", "gamma_", "eta_")
    for name in (
        *hyperparameters,
        "components_",
        "n_steps_",
        "rho_",
        "omega_",
        "objective_",
        "n_laps_",
        "converged_",
        "stop_reason_",
    ):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), err_msg=name)
    assert left.trace_.keys() == right.trace_.keys()
    for name in left.trace_.keys() - {"seconds"}:
        np.testing.assert_array_equal(left.trace_[name], right.trace_[name], err_msg=name)
        assert left.trace_[name].dtype == right.trace_[name].dtype, name


@pytest.mark.parametrize("cut", [1, 3, 7])
def test_resumed_fit_equals_the_uncut_one(corpus, whole, tmp_path, cut):
    uncut = whole()
    merges = uncut.trace_["merge_accepted"]
    assert merges[1:3].sum() > 0, "no merge before the cut"
    assert merges[3:].sum() > 0, "no merge after the cut"
    fit(corpus, n_laps=cut, checkpoint=tmp_path / "checkpoint")
    assert_same(fit(corpus, checkpoint=tmp_path / "checkpoint", resume=True), uncut)


@pytest.mark.parametrize(
    "changes",
    [
        {"init": "collapsed", "init_sweeps": 3},
        {"init": "documents"},
        {"n_batches": 1},
        {"n_batches": 7},  # of unequal sizes
        {"moves": ("reorder",)},
        {"moves": ()},
        {"moves": ["reorder", "merge"]},
        {"moves": ["merge", "delete", "birth", "refine", "reorder"]},
        {"moves": ["delete", "birth"], "restarts": 0, "n_batches": 1},
        {
            "moves": ["refine", "birth", "merge", "delete", "reorder"],
            "learn": ("alpha", "gamma", "eta"),
            "bound": "quadratic",
        },
        {"learn": ["alpha", "gamma", "eta"]},
        {"learn": ("eta",), "n_batches": 7},
        {"learn": ("alpha",), "bound": "quadratic"},
        {"init": np.random.default_rng(0).random((6, 40))},
        {"schedule": "stochastic"},
        {"schedule": "stochastic", "stick_rule": "natural", "moves": (), "n_batches": 7},
    ],
    ids=str,
)
def test_resumed_fit_equals_the_uncut_one_whatever_the_settings(corpus, tmp_path, changes):
    fit(corpus, n_laps=3, checkpoint=tmp_path / "checkpoint", **changes)
    resumed = fit(corpus, n_laps=6, checkpoint=tmp_path / "checkpoint", resume=True, **changes)
    assert_same(resumed, fit(corpus, n_laps=6, **changes))


@pytest.mark.parametrize("cut", [1, 2, 4, 5, 6, 8])
def test_resumed_fit_with_all_moves_equals_the_uncut_one(corpus, whole, tmp_path, cut):
    """What each move remembers of before the cut decides what it tries after it."""
    settings = {"moves": ["merge", "delete", "birth", "refine", "reorder"], "n_topics": 3, "init": "documents"}
    uncut = whole(n_laps=12, **settings)
    for name in ("merge", "delete", "birth", "refine"):
        tried = uncut.trace_[f"{name}_tried"]
        assert tried[1:].sum() > 0, name
    fit(corpus, n_laps=cut, checkpoint=tmp_path / "checkpoint", **settings)
    resumed = fit(corpus, n_laps=12, checkpoint=tmp_path / "checkpoint", resume=True, n_jobs=2, **settings)
    assert_same(resumed, uncut)


@pytest.mark.parametrize("cut", [9, 10, 11])
def test_resumed_fit_recomputes_its_totals_in_the_same_lap(corpus, whole, tmp_path, cut):
    fit(corpus, n_laps=cut, checkpoint=tmp_path / "checkpoint")
    resumed = fit(corpus, n_laps=13, checkpoint=tmp_path / "checkpoint", resume=True)
    assert_same(resumed, whole(n_laps=13))


def test_resumed_fit_equals_the_uncut_one_with_empty_documents_and_weights(corpus, tmp_path):
    counts = corpus.counts.toarray() * 0.5
    counts[::7] = 0
    half = Corpus.from_counts(counts)
    fit(half, n_laps=3, checkpoint=tmp_path / "checkpoint", n_batches=20)
    resumed = fit(half, checkpoint=tmp_path / "checkpoint", resume=True, n_batches=20)
    assert_same(resumed, fit(half, n_batches=20))


def test_fit_cut_many_times_equals_the_uncut_one(corpus, whole, tmp_path):
    for n_laps in range(1, 8):
        fit(corpus, n_laps=n_laps, checkpoint=tmp_path / "checkpoint", resume=True)
    assert_same(fit(corpus, checkpoint=tmp_path / "checkpoint", resume=True), whole())


def test_number_of_threads_may_change_on_the_way(corpus, whole, tmp_path):
    fit(corpus, n_laps=3, checkpoint=tmp_path / "checkpoint", n_jobs=2)
    assert_same(fit(corpus, checkpoint=tmp_path / "checkpoint", resume=True, n_jobs=1), whole())


def test_checkpoints_change_nothing_in_the_fit(corpus, whole, tmp_path):
    assert_same(fit(corpus, checkpoint=tmp_path / "checkpoint"), whole())


def test_interrupted_fit_resumes_where_it_stopped(corpus, whole, tmp_path):
    def press_ctrl_c(event):
        if event.get("lap") == 3:
            os.kill(os.getpid(), signal.SIGINT)

    cut = fit(corpus, checkpoint=tmp_path / "checkpoint", callback=press_ctrl_c)
    assert cut.n_laps_ == 3
    assert_same(fit(corpus, checkpoint=tmp_path / "checkpoint", resume=True), whole())


def test_killed_fit_resumes_in_a_fresh_process_to_the_same_bits(corpus, tmp_path, fresh_python):
    settings = json.dumps({**SETTINGS, "n_laps": 8})
    paths = tmp_path / "checkpoint", tmp_path / "result.npz"
    fresh_python(FIT, settings, *paths, 4, returncode=-signal.SIGKILL)
    assert not paths[1].exists()
    _, meta = persistence.read_folder(paths[0], kind="checkpoint")
    assert len(meta["trace"]["objective"]) == 3
    fresh_python(FIT, settings, *paths, 0)
    uncut = fit(corpus)
    with np.load(paths[1]) as result:
        assert result["merges"][4:].sum() > 0, "no merge after the kill"
        np.testing.assert_array_equal(result["components"], uncut.components_)
        np.testing.assert_array_equal(result["rho"], uncut.rho_)
        np.testing.assert_array_equal(result["omega"], uncut.omega_)
        np.testing.assert_array_equal(result["objective"], uncut.trace_["objective"])
        np.testing.assert_array_equal(result["n_topics"], uncut.trace_["n_topics"])


def test_converged_fit_resumed_with_more_laps_is_still_the_uncut_one(corpus, tmp_path):
    uncut = fit(corpus, n_laps=40, tolerance=1e-3)
    assert uncut.converged_
    fit(corpus, n_laps=40, tolerance=1e-3, checkpoint=tmp_path / "checkpoint")
    for n_laps in (40, 60, uncut.n_laps_):
        resumed = fit(corpus, n_laps=n_laps, tolerance=1e-3, checkpoint=tmp_path / "checkpoint", resume=True)
        assert_same(resumed, uncut)


def test_resume_with_fewer_laps_than_done_tells_the_laps_that_were_done(corpus, tmp_path):
    fit(corpus, n_laps=5, checkpoint=tmp_path / "checkpoint")
    resumed = fit(corpus, n_laps=2, checkpoint=tmp_path / "checkpoint", resume=True)
    assert resumed.n_laps_ == 5
    assert "5" in resumed.stop_reason_


def test_resume_without_a_checkpoint_starts_afresh(corpus, whole, tmp_path):
    assert_same(fit(corpus, checkpoint=tmp_path / "checkpoint", resume=True), whole())
    assert (tmp_path / "checkpoint").is_dir()


def test_fit_without_resume_starts_afresh_and_replaces_the_checkpoint(corpus, tmp_path):
    fit(corpus, checkpoint=tmp_path / "checkpoint")
    assert_same(fit(corpus, n_laps=2, checkpoint=tmp_path / "checkpoint"), fit(corpus, n_laps=2))
    _, meta = persistence.read_folder(tmp_path / "checkpoint", kind="checkpoint")
    assert len(meta["trace"]["objective"]) == 2


def test_checkpoint_leaves_nothing_beside_itself(corpus, tmp_path):
    fit(corpus, checkpoint=tmp_path / "checkpoint")
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]


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
    "schedule": "stochastic",
    "learning_decay": 0.6,
    "learning_offset": 2.0,
    "stick_rule": "natural",
    "local_tolerance": 1e-3,
    "local_sweeps": 7,
    "restarts": 2,
    "random_state": 1,
}


@pytest.mark.parametrize("name", OTHER_PARAMETERS)
def test_resume_with_another_parameter_is_refused(corpus, tmp_path, name):
    fit(corpus, n_laps=2, checkpoint=tmp_path / "checkpoint")
    with pytest.raises(InputError, match=rf"checkpoint is of a fit with another {name}; resume with the same input"):
        fit(corpus, checkpoint=tmp_path / "checkpoint", resume=True, **{name: OTHER_PARAMETERS[name]})


def test_every_parameter_either_belongs_to_the_fit_or_may_change():
    may_change = {"n_jobs", "verbose", "n_laps", "tolerance", "document_weights", "init_sweeps", "total_documents"}
    assert set(VariationalHDP().get_params()) == OTHER_PARAMETERS.keys() | may_change


def test_resume_with_other_topics_to_start_from_is_refused(corpus, tmp_path):
    init = np.random.default_rng(0).random((6, 40))
    fit(corpus, n_laps=2, checkpoint=tmp_path / "checkpoint", init=init)
    with pytest.raises(InputError, match="another init"):
        fit(corpus, checkpoint=tmp_path / "checkpoint", resume=True, init=init + 1e-9)


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
            with pytest.raises(InputError, match="a fit with another vocabulary; resume with the same input"):
                model.fit(other, checkpoint=tmp_path / "checkpoint", resume=True)
        else:
            assert model.fit(other, checkpoint=tmp_path / "checkpoint", resume=True).n_laps_ == 2


def test_words_that_are_cut_otherwise_are_other_words(corpus):
    one, other = (Corpus.from_counts([[1, 1, 1]], vocabulary=words) for words in (["a", "b c", "d"], ["a b", "c", "d"]))
    assert identity_of_corpus(one)["vocabulary"] != identity_of_corpus(other)["vocabulary"]


def test_identity_is_of_values_and_not_of_how_they_were_given(corpus):
    documents = identity_of_corpus(corpus)

    def identity(**parameters):
        return identity_of(VariationalHDP(**parameters), documents, 7, free=("n_jobs",))

    topics = [[1, 2, 0.5], [3.0, 4, 2]]
    assert identity(learn=("alpha",), init=topics, n_jobs=2) == identity(learn=["alpha"], init=np.array(topics))
    assert identity(moves=()) == identity(moves=[])
    whole, fractions = (identity_of(GibbsHDP(alpha_prior=p), documents, 7, free=()) for p in ((1, 1), (1.0, 1.0)))
    assert whole == fractions
    assert whole != identity_of(GibbsHDP(alpha_prior=(1, 2)), documents, 7, free=())
    assert identity(init=topics) != identity(init=topics[::-1])
    assert identity(random_state=3)["random_state"] == 7
    assert "n_jobs" not in identity()
    assert identity(init=topics)["init"].startswith("array ")  # a checksum, not a table in JSON


def test_resume_of_another_method_names_both(corpus, tmp_path):
    for ours, other in ((VariationalHDP, GibbsHDP), (GibbsHDP, VariationalHDP)):
        place = tmp_path / ours.__name__
        limit = {"n_laps": 1}
        ours(n_topics=6, init_sweeps=2, **limit).fit(corpus, checkpoint=place)
        words = f"is of a {ours.__name__}, and this fit is of a {other.__name__}; resume with the same method"
        with pytest.raises(InputError, match=words):
            other(n_topics=6).fit(corpus, checkpoint=place, resume=True)


def test_refused_resume_leaves_the_checkpoint_as_it_is(corpus, tmp_path):
    folder = tmp_path / "checkpoint"
    fit(corpus, n_laps=2, checkpoint=folder)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    with pytest.raises(InputError):
        fit(corpus, checkpoint=folder, resume=True, alpha=0.6)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_saved_model_is_no_checkpoint(corpus, tmp_path):
    fit(corpus, n_laps=2).save(tmp_path / "model")
    with pytest.raises(ModelFormatError, match="holds a VariationalHDP, not a checkpoint"):
        fit(corpus, checkpoint=tmp_path / "model", resume=True)


def test_checkpoint_is_no_saved_model(corpus, tmp_path):
    fit(corpus, n_laps=2, checkpoint=tmp_path / "checkpoint")
    with pytest.raises(ModelFormatError, match=r"checkpoint.*not a fitted model"):
        stickbreak.load(tmp_path / "checkpoint")


def test_checkpoint_does_not_replace_a_saved_model(corpus, tmp_path):
    fit(corpus, n_laps=2).save(tmp_path / "model")
    with pytest.raises((InputError, WriteError), match="model"):
        fit(corpus, n_laps=2, checkpoint=tmp_path / "model")
    assert stickbreak.load(tmp_path / "model").n_laps_ == 2


@pytest.mark.parametrize("damage", ["cut arrays", "no arrays", "no head", "head is no JSON", "a flipped bit"])
def test_damaged_checkpoint_is_refused(corpus, tmp_path, damage):
    folder = tmp_path / "checkpoint"
    fit(corpus, n_laps=2, checkpoint=folder)
    arrays, head = folder / "arrays.safetensors", folder / "model.json"
    content = bytearray(arrays.read_bytes())
    if damage == "cut arrays":
        arrays.write_bytes(content[: len(content) // 2])
    elif damage == "no arrays":
        arrays.unlink()
    elif damage == "no head":
        head.unlink()
    elif damage == "head is no JSON":
        head.write_text(head.read_text()[:100])
    else:
        content[-9] ^= 1
        arrays.write_bytes(content)
    with pytest.raises(ModelFormatError, match="checkpoint"):
        fit(corpus, checkpoint=folder, resume=True)


def test_checkpoint_that_lacks_an_array_is_refused(corpus, tmp_path):
    fit(corpus, n_laps=2, checkpoint=tmp_path / "checkpoint")
    arrays, meta = persistence.read_folder(tmp_path / "checkpoint")
    del arrays["batch1.n_dk"]
    persistence.write_folder(tmp_path / "less", kind="checkpoint", arrays=arrays, meta=meta)
    with pytest.raises(ModelFormatError, match=r"batch1\.n_dk"):
        fit(corpus, checkpoint=tmp_path / "less", resume=True)


STOCHASTIC = {"schedule": "stochastic", "n_topics": 6}


@pytest.mark.parametrize("cut", [1, 2, 5])
def test_resumed_stochastic_fit_equals_the_uncut_one(corpus, tmp_path, cut):
    """With its steps: the next call of partial_fit goes on from the same one."""
    fit(corpus, n_laps=cut, checkpoint=tmp_path / "checkpoint", **STOCHASTIC)
    resumed = fit(corpus, checkpoint=tmp_path / "checkpoint", resume=True, n_jobs=2, **STOCHASTIC)
    uncut = fit(corpus, **STOCHASTIC)
    assert_same(resumed, uncut)
    assert resumed.n_steps_ == uncut.n_steps_ == 24
    again = fit(corpus, checkpoint=tmp_path / "checkpoint", resume=True, **STOCHASTIC)
    assert_same(again, uncut)
    assert again.n_steps_ == 24


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


@pytest.mark.parametrize("place", ["a folder of somebody else", "a file", "no parent"])
def test_place_for_checkpoints_is_checked_before_the_fit(corpus, tmp_path, place):
    target = tmp_path / "place"
    if place == "a folder of somebody else":
        target.mkdir()
        (target / "precious.txt").write_text("mine")
    elif place == "a file":
        target.write_text("mine")
    else:
        target = tmp_path / "missing" / "place"
    events: list[dict] = []
    told = "place.*parent folder does not exist" if place == "no parent" else "place.*or the folder of a checkpoint"
    with pytest.raises((WriteError, InputError), match=told):
        fit(corpus, checkpoint=target, callback=events.append)
    assert events == [], "the fit had begun before its checkpoint was refused"
    if place == "a folder of somebody else":
        assert (target / "precious.txt").read_text() == "mine"


def test_checkpoint_stays_in_its_place_when_the_working_folder_changes(corpus, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    fit(corpus, checkpoint="place", n_laps=3, callback=lambda event: os.chdir(tmp_path / "elsewhere"))
    assert os.listdir(tmp_path / "elsewhere") == []
    assert_same(fit(corpus, checkpoint=tmp_path / "place", resume=True), fit(corpus))


@pytest.mark.skipif(os.name == "nt", reason="links as Unix has them")
def test_checkpoint_behind_a_link_is_written_where_the_link_leads(corpus, tmp_path):
    (tmp_path / "link").symlink_to("place")  # which is not there yet
    fit(corpus, checkpoint=tmp_path / "link", n_laps=3, resume=True)
    assert_same(fit(corpus, checkpoint=tmp_path / "link", resume=True), fit(corpus))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "place" / "model.json").exists()


def test_disk_full_at_a_checkpoint_keeps_the_one_before(corpus, tmp_path, monkeypatch):
    import errno

    folder = tmp_path / "checkpoint"
    real, calls = Path.write_bytes, []

    def full(self, data):
        calls.append(self)
        if len(calls) == 3:
            real(self, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(self, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(WriteError, match="disk is full; free some space"):
        fit(corpus, checkpoint=folder)
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]
    assert_same(fit(corpus, checkpoint=folder, resume=True), fit(corpus))


def test_checkpoint_moved_elsewhere_is_resumed_there(corpus, tmp_path):
    fit(corpus, n_laps=3, checkpoint=tmp_path / "here")
    shutil.move(tmp_path / "here", tmp_path / "there")
    assert_same(fit(corpus, checkpoint=tmp_path / "there", resume=True), fit(corpus))


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
        (lambda arrays, meta: meta.update(n_batches=2), "batch0 is not of 30"),
        (lambda arrays, meta: meta.update(n_batches=0), "number of batches"),
        (lambda arrays, meta: meta.update(n_batches="x"), "damaged"),
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


def test_checkpoint_that_does_not_tell_all_its_settings_is_refused(cut_fit, tmp_path):
    corpus, arrays, meta = cut_fit
    meta = copy.deepcopy(meta)
    del meta["identity"]["counts"]
    persistence.write_folder(tmp_path / "changed", kind="checkpoint", arrays=arrays, meta=meta)
    with pytest.raises(InputError, match="another counts"):
        fit(corpus, checkpoint=tmp_path / "changed", resume=True)


def test_resume_without_a_seed_takes_that_of_the_checkpoint(corpus, tmp_path):
    fit(corpus, n_laps=3, checkpoint=tmp_path / "checkpoint", random_state=None)
    resumed = fit(corpus, checkpoint=tmp_path / "checkpoint", resume=True, random_state=None)
    assert resumed.n_laps_ == 8
