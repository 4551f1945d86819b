"""Topics that are known before a chain: documents of pseudo-tokens beside the others, each in a topic of its own.

A topic with pseudo-counts b_k is one that a document of these tokens, at one table, has opened before. Its tokens are
counted and never sampled (math.md (G15)).
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.model.word_prior import WordPrior
from stickbreak.sampling.concentrations import KnownTopics
from stickbreak.sampling.requirements import DIRECT, PARALLEL, RANDOM, TOPIC_MODEL, scratch_folder
from stickbreak.sampling.requirements import Parameters as OfChain

STARTS = (RANDOM, TOPIC_MODEL, "lda")
_ROUNDING = 1e-9


class Parameters(OfChain, Protocol):
    """The parameters that are checked here."""

    eta: Any
    seeds: Any


def check_known(given: Parameters, n_known: int) -> None:
    """Refuse parameters under which a chain could not have topics that are known before, or an eta for each word.

    Raises
    ------
    InputError
    """
    if np.ndim(given.eta) == 1 and given.representation == PARALLEL:
        raise InputError(
            f"eta is one for each word, but representation {PARALLEL!r} takes one for all; give a number, or another "
            "representation."
        )
    if not n_known:
        return
    known = "seeds" if given.seeds is not None else "rows of eta"
    if not isinstance(given.init, str) or given.init not in STARTS:
        init = repr(given.init) if isinstance(given.init, str) else "a set of topics"
        starts = ", ".join(map(repr, STARTS))
        raise InputError(f"init is {init}, but a chain with {known} starts with one of {starts}; give one of these.")
    if given.root == "indicator":
        raise InputError(f"root is 'indicator', which does not work with {known}; set root='marginal'.")
    if given.scratch is not None:
        raise InputError(f"scratch is given, but a fit in files cannot have {known}; leave scratch or {known} out.")
    if scratch_folder(given) is not None:
        raise InputError(
            f"on a cluster, one chain with representation {PARALLEL!r} cannot have {known}; "
            f"set another representation and n_shards, or leave {known} out."
        )


def check_labelled(given: Parameters) -> None:
    """Refuse parameters under which documents could not have labels.

    Raises
    ------
    InputError
    """
    if given.representation != DIRECT:
        raise InputError(
            f"labels are given, but representation is {given.representation!r}, in which all documents have weights of "
            f"one law; set representation={DIRECT!r} (--representation {DIRECT})."
        )
    if given.n_shards > 1 or given.split_merge_trials:
        raise InputError(
            "labels are given, but neither shards nor the trials of Wang and Blei know them; set n_shards=1 and "
            "split_merge_trials=0."
        )
    if given.init not in STARTS:
        raise InputError(f"topics of labels begin with init in {', '.join(map(repr, STARTS))}; give one.")


def whole_tokens(prior: WordPrior, *, of_seeds: bool) -> WordPrior:
    """Return a prior whose pseudo-counts are whole tokens: those of seeds are rounded, at least to one for each word.

    Raises
    ------
    InputError
        If a row of eta has other pseudo-counts, or none.
    """
    if prior.pseudo is None:
        return prior
    whole = sparse.csr_array(prior.pseudo, copy=True)
    whole.data = np.rint(whole.data)
    if of_seeds:
        whole.data = np.maximum(whole.data, 1.0)
        return WordPrior(prior.base, whole)
    away = np.abs(whole.data - prior.pseudo.data)
    if (away > _ROUNDING).any():
        found = float(prior.pseudo.data[np.argmax(away)])
        raise InputError(
            f"a number of eta is {found:.6g} above its smallest, but GibbsHDP counts whole pseudo-tokens; give rows "
            "whose numbers differ by whole numbers."
        )
    if not (whole.sum(axis=0) > 0).all():
        raise InputError("a row of eta has its smallest number for every word; leave this row out.")
    whole.eliminate_zeros()
    return WordPrior(prior.base, whole)


def known_topics(prior: WordPrior) -> KnownTopics | None:
    """Return what chains are told of topics that are known."""
    if prior.pseudo is None:
        return None
    entries = prior.pseudo.tocoo()
    n, words = np.asarray(prior.pseudo.sum(axis=0), dtype=np.float64), entries.row.astype(np.int64)
    return KnownTopics(n, entries.data, words, int(prior.pseudo.shape[0]))


def with_known(documents: Corpus, prior: WordPrior) -> Corpus:
    """Return documents with one of pseudo-tokens for each topic that is known behind them."""
    if prior.pseudo is None:
        return documents
    rows = sparse.csr_matrix(sparse.vstack([documents.counts, sparse.csr_matrix(prior.pseudo.T)]))
    return Corpus.from_counts(rows)
