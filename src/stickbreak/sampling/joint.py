"""The joint log-likelihood of a state, with all its constants."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from stickbreak.corpus.tokens import Tokens
from stickbreak.numerics.stirling import StirlingRatios
from stickbreak.sampling.kernels import counts as kernels
from stickbreak.sampling.state import Concentrations, DocumentTopics, TopicCounts


def log_joint(
    tokens: Tokens,
    documents: DocumentTopics,
    counts: TopicCounts,
    concentrations: Concentrations,
    ratios: StirlingRatios,
) -> float:
    """Return log p(x, z, m | alpha, gamma, eta) in nats.                                   math.md (G1)

    The same for all representations: which tokens of a topic share a table is summed out, and so are the corpus
    weights of direct assignment.

    Parameters
    ----------
    tokens : Tokens
    documents : DocumentTopics
    counts : TopicCounts
        Of the same state.
    concentrations : Concentrations
    ratios : StirlingRatios
    """
    alpha, gamma, eta = concentrations.alpha, concentrations.gamma, concentrations.eta
    m_k = counts.m[: counts.n_topics]
    tables = kernels.log_documents(tokens.start, documents, alpha, ratios)
    top = m_k.size * np.log(gamma) + gammaln(m_k).sum() + gammaln(gamma) - gammaln(gamma + m_k.sum())
    return float(tables + top + kernels.log_words(counts.words, counts.n, counts.n_topics, eta))
