"""`Pachinko` and `HierarchicalPachinko`: the faces of the family."""

from __future__ import annotations

from stickbreak_baselines.pachinko.base import PachinkoEstimator


class Pachinko(PachinkoEstimator):
    """Pachinko allocation: topics, and super-topics that say which topics occur together (Li and McCallum 2006).

    A document has weights of super-topics, and below each super-topic weights of topics. Each token takes a
    super-topic, then a topic below it, then a word. Super-topics share the topics. Their Dirichlet parameters, one for
    each pair of a super-topic and a topic, are learned: they hold the correlations of topics. With one super-topic this
    is LDA. A pass of Gibbs sampling visits only the paths that a document has, and the super-topics.

    Parameters
    ----------
    n_super : int, default=20
        Number of super-topics.
    n_topics : int or None, default=None
        Number of topics, the sub-topics of the paper. None: 100, or a quarter of the tokens if the documents hold fewer
        than 100.
    alpha : float, default=5.0
        Concentration of the super-topic weights of a document: the sum over all super-topics. If it is learned, this is
        its initial value.
    sub_alpha : float, default=5.0
        Concentration of the topic weights of a super-topic in a document: the sum over all topics. If it is learned,
        this is its initial value.
    eta : float or array-like of shape (W,) or (K, W), default=0.05
        Pseudo-count of every word in every topic. If it is learned, this is its initial value. An array, which is not
        learned, has a pseudo-count for each word, in all topics alike, or a row for each of the first sub-topics, or
        for all: these keep their numbers, and other topics have its smallest number for every word.
    learn : sequence of {"alpha", "sub_alpha", "eta"}, default=("alpha", "sub_alpha")
        Hyperparameters that are learned from the data, from pass 50 on. Alpha has a value for each super-topic,
        sub_alpha one for each super-topic and topic, eta one in all. Their priors are Gamma(1, 1). The paper matches
        moments; here they follow the fixed point of the most probable values (docs/math (P4)). If sub_alpha is learned,
        it is shared out at random to begin with, so that super-topics differ.
    seeds : dict of str to list of str, optional
        Words of sub-topics that you expect, by the names of these topics. They are the first of the `n_topics`, in this
        order, and each keeps its number and its name, as its label. Words that the documents lack are left out, and a
        warning names them.
    seed_tokens : float, default=100.0
        How strong seeds are: the pseudo-tokens that each adds to its topic, shared by its words (docs/math (L17)).
    estimate : {"average", "last"}, default="average"
        What the topics are made of: the mean over every fifth pass, in which late ones weigh more, or the last pass.
    n_laps : int, default=500
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
        Expected word distribution of each topic: those of seeds, or of rows of eta, in their order, then the largest
        first.
    topic_weights_ : ndarray of shape (n_topics_,)
        Expected weights of the topics in a document. They sum to one.
    super_weights_ : ndarray of shape (n_super,)
        Expected weights of the super-topics in a document, the super-topic with the most tokens first. They sum to one.
    super_topics_ : ndarray of shape (n_super, n_topics_)
        Expected weights of the topics below each super-topic. Rows sum to one.
    super_prior_ : ndarray of shape (n_super,)
        a_s, the Dirichlet parameter of each super-topic in the prior of a document.
    sub_prior_ : ndarray of shape (n_super, n_topics_)
        b_sk, the Dirichlet parameters of the topics below each super-topic.
    path_tokens_ : ndarray of shape (n_super, n_topics_)
        Expected tokens of each super-topic and topic.
    tree_ : TreeNode
        The root of a tree: super-topics below it, and below these the topics that they have tokens of.
    components_ : ndarray of shape (n_topics_, W)
        Expected tokens of each word in each topic, plus eta and the pseudo-tokens of seeds.
    alpha_, sub_alpha_, eta_ : float
        The hyperparameters at the end, learned or given; sub_alpha_ is the mean over super-topics.
    learned_ : list of str
        Names of the hyperparameters that were learned in the fit.
    objective_ : float
        Last entry of "objective" in `trace_`.
    trace_ : dict of ndarray of shape (n_laps_,)
        One entry for each pass: "lap" (its number), "objective", "n_topics", "seconds", "moved" (1 while it is too
        early to stop), "alpha", "sub_alpha", "eta". The objective is in nats per token: each token given all others, as
        it is drawn.
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
    W. Li, A. McCallum. Pachinko Allocation: DAG-Structured Mixture Models of Topic Correlations. ICML 2006.

    Examples
    --------
    >>> from stickbreak_baselines import Pachinko
    >>> from stickbreak.corpus import toy_bars
    >>> corpus, truth = toy_bars(n_documents=50, seed=0)
    >>> model = Pachinko(n_super=3, n_topics=10, n_laps=20, random_state=0).fit(corpus)
    >>> model.transform(corpus).shape, model.expected_super_weights(corpus).shape
    ((50, 10), (50, 3))
    """

    _nodes_have_words = False


