"""Every draw of whole passes over corpora drawn at random, against the conditional of its token by brute force.

The twin of the pass shares the order of the kernel's sums; here masses are dense, from (T1), (T5) and (T6) alone. A
draw less its expectation under its own conditional, given all before it, has mean zero: sums of these over a chain are
normal with the sum of the conditional variances, whatever the chain does.
"""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from stickbreak.backoff_tree.sampler import TreeSampler
from stickbreak.backoff_tree.seeds import KnownWords
from stickbreak.backoff_tree.shape import TreeShape, taxonomy_of

from ..sampling.laws import largest_z
from .problems import ONE, blocks_of, leaves_of, random_delta, small_corpus, tokens_of

N_PASSES = 80
SHAPES = (
    TreeShape((2, 3, 2)),
    TreeShape((3, 4)),
    TreeShape((5,)),
    TreeShape((2, 2, 2, 2)),
    taxonomy_of(["a/x/1", "a/x/2", "a/x/3", "a/y", "b", "c/z/1/i", "c/z/1/j", "c/z/2", "d/u/v/w"]),
    taxonomy_of(["a", "b/1", "b/2", "b/3", "b/4", "b/5", "c/1/i", "c/1/ii"]),
    taxonomy_of(["a/b/c/1", "a/b/c/2", "a/b/c/3"]),
    taxonomy_of(["a/1", "b/1", "c/1/2/3", *(f"c/2/{i}" for i in range(9))]),
)


class Dense:
    """A tree of sparse backoff written out, all leaves; of numbers of children, or of paths."""

    def __init__(self, branching, delta):
        paths = branching if isinstance(branching[0], str) else ["/".join(way) for way in ways(branching)]
        # have a node in common: a leaf that ends above a level has there nothing but itself
        starts = [[tuple(path.split("/")[:h]) for path in paths] for h in range(len(delta))]
        self.above = [np.array([[a == b for b in start] for a in start]) for start in starts]
        self.delta, self.discount, self.L = delta, sum(delta), len(paths)

    def smoothing(self, n, level=0):
        """B(z), docs/math (T1), of the nodes from a level on"""
        return sum(
            delta * (same & (n > 0)).sum(axis=1) / same.sum(axis=1)
            for delta, same in zip(self.delta[level:], self.above[level:], strict=True)
        )

    def kept(self, n):
        return np.maximum(n - self.discount, 0.0) * (n > 0)

    def mass(self, n):
        counts = np.bincount(list(n.elements()), minlength=len(self.above[0]))
        return self.kept(counts) + self.smoothing(counts)


def ways(branching):
    return product(*[map(str, range(k)) for k in branching])


def backoff(tree, table, share=None):
    """Return P*(z) and C from the leaves of all words, table (W, L); C may be given by a share.      docs/math (T6)"""
    A, B = sum(map(tree.kept, table)), sum(map(tree.smoothing, table))
    used = A > 0
    low, high = np.log(1e-12 * B.max()), np.log(1e6 * B.max())
    for _ in range(200):  # C less the largest smoothing of a used leaf; the sum falls in it
        middle = (low + high) / 2
        C = B[used].max() + np.exp(middle)
        if C * (A[used] / (C - B[used])).sum() > table.sum():
            low = middle
        else:
            high = middle
    C = max(B[used].max() + np.exp(low), 1.001 * B.max()) if share is None else B.max() / share
    return np.maximum(A, 1 - tree.discount) / (C - B), C  # a leaf without tokens: as if it had one


class SweepWork:
    """The counts of a pass as its draws change them; `pseudo` (W, L) are those that no draw changes."""

    def __init__(self, tokens, z, trees, pseudo, share):
        self.of_documents, self.of_words = trees
        self.table = pseudo.copy()
        np.add.at(self.table, (tokens.word, z), 1)
        self.prob, self.C = backoff(self.of_words, self.table, share)

    def conditional(self, document, w, without):
        """p(z | rest) of a token of word w, and the log probability of the word; `without` is its own leaf.  (T5)"""
        word = self.table[w].copy()
        if without is not None:
            word[without] -= 1
        of_word = self.of_words.kept(word) / self.prob + self.of_words.smoothing(word) if word.any() else None
        of_document = np.ones(word.size)
        if document.any():
            of_document = self.of_documents.kept(document) + self.of_documents.smoothing(document)
        product = of_document * (1.0 if of_word is None else of_word)
        log_p = None if of_word is None else np.log(product.sum() / of_document.sum() / self.C)
        return product / product.sum(), log_p


