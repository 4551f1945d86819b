"""Left-to-right likelihood under the words' trees of a fitted model."""

from __future__ import annotations

import numpy as np

from stickbreak.backoff_tree.kernels import sequences as sequence_kernels
from stickbreak.backoff_tree.model import TreeModel
from stickbreak.backoff_tree.state import Scratch
from stickbreak.numerics.arrays import Float
from stickbreak.prediction.left_to_right import Particles, Sequences


class TreeRule:
    """Leaves with the sequential rule of the documents' tree: p(z | leaves before) is mass(z) / n.  math.md (T12)

    Nothing dense is made but some numbers for each leaf.

    Parameters
    ----------
    model : TreeModel
    """

    def __init__(self, model: TreeModel) -> None:
        self._model = model
        shape, documents = model.shape, model.of_documents
        self._missing = model.missing()
        # what an entry of a document at leaf z adds to the lacking mass, beside n_z times that of the leaf itself
        self._spread: Float = -documents.given[-1] * np.diff(self._missing)
        for h in range(shape.depth):
            lack = np.diff(self._missing[shape.first_leaves(h)])
            self._spread += np.repeat(documents.delta[h] / shape.sizes(h) * lack, shape.sizes(h))
        words, u = model.word_tokens, model.given_away()
        known = words > 0
        self._share = np.where(known, words / words.sum(), u / max(1, int((~known).sum())))
        self._known = 1.0 - u

    @property
    def numbers_per_word(self) -> int:
        """Doubles that are gathered for each different word of a shard: none."""
        return 0

    def log_probabilities(self, documents: Sequences, particles: Particles) -> tuple[Float, Float]:
        """Return both estimates of the log probability of each document, (D,) and (D,).        math.md (T12)"""
        model = self._model
        printed, unbiased = (np.empty(documents.content.size) for _ in range(2))
        scratch = Scratch.of(int(np.diff(documents.start).max(initial=1)), model.shape)
        sequence_kernels.score_documents(
            documents.start, documents.word, documents.content, particles.key, particles.n, particles.resample,
            model.shape.below, model.of_documents, model.of_words, model.words, model.directory,
            model.backoff.peak, self._missing, self._spread, self._share, self._known, scratch, printed, unbiased,
        )  # fmt: skip
        return printed, unbiased