class HierarchicalPachinko(PachinkoEstimator):
    """Hierarchical Pachinko allocation: super-topics and the root have words, too (Mimno, Li and McCallum 2007).

    Model 2 of the paper. Each token takes the root or a super-topic. At the root it takes a word of the root, which all
    documents share. At a super-topic it takes a word of this super-topic, or goes on to one of the topics below, which
    all super-topics share. So words from general to special find their place: common ones at the root, those of a field
    at a super-topic, the most special ones below.

    Parameters
    ----------
    n_super : int, default=20
        Number of super-topics.
    n_topics : int or None, default=None
        Number of sub-topics. None: 100, or a quarter of the tokens if the documents hold fewer than 100.
    alpha : float, default=5.0
        Concentration of the weights of the root and the super-topics in a document: their sum. If it is learned, this
        is its initial value.
    sub_alpha : float, default=5.0
        Concentration of the weights below a super-topic in a document: the sum over its own words and all sub-topics.
        If it is learned, this is its initial value.
    eta : float or array-like of shape (W,) or (K, W), default=0.05
        Pseudo-count of every word in every topic. If it is learned, this is its initial value. An array, which is not
        learned, has a pseudo-count for each word, in all topics alike, or a row for each of the first sub-topics, or
        for all: these keep their numbers, and other topics have its smallest number for every word.
    learn : sequence of {"alpha", "sub_alpha", "eta"}, default=("alpha", "sub_alpha")
        Hyperparameters that are learned from the data, from pass 50 on. Alpha has a value for the root and each
        super-topic, sub_alpha one for each super-topic and what is below it, eta one in all. Their priors are
        Gamma(1, 1).
    seeds : dict of str to list of str, optional
        Words of sub-topics that you expect, by the names of these topics. They are the first of the `n_topics`, in this
        order, and each keeps its number and its name, as its label. Words that the documents lack are left out, and a
        warning names them.
    seed_tokens : float, default=100.0
        How strong seeds are: the pseudo-tokens that each adds to its topic, shared by its words (docs/math (L17)).
    estimate : {"average", "last"}, default="average"
        What the topics are made of: the mean over every fifth pass, in which late ones weigh more, or the last pass.
    n_laps : int, default=500
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
        Number of topics K: the root, the super-topics and the sub-topics.
    topic_word_ : ndarray of shape (n_topics_, W)
        Expected word distribution of each topic: topic 0 is that of the root, topics 1 to n_super are those of the
        super-topics, the largest first, and the others those of the sub-topics, those of seeds first, in their order,
        then the largest.
    topic_weights_ : ndarray of shape (n_topics_,)
        Expected weights of the topics in a document. They sum to one.
    super_weights_ : ndarray of shape (1 + n_super,)
        Expected weights of the root and the super-topics in a document. They sum to one.
    super_topics_ : ndarray of shape (1 + n_super, n_topics_)
        Expected weights of the topics at and below the root's words and each super-topic. Rows sum to one.
    super_prior_ : ndarray of shape (1 + n_super,)
        a_s, the Dirichlet parameters of the root and the super-topics in the prior of a document.
    sub_prior_ : ndarray of shape (1 + n_super, n_topics_)
        b_sk, the Dirichlet parameters of the topics at and below each super-topic; 0 where it leads to no such topic.
        The first row is of no consequence, as the root leads to its own words only.
    path_tokens_ : ndarray of shape (1 + n_super, n_topics_)
        Expected tokens of the root or super-topic and the topic.
    tree_ : TreeNode
        The root of a tree: super-topics below it, and below these the sub-topics that they have tokens of.
    components_ : ndarray of shape (n_topics_, W)
        Expected tokens of each word in each topic, plus eta and the pseudo-tokens of seeds.
    alpha_, sub_alpha_, eta_ : float
        The hyperparameters at the end, learned or given; sub_alpha_ is the mean over super-topics.
    learned_ : list of str
        Names of the hyperparameters that were learned in the fit.
    objective_ : float
        Last entry of "objective" in `trace_`.
    trace_ : dict of ndarray of shape (n_laps_,)
        One entry for each pass: "lap" (its number), "objective", "n_topics", "seconds", "moved" (1 while it is too
        early to stop), "alpha", "sub_alpha", "eta". The objective is in nats per token: each token given all others, as
        it is drawn.
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
    D. Mimno, W. Li, A. McCallum. Mixtures of Hierarchical Topics with Pachinko Allocation. ICML 2007.

    Examples
    --------
    >>> from stickbreak_baselines import HierarchicalPachinko
    >>> from stickbreak.corpus import toy_bars
    >>> corpus, truth = toy_bars(n_documents=50, seed=0)
    >>> model = HierarchicalPachinko(n_super=3, n_topics=10, n_laps=20, random_state=0).fit(corpus)
    >>> model.transform(corpus).shape
    (50, 14)
    """

    _nodes_have_words = True