def scores(shape, seed, at_once, seeded=False, share=None):
    """Return z-scores of a chain of passes, after the score of each pass has been compared."""
    rng = np.random.default_rng(seed)
    deltas = random_delta(rng, shape.depth), random_delta(rng, shape.depth)
    corpus = small_corpus(rng, n_documents=8, most=9)
    tokens, documents = tokens_of(corpus)
    trees = [Dense(shape.branching, delta) for delta in deltas]
    L, known, pseudo = shape.n_leaves, None, np.zeros((tokens.n_words, shape.n_leaves), int)
    if seeded:
        leaves, own = rng.choice(L, size=2, replace=False), rng.integers(0, 3, size=(tokens.n_words, 2))
        own[8] = 0  # the word of one token
        known, pseudo[:, leaves] = KnownWords(shape, leaves, sparse.csr_array(own.astype(float))), own
    given = {"at_once": at_once, "known": known, "smoothing_share": share}
    sampler = TreeSampler(blocks_of(corpus), shape, *deltas, seed, **given)
    sampler.begin()
    n_all = tokens.word.size + pseudo.sum()
    excess, variance, uniform = np.zeros(L + 6), np.zeros(L + 6), []
    for _ in range(N_PASSES):
        before = leaves_of(sampler)
        mean_log_p, after, total, i = sampler.sweep(ONE), leaves_of(sampler), 0.0, 0
        now = SweepWork(tokens, before, trees, pseudo, share)
        for words in documents:
            document = np.bincount(before[i : i + len(words)], minlength=L)
            for w in words:
                old, new = before[i], after[i]
                document[old] -= 1
                if at_once:
                    now.table[w, old] -= 1
                p, log_p = now.conditional(document, w, None if at_once else old)
                total += -np.log(n_all) if log_p is None else log_p
                stays, log = np.arange(L) == old, np.log(p)
                word = now.table[w] - (not at_once) * stays
                told = np.vstack([np.eye(L), stays, document > 0, word > 0, document, word, log])
                expected = told @ p
                excess += told[:, new] - expected
                variance += told**2 @ p - expected**2
                uniform.append(p[:new].sum() + rng.random() * p[new])
                document[new] += 1
                if at_once:
                    now.table[w, new] += 1
                i += 1
        assert mean_log_p == pytest.approx(total / tokens.word.size, rel=1e-9)
    n = len(uniform)
    tenths = np.bincount((10 * np.array(uniform)).astype(int), minlength=10)
    varied = variance > 5.0  # sums of rarer events are not normal
    return np.concatenate(
        [(excess / np.sqrt(np.maximum(variance, 1.0)))[varied], (tenths - n / 10) / np.sqrt(0.09 * n)]
    )


@pytest.mark.parametrize("seeded", [False, True], ids=["", "seeded"])
@pytest.mark.parametrize("at_once", [True, False], ids=["serial", "parallel"])
def test_leaves_are_drawn_from_the_conditional(at_once, seeded, seed):
    shapes = SHAPES[::3] if seeded else SHAPES
    z = np.concatenate([scores(shape, 8 * seed + case, at_once, seeded) for case, shape in enumerate(shapes)])
    assert np.abs(z).max() < largest_z(z.size, None)
    assert np.sqrt(np.mean(z**2)) < 1.5


@pytest.mark.parametrize("at_once", [True, False], ids=["serial", "parallel"])
def test_leaves_are_drawn_from_the_conditional_of_a_given_share(at_once, seed):
    cases = [(SHAPES[0], 0.9), (SHAPES[4], 0.2)]
    z = np.concatenate(
        [scores(shape, 2 * seed + case, at_once, share=share) for case, (shape, share) in enumerate(cases)]
    )
    assert np.abs(z).max() < largest_z(z.size, None)
    assert np.sqrt(np.mean(z**2)) < 1.5
