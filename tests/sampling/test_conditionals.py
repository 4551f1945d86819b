"""One step of each kernel at fixed states of a tiny corpus: the frequencies are the exact transition probabilities.

A pass is given one token, or one table, as if it were alone in its document, but the counts of the whole document and
of the whole corpus: so it makes that one step.
"""

from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from scipy.stats import chi2

from stickbreak.numerics.stirling import factors_of, stirling_ratios
from stickbreak.sampling import state as module
from stickbreak.sampling.kernels import franchise as franchise_kernels
from stickbreak.sampling.kernels import table_indicators as indicator_kernels
from stickbreak.sampling.kernels.topic_draw import NEW, Topics
from stickbreak.sampling.representations import run_pass
from stickbreak.sampling.state import DocumentTopics, WordTopics, count_topics

from .chains import tokens_of
from .enumeration import EXACT, Seating, Tiny, canonical, from_document_order, table_words
from .laws import ALARM, chi_square, statistic

E = Tiny.named("E")
VALUES = module.Concentrations(E.alpha, E.gamma, E.eta)
N_DRAWS = 1000
FACTORS = factors_of(stirling_ratios(max(map(len, E.docs)) + 1))


@cache
def alone(*words):
    """Return a document of these words."""
    return tokens_of([words], E.V)[0]


def one_pass(tokens, counts, kernel):
    """Run a pass on copies of the counts."""
    words = WordTopics(*(array.copy() for array in counts.words))
    run_pass(tokens, replace(counts, words=words), lambda first, topics: kernel(first, 1, words, topics))


def p_value(rows, draw):
    """Draw N_DRAWS times from each row ((key, state) -> next state); return the P-value of all together."""
    total = np.zeros(2)
    for number, (start, following) in enumerate(rows):
        keys = np.arange(N_DRAWS, dtype=np.uint64) + np.uint64(number * N_DRAWS)  # of the type that chains have
        seen = Counter(draw(start, key) for key in keys)
        assert set(seen) <= set(following), "a state that cannot be reached"
        total += statistic([seen[x] for x in following], list(following.values()))
    return chi2.sf(*total)


def zm_state(z, m):
    """(z, tables of the topics in the documents) with topics numbered by first appearance."""
    label = dict(zip(z, canonical(z), strict=True))
    return canonical(z), tuple(sorted((d, label[k], count) for (d, k), count in m.items()))


def pairs_of(z):
    """Tokens of each topic in each document."""
    return Counter(zip(E.document, z, strict=True))


def documents_of(z, m, d):
    """The topics of document d."""
    pairs = sorted((k, n) for (document, k), n in pairs_of(z).items() if document == d)
    columns = [np.zeros(len(E.words), np.int32) for _ in range(3)]
    for s, (k, n) in enumerate(pairs):
        columns[0][s], columns[1][s], columns[2][s] = k, n, m[d, k]
    return DocumentTopics(np.array([len(pairs)], np.int32), *columns)


def counts_of(z, m):
    """n_k, M_k and n_kw of the whole corpus."""
    tokens, _ = tokens_of(E.docs, E.V)
    K = max(z) + 1
    counts = count_topics(tokens, np.array(z, np.int32), DocumentTopics.empty(tokens), K)
    for (_, k), count in m.items():
        counts.m[k] += count
    return counts


@pytest.mark.parametrize("dense", [False, True], ids=["sparse", "dense"])
def test_indicator_step_has_the_exact_law(dense):
    rows = []
    for row in EXACT["table_indicator"]:
        if row["variant"] == "root_marginal":
            z, m = tuple(row["z"]), {(d, k): count for d, k, count in row["m"]}
            following = {zm_state(x["z"], {(d, k): c for d, k, c in x["m"]}): x["p"] for x in row["next"]}
            rows.append(((z, m, row["token"], counts_of(z, m)), following))

    def draw(start, key):
        z, m, token, counts = start
        d, tokens, documents = E.document[token], alone(E.words[token]), documents_of(z, m, E.document[token])
        topic = np.array([z[token]], np.int32)
        one_pass(
            tokens,
            counts,
            lambda first, last, words, topics: indicator_kernels.sweep(
                first, last, (tokens.start, tokens.word, topic), documents, words, topics, FACTORS, VALUES, dense, key
            ),
        )
        after = {pair: count for pair, count in m.items() if pair[0] != d}
        after |= {(d, int(documents.topic[s])): int(documents.m[s]) for s in range(documents.size[0])}
        return zm_state((*z[:token], int(topic[0]), *z[token + 1 :]), after)

    assert p_value(rows, draw) > ALARM


def franchise_rows(name):
    """Each stored step: (document, position), and the probabilities of the next seatings."""
    return [
        (
            (row["doc"], row["pos"]),
            {from_document_order(E.docs, x["tables"], x["dishes"]): x["p"] for x in row["next"]},
        )
        for row in EXACT["crf"][name]
    ]


