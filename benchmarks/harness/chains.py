"""What the benchmarks ask of the samplers: one chain whose state can be looked at after every sweep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.hyperparameters import GammaPrior
from stickbreak.initialization import Start
from stickbreak.sampling.chain import Chain, ChainSettings
from stickbreak.sampling.moves import MoveCounts
from stickbreak.sampling.state import Concentrations, Tokens


def make_chain(
    corpus: Corpus,
    *,
    seed: int,
    concentrations: tuple[float, float, float],
    init: str | Start = "sequential",
    n_topics: int = 100,
    learn: Sequence[str] = (),
    prior: tuple[float, float] = (1.0, 1.0),
    **settings: Any,
) -> Chain:
    """Return a chain at its start; `concentrations` are alpha, gamma, eta, all of them under the one prior."""
    priors = dict.fromkeys(("alpha", "gamma", "eta"), GammaPrior(*prior))
    chosen = ChainSettings(learn=tuple(learn), priors=priors, **settings)
    chain = Chain(Tokens.from_corpus(corpus), chosen, Concentrations(*concentrations), seed)
    chain.begin(init, n_topics)
    return chain


def sweeps(chain: Chain, n_sweeps: int, threads: int = 1) -> Iterator[MoveCounts]:
    """Yield the split-merge trials of each sweep, after it."""
    with Engine(threads) as engine:
        for _ in range(n_sweeps):
            yield chain.sweep(engine)


def monte_carlo_error(values: NDArray[np.float64], n_blocks: int = 20) -> float:
    """Return the standard error of the mean of one chain's values, from the means of blocks."""
    blocks = np.array([block.mean() for block in np.array_split(values, n_blocks)])
    return float(blocks.std(ddof=1) / np.sqrt(n_blocks))
