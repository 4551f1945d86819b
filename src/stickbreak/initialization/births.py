"""The start that finds the number of topics too: collapsed inference whose topics split and merge."""

from __future__ import annotations

from itertools import islice

import numpy as np

from stickbreak.collapsed.cvb0 import SMALLEST_SHARE
from stickbreak.collapsed.laps import CollapsedLaps
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.requirements import most_topics
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.state import Priors
from stickbreak.corpus import Corpus
from stickbreak.initialization.base import Start, StartSettings, largest_first, weights_of
from stickbreak.initialization.start import documents_that_fit
from stickbreak.numerics.streams import stream

ALPHA = 5.0  # to begin with; it is learned
HELD_BACK = 0.1  # share of the tokens that decide about splits and merges


def births(corpus: Corpus, settings: StartSettings) -> Start:
    """Start from as many topics as `sweeps` passes of CVB0 with splits and merges lead to.      math.md (C8), (C12)

    The number hardly depends on the `n_topics` to begin with. It takes the memory of the collapsed start, and the same
    sample of documents if that is too much.
    """
    sample, rows = documents_that_fit(corpus, stream(settings.seed, "births start"))
    most = most_topics(corpus.n_words)
    rules = Rules(
        n_topics=settings.n_topics,
        max_topics=max(settings.n_topics, min(settings.max_topics or most, most)),
        priors=Priors(ALPHA, settings.gamma, settings.eta),
        smallest=SMALLEST_SHARE,
        learn=("alpha",),
        seed=settings.seed,
        merge_laps=settings.sweeps,
        births=True,
        held_back=HELD_BACK,
        final_passes="expected",
        steering=settings.steering(rows),
    )
    laps = CollapsedLaps(InMemory(sample), rules, settings.engine)
    laps.begin(lambda row: None, lambda: False)
    for done, _ in enumerate(islice(laps.laps(0), settings.sweeps), 1):
        if settings.progress is not None:
            settings.progress(done, settings.sweeps)
        if settings.stop is not None and done < settings.sweeps and settings.stop():
            break
    topics = laps.finish()
    counts = np.maximum(topics.dense(np.arange(topics.N.size)).T, 0.0)
    scale = corpus.n_tokens / max(sample.n_tokens, 1e-300)
    return largest_first(Start(np.ascontiguousarray(counts) * scale, weights_of(counts.sum(axis=0))), settings.n_kept)
