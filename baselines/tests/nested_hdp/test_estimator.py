"""`NestedHDP`: a planted tree is found, fits go on and streams are taken up, and bad input is one sentence."""

import numpy as np
import pytest

import stickbreak
from stickbreak.corpus import Corpus
from stickbreak_baselines import NestedHDP

N_WORDS, GROUPS, FIELDS = 10, 3, 2


def planted_tree(n_documents=300, n_tokens=60, seed=0):
    """Documents of one or two groups: words of the group, in any share, and of one of its fields or of both."""
    rng = np.random.default_rng(seed)
    W = N_WORDS * (GROUPS + GROUPS * FIELDS)
    counts = np.zeros((n_documents, W), int)
    for d in range(n_documents):
        for _ in range(1 + (d % 3 == 0)):
            group, of_fields = rng.integers(GROUPS), rng.dirichlet(np.full(FIELDS, 0.3))
            share = rng.random()
            blocks = [group, *(GROUPS + group * FIELDS + np.arange(FIELDS))]
            for block, n in zip(blocks, rng.multinomial(n_tokens, [share, *((1 - share) * of_fields)]), strict=True):
                counts[d] += np.bincount(block * N_WORDS + rng.integers(N_WORDS, size=n), minlength=W)
    return Corpus.from_counts(counts)


def group_of(word_distribution):
    """Return the group of words that has nearly all of a distribution, or None."""
    mass = word_distribution.reshape(-1, N_WORDS).sum(axis=1)
    return int(mass.argmax()) if mass.max() > 0.9 else None


@pytest.mark.parametrize("batch_size", [None, 50])
def test_planted_tree_is_found(batch_size):
    corpus = planted_tree()
    given = {"branching": (GROUPS, FIELDS), "batch_size": batch_size, "n_laps": 40, "tolerance": None}
    fits = [NestedHDP(random_state=seed, **given).fit(corpus) for seed in range(4)]
    root = max(fits, key=lambda fit: fit.objective_).tree_
    found = {
        group_of(node.word_distribution()): {group_of(child.word_distribution()) for child in node.children}
        for node in root.children
    }
    assert found == {group: {GROUPS + group * FIELDS + field for field in range(FIELDS)} for group in range(GROUPS)}


@pytest.fixture(scope="module")
def corpus():
    return planted_tree(60, 30)


def test_stream_learns_and_goes_on_after_a_file(corpus, tmp_path):
    model = NestedHDP(branching=(4, 2), total_documents=600, random_state=0)
    for _ in range(5):
        model.partial_fit(corpus)
    model.save(tmp_path / "m")
    other = stickbreak.load(tmp_path / "m")
    for each in (model, other):
        each.partial_fit(corpus[:20])
    np.testing.assert_array_equal(model.components_, other.components_)
    assert model.n_steps_ == 6
    assert model.n_documents_seen_ == 320
    assert model.trace_["objective"][4] > model.trace_["objective"][0]
    assert model.topic_tokens_.sum() == pytest.approx(600 / 60 * corpus.n_tokens, rel=0.1)
