"""Bad input at the Python face: one clear error, nothing half-written."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import stickbreak
from stickbreak import VariationalHDP
from stickbreak.corpus import Corpus, toy_bars
from stickbreak.exceptions import InputError, InvalidCorpus, ModelFormatError, StickbreakError, WriteError
from stickbreak.storage import persistence

COUNTS = np.array([[2, 0, 1, 4], [0, 3, 1, 0], [5, 0, 0, 2]])
KINDS = {
    "ndarray": np.asarray,
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
}


def small(**changes) -> VariationalHDP:
    return VariationalHDP(**{"n_topics": 3, "n_laps": 2, "init_sweeps": 2, "random_state": 0, **changes})


def refused(call, *names: str, kind: type[Exception] = InputError) -> str:
    """Return the text of the error, which names what was given."""
    with pytest.raises(kind) as caught:
        call()
    text = str(caught.value)
    assert isinstance(caught.value, StickbreakError)
    assert "\n" not in text
    for name in names:
        assert name in text, f"{name!r} is not named: {text}"
    return text


def no_traces(estimator: VariationalHDP) -> None:
    assert not [name for name in vars(estimator) if name.endswith("_") and name != "n_features_in_"]


def test_more_topics_than_tokens_are_refused():
    text = refused(lambda: small(n_topics=19).fit(COUNTS), "n_topics", "19", "18 tokens")
    assert "100 is a good start" not in text, "the advice is larger than what was refused"
    small(n_topics=18).fit(COUNTS)


def test_tokens_are_named_as_they_are_when_fewer_than_topics():
    counts = np.full((3, 4), 123_456)
    text = refused(lambda: VariationalHDP(n_topics=2_000_000).fit(counts))
    assert "2000000" in text.replace(",", "")
    assert "1481472 tokens" in text.replace(",", "")


@pytest.mark.parametrize("init", ["kmeans", "LDA", ""])
def test_unknown_init_is_refused_with_the_known_ones(init):
    refused(lambda: small(init=init).fit(COUNTS), repr(init), "'lda'", "'near-uniform'", "'documents'")


@pytest.mark.parametrize(
    ("init", "named"),
    [
        (np.ones((3, 5)), "(3, 5)"),
        (np.ones((3, 3)), "(3, 3)"),
        (np.ones(4), "(4,)"),
        ([[1, 2, 3]], "(1, 3)"),
        (np.ones((2, 3, 4)), "(2, 3, 4)"),
        (np.ones((0, 4)), "(0, 4)"),
    ],
)
def test_init_of_another_shape_is_refused(init, named):
    refused(lambda: small(init=init).fit(COUNTS), "init", named, "4 columns")


@pytest.mark.parametrize("value", [-0.5, np.nan, np.inf])
def test_init_with_an_impossible_value_is_refused(value):
    init = np.ones((2, 4))
    init[1, 2] = value
    refused(lambda: small(init=init).fit(COUNTS), "init", "give word distributions")


def test_init_with_an_empty_topic_is_refused():
    refused(lambda: small(init=np.diag([1.0, 1, 1, 0])).fit(COUNTS), "init", "empty row")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, -np.inf])
def test_impossible_counts_are_refused_naming_place_and_value(kind, value):
    counts = COUNTS.astype(float)
    counts[1, 2] = value
    estimator = small()
    refused(lambda: estimator.fit(KINDS[kind](counts)), "row 1", "column 2", str(value), kind=InvalidCorpus)
    no_traces(estimator)


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("method", ["transform", "score", "expected_weights"])
def test_impossible_counts_are_refused_by_a_fitted_model(method, value):
    counts = COUNTS.astype(float)
    counts[1, 2] = value
    model = small().fit(COUNTS)
    refused(lambda: getattr(model, method)(counts), "row 1", "column 2", str(value), kind=InvalidCorpus)


@pytest.mark.parametrize("kind", [*KINDS, "Corpus"])
def test_documents_that_are_all_empty_are_refused(kind):
    make = {**KINDS, "Corpus": Corpus.from_counts}[kind]
    refused(lambda: small().fit(make(np.zeros((3, 4)))), "all documents are empty", kind=InvalidCorpus)


@pytest.mark.parametrize("n_words", [3, 5])
def test_vocabulary_of_another_length_is_refused(n_words):
    words = [f"w{w}" for w in range(n_words)]
    refused(lambda: Corpus.from_counts(COUNTS, vocabulary=words), f"{n_words} words", "4 columns", kind=InvalidCorpus)


def test_vocabulary_with_a_word_twice_is_refused():
    words = ["a", "b", "a", "c"]
    refused(lambda: Corpus.from_counts(COUNTS, vocabulary=words), "'a' twice", "columns 0 and 2", kind=InvalidCorpus)


@pytest.mark.parametrize("n_jobs", [0, True])
def test_bad_n_jobs_is_refused(n_jobs):
    estimator = small(n_jobs=n_jobs)
    refused(lambda: estimator.fit(COUNTS), "n_jobs", repr(n_jobs), "-1 for all cores")
    no_traces(estimator)


BAD_PARAMETERS = [
    ("n_jobs", "two"),
    ("n_jobs", 1.5),
    ("n_topics", 0),
    ("n_topics", 2.5),
    ("alpha", 0.0),
    ("alpha", np.nan),
    ("alpha", np.inf),
    ("gamma", -1.0),
    ("eta", 0.0),
    ("init_sweeps", 0),
    ("moves", "merge"),
    ("n_laps", 0),
    ("tolerance", -1e-9),
    ("n_batches", 0),
    ("local_tolerance", 0.0),
    ("local_sweeps", 0),
    ("document_weights", "both"),
    ("random_state", -1),
    ("random_state", "seed"),
    ("verbose", "yes"),
]


@pytest.mark.parametrize(("name", "value"), BAD_PARAMETERS)
def test_parameter_out_of_range_is_refused_naming_range_and_value(name, value):
    estimator = small(**{name: value})
    with pytest.raises(ValueError, match=rf"'{name}' parameter of VariationalHDP must be .* Got {value!r} instead"):
        estimator.fit(COUNTS)
    no_traces(estimator)


def test_every_parameter_is_validated():
    assert VariationalHDP._parameter_constraints.keys() == VariationalHDP().get_params().keys()


def test_unknown_move_is_refused_with_the_known_ones():
    refused(lambda: small(moves=["merge", "split"]).fit(COUNTS), "'split'", "'merge'", "'reorder'")


def test_move_named_twice_is_refused():
    refused(lambda: small(moves=["merge", "merge"]).fit(toy_bars(20, seed=0)[0]), "moves", "'merge'")


@pytest.mark.parametrize(("learn", "words"), [(["beta"], ("'beta'", "'alpha'")), (["eta", "eta"], ("learn", "'eta'"))])
def test_unknown_or_repeated_hyperparameter_to_learn_is_refused(learn, words):
    refused(lambda: small(learn=learn).fit(COUNTS), *words)


def test_text_instead_of_counts_is_refused():
    refused(lambda: Corpus.from_counts(["a cat", "a dog"]), "text", "count_texts", kind=InvalidCorpus)


def test_counts_too_large_for_their_type_are_refused():
    refused(lambda: small().fit(COUNTS * 2**31), "row 2, column 0", "10737418240", kind=InvalidCorpus)


def saved_names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.fixture
def model() -> VariationalHDP:
    return small().fit(COUNTS)


FAILURES = [
    (persistence, "_blocks", errno.ENOSPC, "the disk is full; free some space"),
    (Path, "write_text", errno.ENOSPC, "the disk is full; free some space"),
    (Path, "write_text", errno.EDQUOT, "quota"),
    (Path, "mkdir", errno.EACCES, "permission denied; choose a place"),
    (Path, "mkdir", errno.EROFS, "read-only; choose another place"),
    (os, "fsync", errno.ENOSPC, "the disk is full; free some space"),
    (os, "rename", errno.EACCES, "permission denied; choose a place"),
]


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize(
    ("owner", "function", "number", "sentence"), FAILURES, ids=[f"{f}-{errno.errorcode[n]}" for _, f, n, _ in FAILURES]
)
def test_save_that_the_system_refuses_leaves_nothing_half_written(
    model, tmp_path, monkeypatch, owner, function, number, sentence, overwrite
):
    target = tmp_path / "model"
    if overwrite:
        model.save(target)
    before = saved_names(tmp_path)
    other = small(n_topics=2).fit(COUNTS)

    def refuse(*arguments, **options):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(owner, function, refuse)
    text = refused(lambda: other.save(target, overwrite=overwrite), str(target), kind=WriteError)
    monkeypatch.undo()
    assert sentence in text
    assert saved_names(tmp_path) == before
    if overwrite:
        np.testing.assert_array_equal(stickbreak.load(target).components_, model.components_)


def test_overwriting_that_fails_half_way_brings_the_old_model_back(model, tmp_path, monkeypatch):
    model.save(tmp_path / "model")
    rename, calls = os.rename, []

    def refuse_the_second(source, target):
        calls.append(source)
        if len(calls) == 2:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        rename(source, target)

    monkeypatch.setattr(os, "rename", refuse_the_second)
    refused(lambda: small(n_topics=2).fit(COUNTS).save(tmp_path / "model", overwrite=True), kind=WriteError)
    assert len(calls) == 3
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    np.testing.assert_array_equal(stickbreak.load(tmp_path / "model").components_, model.components_)


def test_save_to_a_folder_that_may_not_be_written_is_refused(model, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *arguments, **options: False)
    text = refused(lambda: model.save(tmp_path / "model"), str(tmp_path / "model"), kind=WriteError)
    assert "permission denied" in text
    assert saved_names(tmp_path) == []


def test_save_without_a_parent_folder_is_refused(model, tmp_path):
    refused(lambda: model.save(tmp_path / "no" / "model"), "parent folder does not exist", kind=WriteError)
    assert saved_names(tmp_path) == []


def test_save_over_something_else_is_refused(model, tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine.txt").write_text("mine")
    for name in ("file", "folder"):
        for overwrite in (False, True):
            path = tmp_path / name
            refused(lambda path=path, o=overwrite: model.save(path, overwrite=o), str(path), kind=WriteError)
    assert saved_names(tmp_path) == ["file", "folder", "folder/mine.txt"]
    assert (tmp_path / "file").read_text() == "mine"


def test_save_over_a_model_with_a_strange_file_beside_it_is_refused(model, tmp_path):
    model.save(tmp_path / "model")
    (tmp_path / "model" / "notes.txt").write_text("mine")
    refused(
        lambda: model.save(tmp_path / "model", overwrite=True),
        "notes.txt",
        "move that away",
        kind=WriteError,
    )
    assert (tmp_path / "model" / "notes.txt").read_text() == "mine"


def test_interrupted_save_leaves_nothing_half_written(model, tmp_path, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_text", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.save(tmp_path / "model")
    assert saved_names(tmp_path) == []


def test_load_of_what_is_no_model_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    for name, problem in (("missing", "does not exist"), ("empty", "no model.json"), ("file", "is a file")):
        path = tmp_path / name
        refused(lambda path=path: stickbreak.load(path), str(path), problem, kind=ModelFormatError)


def test_transform_of_other_words_is_refused(model):
    wider = Corpus.from_counts(np.ones((2, 5), dtype=int))
    refused(lambda: model.transform(wider), "5 words", "4", kind=InvalidCorpus)
    with pytest.raises(ValueError, match="X has 5 features, but VariationalHDP is expecting 4"):
        model.transform(wider.counts)


def test_more_topics_than_the_memory_holds_are_refused(monkeypatch):
    monkeypatch.setattr("stickbreak.fitting.requirements.memory_installed", lambda: 2.0**20)
    documents, _ = toy_bars(200, seed=0)
    refused(lambda: small(n_topics=500).fit(documents), "n_topics", "500", "GiB")
