"""Methods of other papers behind the face of stickbreak, to compare with.

>>> from stickbreak.corpus import toy_bars
>>> from stickbreak_baselines import LDA
>>> corpus, _ = toy_bars(n_documents=100, seed=0)
>>> LDA(n_topics=10, n_laps=5, random_state=0).fit(corpus).n_topics_
10
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stickbreak_baselines import methods

if TYPE_CHECKING:
    from stickbreak_baselines.lda import LDA
    from stickbreak_baselines.nested_crp import NestedCRP
    from stickbreak_baselines.nested_hdp import NestedHDP
    from stickbreak_baselines.online import OnlineHDP, SplitMergeOnlineHDP
    from stickbreak_baselines.pachinko import HierarchicalPachinko, Pachinko

__all__ = [
    "LDA",
    "HierarchicalPachinko",
    "NestedCRP",
    "NestedHDP",
    "OnlineHDP",
    "Pachinko",
    "SplitMergeOnlineHDP",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Import an estimator when it is first asked for."""
        for method in methods.METHODS:
            if method.estimator == name:
                return method.load()
        raise AttributeError(f"module 'stickbreak_baselines' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
