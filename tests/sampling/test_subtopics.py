"""Sub-topic moves: one trial leaves the exact posterior as it is, and the kernel does what its twin does."""

import numpy as np
import pytest

from stickbreak.numerics.keys import key_of
from stickbreak.numerics.stirling import stirling_ratios
from stickbreak.sampling.counts import count_topics
from stickbreak.sampling.direct import draw_weights
from stickbreak.sampling.franchise import Franchise
from stickbreak.sampling.starts import seated
from stickbreak.sampling.state import Concentrations
from stickbreak.sampling.state import Seating as Seats
from stickbreak.sampling.subtopics import subtopic_trials

from .chains import tokens_of
from .enumeration import Seating, Tiny, canonical, posterior
from .laws import ALARM, chi_square


def one_trial(tiny, tokens, order, seating, key, limit):
    """Draw corpus weights, make one trial, draw tables: from a seating to a seating, in the order of `tiny.docs`."""
    now, ratios = Concentrations(tiny.alpha, tiny.gamma, tiny.eta), stirling_ratios(8)
    state = Franchise(tokens)
    state.take(arranged(tokens, order, seating), max(seating.dish) + 1)
    counts = count_topics(tokens, state.z, state.documents, max(seating.dish) + 1)
    rng = np.random.default_rng(key)
    beta, z = draw_weights(counts, tiny.gamma, rng), state.z.copy()
    options = {"trials": 1, "passes": 2, "key": key, "limit": limit}
    K, beta, made = subtopic_trials(tokens, z, counts, beta, now, **options)
    assert np.array_equal(np.unique(z), np.arange(K)), "topics are numbered without gaps"
    assert beta.sum() == pytest.approx(1.0)
    assert (beta > 0).all()
    after = seated(z, beta[:-1], tokens, now, ratios, key_of(key, 0, "tables"), key_of(key, 0, "seats"))[1]
    return listed(tokens, order, after), made


def arranged(tokens, order, seating):
    """Return the seating as arrays, for tokens that stand in another order."""
    out = Seats.empty(tokens)
    back = np.argsort(order)
    for d in range(tokens.n_documents):
        first, names = tokens.start[d], {}
        for i in range(first, tokens.start[d + 1]):
            t = seating.table[order[i]]
            place = names.setdefault(t, len(names))
            out.table[i] = place
            out.topic[first + place] = seating.dish[t]
            out.n[first + place] += 1
        out.n_tables[d] = len(names)
    assert back.size == tokens.word.size
    return out


def listed(tokens, order, seats):
    """Undo `arranged`."""
    table, dish, base = np.empty(order.size, int), {}, 0
    for d in range(tokens.n_documents):
        first = tokens.start[d]
        for i in range(first, tokens.start[d + 1]):
            table[order[i]] = base + seats.table[i]
            dish[base + seats.table[i]] = seats.topic[first + seats.table[i]]
        base += seats.n_tables[d]
    seen = list(dict.fromkeys(table.tolist()))
    return Seating(canonical(table.tolist()), canonical([dish[t] for t in seen]))


@pytest.mark.parametrize("limit", [3, None])
@pytest.mark.parametrize("name", "ABCDF")
def test_trial_leaves_the_exact_posterior_as_it_is(name, limit):
    """Independent seatings from the exact posterior, one trial each: their law is still the posterior."""
    tiny = Tiny.named(name)
    tokens, order = tokens_of(tiny.docs, tiny.V)
    states, p, _ = posterior(tiny)
    number = {state: s for s, state in enumerate(states)}
    seen, moved = np.zeros(len(states)), np.zeros(4, int)
    for key, s in enumerate(np.random.default_rng(5).choice(len(states), 15000, p=p)):
        after, made = one_trial(tiny, tokens, order, states[s], key, limit)
        seen[number[after]] += 1
        moved += made
    print(moved)
    assert moved[[1, 3]].min() > 300
    assert chi_square(seen, p) > ALARM
