"""Geweke's joint-distribution test (2004): a prior that draws independently, and a chain that redraws its words.

Drawing state and words from the prior, and letting the chain resample the state and then drawing words given the state,
again and again, must give the same joint law. Nothing else is needed, so every step of a sweep is under test at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.hyperparameters import LEARNABLE, GammaPrior
from stickbreak.sampling.chain import Chain
from stickbreak.sampling.state import Concentrations

from .chains import ONE_THREAD


def restaurant(n, concentration, rng):
    """Return the tables of n guests of a Chinese restaurant."""
    table = []
    for guest in range(n):
        t = int(rng.random() * (guest + concentration))
        table.append(table[t] if t < guest else max(table, default=-1) + 1)
    return np.array(table, dtype=int)


@dataclass(frozen=True)
class Joint:
    """The joint law of documents of some lengths over some words, under Gamma priors of the concentrations."""

    lengths: np.ndarray  # (D,)
    n_words: int
    priors: Mapping[str, GammaPrior]

    @cached_property
    def document(self):
        """The document of each token, (N,)."""
        return np.repeat(np.arange(self.lengths.size), self.lengths)

    def draw_words(self, z, eta, rng):
        """Draw words given topics, the word distributions drawn from their prior."""
        phi = rng.dirichlet(np.full(self.n_words, eta), size=z.max() + 1)
        return np.minimum((phi.cumsum(axis=1)[z] < rng.random(z.size)[:, None]).sum(axis=1), self.n_words - 1)

    def statistics(self, z, words, n_tables, now):
        same_topic, same_word = z[:, None] == z[None, :], words[:, None] == words[None, :]
        same_document = self.document[:, None] == self.document[None, :]
        K = z.max() + 1
        values = [x for name in LEARNABLE for x in (getattr(now, name), np.log(getattr(now, name)))]
        return [
            *values,
            K,
            K**2,
            n_tables,
            n_tables**2,
            n_tables * np.log(now.alpha),
            K * np.log(now.gamma),
            (same_topic & same_document).sum(),
            (same_topic & ~same_document).sum(),
            same_word.sum(),
            (same_topic & same_word).sum(),
            (same_topic & same_word).sum() * np.log(now.eta),
        ]

    def of_the_prior(self, n_draws, rng):
        """Return the statistics of independent draws from the prior: mean, and the variance of the mean."""
        rows = []
        for _ in range(n_draws):
            now = Concentrations(**{name: rng.gamma(prior.shape) / prior.rate for name, prior in self.priors.items()})
            tables = [restaurant(n, now.alpha, rng) for n in self.lengths]
            n_tables = [table.max(initial=-1) + 1 for table in tables]
            dish = restaurant(sum(n_tables), now.gamma, rng)
            base = np.cumsum([0, *n_tables])
            z = np.concatenate([dish[base[d] + table] for d, table in enumerate(tables)])
            rows.append(self.statistics(z, self.draw_words(z, now.eta, rng), sum(n_tables), now))
        return np.mean(rows, axis=0), np.var(rows, axis=0) / n_draws

    def alternate(self, options, n_sweeps, rng):
        """Let a chain sweep, redraw its words, and so on; return the statistics after each pair of steps."""
        tokens, _ = self.tokens_with(rng.integers(self.n_words, size=self.document.size))
        start = Concentrations(alpha=1.0, gamma=1.0, eta=0.5)
        chain, rows = Chain(tokens, options, start, 5), []
        chain.begin("single", 1)
        for _ in range(n_sweeps):
            chain.sweep(ONE_THREAD)
            words = self.draw_words(chain.topics, chain.concentrations.eta, rng)
            rows.append(self.statistics(chain.topics, words, chain.n_tables, chain.concentrations))
            tokens, order = self.tokens_with(words)
            arrays, values = chain.snapshot()
            moved = {name: arrays[name][order] for name in ("z", "table") if name in arrays}
            chain = Chain(tokens, options, start, 5)
            chain.restore({**arrays, **moved}, values)
        return np.array(rows)

    def tokens_with(self, words):
        """Return tokens with the given words, and the order in which these stand there."""
        order = np.lexsort((words, self.document))
        word = words[order].astype(np.int32)
        start, word_start = (
            np.concatenate(([0], np.cumsum(n))) for n in (self.lengths, np.bincount(word, minlength=self.n_words))
        )
        return Tokens(start, word, self.n_words, np.argsort(word, kind="stable").astype(np.int32), word_start), order
