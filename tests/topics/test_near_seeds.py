"""How near documents are to seeds: one rule for draws of tokens, expected tokens and centres of clusters."""

import numpy as np
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.sparse_gibbs.tokens import NearSeeds, nearness, words_of_seeds

COUNTS = np.array([[3, 1, 0, 6], [0, 0, 2, 5], [0, 0, 0, 4]])
PSEUDO = sparse.csr_array(np.array([[9.0, 0.0], [0.5, 0.5], [0.0, 7.0], [0.0, 0.0]]))  # words 0, 1 and 1, 2


def test_documents_are_near_seeds_by_the_tokens_of_their_words_and_to_none_by_one():
    np.testing.assert_allclose(nearness(COUNTS, PSEUDO).toarray(), [[4 / 6, 1 / 6], [0, 2 / 3], [0, 0]])
    assert words_of_seeds(PSEUDO).toarray().tolist() == [[1, 0], [1, 1], [0, 1], [0, 0]]


def test_tokens_of_no_seed_are_drawn_as_near_as_their_document_is():
    near = NearSeeds(Corpus.from_counts(COUNTS), PSEUDO)
    drawn = near.draw(np.full(6000, 3), np.arange(6000) % 3, np.random.default_rng(0))
    for d, expected in enumerate(nearness(COUNTS, PSEUDO).toarray()):
        found = [(drawn[d::3] == k).mean() for k in (0, 1)]
        np.testing.assert_allclose(found, expected, atol=0.05)
