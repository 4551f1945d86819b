"""The tree of a document in scratch: tokens in and out equal a tree made anew."""

import numpy as np

from stickbreak.backoff_tree import _document_kernels as kernels
from stickbreak.backoff_tree.shape import TreeShape
from stickbreak.backoff_tree.state import Scratch


def entries(scratch, n_here):
    """Leaf, tokens, shared level and path of each entry."""
    here = slice(0, n_here)
    common = scratch.common[1:n_here].tolist()  # the first entry has none before it
    return scratch.leaf[here].tolist(), scratch.n[here].tolist(), common, scratch.path[scratch.slot[here]].tolist()


def test_ten_thousand_tokens_in_and_out_equal_a_tree_made_anew(seed):
    rng = np.random.default_rng(seed)
    shape = TreeShape((2, 3, 2, 4))
    below, room = shape.leaves_below, 30
    s, fresh = (Scratch.of(room, shape.depth) for _ in range(2))
    z = rng.integers(48, size=room).astype(np.int32)
    n_here = kernels.open_document(z, 0, room, s.leaf, s.n, s.common, s.slot, s.path, below)
    for _ in range(10_000):
        i = int(rng.integers(room))
        n_here = kernels.take_token(np.int64(z[i]), n_here, s.leaf, s.n, s.common, s.slot)
        z[i] = rng.integers(48)
        n_here = kernels.add_token(np.int64(z[i]), n_here, s.leaf, s.n, s.common, s.slot, s.path, below)
        again = kernels.open_document(z, 0, room, fresh.leaf, fresh.n, fresh.common, fresh.slot, fresh.path, below)
        assert entries(s, n_here) == entries(fresh, again)
    assert sorted(s.slot[:room].tolist()) == list(range(room))
