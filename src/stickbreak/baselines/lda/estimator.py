"""`LDA`: the face of the family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from stickbreak.baselines.lda.fitted import FittedLDA
from stickbreak.baselines.lda.gibbs import ESTIMATES, Gibbs
from stickbreak.baselines.lda.laps import LDALaps
from stickbreak.baselines.lda.priors import LEARNABLE, Priors
from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import refuse_fractions
from stickbreak.fitting.constraints import CONCENTRATION, TOLERANCES, one_of, whole
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.requirements import check_bytes, check_memory, check_names

MOST_TOPICS = 1 << 16  # topics of tokens are stored in two bytes
TABLES = 4.0  # of words and topics: those of a sample, the mean before and after it, and the topics that are shown
TOKEN_BYTES = 24.0  # of a token: its list, its topic, an entry of a list, and what is there while these are made


class LDA(FittedLDA):
    """Latent Dirichlet allocation: topics whose number is given.

    The weights of a document have a Dirichlet prior with a parameter for each topic, which is learned, so that some
    topics are more common than others (Wallach, Mimno and McCallum 2009). The topics have a symmetric prior.
    The time of a pass hardly depends on the number of topics: what a token costs, the topics of its document cost.

    Parameters
    ----------
    n_topics : int or None, default=None
        Number of topics. None: 100, or a quarter of the tokens if the documents hold fewer than 100.
    alpha : float, default=5.0
        Concentration of the topic weights of a document: the sum over all topics, each of which has
        `alpha` / `n_topics` to begin with. If it is learned, this is its initial value.
    eta : float, default=0.05
        Pseudo-count of every word in every topic. If it is learned, this is its initial value.
    learn : sequence of {"alpha", "eta"}, default=("alpha",)
        Hyperparameters that are learned from the data, from pass 10 on: alpha with a value for each topic, eta as one.
        Their priors are Gamma(1, 1).
    estimate : {"mean", "last"}, default="mean"
        What the topics are made of: the mean over every fifth pass, in which late ones weigh more, or the last pass.
    n_laps : int, default=300
        Maximum number of passes over the data. A pass ("lap" in names) visits every token once.
    tolerance : float or None, default=1e-4
        Stop when a pass raises the objective by less than this, in nats per token. The mean of ten passes is compared
        with the mean of the next ten. None: never.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers. The same seed gives the same result for any `n_jobs`.
    n_jobs : int or None, default=None
        Number of threads of `transform` and `score`. None means 1, and -1 means all cores. A pass has one thread.
    verbose : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    n_topics_ : int
        Number of topics K.
    topic_word_ : ndarray of shape (n_topics_, W)
        Expected word distribution of each topic, the largest topic first.
    topic_weights_ : ndarray of shape (n_topics_,)
        Expected weights of the topics in a document, a_k / alpha. They sum to one, and are all alike if alpha is not
        learned.
    topic_prior_ : ndarray of shape (n_topics_,)
        a_k, the Dirichlet parameter of each topic in the prior of a document.
    components_ : ndarray of shape (n_topics_, W)
        Expected tokens of each word in each topic, plus eta.
    alpha_, eta_ : float
        The hyperparameters at the end, learned or given.
    learned_ : list of str
        Names of the hyperparameters that were learned in the fit.
    objective_ : float
        Last entry of "objective" in `trace_`.
    trace_ : dict of ndarray of shape (n_laps_,)
        One entry for each pass: "lap" (its number), "objective", "n_topics", "seconds", "moved" (1 while it is too
        early to stop), "alpha", "eta". The objective is in nats per token: each token given all others, as it is drawn.
    n_laps_ : int
        Number of passes done.
    start_seconds_ : float
        Seconds that the start took.
    converged_ : bool
        Whether the fit stopped by `tolerance`.
    stop_reason_ : str
        Why the fit ended.
    vocabulary_ : tuple of str
        The words.
    text_options_, text_column_ : TextOptions or None, str or None
        How the texts of the fit were counted, and their column in its data frame. None where it was given counts.

    References
    ----------
    D. M. Blei, A. Y. Ng, M. I. Jordan. Latent Dirichlet Allocation. JMLR 2003.

    T. L. Griffiths, M. Steyvers. Finding Scientific Topics. PNAS 2004.

    L. Yao, D. Mimno, A. McCallum. Efficient Methods for Topic Model Inference on Streaming Document Collections.
    KDD 2009.

    H. M. Wallach, D. Mimno, A. McCallum. Rethinking LDA: Why Priors Matter. NIPS 2009.

    H.-F. Yu, C.-J. Hsieh, H. Yun, S. V. N. Vishwanathan, I. S. Dhillon. A Scalable Asynchronous Distributed Algorithm
    for Topic Modeling. WWW 2015.

    Examples
    --------
    >>> from stickbreak import LDA
    >>> from stickbreak.corpus import toy_bars
    >>> corpus, truth = toy_bars(n_documents=50, seed=0)
    >>> model = LDA(n_topics=10, n_laps=20, random_state=0).fit(corpus)
    >>> model.transform(corpus).shape
    (50, 10)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FittedLDA._parameter_constraints,
        "n_topics": [None, whole(1, MOST_TOPICS)],
        "alpha": CONCENTRATION,
        "eta": CONCENTRATION,
        "learn": [list, tuple],
        "estimate": [one_of(ESTIMATES)],
        "tolerance": [None, *TOLERANCES],
    }

    def __init__(
        self,
        *,
        n_topics: int | None = None,
        alpha: float = 5.0,
        eta: float = 0.05,
        learn: Sequence[str] = ("alpha",),
        estimate: str = "mean",
        n_laps: int = 300,
        tolerance: float | None = 1e-4,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_topics = n_topics
        self.alpha = alpha
        self.eta = eta
        self.learn = learn
        self.estimate = estimate
        self.n_laps = n_laps
        self.tolerance = tolerance
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_names("learn", self.learn, LEARNABLE)

    def _check_documents(self, documents: Corpus) -> None:
        super()._check_documents(documents)
        refuse_fractions(documents)
        K = self._settled_topics(documents)
        tables = 8.0 * TABLES * documents.n_words * K
        check_memory(K, documents.n_words, tables)
        needed = tables + TOKEN_BYTES * float(documents.n_tokens)
        what = f"n_topics is {K}: with {documents.n_words} words and {documents.n_tokens:.12g} tokens it"
        check_bytes(what, needed, "give fewer topics or fewer documents")

    def _laps(self, documents: Corpus, seed: int, executor: Engine) -> LDALaps:
        K = self.starting_topics(documents)
        inference = Gibbs(documents, K, seed, self.estimate)
        return LDALaps(inference, Priors.even(K, float(self.alpha), float(self.eta)), tuple(self.learn))

    def _take(self, laps: LDALaps, documents: Corpus) -> None:
        self._take_topics(laps.inference.counts(), laps.priors)
