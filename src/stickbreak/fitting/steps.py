"""Sizes of the steps of stochastic inference."""


def step_size(step: int, decay: float, offset: float) -> float:
    """Return xi_t = (t + offset)^-decay; the first step is t = 1.                    math.md (S1)

    Examples
    --------
    >>> step_size(1, decay=0.5, offset=3.0)
    0.5
    """
    return float((step + offset) ** -decay)
