"""Very many short documents begin with the words beside as many words as co-occurrence shows topics (math.md (C25)).

So do fits that learn eta or gamma. Other fits form topics by Gibbs sampling, (C27).
"""

from __future__ import annotations

from stickbreak.collapsed.companions import Companions, are_shown, dimensions_of
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.walking import Documents, are_short
from stickbreak.fitting.engine import Engine
from stickbreak.numerics.arrays import Float

LEAST = 1 << 16  # stored counts of a collection


def topics_of_short(documents: Documents, rules: Rules, engine: Engine) -> Float | None:
    """Return topics that are the words seen beside a word each, (K, W), with as many tokens as the documents have.

    math.md (C25)

    Parameters
    ----------
    documents : Documents
        Those that are set apart have no part in the topics.
    rules : Rules
    engine : Engine

    Returns
    -------
    ndarray or None
        None where documents are long or few, counts are weights, expected shares are asked for, some topics are given,
        or co-occurrence shows too few topics.
    """
    n = documents.n_documents
    many_short = documents.n_counts >= LEAST and are_short(n, documents.n_counts)
    if not many_short or rules.final_passes == "expected" or rules.steering.n_kept:
        return None
    found = Companions.of(documents, dimensions_of(n), rules.seed, engine)
    return found.topics(min(found.n_shown, rules.max_topics), rules.priors.eta) if are_shown(found, n) else None
