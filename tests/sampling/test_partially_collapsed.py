"""Topics and weights sampled, documents in parallel: a sweep is that of its twin, and the rest has its law."""

from collections import Counter

import numpy as np
import pytest

from stickbreak.model.document_labels import DocumentLabels
from stickbreak.sampling.known_topics import ChainLabels
from stickbreak.sampling.representations import PartiallyCollapsed, Sweep, draw_topics
from stickbreak.sampling.state import Concentrations, count_topics

from . import partially_collapsed_twin as twins
from .chains import ONE_THREAD
from .test_sweeps import CASES, N_WORDS, Case, relabelled


def test_sweep_is_that_of_the_twin():
    paths = Counter()
    for seed in CASES:
        case = Case(seed)
        sampler = PartiallyCollapsed(case.tokens)
        counts = case.start(sampler)
        sampler.beta = np.random.default_rng(seed).dirichlet(np.ones(max(case.z) + 2))
        twin = twins.PartiallyCollapsed(
            case.document.tolist(), case.tokens.word.tolist(), N_WORDS, case.z, sampler.beta, **case.numbers,
            seed=(seed, 1),
        )  # fmt: skip
        twin.run()
        sampler.sweep(counts, Sweep(case.concentrations, case.ratios, (seed, 1), ONE_THREAD))
        assert case.tables(sampler) == relabelled(twin.z, twin.tables())
        paths += twin.paths
    assert min(paths[name] for name in ("document", "corpus", "new", "rest", "again")) > 5


def test_topic_whose_variates_all_underflow_leaves_the_masses_of_words_as_they_are():
    case = Case(0)
    sampler = PartiallyCollapsed(case.tokens)
    sampler.take(case.seating(), max(case.z) + 1)
    counts = count_topics(case.tokens, sampler.z, sampler.documents, max(case.z) + 2)  # the last has no tokens
    beta = np.full(max(case.z) + 3, 1.0 / (max(case.z) + 3))
    now = Concentrations(1.0, 1.0, 1e-6)
    drawn = draw_topics(counts.words, beta, Sweep(now, case.ratios, (0, 1), ONE_THREAD))
    assert not drawn.g[:, -1].any()
    assert np.isfinite(drawn.mass).all()


def test_kept_token_with_a_label_that_its_document_lacks_is_refused():
    case = Case(0)
    sampler, n_topics = PartiallyCollapsed(case.tokens), max(case.z) + 1
    case.start(sampler)
    sampler.beta = np.full(n_topics + 1, 1.0 / (n_topics + 1))
    PartiallyCollapsed(case.tokens).restore(sampler.arrays(), n_topics)
    labels = ChainLabels(DocumentLabels.of([[0]] * case.tokens.n_documents, n_topics))
    with pytest.raises(ValueError, match="a label that its document lacks"):
        PartiallyCollapsed(case.tokens, labels).restore(sampler.arrays(), n_topics)
