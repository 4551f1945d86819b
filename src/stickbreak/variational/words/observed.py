"""The likelihoods of words by name, and what documents are to each: tokens, or cells of a table of counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stickbreak.corpus import Corpus
from stickbreak.corpus.batches import Cut, cuts
from stickbreak.corpus.sources import Source
from stickbreak.exceptions import InputError
from stickbreak.initialization import Start
from stickbreak.likelihoods import BetaBernoulli, CountLikelihood, DirichletMultinomial, GammaPoisson, WordLikelihood
from stickbreak.numerics.pseudo_counts import Eta
from stickbreak.variational.global_step import sticks_of
from stickbreak.variational.observations import Observations
from stickbreak.variational.state import GlobalParameters
from stickbreak.variational.words.batch import Batch
from stickbreak.variational.words.cells import Cells

CELLS_PER_BATCH = 5_000_000
LIKELIHOODS: Mapping[str, type[WordLikelihood]] = {
    "multinomial": DirichletMultinomial,
    "bernoulli": BetaBernoulli,
    "poisson": GammaPoisson,
}


def settled(likelihood: str | WordLikelihood, corpus: Corpus, eta: Eta) -> WordLikelihood:
    """Return a likelihood of the words of a corpus: an object as it is, a name with its prior.

    Raises
    ------
    InputError
        If an object has another number of words.
    """
    if isinstance(likelihood, str):
        family: Any = LIKELIHOODS[likelihood]
        made: WordLikelihood = family.from_counts(corpus.counts, eta)
        return made
    if likelihood.n_words != corpus.n_words:
        raise InputError(
            f"the likelihood has {likelihood.n_words} words, but the documents have {corpus.n_words}; give a "
            "likelihood with as many."
        )
    return likelihood


def sees_cells(likelihood: str | WordLikelihood) -> bool:
    """Whether every document has an observation of every word."""
    family = LIKELIHOODS[likelihood] if isinstance(likelihood, str) else type(likelihood)
    return issubclass(family, CountLikelihood)


def documents_at_once(likelihood: str | WordLikelihood, n_words: int, most: int) -> int:
    """Return how many documents a batch holds: `most`, or as many as `CELLS_PER_BATCH` allows, at least one."""
    return max(1, min(most, CELLS_PER_BATCH // n_words)) if sees_cells(likelihood) else most


def observations(corpus: Corpus, likelihood: Any) -> Observations:
    """Return documents as a batch that a local step takes."""
    kind: Any = Cells if sees_cells(likelihood) else Batch
    made: Observations = kind.from_corpus(corpus, likelihood)
    return made


@dataclass(frozen=True, slots=True)
class BatchOfWords:
    """Documents of a batch, which are read when they are visited."""

    documents: Source
    likelihood: WordLikelihood
    cut: Cut

    def __call__(self) -> Observations:
        """Read them."""
        return observations(self.documents.load(self.cut.rows()), self.likelihood)


def batch_loaders(
    documents: Source, n_documents: int, likelihood: WordLikelihood, n_batches: int, seed: int
) -> list[BatchOfWords]:
    """Cut documents into batches."""
    return [BatchOfWords(documents, likelihood, cut) for cut in cuts(n_documents, n_batches, seed=seed)]


def starting_parameters(start: Start, likelihood: WordLikelihood, gamma: float, n_documents: int) -> GlobalParameters:
    """Return the global parameters of a start."""
    S, N = likelihood.started(start.counts, start.weights * n_documents)
    return GlobalParameters.of(likelihood, S, N, *sticks_of(start.weights, 1.0 + gamma + n_documents))
