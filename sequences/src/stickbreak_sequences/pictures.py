"""States as people see them: over time, in Plotly, and one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_whole
from stickbreak.model.pictures import Pictures
from stickbreak.plots.style import figure, group_colour, plain

_MOST = 40  # sequences in a picture


def shown_states(model: Any, n: int) -> list[dict[str, Any]]:
    """Describe the states, the largest first; `n`: symbols or coordinates of each, at most."""
    weights, stay, means = model.weights_, np.diag(model.transition_), model.means_
    symbols = None if model.symbols_ is None else model.top_symbols(n)
    spread = None if symbols is not None else np.sqrt(np.einsum("kii->ki", model.covariances_))
    out = []
    for k in np.argsort(-weights, kind="stable").tolist():
        told: dict[str, Any] = {"id": k, "weight": float(weights[k]), "stay": float(stay[k])}
        if symbols is not None:
            told["symbols"] = symbols[k]
        else:
            assert spread is not None
            told |= {"mean": means[k].tolist(), "spread": spread[k].tolist()}
        out.append(told)
    return out


class StatePictures(Pictures):
    """Pictures of a fitted model of sequences."""

    def states(self, X: Any, *, lengths: Any = None, sequence: Any = None, order: Any = None, most: int = _MOST) -> Any:
        """Draw the most probable states of sequences over time, a row for each sequence.

        Parameters
        ----------
        X, lengths, sequence, order
            As in `Sequences.of`.
        most : int, default=40
            Sequences, at most: the first ones.
        """
        import plotly.graph_objects as go

        model = self._model
        sequences = model._checked(X, lengths, sequence, order)[: check_whole("most", most, 1)]
        if not sequences.n_steps:
            raise InputError("these sequences have no step; give others.")
        path, K = model.predict(sequences), model.n_states_
        table = np.full((sequences.n_sequences, int(sequences.lengths.max())), np.nan)
        for d, (a, b) in enumerate(zip(sequences.offsets[:-1], sequences.offsets[1:], strict=True)):
            table[d, : b - a] = path[a:b]
        scale = [[edge, group_colour(k)] for k in range(K) for edge in (k / K, (k + 1) / K)]
        rows = [plain(name) for name in sequences.names]
        heat = go.Heatmap(
            z=[[None if np.isnan(x) else int(x) for x in row] for row in table],
            y=rows, zmin=-0.5, zmax=K - 0.5, colorscale=scale,
            colorbar={"title": "state", "tickvals": list(range(K))},
            hovertemplate="%{y}, step %{x}: state %{z}<extra></extra>",
        )  # fmt: skip
        return figure(
            [heat],
            f"{K} states of {sequences.n_sequences} sequences over time",
            height=150 + 22 * max(4, len(rows)),
            xaxis={"title": "step"},
            yaxis={"type": "category", "autorange": "reversed"},
        )
