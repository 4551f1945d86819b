"""What people give in place of counts or vectors is named in one sentence that never shows their data."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from fuzz.models import weights
from scipy import sparse
from tests.contract.small import FACES, FACES_OF_WORDS, data_of, fitted, unfitted

from stickbreak.backoff_tree import checks as tree_checks
from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting import checks

TEXTS = ["bread and butter", "a secret of nobody", "salt"]
ARROW = pd.ArrowDtype(pa.string())
TEXT_FORMS = {
    "list": lambda: list(TEXTS),
    "tuple": lambda: tuple(TEXTS),
    "list that begins with None": lambda: [None, *TEXTS],
    "Series": lambda: pd.Series(TEXTS, dtype=object),
    "Series of string": lambda: pd.Series(TEXTS, dtype="string"),
    "Series of arrow": lambda: pd.Series(TEXTS, dtype=ARROW),
    "Series of category": lambda: pd.Series(TEXTS, dtype="category"),
    "array of str": lambda: np.array(TEXTS),
    "array of object": lambda: np.array(TEXTS, dtype=object),
    "table of str": lambda: np.array([TEXTS, TEXTS]),
    "table of object": lambda: np.array([[1, "secret"], [2, 3]], dtype=object),
    "lists of words": lambda: [text.split() for text in TEXTS],
    "generator": lambda: (text for text in TEXTS),
    "one string": lambda: TEXTS[1],
    "bytes": lambda: TEXTS[1].encode(),
    "list of bytes": lambda: [text.encode() for text in TEXTS],
    "dict": lambda: {"text": TEXTS},
    "list of dicts": lambda: [{"secret": 1}],
    "set": lambda: set(TEXTS),
    "None": lambda: None,
    "path": lambda: Path("secret.txt"),
    "number": lambda: 3,
}
TAKEN = (
    "list",
    "tuple",
    "array of str",
    "array of object",
    "lists of words",
    "generator",
)  # and columns: models of words take them
TO_FIT = ("fit", "fit_transform", "partial_fit")
TO_ASK = ("continue_fit", "transform", "score", "left_to_right", "predict", "score_samples")


def refusals(name, make, doors=(*TO_FIT, *TO_ASK)):
    """Yield what each method says of a wrong X."""
    known = fitted(name)
    for door in doors:
        if hasattr(known, door):
            model = unfitted(name) if door in TO_FIT else known
            options = {"n_laps": 1} if door == "continue_fit" else {}
            with pytest.raises(InputError) as caught:
                getattr(model, door)(make(), **options)
            yield str(caught.value)


@pytest.mark.parametrize("form", TEXT_FORMS)
@pytest.mark.parametrize("name", FACES)
def test_texts_and_other_things_are_named_and_not_shown(name, form):
    taken = name in FACES_OF_WORDS and (form in TAKEN or form.startswith(("Series", "list that")))
    said = list(refusals(name, TEXT_FORMS[form], TO_ASK if taken else (*TO_FIT, *TO_ASK)))
    assert len(said) >= 3
    for text in said:
        assert "secret" not in text
        assert len(text) < 200
        assert "\n" not in text
        assert "must hold" in text or "give" in text
        if taken:
            assert text.startswith("X holds texts, but this model was fitted to counts; give counts, made as those of")
        elif name in FACES_OF_WORDS:
            assert text.startswith("X must hold counts of words, but ")


COUNTS = data_of("TopicModel").counts.toarray()
DTYPES = {
    "bool": lambda frame: frame > 0,
    "boolean": lambda frame: (frame > 0).astype("boolean"),
    "Int64": lambda frame: frame.astype("Int64"),
    "Float64": lambda frame: frame.astype("Float64"),
    "arrow": lambda frame: frame.astype(pd.ArrowDtype(pa.int64())),
    "object": lambda frame: frame.astype(object),
    "sparse": lambda frame: frame.astype(pd.SparseDtype(int, 0)),
    "mixed": lambda frame: frame.astype({"w0": "Int64", "w1": float, "w2": "uint8", "w3": object}),
}


_FITTED: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}


def fitted_to(frame):
    """Return the topics of a frame of int, and the weights of its documents: one fit for all tests."""
    key = frame.to_numpy().tobytes()
    if key not in _FITTED:
        model = unfitted("VariationalHDP").fit(frame)
        _FITTED[key] = model.components_, model.transform(frame)
    return _FITTED[key]


@pytest.mark.parametrize("dtype", DTYPES)
def test_frame_of_counts_of_any_dtype_is_taken(dtype):
    frame = pd.DataFrame(COUNTS).add_prefix("w")
    plain = frame > 0 if "bool" in dtype else frame
    components, told = fitted_to(plain.astype(int))
    model = unfitted("VariationalHDP").fit(DTYPES[dtype](frame))
    np.testing.assert_array_equal(model.components_, components)
    np.testing.assert_array_equal(model.transform(DTYPES[dtype](frame)), told)
    np.testing.assert_array_equal(Corpus.from_counts(DTYPES[dtype](frame)).counts.toarray(), plain.astype(int))


@pytest.mark.parametrize("name", FACES_OF_WORDS)
@pytest.mark.parametrize("kind", ["dok", "lil", "bsr", "dia"])
def test_sparse_matrix_of_any_kind_is_taken(name, kind):
    X = sparse.csr_matrix(COUNTS).asformat(kind)
    expected, model = fitted(name), unfitted(name).fit(X)
    np.testing.assert_array_equal(weights(model, X), weights(expected, COUNTS))


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (COUNTS[0], "Reshape your data"),
        (COUNTS[0].tolist(), "Reshape your data"),
        (np.array(3), "Reshape your data"),
        (COUNTS[None], "dim 3"),
        (COUNTS + 1j, "complex"),
        (sparse.csr_matrix(COUNTS + 1j), "complex"),
        (sparse.coo_array(COUNTS[0]), "dimension"),
        (COUNTS[:, :7], "7 features"),
        (np.zeros((0, 7)), "7 features"),
        (COUNTS[:, :0], r"0 feature\(s\)"),
    ],
    ids=["1-d", "list", "0-d", "3-d", "complex", "complex sparse", "1-d sparse", "columns", "no rows", "no columns"],
)
@pytest.mark.parametrize("name", FACES_OF_WORDS)
def test_other_shapes_are_refused_in_a_sentence(name, X, words):
    model = fitted(name)
    for call in (model.transform, model.score):
        with pytest.raises(InputError, match=words) as caught:
            call(X)
        assert "\n" not in str(caught.value)


def no_documents(X):
    return {"array": X[:0], "csr": sparse.csr_matrix(X[:0]), "Corpus": Corpus.from_counts(X)[:0]}


@pytest.mark.parametrize("kind", ["array", "csr", "Corpus"])
@pytest.mark.parametrize("name", FACES_OF_WORDS)
def test_no_documents_have_no_weights_and_no_score(name, kind):
    model, X = fitted(name), no_documents(COUNTS)[kind]
    assert model.transform(X).shape == (0, model.transform(COUNTS).shape[1])
    for call in (model.score, model.left_to_right):
        with pytest.raises(InputError, match="no document has"):
            call(X)
    with pytest.raises(InputError):
        unfitted(name).fit(X)


@pytest.mark.parametrize(
    ("name", "what"), [("HybridHDP", "document"), ("GibbsHDP", "document"), ("BackoffTreeTopics", "fit")]
)
def test_long_document_is_refused_before_its_tokens_are_written_out(name, what, monkeypatch):
    for module in (checks, tree_checks):
        monkeypatch.setattr(module, "memory_installed", lambda: 2.0**26)
    counts = np.ones((30, 12), int)
    unfitted(name).fit(counts)
    counts[0, 0] = 1_200_000
    with pytest.raises(InputError, match=f"a {what} of .* tokens .*needs about .* GiB, more than the 0.0625 GiB"):
        unfitted(name).fit(counts)
