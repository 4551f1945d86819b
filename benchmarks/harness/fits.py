"""What the benchmarks ask of a fit: the model after each lap, topics in use, falls of the objective, moves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from stickbreak import VariationalHDP
from stickbreak.corpus import Corpus


def after_each_lap(model: VariationalHDP, corpus: Corpus) -> Iterator[VariationalHDP]:
    """Yield the model after each lap of one fit, which goes on to the same bits."""
    n_laps = model.n_laps
    model.set_params(n_laps=1).fit(corpus)
    model.set_params(n_laps=n_laps)
    yield model
    while model.n_laps_ < n_laps and not model.converged_:
        yield model.continue_fit(corpus, n_laps=1)


def topics_holding(model: VariationalHDP, corpus: Corpus, share: float = 0.99) -> int:
    """Return how many of the largest topics hold a share of the tokens."""
    tokens = np.sort(model.transform(corpus).T @ corpus.document_lengths)[::-1]
    return int((np.cumsum(tokens) < share * tokens.sum()).sum()) + 1


def largest_fall(trace: Mapping[str, np.ndarray]) -> str:
    """Return the largest fall of the objective from one lap to the next, in nats per token, or "never"."""
    fall = np.diff(trace["objective"]).min(initial=0.0)
    return f"{fall:.1e}" if fall < 0 else "never"


def move_counts(trace: Mapping[str, np.ndarray]) -> dict[str, list[int]]:
    """Return how many candidates of each move, and of the restarts, were accepted and tried."""
    names = [column.removesuffix("_tried") for column in trace if column.endswith("_tried")]
    return {name: [int(trace[f"{name}_accepted"].sum()), int(trace[f"{name}_tried"].sum())] for name in names}
