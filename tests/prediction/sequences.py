"""Left-to-right sampling as it is defined, slow: exact sums over all assignments, and a twin of the kernel.

A rule gives the probabilities of the topics of the next token, from the topics of the tokens before it.
"""

import itertools
import math

import numpy as np
from tests.backoff_tree.reference import Stream, _mix

from stickbreak.numerics.streams import key_of

MASK = 2**64 - 1


def dirichlet_rule(a):
    """(a_k + n_k) / (a + n)."""
    a = np.asarray(a, dtype=float)
    return lambda z: (a + np.bincount(z, minlength=a.size)) / (a.sum() + len(z))


def probability(words, rule, phi):
    """p(words): the sum over all assignments of prod_n rule(z_<n)[z_n] phi[z_n, w_n]."""
    total = 0.0
    for z in itertools.product(range(len(phi)), repeat=len(words)):
        terms = (rule(z[:n])[z[n]] * phi[z[n]][w] for n, w in enumerate(words))
        total += math.prod(terms)
    return total


def propagate(words, rule, phi, resample):
    """Return E prod_n p[n, r] of a particle, and prod_n E p[n, r], by the exact law of all its assignments."""
    law, weighted, product = {(): 1.0}, {(): 1.0}, 1.0
    for n, w in enumerate(words):
        if resample:
            for i in range(n):
                law, weighted = (_redrawn(m, i, words[i], rule, phi) for m in (law, weighted))
        law, mean = _longer(law, w, rule, phi, normalised=True)
        weighted, _ = _longer(weighted, w, rule, phi, normalised=False)
        product *= mean
    return sum(weighted.values()), product


def _redrawn(measure, i, w, rule, phi):
    out = {}
    for z, p in measure.items():
        q = rule(z[:i] + z[i + 1 :]) * phi[:, w]
        for k, share in enumerate(q / q.sum()):
            new = (*z[:i], k, *z[i + 1 :])
            out[new] = out.get(new, 0.0) + p * share
    return out


def _longer(measure, w, rule, phi, *, normalised):
    out, mean = {}, 0.0
    for z, p in measure.items():
        q = rule(z) * phi[:, w]
        mean += p * q.sum()
        for k, mass in enumerate(q):
            out[(*z, k)] = p * (mass / q.sum() if normalised else mass)
    return out, mean


def ordered(count, seed):
    """The words of a document, `count` (W,), in the order in which they are predicted, and the number they make."""
    words, content = [w for w, n in enumerate(count) for _ in range(n)], 0
    for w in words:
        content = _mix(content ^ (w + 1))
    rng = Stream(int(key_of(seed, 0, "order of words")), content)
    for i in range(len(words) - 1, 0, -1):
        j = int(rng.uniform() * (i + 1))
        words[i], words[j] = words[j], words[i]
    return words, content


def particle_stream(seed, content, r):
    """The random numbers of particle r of a document."""
    return Stream(int(key_of(seed, 0, "left to right")), _mix((content + r) & MASK))


def estimates(p):
    """Both estimates from p[n, r]: log of the product of means, and of the mean of products."""
    p = np.asarray(p)
    return np.log(p.mean(axis=1)).sum(), np.log(np.exp(np.log(p).sum(axis=0)).mean())


def state_before(uniform):
    """A state of the kernels' random numbers, (1,) uint64, whose next is the lowest (0) or the highest (1) of all."""
    x = MASK if uniform else 0  # what mixing has to give; it is undone step by step
    for shift, factor in ((31, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9), (30, 1)):
        y = x
        for _ in range(64 // shift + 1):
            y = x ^ (y >> shift)
        x = y * pow(factor, -1, 2**64) & MASK
    return np.array([(x - 0x9E3779B97F4A7C15) & MASK], np.uint64)


def particles(count, step, n_particles, resample, seed):
    """p[n, r] of a document. `step(w, z, rng)` returns a topic for a token of word w given the others, z, and p."""
    words, content = ordered(count, seed)
    p = np.zeros((len(words), n_particles))
    for r in range(n_particles):
        rng, z = particle_stream(seed, content, r), step.begin()
        for n in range(len(words)):
            for i in range(n if resample and step.knows(words[n]) else 0):
                z.take(i)
                z.put(i, step(words[i], z, rng)[0])
            k, p[n, r] = step(words[n], z, rng)
            z.put(n, k)
    return p


class Topics:
    """The topics of the tokens so far; those of the document in the order in which a draw goes through them."""

    def __init__(self):
        self.of_token, self.here = {}, []

    def take(self, i):
        k = self.of_token.pop(i)
        at = [topic for topic, _ in self.here].index(k)
        self.here[at][1] -= 1
        if self.here[at][1] == 0:
            self.here[at] = self.here[-1]
            self.here.pop()

    def put(self, i, k):
        self.of_token[i] = k
        for pair in self.here:
            if pair[0] == k:
                pair[1] += 1
                return
        self.here.append([k, 1])


class DirichletStep:
    """A draw by (D3), first among the topics of the document, then by the prior."""

    begin = Topics

    def __init__(self, a, phi):
        self.a, self.phi = a, phi

    def knows(self, w):
        return True

    def __call__(self, w, z, rng):
        parts = [(k, n * self.phi[k][w]) for k, n in z.here] + [(k, x * self.phi[k][w]) for k, x in enumerate(self.a)]
        total = sum(mass for _, mass in parts)
        x = rng.uniform() * total
        for k, mass in parts:
            if x < mass:
                return k, total / (sum(self.a) + len(z.of_token))
            x -= mass
        raise AssertionError("rounding took a draw beyond its end")
