"""The settings of chains, made from the parameters of `GibbsHDP`."""

from __future__ import annotations

from typing import Any

import numpy as np

from stickbreak.fitting.hyperparameters import LEARNABLE, GammaPrior
from stickbreak.model.document_labels import DocumentLabels
from stickbreak.model.word_prior import WordPrior
from stickbreak.sampling.chain import ChainSettings
from stickbreak.sampling.known import known_topics
from stickbreak.sampling.labelled import Labelled
from stickbreak.sampling.state import NO_LIMIT


def chain_settings(given: Any, prior: WordPrior, labels: DocumentLabels | None) -> ChainSettings:
    """Return what does not change from sweep to sweep.

    Parameters
    ----------
    given : GibbsHDP
    prior : WordPrior
        In whole tokens.
    labels : DocumentLabels or None
        Of the documents; their topics are the first of those with a prior of their own.
    """
    return ChainSettings(
        representation=given.representation,
        sampler=given.sampler,
        root=given.root,
        split_merge=int(given.split_merge_trials),
        split_merge_sweeps=given.split_merge_sweeps,
        scans=int(given.split_merge_scans),
        subtopic_trials=int(given.subtopic_trials),
        subtopic_passes=int(given.subtopic_passes),
        learn=tuple(given.learn),
        priors={name: GammaPrior(*map(float, getattr(given, f"{name}_prior"))) for name in LEARNABLE},
        known=known_topics(prior),
        eta=prior.base if isinstance(prior.base, np.ndarray) else None,
        labels=None if labels is None else Labelled(labels),
        max_topics=NO_LIMIT if given.max_topics is None else int(given.max_topics),
        shards=int(given.n_shards),
    )
