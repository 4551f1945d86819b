import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickbreak.corpus import Corpus, make_batches
from stickbreak.exceptions import InputError


def ones(n_documents):
    return Corpus.from_counts(np.ones((n_documents, 1), dtype=int))


@given(st.integers(1, 60), st.integers(1, 70), st.integers(0, 9))
def test_batches_partition_the_documents(n_documents, n_batches, seed):
    batches = make_batches(ones(n_documents), n_batches, seed=seed)
    assert len(batches) == min(n_batches, n_documents)
    assert sorted(np.concatenate(batches).tolist()) == list(range(n_documents))
    sizes = [batch.size for batch in batches]
    assert max(sizes) - min(sizes) <= 1
    assert all(np.all(np.diff(batch) > 0) for batch in batches)


def test_batches_are_random_and_repeatable():
    first, again, other = (make_batches(ones(50), 5, seed=seed)[0].tolist() for seed in (0, 0, 1))
    assert first == again
    assert first != other
    assert first != list(range(10))


@pytest.mark.parametrize("n_batches", [0, -1, 1.5])
def test_batches_refuse_a_senseless_number(n_batches):
    with pytest.raises(InputError, match="n_batches"):
        make_batches(ones(3), n_batches)