def stored_seating():
    seating = from_document_order(E.docs, EXACT["crf"]["tables"], EXACT["crf"]["dishes"])
    m = Counter(zip((E.document[seating.table.index(t)] for t in range(len(seating.dish))), seating.dish, strict=True))
    return seating, counts_of(seating.topics, m)


def token_at(place):
    return sum(map(len, E.docs[: place[0]])) + place[1]


def with_dish(table, dish):
    """The seating of tables with any numbers whose dishes are dish[number]."""
    return Seating(canonical(table), canonical([dish[t] for t in dict.fromkeys(table)]))


def test_token_of_the_franchise_has_the_exact_law():
    seating, counts = stored_seating()

    def draw(place, key):
        token = token_at(place)
        own, tokens = seating.table[token], alone(E.words[token])
        here = [t for t in dict.fromkeys(seating.table) if place[0] == E.document[seating.table.index(t)] and t != own]
        here.append(own)  # the last, so that no other table changes its number when it is left empty
        room = np.zeros(len(here) + 1, np.int32)
        given = module.Seating(np.array([len(here) - 1], np.int32), np.array([len(here)], np.int32), room, room.copy())
        for s, t in enumerate(here):
            given.topic[s], given.n[s] = seating.dish[t], seating.table.count(t)
        one_pass(
            tokens,
            counts,
            lambda first, last, words, topics: franchise_kernels.seat_tokens(
                first, last, (tokens.start, tokens.word), given, words, topics, VALUES, True, key
            ),
        )
        chosen = int(given.table[0])
        label = {**dict(enumerate(here)), len(here): "new"}[chosen]
        table = [*seating.table[:token], label, *seating.table[token + 1 :]]
        return with_dish(table, {**dict(enumerate(seating.dish)), label: int(given.topic[chosen])})

    assert p_value(franchise_rows("gibbs_t"), draw) > ALARM


def test_dish_of_a_table_has_the_exact_law():
    seating, counts = stored_seating()
    rows = table_words(E, seating)

    def draw(place, key):
        t = seating.table[token_at(place)]
        tokens, n = alone(*rows[t]), len(rows[t])
        given = module.Seating(*(np.array([x], np.int32) for x in (0, 1, seating.dish[t], n)))
        where = (np.arange(n), np.array([0, n]))
        one_pass(
            tokens,
            counts,
            lambda first, last, words, topics: franchise_kernels.serve_tables(
                first, last, (tokens.start, tokens.word), where, given, words, topics, VALUES, key
            ),
        )
        return with_dish(seating.table, {**dict(enumerate(seating.dish)), t: int(given.topic[0])})

    assert p_value(franchise_rows("gibbs_k"), draw) > ALARM


@pytest.mark.parametrize("n_tokens", [1, 3, 16, 17, 90])
def test_dish_of_a_table_of_any_size_has_the_exact_law(n_tokens):
    """Tables of more than 16 tokens have their logarithms: the law is that of (G3) on both sides."""
    rng = np.random.default_rng(n_tokens)
    counts = np.array([[40, 41, 39, 0], [400, 390, 410, 0], [7, 7, 8, 0], [3, 0, 2, 0]])  # (W, K); the last topic died
    table = np.sort(rng.choice(3, size=n_tokens, p=[0.1, 0.88, 0.02]))
    n_k, weight, eta = counts.sum(axis=0), np.array([20.0, 30.0, 25.0, 0.0]), 0.5
    words = np.bincount(table, minlength=4)
    alive = slice(0, 3)
    log_p = np.log(weight[alive]) - gammaln(n_k[alive] + 4 * eta + n_tokens) + gammaln(n_k[alive] + 4 * eta)
    log_p += (gammaln(counts[:, alive] + eta + words[:, None]) - gammaln(counts[:, alive] + eta)).sum(axis=0)
    log_new = gammaln(4 * eta) - gammaln(4 * eta + n_tokens) + (gammaln(words + eta) - gammaln(eta)).sum()
    fresh = float(np.exp(logsumexp(log_p) - log_new) / 4)
    p = np.append(np.exp(log_p - logsumexp(log_p)), 0.25) / 1.25

    size = (counts > 0).sum(axis=1)
    entry = np.array([(n << 32) | k for row in counts.tolist() for k, n in enumerate(row) if n], np.uint64)
    topics_of_words = np.concatenate(([0], np.cumsum(size)[:-1])), size.astype(np.int32), entry
    state, seen = np.array([n_tokens], np.uint64), Counter()
    arrays = dict.fromkeys(Topics._fields, np.zeros(8)) | {"n": n_k, "m": weight, "totals": np.array([4]), "rng": state}
    given = franchise_kernels.Table(table.astype(np.int32), np.arange(n_tokens), 0, n_tokens)
    for _ in range(20_000):
        found = franchise_kernels.draw_dish(given, WordTopics(*topics_of_words), Topics(**arrays), fresh, eta, 4 * eta)
        seen[int(found)] += 1
    assert set(seen) == {0, 1, 2, NEW}
    assert chi_square([seen[k] for k in (0, 1, 2, NEW)], p) > ALARM
