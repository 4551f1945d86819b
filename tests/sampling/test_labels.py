"""Documents with labels in samplers: chains have the exact posterior of tiny labelled corpora (docs/math (G16))."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from tests.steered_problems import labelled_documents

import stickbreak
from stickbreak import GibbsHDP
from stickbreak.exceptions import InputError
from stickbreak.fitting.hyperparameters import GammaPrior
from stickbreak.model.document_labels import DocumentLabels
from stickbreak.sampling.checks import PARALLEL
from stickbreak.sampling.known_topics import ChainLabels

from .chains import ONE_THREAD, chain_of, visits
from .enumeration import Tiny, predictive
from .laws import z_scores

N_SWEEPS = 3000


@dataclass(frozen=True)
class LabelledTiny:
    """A tiny corpus whose documents have labels; topics that are kept have words before any document."""

    tiny: Tiny
    labels: list[list[int]]  # of each document
    n_labels: int
    kept: list[list[int]]  # words of each topic that is kept, labels first

    @property
    def with_kept(self) -> Tiny:
        """The documents with those of the topics that are kept behind them."""
        return replace(self.tiny, docs=[*self.tiny.docs, *self.kept])

    @property
    def given(self) -> ChainLabels:
        return ChainLabels(DocumentLabels.of(self.labels, self.n_labels))


CASES = {
    # a document with one label, one with two, one without; two labels, one of them with a word of its own
    "labels": LabelledTiny(Tiny([[0, 1], [1], [0, 0]], 2, 0.8, 1.3, 0.4), [[0], [0, 1], []], 2, [[], [1]]),
    # all documents have labels, and a seed is no label: it is one of the other topics
    "seed": LabelledTiny(Tiny([[0, 1], [1, 1]], 2, 0.8, 0.7, 0.5), [[0], [1]], 2, [[], [], [0]]),
    # no document has a label that is known: the labels are open to all
    "free": LabelledTiny(Tiny([[0, 1], [1]], 2, 1.5, 1.3, 0.4), [[], []], 1, [[]]),
    # many labels, so that what the others have together is small, and far from the half that it is in a document
    "many": LabelledTiny(Tiny([[0, 1, 0], [1, 0]], 2, 2.5, 2.0, 0.3), [[0], [0]], 12, [[]] * 12),
}
MOVES: dict[str, dict[str, Any]] = {"plain": {}, "sub-topics": {"subtopic_trials": 6, "subtopic_passes": 3}}


def seatings(case: LabelledTiny, gamma: float | None = None) -> list[tuple[tuple[int, ...], tuple[int, ...], float]]:
    """Return (topics of tokens, tables of each topic in each document, log p(words, seating)), guest by guest.

    A table that opens in a document with labels is of one of them with a half; else of the other topics, which are a
    restaurant franchise. In a document without labels it is drawn by an urn. The urn begins with a ball for each label
    and one for the others, and with one more of a label, and of the others, for each label of a document.
    """
    tiny, L = case.tiny, case.n_labels
    words, document, gamma = tiny.words, tiny.document, tiny.gamma if gamma is None else gamma
    n_kept = len(case.kept)
    urn = [1 + sum(k in own for own in case.labels) for k in range(L)]
    urn.append(1 + sum(map(len, case.labels)))
    found = []

    def weights_of(d: int, owner: list[int], dish: list[int]) -> dict[int, float]:
        """P(topic of a new table of document d); a new topic has the next number."""
        n_topics = max([n_kept, *(k + 1 for k in dish)])
        served = [dish.count(k) + (L <= k < n_kept) for k in range(n_topics)]
        total = sum(served[L:]) + gamma
        free = {k: served[k] / total for k in range(L, n_topics)} | {n_topics: gamma / total}
        own = case.labels[d]
        if own:
            return {k: 0.5 / len(own) for k in own} | {k: 0.5 * p for k, p in free.items()}
        open_tables = [k for t, k in enumerate(dish) if not case.labels[owner[t]]]
        balls = [urn[k] + open_tables.count(k) for k in range(L)]
        balls.append(urn[L] + sum(k >= L for k in open_tables))
        of_labels = {k: balls[k] / sum(balls) for k in range(L)}
        return of_labels | {k: balls[L] / sum(balls) * p for k, p in free.items()}

    def go(i: int, table: list[int], owner: list[int], dish: list[int], log_p: float) -> None:
        if i == len(words):
            topics = tuple(dish[t] for t in table)
            found.append((topics, tuple(sorted(zip(owner, dish, strict=True))), log_p))
            return
        d, w = document[i], words[i]
        guests = sum(owner[t] == d for t in table)

        def likelihood(k: int) -> float:
            before = case.kept[k] if k < n_kept else []
            return predictive(tiny, [*before, *(words[a] for a in range(i) if dish[table[a]] == k)], w)

        for t in [t for t in range(len(dish)) if owner[t] == d]:
            p = table.count(t) / (guests + tiny.alpha) * likelihood(dish[t])
            go(i + 1, [*table, t], owner, dish, log_p + math.log(p))
        for k, weight in weights_of(d, owner, dish).items():
            p = tiny.alpha / (guests + tiny.alpha) * weight * likelihood(k)
            go(i + 1, [*table, len(dish)], [*owner, d], [*dish, k], log_p + math.log(p))

    go(0, [], [], [], 0.0)
    return found


def statistics(z: np.ndarray, tables: np.ndarray, n_kept: int) -> np.ndarray:
    """P(M = m), P(K = k), P(token i has kept topic k), P(same topic) of all pairs, a column each."""
    pairs, sizes = np.triu_indices(z.shape[1], 1), np.arange(1, 10)
    K = np.array([len(set(row) | set(range(n_kept))) for row in z.tolist()])
    own = [z[:, i] == k for i in range(z.shape[1]) for k in range(n_kept)]
    return np.column_stack(
        [tables[:, None] == sizes, K[:, None] == sizes, *own, z[:, pairs[0]] == z[:, pairs[1]]]
    ).astype(float)


def exact(case: LabelledTiny) -> np.ndarray:
    """The same under the exact posterior."""
    z, tables, log_p = zip(*seatings(case), strict=True)
    p = np.exp(np.array(log_p) - np.logaddexp.reduce(log_p))
    return np.asarray(p @ statistics(np.array(z), np.array(list(map(len, tables))), len(case.kept)))


@pytest.mark.parametrize("moves", MOVES)
@pytest.mark.parametrize("name", CASES)
def test_chain_of_labelled_documents_has_the_exact_posterior(name: str, moves: str) -> None:
    case, p = CASES[name], exact(CASES[name])
    n_kept = len(case.kept)
    found = visits(case.with_kept, PARALLEL, N_SWEEPS, seed=3, n_given=n_kept, labels=case.given, **MOVES[moves])
    n_tables = found.tables - sum(map(bool, case.kept))
    least = np.sqrt(np.maximum(p * (1 - p), 0) / N_SWEEPS)
    scores = z_scores(statistics(found.z, n_tables, n_kept), p, least_error=least)
    assert np.abs(scores).max() < 4.5
    assert np.sqrt(np.mean(scores**2)) < 1.6


@pytest.mark.parametrize("name", CASES)
def test_log_joint_is_that_of_the_enumeration(name: str) -> None:
    case = CASES[name]
    table: dict[Any, float] = {}
    for z, tables, log_p in seatings(case):
        key = z, tables
        table[key] = np.logaddexp(table.get(key, -np.inf), log_p)
    by_z: dict[Any, list[float]] = {}
    for (z, tables), log_p in table.items():
        by_z.setdefault((z, len(tables)), []).append(log_p)
    chain, order = chain_of(case.with_kept, PARALLEL, seed=1, n_given=len(case.kept), labels=case.given)
    seen = 0
    for _ in range(200):
        chain.sweep(ONE_THREAD)
        z = np.empty(order.size, int)
        z[order] = chain.topics
        new = list(dict.fromkeys(k for k in z.tolist() if k >= len(case.kept)))
        key = tuple(k if k < len(case.kept) else len(case.kept) + new.index(k) for k in z.tolist())
        choices = by_z[key, chain.n_tables - sum(map(bool, case.kept))]
        seen += len(choices) > 1
        assert np.abs(np.array(choices) - chain.log_joint()).min() < 1e-9  # of the tables that m may mean
    assert seen < 200


def test_gamma_of_labelled_documents_has_its_posterior() -> None:
    case, prior = CASES["labels"], GammaPrior(2.0, 1.5)
    grid = (np.arange(60) + 0.5) / 10
    log_p = [np.logaddexp.reduce([row[2] for row in seatings(case, gamma)]) for gamma in grid]
    p = np.exp(np.array(log_p) - max(log_p)) * grid ** (prior.shape - 1) * np.exp(-prior.rate * grid)
    p /= p.sum()
    chain, _ = chain_of(
        case.with_kept,
        PARALLEL,
        seed=2,
        n_given=2,
        labels=case.given,
        learn=("gamma",),
        priors={"gamma": prior},
    )
    draws = []
    for _ in range(N_SWEEPS):
        chain.sweep(ONE_THREAD)
        draws.append(chain.concentrations.gamma)
    found = np.column_stack([np.array(draws), np.array(draws) < 1, np.array(draws) < 2])
    expected = np.array([p @ grid, p[grid < 1].sum(), p[grid < 2].sum()])
    assert np.abs(z_scores(found, expected, exact_variance=1e-5)).max() < 4.5


SHORT: dict[str, Any] = {"representation": PARALLEL, "n_topics": 5, "eta": 0.3, "random_state": 0}


@pytest.fixture(scope="module")
def planted() -> tuple[Any, list[Any]]:
    """Every fifth document has no label."""
    corpus, labels = labelled_documents(400, 1)
    return corpus, [None if d % 5 == 0 else row for d, row in enumerate(labels)]


@pytest.fixture(scope="module")
def model(planted: tuple[Any, list[Any]]) -> GibbsHDP:
    corpus, labels = planted
    return GibbsHDP(n_laps=200, **SHORT).fit(corpus, labels=labels)


def same(one: GibbsHDP, other: GibbsHDP) -> bool:
    """Whether two models are the same to the last bit, their labels too."""
    arrays = [(one.components_, other.components_), (one.tables_, other.tables_)]
    of_labels = one.label_names_ == other.label_names_ and one.label_curve_ == other.label_curve_
    return all(np.array_equal(a, b) for a, b in arrays) and of_labels


def test_labels_of_new_documents_are_predicted_with_probabilities_that_hold(model: GibbsHDP) -> None:
    corpus, labels = labelled_documents(300, 2)
    found, p = model.predict_labels(corpus), model.label_probabilities(corpus).to_numpy()
    has = np.array([[name in row for name in model.label_names_] for row in labels])
    assert np.mean([row[0] in own for row, own in zip(found, labels, strict=True)]) > 0.85
    assert p.mean() == pytest.approx(has.mean(), abs=0.04)
    assert has[p > 0.9].mean() > 0.9
    assert has[p < 0.1].mean() < 0.1


def test_no_token_has_the_topic_of_a_label_that_its_document_lacks(planted: tuple[Any, list[Any]]) -> None:
    corpus, labels = planted
    for init in ("random", "topic-model"):
        fitted = GibbsHDP(**{**SHORT, "init": init, "init_sweeps": 10}, n_laps=6).fit(corpus, labels=labels)
        z = fitted._kept.arrays["chain0.z"]
        document = np.repeat(np.arange(len(corpus)), corpus.document_lengths)
        for d, k in set(zip(document.tolist(), z[: document.size].tolist(), strict=True)):
            assert k >= 4 or not labels[d] or f"L{k}" in labels[d]


def test_seeds_chains_a_checkpoint_and_a_saved_model_change_no_bit(
    planted: tuple[Any, list[Any]], tmp_path: Any
) -> None:
    corpus, labels = planted
    seeds = {"L1": ["b0"], "free": ["e0", "e1"]}
    given = {**SHORT, "seeds": seeds, "n_chains": 2}

    def fitted(n_laps: int, **options: Any) -> GibbsHDP:
        fresh = GibbsHDP(**{**given, "n_jobs": options.pop("n_jobs", None)}, n_laps=n_laps, burn_in=2)
        return fresh.fit(corpus, labels=labels, **options)

    one = fitted(12)
    assert list(one.labels_.values()) == ["L0", "L1", "L2", "L3", "free"]
    assert same(one, fitted(12, n_jobs=2))
    for n_laps in (5, 12):
        again = fitted(n_laps, checkpoint=tmp_path / "c", resume=True)
    assert same(one, again)
    fitted(5).save(tmp_path / "short")
    loaded = stickbreak.load(tmp_path / "short", GibbsHDP).continue_fit(corpus, n_laps=7)
    assert same(one, loaded)
    assert loaded.predict_labels(corpus[:20]) == one.predict_labels(corpus[:20])
    other = GibbsHDP(**given, n_laps=12, burn_in=2)
    with pytest.raises(InputError, match="labels"):
        other.fit(corpus, labels=labels[::-1], checkpoint=tmp_path / "c", resume=True)
