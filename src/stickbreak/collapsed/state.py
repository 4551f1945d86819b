"""State of collapsed inference: documents with q(z) of every stored count, and the expected counts that these make."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stickbreak.collapsed.shards import Aside
from stickbreak.collapsed.steering import UNSTEERED, Steering
from stickbreak.collapsed.walking import Documents
from stickbreak.fitting.alive import alive
from stickbreak.fitting.engine import Engine
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import Eta

MOST_TOPICS = 1 << 16  # topics of shares are stored in two bytes
SMALLEST_BETA = 1e-12
SUM_TOLERANCE = 1e-3  # of the sum of corpus weights
COUNT_BYTES = 220  # that a stored count of a start takes, about: its word and number, and some thirty shares at most


@dataclass(frozen=True, slots=True)
class Priors:
    """Hyperparameters."""

    alpha: float
    gamma: float
    eta: Eta

    def packed(self) -> dict[str, float]:
        """Return those that are numbers: eta by word, which is not learned, stays what it was."""
        numbers = {"alpha": self.alpha, "gamma": self.gamma}
        return numbers if isinstance(self.eta, np.ndarray) else {**numbers, "eta": self.eta}


@dataclass(slots=True)
class CollapsedState:
    """Expected counts under q(z) (math.md (C1)), with what is known before; D documents, W words, K topics."""

    documents: Documents  # with their shares
    S: Float  # (W, K)  sum_d c_dw r_dwk
    N: Float  # (K,)    S.sum(0)
    beta: Float  # (K,)    corpus weights; the rest, 1 - beta.sum(), belongs to the inactive topics
    tables: Float  # (K,)    expected tables of the last sweep
    log_p: float = 0.0  # of the last sweep: sum of the log probabilities of all tokens, each given all others
    n_sweeps: int = 0
    summed: bool = False  # whether S and N are those of the shares and of the tokens that take part
    steering: Steering = UNSTEERED

    def set_aside(self, aside: Aside, engine: Engine) -> None:
        """Leave other tokens aside; S and N are summed again before the next sweep."""
        self.documents.set_aside(aside, engine)
        self.summed = False

    def shown(self) -> Int:
        """Return the topics that are shown: those that are kept, then the others with tokens, the largest first."""
        return alive(self.N, self.steering.n_kept)

    def topics(self, eta: Eta) -> Float:
        """Return the counts and eta of the topics that are shown, for documents to begin with, (K, W)."""
        counts: Float = np.ascontiguousarray(self.S[:, self.shown()].T) + eta
        return counts


def assembled(documents: Documents, beta: Float, steering: Steering = UNSTEERED) -> CollapsedState:
    """Return the state that shares and corpus weights make."""
    S, N = np.zeros((documents.n_words, beta.size)), np.zeros(beta.size)
    return CollapsedState(documents, S, N, beta, np.zeros(beta.size), steering=steering)
