"""What the evaluation and the report need of a fitted model, whatever its family."""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

_BLOCK_ELEMENTS = 1 << 22  # doubles of topic weights held at once: 32 MiB


class FittedTopics(Protocol):
    """The fitted surface that every family shares, as far as it is read here (K topics, W words).

    `evaluate` and `document_completion` take any object that has it: they ask it through `prediction.topics.as_topics`.
    """

    @property
    def n_topics_(self) -> int:
        """Number of topics K."""

    @property
    def topic_word_(self) -> NDArray[np.float64]:
        """Word distributions of the topics, (K, W)."""

    @property
    def topic_weights_(self) -> NDArray[np.float64]:
        """Expected corpus weights of the topics, (K,)."""

    @property
    def rest_word_(self) -> NDArray[np.float64]:
        """Word distribution of the inactive topics, (W,)."""

    @property
    def vocabulary_(self) -> tuple[str, ...]:
        """The W words."""

    @property
    def trace_(self) -> Mapping[str, Any]:
        """Equally long arrays, one entry per lap."""

    def transform(self, X: Any, /) -> NDArray[np.float64]:
        """Return topic weights of documents, (D, K); rows sum to one."""

    def expected_weights(self, X: Any, /) -> NDArray[np.float64]:
        """Return topic weights with the inactive mass last, (D, K + 1); rows sum to one."""


def document_blocks(n_documents: int, n_topics: int) -> Iterator[slice]:
    """Cut documents into blocks whose topic weights fit in little memory.

    Parameters
    ----------
    n_documents, n_topics : int
        Shape of the whole array of weights.

    Yields
    ------
    slice
        Consecutive blocks that together cover all documents.

    Examples
    --------
    >>> list(document_blocks(3, 10))
    [slice(0, 3, None)]
    """
    size = max(1, _BLOCK_ELEMENTS // max(1, n_topics + 1))
    for start in range(0, n_documents, size):
        yield slice(start, min(start + size, n_documents))
