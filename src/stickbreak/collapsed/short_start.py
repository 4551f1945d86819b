"""Short documents begin with the words beside as many words as co-occurrence shows topics (math.md (C25), (C27)).

Where counts are few it may show too few: a trial says whether more predict better.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from stickbreak.collapsed.aside import halved
from stickbreak.collapsed.companions import Companions, are_shown, dimensions_of
from stickbreak.collapsed.growing import taking_part
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.shards import Shard
from stickbreak.collapsed.trials import JUDGES, MOST_TOKENS, Trial
from stickbreak.collapsed.walking import Documents, are_short
from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine
from stickbreak.numerics.arrays import Float

LEAST, CLEAR = 1 << 14, 1 << 16  # stored counts of a collection that begins like this, and of one without a trial
MANY = 0.6  # times the root of the stored counts
PASSES = 20  # of a trial


def topics_of_short(documents: Documents, rules: Rules, engine: Engine) -> Float | None:
    """Return topics that are the words seen beside a word each, (K, W), with as many tokens as the documents have.

    math.md (C25)

    Parameters
    ----------
    documents : Documents
        Those that are set apart have no part in the topics, and judge them.
    rules : Rules
    engine : Engine

    Returns
    -------
    ndarray or None
        None where documents are long or few, counts are weights, expected shares are asked for, some topics are given,
        co-occurrence shows too few topics, or more than it shows predict better.
    """
    many_short = documents.n_counts >= LEAST and are_short(documents.n_documents, documents.n_counts)
    if not many_short or rules.final_passes == "expected" or rules.steering.n_kept:
        return None
    n = documents.n_documents
    found = Companions.of(documents, dimensions_of(n), rules.seed, engine)
    if not are_shown(found, n):
        return None
    if documents.n_counts < CLEAR and more_predict_better(found, documents, rules, engine):
        return None
    return found.topics(min(found.n_shown, rules.max_topics), rules.priors.eta)


def more_predict_better(found: Companions, documents: Documents, rules: Rules, engine: Engine) -> bool:
    """Return whether more topics than are shown predict the documents set apart better.              math.md (C27)

    So it is where no documents are set apart, or tokens are too many to have a topic each: nobody says that the topics
    are enough.
    """
    most = rules.max_topics
    few, many = min(found.n_shown, most), min(round(MANY * math.sqrt(documents.n_counts)), most)
    judges = documents.walk(engine, halved, rules.seed).listed
    if sum(shard.indptr.size - 1 for shard in judges) < JUDGES:
        return True
    more = sorted({round(math.sqrt(few * many)), many} - set(range(few + 1)))
    if not more:
        return False
    corpus = documents.chosen(taking_part(documents, engine))
    if corpus.n_tokens > MOST_TOKENS:
        return True
    scores = (_score(found, n, corpus, judges, rules, engine) for n in (few, *more))
    first = next(scores)
    return any(score > first for score in scores)


def _score(
    found: Companions, n_topics: int, corpus: Corpus, judges: Sequence[Shard], rules: Rules, engine: Engine
) -> float:
    """Return the log probability of the tokens held out of the documents set apart, after some passes."""
    topics = found.topics(n_topics, rules.priors.eta)
    trial = Trial(corpus, len(topics), rules.priors, rules.seed).begin(topics)
    for _ in range(PASSES):
        trial.go_on()
    return float(trial.scores(judges, rules.seed, engine).sum())
