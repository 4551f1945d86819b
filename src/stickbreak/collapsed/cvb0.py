"""CVB0 for the HDP topic model, one stored count at a time (math.md (C1)), in lists of the few topics of each count.

Teh, Kurihara and Welling (2008); the zero-order form of Asuncion et al. (2009). The topics and the document weights are
integrated out and only q(z) is kept, so that a document can change its mind about a topic longer than under mean field.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from stickbreak.collapsed.files import InFiles
from stickbreak.collapsed.kernels import draws as draw_kernels
from stickbreak.collapsed.kernels import labelled as label_kernels
from stickbreak.collapsed.kernels import shares as share_kernels
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.packing import Counts
from stickbreak.collapsed.shards import ONE_DRAW, Shard, Shares, slots_of
from stickbreak.collapsed.starting_weights import StartingWeights
from stickbreak.collapsed.state import SMALLEST_BETA, CollapsedState, Priors, assembled
from stickbreak.collapsed.steered_start import steered_shares
from stickbreak.collapsed.steering import UNSTEERED, Steering
from stickbreak.collapsed.walking import Documents, Found, Outcome, count_all, count_new, nothing
from stickbreak.corpus import Corpus
from stickbreak.fitting.block_files import Folder
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.model.document_labels import LABELLED, DocumentLabels
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.keys import key_of
from stickbreak.numerics.pseudo_counts import Eta, total_of
from stickbreak.numerics.streams import stream_at

SMALLEST_SHARE = 1 / 15
FINE_SHARE = 1 / 200  # of starts, whose topics should not carry the noise of rounding ...
ROUGH_SWEEPS = 5  # ... after these, in which tokens have shares of most topics
DRAWN_TURNS = 4  # of a pass that draws topics: within a block they follow those before, so fewer will do
ALONE = Engine(ThreadExecutor(1))
WORTH_SENDING = 1 << 20  # stored counts from which on the workers of a cluster make a start: a turn takes them a while


def cvb0(
    corpus: Corpus,
    n_topics: int,
    *,
    alpha: float,
    gamma: float,
    eta: Eta,
    seed: int = 0,
    start: tuple[Float, StartingWeights, Float] | None = None,
    engine: Engine = ALONE,
    steering: Steering = UNSTEERED,
) -> Iterator[CollapsedState]:
    """Yield the state after each sweep over all documents, without end: the start of other inference.

    The smallest share that is kept is 1/15 in the first sweeps from a random start, then 1/200.

    Parameters
    ----------
    corpus : Corpus
        D documents, W words.
    n_topics : int
        Truncation K.
    alpha, gamma : float
        Concentrations of the documents and of the corpus.
    eta : float or ndarray of shape (W,)
        Pseudo-count of a word in a topic.
    seed : int, default=0
        Of the start, and of what is done with small shares.
    start : (topic_word, theta, beta), optional
        Word distributions by word (W, K), weights of the documents, and corpus weights (K,), where another inference
        stands. None: every (document, word) pair in one topic, drawn at random.
    engine : Engine
        Its threads, or the workers of a cluster for many counts, do the work; the states are the same.
    steering : Steering, optional
        Topics that are known before, which are the first; S holds their pseudo-counts.

    Yields
    ------
    CollapsedState
        The same object each time, updated in place.
    """
    priors = Priors(alpha, gamma, eta)
    if start is None:
        state = with_random_topics(documents_of(corpus, engine), n_topics, seed, engine, steering)
    else:
        state = start_from(documents_of(corpus, engine), *start, FINE_SHARE, seed, engine, steering)
    while True:
        rough = start is None and state.n_sweeps < ROUGH_SWEEPS
        sweep(state, priors, SMALLEST_SHARE if rough else FINE_SHARE, seed, engine)
        yield state


def documents_of(corpus: Corpus, engine: Engine) -> Documents:
    """Return documents without shares: in memory, or in files where workers have enough to do."""
    if engine.workers is None or corpus.counts.nnz < WORTH_SENDING:
        return InMemory(corpus)
    return InFiles(corpus, engine, Folder(engine.workers.scratch))


def random_start(corpus: Corpus, n_topics: int, seed: int, engine: Engine = ALONE) -> CollapsedState:
    """Put every (document, word) pair in one topic, drawn at random."""
    return with_random_topics(documents_of(corpus, engine), n_topics, seed, engine)


def with_random_topics(
    documents: Documents, n_topics: int, seed: int, engine: Engine, steering: Steering = UNSTEERED
) -> CollapsedState:
    """Give all of each count to one topic, drawn at random; documents that are steered begin with their topics."""
    if steering.n_kept:
        documents.walk(engine, steered_shares, (steering, n_topics, seed))
    else:
        documents.walk(engine, random_topics, (n_topics, seed))
    return assembled(documents, np.full(n_topics, 1 / (n_topics + 1)), steering)


def random_topics(given: tuple[int, int], shard: Shard) -> Outcome:
    """Give all of each count to one topic."""
    (n_topics, seed), n = given, shard.word.size
    topic = stream_at(seed, "collapsed random start", shard.first).integers(n_topics, size=n).astype(np.uint16)
    return Outcome(shares=Shares(np.arange(n + 1), topic, np.ones(n, np.float32)))


def given_start(
    documents: Documents,
    counts: Float,
    smallest: float,
    seed: int,
    engine: Engine,
    steering: Steering = UNSTEERED,
) -> CollapsedState:
    """Start with r_dwk proportional to the expected count of word w in topic k, counts (K, W)."""
    mass = counts.sum(axis=1)
    topic_word, weights = np.ascontiguousarray((counts / mass[:, None]).T), mass / mass.sum()
    beta = weights * (1.0 - 1.0 / (mass.size + 1))
    return start_from(documents, topic_word, StartingWeights(weights), beta, smallest, seed, engine, steering)


def start_from(
    documents: Documents,
    topic_word: Float,
    theta: StartingWeights,
    beta: Float,
    smallest: float,
    seed: int,
    engine: Engine,
    steering: Steering = UNSTEERED,
) -> CollapsedState:
    """Start with r_dwk ∝ topic_word[w, k] theta[d, k].                                        math.md (C1), (C3)

    Parameters
    ----------
    documents : Documents
    topic_word : ndarray of shape (W, K)
        Word distributions.
    theta : StartingWeights
        Weights of the documents.
    beta : ndarray of shape (K,)
        Corpus weights.
    smallest : float
        Smallest share that is kept.
    seed : int
    engine : Engine
    steering : Steering, optional
        Documents with labels begin with no other label.
    """
    key = key_of(seed, 0, "collapsed start")
    documents.walk(engine, first_shares, (topic_word, theta, smallest, key, steering.labels))
    return assembled(documents, beta, steering)


def first_shares(
    given: tuple[Float, StartingWeights, float, np.uint64, DocumentLabels | None], shard: Shard
) -> Outcome:
    """Give each count the shares of given topics."""
    topic_word, theta, smallest, key, labels = given
    n = shard.indptr.size - 1
    weights = theta.rows(shard.first, n)
    if labels is not None:
        own, labelled = labels.weights(shard.first, n)
        weights[:, : labels.n_labels] *= np.where(labelled[:, None], own, 1.0)
    new = Shares.room(shard.word.size, slots_of(smallest, theta.n_topics))
    lists = (new.start, new.topic, new.share)
    share_kernels.first_shares(shard.indptr, shard.word, topic_word, weights, smallest, key, shard.first, *lists)
    return Outcome(shares=new.trimmed())


@dataclass(frozen=True, slots=True)
class Update:
    """What an update of q(z) goes by."""

    counts: Counts  # hold the old shares
    prior: Float
    priors: Priors
    smallest: float
    key: np.uint64
    labels: DocumentLabels | None = None


def update(given: Update, shard: Shard) -> Outcome:
    """Find new shares of a shard, its expected tables (K,), and its log p of all tokens."""
    S, N, n_words = given.counts.S, given.counts.N, given.counts.S.shape[0]
    rules = (given.prior, given.priors, n_words, given.smallest, given.key)
    new, tables, log_p = updated(shard, S, N, *rules, counted=True, labels=given.labels)
    return Outcome((tables, np.array(log_p)), new)


def draw(given: Update, shard: Shard) -> Outcome:
    """Draw one topic for each count of a block; find its tables (K,), and its log p of all tokens.   math.md (C23)"""
    old, n, S, N = shard.shares, shard.word.size, given.counts.S, given.counts.N.copy()
    listed, topics = np.diff(old.start), np.zeros(n, np.uint16)  # what is left aside has any topic
    if (listed > 1).any() or (shard.count[listed == 0] > 0).any():
        return update(given, shard)  # of counts with several topics, which are drawn document by document once
    topics[listed == 1] = old.topic
    W, eta, prior, indptr = S.shape[0], given.priors.eta, given.prior, shard.indptr
    start, order, head = np.zeros(W + 1, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    size, topic, n_dk = np.empty(n, np.int32), np.empty(n, np.uint16), np.empty(n)
    draw_kernels.by_word(indptr, shard.word, start, order, head)
    draw_kernels.list_topics(indptr, shard.count, topics, size, topic, n_dk)
    lists, of_words, z = (size, topic, n_dk), topics[order], np.empty(n, np.uint16)
    total, tables = float(total_of(eta, W)), np.zeros(prior.size)
    rest = max(given.priors.alpha - float(prior.sum()), 0.0) * eta / total
    rules = prior, rest, eta, total, given.key, shard.first
    log_p = draw_kernels.draw(start, shard.count[order], head, *lists, of_words, S, N, *rules)
    log_p -= draw_kernels.add_tables(indptr, shard.count, *lists, prior, given.priors.alpha, tables)
    z[order] = of_words
    return Outcome((tables, np.array(log_p)), Shares(np.arange(n + 1), z, np.ones(n, np.float32)))


def sweep(state: CollapsedState, priors: Priors, smallest: float, seed: int, engine: Engine) -> None:
    """Update q(z) of all documents, then the corpus weights; everything in place.      math.md (C1), (C2), (C3), (C15)

    Parameters
    ----------
    state : CollapsedState
    priors : Priors
    smallest : float
        Smallest share that is kept; 0 keeps all.
    seed : int
    engine : Engine
    """
    if not state.summed:
        add_up(state, engine)
    key, found = key_of(seed, state.n_sweeps + 1, "collapsed sweep"), Found()
    steering = state.steering
    given = Update(Counts(state.S, state.N), priors.alpha * state.beta, priors, smallest, key, steering.labels)
    n_turns, into = state.documents.n_turns, (state.S, state.N)
    drawn = smallest == ONE_DRAW and steering.labels is None
    work, at_once = (draw, max(1, n_turns // DRAWN_TURNS)) if drawn else (update, 1)
    for turn in range(0, n_turns, at_once):
        turns = range(turn, min(turn + at_once, n_turns))
        of_turns = state.documents.walk(engine, work, given, turns=turns, whole=drawn, count=count_new, into=into)
        found.add(of_turns.sums, [])
    tables, log_p = found.sums
    if steering.tables is not None:
        tables[: steering.n_kept] += steering.tables
    state.tables, state.log_p, state.beta = tables, float(log_p), corpus_weights(tables, priors.gamma)
    state.n_sweeps += 1


def add_up(state: CollapsedState, engine: Engine) -> None:
    """Sum S and N of all shares, on what is known before."""
    state.S[:], state.N[:] = 0.0, 0.0
    state.steering.put_into(state.S, state.N)
    state.documents.walk(engine, nothing, count=count_all, into=(state.S, state.N))
    state.summed = True


def updated(
    shard: Shard,
    S: Float,
    N: Float,
    prior: Float,
    priors: Priors,
    n_words: int,
    smallest: float,
    key: np.uint64,
    *,
    counted: bool,
    labels: DocumentLabels | None = None,
    total_eta: float | None = None,
) -> tuple[Shares, Float, float]:
    """Return the new shares of a shard, its expected tables (K,), and its log p of all tokens.

    `S`, and an eta by word, have the rows of the words as the shard numbers them; W is `n_words`, and `total_eta` the
    sum over all words, where those of the shard are only some. The shares are `counted` where S and N hold them.
    Without `labels` all documents may use all topics.
    """
    slots = slots_of(smallest, prior.size)
    old, new, tables = shard.shares, Shares.room(shard.word.size, slots), np.zeros(prior.size)
    total = float(total_of(priors.eta, n_words)) if total_eta is None else total_eta
    left = max(priors.alpha - float(prior.sum()), 0.0)
    rest = left * priors.eta / total if isinstance(priors.eta, np.ndarray) else left / n_words
    documents = shard.indptr, shard.word, shard.count, old.start, old.topic, old.share, S, N, prior
    rules = rest, priors.eta, total, smallest, key, shard.first, counted
    room = new.start, new.topic, new.share, tables
    if labels is None:
        log_p = share_kernels.update_documents(*documents, *rules, *room)
    else:
        of_labels = labels.start, labels.topic, labels.n_labels, LABELLED
        log_p = label_kernels.update_labelled(*documents, priors.alpha, *rules, *of_labels, *room)
    return new.trimmed(), tables, log_p


def corpus_weights(tables: Float, gamma: float) -> Float:
    """Return beta_k = M_k / (gamma + sum M), (K,).                                  math.md (C2)"""
    return np.maximum(tables / (gamma + tables.sum()), SMALLEST_BETA)
