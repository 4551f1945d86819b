"""`CollapsedHDP`: the face of the collapsed family."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stickbreak.collapsed.aside import share_apart
from stickbreak.collapsed.cvb0 import SMALLEST_SHARE
from stickbreak.collapsed.files import InFiles
from stickbreak.collapsed.laps import CollapsedLaps
from stickbreak.collapsed.memory import InMemory
from stickbreak.collapsed.origins import told_of_origin
from stickbreak.collapsed.requirements import check_tables, most_topics
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.sampled import KINDS
from stickbreak.collapsed.state import MOST_TOPICS, Priors
from stickbreak.collapsed.steering import Steering
from stickbreak.collapsed.streamed import StreamedCollapsed
from stickbreak.collapsed.updating import start_of
from stickbreak.corpus import Corpus
from stickbreak.fitting.block_files import Folder
from stickbreak.fitting.constraints import CONCENTRATIONS, STEPS, TOLERANCES, TOPIC_PRIORS, one_of, share, sweeps, whole
from stickbreak.fitting.engine import Engine, workers_now
from stickbreak.fitting.executor import count_jobs
from stickbreak.fitting.requirements import check_most_topics
from stickbreak.fitting.run import Identity
from stickbreak.model.given_topics import check_given, number_given
from stickbreak.model.seeds import Seeds, plain_seeds
from stickbreak.model.topic_model import TopicEstimator
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.pseudo_counts import widened
from stickbreak.storage.places import PathLike, place_of

FIRST_TOPICS = 1  # of a fit with births: they double in every round, and few random topics are soon apart


class CollapsedHDP(StreamedCollapsed):
    """Topics that predict best: collapsed variational inference (CVB0) for the HDP topic model.

    The model is that of `VariationalHDP`. The topics and the weights of documents are integrated out. Each token keeps
    its topic probabilities, given all other tokens. Only topics with a fair share of a token are kept. Smaller shares
    are rounded at random without bias, so memory and time do not grow with `n_topics` times the documents.
    Most collections begin with many topics, each of the words that occur together with one word. Gibbs sampling makes
    all passes, and topics that are alike become one as long as this predicts better documents that are set apart
    (math.md (C26) to (C28)). So their number does not depend on a start. Small collections start with one topic. Their
    topics are split and merged as long as this predicts held-out tokens better. The largest begin on samples of their
    documents (math.md (C17)).
    `stickbreak fit` uses this method unless you name another.

    Parameters
    ----------
    n_topics : int or None, default=None
        Number of topics to start with. Splits and merges change it; `max_topics` limits it. Most fits with `births`
        find their own start (math.md (C25) to (C28)). None: 1, or without `births` 200
        (`max_topics` if that is less, and a quarter of the tokens if the documents hold fewer).
        `partial_fit` has no splits: there None means 200, too.
    alpha : float, default=5.0
        Concentration of the topic weights of a document. If it is learned, this is its initial value.
    gamma : float, default=1.0
        Concentration of the topic weights of the corpus. If it is learned, this is its initial value.
    eta : float or array-like of shape (W,) or (K, W), default=0.05
        Pseudo-count of every word in every topic. If it is learned, this is its initial value. An array, which is not
        learned, has a pseudo-count for each word, in all topics alike, or a row for each of the first K topics: these
        keep their numbers as those of seeds do, and other topics have its smallest number for every word.
    learn : sequence of {"alpha", "gamma", "eta"}, default=("alpha",)
        Hyperparameters that are learned from the data. In passes of Gibbs sampling alpha is learned in every fifth
        pass from pass 10 on. In other passes, from pass 20 on, they follow the expected tables and counts:
        alpha and gamma after each pass, eta after every fifth. In sampled passes over many short documents alpha
        follows from documents that are set apart (math.md (C24)). Their priors are Gamma(1, 1).
    seeds : dict of str to list of str, optional
        Words of topics that you expect, by the names of these topics. They come first, in this order, and each keeps
        its number and its name, as its label: it is never split, merged away or left out. The fit starts with them
        and with `n_topics` others. Words that the documents lack are left out, and a warning names them.
    seed_tokens : float, default=100.0
        How strong seeds are: the pseudo-tokens that each adds to its topic, shared by its words (math.md (C18)). The
        documents outweigh the words of a topic when it has many more tokens than this.
    init : {"random"}, array-like of shape (K, W) or fitted model, default="random"
        Where the topics start. "random" puts every stored count in a random topic. You can also give topics: word
        distributions, expected counts, or a fitted model of any family over the same words. `n_topics` is then ignored.
    merge_laps : int, default=60
        Number of passes in which topics are split and merged. They are the first of a fit that starts with one topic.
        Fits that begin with many have none, unless expected shares are asked for, or gamma or eta is learned: then they
        follow 60 passes of Gibbs sampling (math.md (C26)). Some of the tokens are held out, others after every round of
        moves. A topic is split if its two halves predict the held-out tokens better by more than one standard error.
        Two topics are merged if this predicts them as well: at most one standard error worse, and at most 0.1 nats
        worse for each held-out token of the smaller topic. Topics that have fewer than 10 held-out tokens are left
        alone, so few documents, or small weights, lead to few moves. The moves end sooner when two rounds in a row
        change nothing. Then all tokens take part. 0 disables splits and merges. In collections of more than 2**26
        stored counts (of a word in a document) a sample decides about them.
    births : bool, default=True
        Whether topics are split. If not, there are never more than at the start.
    max_topics : int or None, default=None
        Splits never lead to more topics than this, and no start without a number has more. None: 1000, or fewer if
        their table would pass 4 GiB.
    held_back : float, default=0.1
        Share of the tokens that is held out to decide about splits and merges. It is above 0. Only the whole part of a
        weight counts as tokens.
    smallest_share : float, default=1/15
        Topic shares of a token below this value are rounded at random, up to it or down to zero. Their expectation does
        not change. 0 keeps all shares (plain CVB0) and takes 6 bytes for each stored count and topic.
    final_passes : {"auto", "expected", "sampled"}, default="auto"
        What the passes after the moves keep of each token. "expected": its topic probabilities. "sampled": one topic,
        drawn from them, and the topics are the mean over these passes. This often predicts better where documents are
        short. "auto" tries 30 sampled passes and completes documents that were set apart (5 % of them) with both. It
        keeps the sampled passes unless they are worse by more than two standard errors. Then, with births, it tries
        sampled passes from 100 random topics, too, and keeps the better of the two. It also tries them where expected
        shares were better but fewer than 20 topics are left; then they must be better by three standard errors. With
        fewer than 200 documents "auto" means "expected". Collections that begin with many topics have sampled passes
        alone (math.md (C26), (C27)).
    n_laps : int, default=300
        Maximum number of passes over the data. A pass ("lap" in names) visits every document once. Those that form
        topics count, too.
    tolerance : float or None, default=1e-4
        Stop when a pass raises the objective by less than this, in nats per token. The mean of ten passes is compared
        with the mean of the next ten. They are counted from pass 20, and from the pass on in which all tokens take
        part. There are at least 120 sampled passes, 160 in a fit that begins with many topics, and of short documents
        120 with the number of topics that is chosen. None: never.
    local_sweeps : int, default=10
        Number of sweeps over a minibatch, for `partial_fit` (at most 1e6).
    init_sweeps : int, default=50
        Number of sweeps over the first minibatch, from the start, for `partial_fit` (at most 1e6).
    learning_decay : float, default=0.7
        Step t of a stochastic fit has the size (t + learning_offset) ** -learning_decay. Only `partial_fit` uses it.
    learning_offset : float or None, default=None
        A larger offset makes the first steps smaller. Only `partial_fit` uses it. None: 1, or after a `fit` the value
        that makes the first step equal to the minibatch's share of the documents.
    total_documents : int or None, default=None
        Number of documents in the whole stream, for `partial_fit`. None: those seen so far.
    scratch : path-like or None, default=None
        Folder for the topic shares of tokens, for fits that are larger than memory. A fit then holds the shares of one
        block of documents for each thread (about 200 MB), and of documents that are opened from a corpus folder no
        more. Its files are removed at the end, so `continue_fit` cannot go on from such a fit; a `checkpoint` can. The
        numbers are the same. None: memory, or the scratch folder of the cluster that is in use.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers. The same seed gives the same result for any `n_jobs`, `scratch` and cluster.
    n_jobs : int or None, default=None
        Number of threads. None means 1, and -1 means all cores.
    verbose : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    n_topics_ : int
        Number of topics with at least half an expected token.
    topic_word_ : ndarray of shape (n_topics_, W)
        Expected word distribution of each topic, the largest topic first.
    topic_weights_ : ndarray of shape (n_topics_,)
        Expected corpus weights M_k / (M + gamma). They sum to less than one; the rest belongs to unseen topics.
    components_ : ndarray of shape (n_topics_, W)
        Expected tokens of each word in each topic, plus eta.
    tables_ : ndarray of shape (n_topics_,)
        Expected number of tables of each topic.
    alpha_, gamma_, eta_ : float
        The hyperparameters at the end, learned or given.
    labels_ : dict of int to str
        Labels of topics: those of seeds and of labelled documents, and what `label` gave.
    label_names_ : list of str
        The labels of the documents of the fit: label k is topic k. Empty without labels.
    final_passes_ : {"expected", "sampled"}
        What the last passes of the fit kept of each token; "expected" for a stream.
    learned_ : list of str
        Names of the hyperparameters that were learned in the fit.
    objective_ : float
        Last entry of "objective" in `trace_`.
    trace_ : dict of ndarray of shape (n_laps_,)
        One entry for each pass: "lap" (its number), "objective", "n_topics", "seconds", "moved" (1 while it is too
        early to stop: up to pass 20, in the moves, in the trial of `final_passes`, and in the least number of sampled
        passes), "alpha", "gamma", "eta", the
        numbers of pairs tried and merged ("merge_tried", "merge_accepted") and of topics tried and split
        ("birth_tried", "birth_accepted"). The objective is predictive, in nats per token: each
        token given all others, whose shares have seen it. For `partial_fit` it scores the documents of a minibatch
        before its step, each word given those before it.
    n_laps_ : int
        Number of passes done, plus the calls of `partial_fit`.
    n_steps_ : int
        Number of steps taken by `partial_fit`.
    n_documents_seen_ : int
        Number of documents of the fit, or of the stream so far.
    learning_offset_ : float or None
        The offset of the steps; None before the first step.
    start_seconds_ : float
        Seconds that the start took.
    converged_ : bool
        Whether the fit stopped by `tolerance`. False after `partial_fit`.
    stop_reason_ : str
        Why the fit ended.
    vocabulary_ : tuple of str
        The words.
    text_options_, text_column_ : TextOptions or None, str or None
        How the texts of the fit were counted, and their column in its data frame. None where it was given counts.

    References
    ----------
    Y. W. Teh, K. Kurihara, M. Welling. Collapsed Variational Inference for HDP. NIPS 2008.

    J. Foulds, L. Boyles, C. DuBois, P. Smyth, M. Welling. Stochastic Collapsed Variational Bayesian Inference for
    Latent Dirichlet Allocation. KDD 2013.

    J. Chang, J. W. Fisher III. Parallel Sampling of HDPs using Sub-Cluster Splits. NIPS 2014.

    A. Asuncion, M. Welling, P. Smyth, Y. W. Teh. On Smoothing and Inference for Topic Models. UAI 2009.

    Examples
    --------
    >>> from stickbreak import CollapsedHDP
    >>> from stickbreak.corpus import toy_bars
    >>> corpus, truth = toy_bars(n_documents=50, seed=0)
    >>> model = CollapsedHDP(n_topics=20, n_laps=10, random_state=0).fit(corpus)
    >>> model.transform(corpus).shape[0]
    50
    """

    _stream_only = ("local_sweeps", "init_sweeps", "learning_decay", "learning_offset", "total_documents")
    _free = (*_stream_only, "scratch")

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **StreamedCollapsed._parameter_constraints,
        **CONCENTRATIONS,
        **TOPIC_PRIORS,
        **STEPS,
        "n_topics": [None, whole(1, MOST_TOPICS)],
        "learn": [list, tuple],
        "init": [one_of(("random",)), "array-like", TopicEstimator],
        "merge_laps": [whole(0)],
        "births": ["boolean"],
        "max_topics": [None, whole(1, MOST_TOPICS)],
        "final_passes": [one_of(KINDS)],
        "held_back": [share(0.5, zero=False)],
        "smallest_share": [share(0.5)],
        "tolerance": [None, *TOLERANCES],
        "scratch": [None, str, os.PathLike],
        "local_sweeps": [sweeps(1)],
        "init_sweeps": [sweeps(1)],
    }

    def __init__(
        self,
        *,
        n_topics: int | None = None,
        alpha: float = 5.0,
        gamma: float = 1.0,
        eta: float | NDArray = 0.05,
        learn: Sequence[str] = ("alpha",),
        seeds: Seeds | None = None,
        seed_tokens: float = 100.0,
        init: Any = "random",
        merge_laps: int = 60,
        births: bool = True,
        max_topics: int | None = None,
        held_back: float = 0.1,
        smallest_share: float = SMALLEST_SHARE,
        final_passes: str = "auto",
        n_laps: int = 300,
        tolerance: float | None = 1e-4,
        local_sweeps: int = 10,
        init_sweeps: int = 50,
        learning_decay: float = 0.7,
        learning_offset: float | None = None,
        total_documents: int | None = None,
        scratch: PathLike | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_topics = n_topics
        self.alpha = alpha
        self.gamma = gamma
        self.eta = eta
        self.learn = learn
        self.seeds = plain_seeds(seeds)
        self.seed_tokens = seed_tokens
        self.init = init
        self.merge_laps = merge_laps
        self.births = births
        self.max_topics = max_topics
        self.held_back = held_back
        self.smallest_share = smallest_share
        self.final_passes = final_passes
        self.n_laps = n_laps
        self.tolerance = tolerance
        self.local_sweeps = local_sweeps
        self.init_sweeps = init_sweeps
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.total_documents = total_documents
        self.scratch = scratch
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_most_topics(self.max_topics, self.n_topics)
        if not isinstance(self.init, str):
            check_given(self.init, "'random'")

    def _check_documents(self, documents: Corpus) -> None:
        super()._check_documents(documents)
        laps = min(self.n_laps, self.merge_laps)
        n_topics = self._settled_topics(documents) + self._check_room(documents)
        smallest = float(self.smallest_share)
        blocks = 1 if workers_now() is not None else count_jobs(self.n_jobs) if self.scratch is not None else None
        births = bool(self.births)
        check_tables(documents, n_topics, smallest, laps, births=births, most=self.max_topics, blocks=blocks)

    def _laps(self, documents: Corpus, seed: int, executor: Engine) -> CollapsedLaps:
        steering, given = self._steering(documents), self._given(documents)
        n_topics = self.starting_topics(documents) + steering.n_kept
        return self._laps_of(documents, self._rules(documents, n_topics, seed, given, steering), executor)

    def _rules(self, documents: Corpus, n_topics: int, seed: int, given: Float | None, steering: Steering) -> Rules:
        """Return what a fit that starts with `n_topics` topics goes by."""
        most = most_topics(documents.n_words) if self.max_topics is None else int(self.max_topics)
        return Rules(
            n_topics=n_topics,
            max_topics=max(most, n_topics) if steering.n_kept else most,
            priors=self._priors(),
            smallest=float(self.smallest_share),
            learn=tuple(self.learn),
            seed=seed,
            merge_laps=int(self.merge_laps),
            births=bool(self.births),
            held_back=float(self.held_back),
            final_passes=self.final_passes,
            apart=share_apart(documents.n_documents, documents.n_tokens),
            given=given,
            steering=steering,
        )

    def _laps_of(self, documents: Corpus, rules: Rules, executor: Engine) -> CollapsedLaps:
        """Put documents where their shares are kept."""
        scratch = self._scratch_folder()
        if scratch is None:
            return CollapsedLaps(InMemory(documents), rules, executor)
        return CollapsedLaps(InFiles(documents, executor, Folder(scratch)), rules, executor)

    def _laps_of_update(self, documents: Corpus, steering: Steering, executor: Engine) -> CollapsedLaps:
        eta = widened(self.eta_, documents.n_words)
        start = start_of(steering, eta)
        rules = self._rules(documents, steering.n_kept, self._seed, start, steering)
        check_tables(documents, rules.n_topics, rules.smallest, rules.merge_laps, births=rules.births)
        return self._laps_of(documents, replace(rules, priors=Priors(self.alpha_, self.gamma_, eta)), executor)

    def _scratch_folder(self) -> Path | None:
        """Return where a fit puts the shares of its tokens; None: in memory."""
        if self.scratch is not None:
            return place_of(self.scratch)
        workers = workers_now()
        return None if workers is None else workers.scratch

    def _take(self, laps: CollapsedLaps, documents: Corpus) -> None:
        self.final_passes_ = "sampled" if laps.are_sampled else "expected"
        self._take_topics(laps.finish(), laps.priors, laps.rules.seed)
        self._take_curve(documents, laps.rules.seed)
        self.stop_reason_ += told_of_origin(laps.origin, self.n_topics)
        if self.final_passes_ == "sampled":
            self.stop_reason_ += " In the last passes each token had one sampled topic."
        self.stop_reason_ += laps.left_over()
        if self._scratch_folder() is not None:
            self._kept = None  # it is in files that are removed now
        self.n_documents_seen_, self.learning_offset_ = documents.n_documents, None

    def _identity(self, documents: Corpus, seed: int) -> Identity:
        found = super()._identity(documents, seed)
        if isinstance(self.init, str):  # the start of the fits of before there was a choice
            del found["init"]
        return found

    @property
    def _finds_topics(self) -> bool:
        return isinstance(self.init, str)

    def starting_topics(self, X: Any) -> int:
        """Return the number of topics that a fit to these documents starts with.

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)

        Returns
        -------
        int
            The number of topics given as `init`, or else `n_topics`. If that is None: the default, or a quarter of the
            tokens of a small collection. Topics of seeds and labels come besides.
        """
        return super().starting_topics(X) if isinstance(self.init, str) else number_given(self.init)

    def _default_topics(self, *, stream: bool) -> int:
        if self.births and self.merge_laps and not stream:
            return FIRST_TOPICS
        return self.default_topics if self.max_topics is None else min(self.default_topics, int(self.max_topics))
