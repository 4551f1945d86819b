"""Word weights of a minibatch, the alias table, the step's counts, what eta is learned from; twins in tests/hybrid.

The weight of topic k for a token of word w in an empty document is q_w(k) = e_k phi_kw, e_k = alpha g_k. Most words
have no tokens in most topics; there phi_kw is base_k, the same for all words. So

    q_w(k) = e_k base_k + e_k delta_wk,        delta_wk = phi_kw - base_k,

an alias table that all words share for the first part, and for the second running sums over the topics that the word
has tokens in: what a minibatch costs before its first token follows these pairs, not K times the words.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_pseudo_counts import beside_one, of_word
from stickbreak.numerics.kernel_random import open_stream, uniform
from stickbreak.numerics.special import exp_digamma


class Lists(NamedTuple):
    """Lists of the topics of W words in a common store, (P,): those of word w begin at first[w]."""

    first: NDArray[np.int64]  # (W,)
    size: NDArray[np.int64]  # (W,)  topics
    room: NDArray[np.int64]  # (W,)  topics that have room
    topic: NDArray[np.int32]  # (P,)
    counts: NDArray[np.float64]  # (P,)
    holders: NDArray[np.int64]  # (K,)  words that have a topic


@njit(cache=True, nogil=True, error_model="numpy")
def fill_alias(weight, n, prob, alias, small, large):
    """Make the alias table of weight[:n] (Vose 1991); return the sum of the weights.              docs/math (B3)"""
    total = 0.0
    for i in range(n):
        total += weight[i]
    n_small, n_large = 0, 0
    for i in range(n):
        prob[i] = weight[i] / total * n if total > 0.0 else 1.0
        alias[i] = i
        if prob[i] < 1.0:
            small[n_small] = i
            n_small += 1
        else:
            large[n_large] = i
            n_large += 1
    while n_small > 0 and n_large > 0:
        n_small -= 1
        low, high = small[n_small], large[n_large - 1]
        alias[low] = high
        prob[high] -= 1.0 - prob[low]
        if prob[high] < 1.0:
            n_large -= 1
            small[n_small] = high
            n_small += 1
    for i in range(n_small):  # what rounding has left
        prob[small[i]] = 1.0
    for i in range(n_large):
        prob[large[i]] = 1.0
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def weigh_words(first, last, words, lists, scale, eta, by_word, mean_field, topics, weights):
    """Fill the rows first .. last - 1 of `WordWeights`, whose tables hold zeros.               docs/math (B1), (B3)

    eta: a number, or `by_word` one for each of these words. Then weights are by the unit of the word, which is its eta,
    or exp(psi(eta)). topics: (inverse, mean_e, inverse_mean), what multiplies weights of words, alpha E[G0_k], and what
    multiplies expected ones.
    """
    (inverse, mean_e, inverse_mean), (of_topics, out) = topics, weights
    begin_of, size_of, pair_topic, pair_count = lists.first, lists.size, lists.topic, lists.counts
    delta, mean_delta, start, own, mean = out.delta, out.mean_delta, out.start, out.own, out.mean
    entry_topic, entry_sum, e, base, column = out.topic, out.sum, of_topics.e, of_topics.base, of_topics.column
    mean_base = 0.0
    for k in range(e.size):
        mean_base += mean_e[k] * inverse_mean[k]
    for b in range(first, last):
        begin, found, total = begin_of[words[b]], 0.0, 0.0
        of_b, unit = of_word(eta, b), beside_one(eta, b)
        rate_unit = exp_digamma(of_b) if by_word else 1.0
        for i in range(size_of[words[b]]):
            k, x = pair_topic[begin + i], scale * pair_count[begin + i]
            expected = inverse_mean[k] * x / unit
            found += mean_e[k] * expected
            rate = expected
            if mean_field:
                mean_delta[b, column[k]] = expected
                rate = max(inverse[k] * exp_digamma(of_b + x) / rate_unit - base[k], 0.0)
            delta[b, column[k]] = rate
            total += e[k] * rate
            entry_topic[start[b] + i], entry_sum[start[b] + i] = k, total
        mean[b] = (1.0 if by_word else of_b) * mean_base + found
        own[b] = total


@njit(cache=True, nogil=True)
def clear_words(first, last, start, topic, column, delta):
    """Set the entries of rows first .. last - 1 back to zero."""
    for b in range(first, last):
        for i in range(start[b], start[b + 1]):
            delta[b, column[topic[i]]] = 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def add_tokens(done, end, occurrences, z, amount, least, key, lists, lost):
    """S_wk += amount for every token of every saved sweep in z (S, N).                              docs/math (B5)

    occurrences: (words, start, tokens), word words[b] has the tokens tokens[start[b]] .. tokens[start[b + 1] - 1].
    Pairs below `least` are rounded to 0 or to `least`, so that none is changed on average; what the
    topics lose by that is added to `lost`. Returns how many words are done, fewer than all if a list needs more room
    than the store has, and the end of what is used of it.
    """
    (words, start, tokens), (begin_of, size_of, room_of, pair_topic, pair_count, holders) = occurrences, lists
    tally, fresh, rng = np.zeros(lost.size, np.int64), np.empty(lost.size, np.int64), np.zeros(1, np.uint64)
    for b in range(done, words.size):
        w, n_fresh = words[b], 0
        for i in range(start[b], start[b + 1]):
            for s in range(z.shape[0]):
                k = z[s, tokens[i]]
                if tally[k] == 0:
                    fresh[n_fresh] = k
                    n_fresh += 1
                tally[k] += 1
        begin, size, missing = begin_of[w], size_of[w], n_fresh
        if size + n_fresh > room_of[w]:
            for i in range(begin, begin + size):
                missing -= tally[pair_topic[i]] > 0
        if size + missing > room_of[w]:
            room = size + missing + (size + missing) // 4 + 2
            if end + room > pair_topic.size:
                return b, end
            for i in range(size):
                pair_topic[end + i], pair_count[end + i] = pair_topic[begin + i], pair_count[begin + i]
            begin_of[w], room_of[w], begin = end, room, end
            end += room
        kept = begin
        open_stream(rng, key, w)
        for i in range(begin, begin + size):
            k = pair_topic[i]
            found = pair_count[i] + amount * tally[k]
            tally[k] = 0
            if found < least:
                rounded = least if uniform(rng) * least < found else 0.0
                lost[k] += found - rounded
                found = rounded
            pair_topic[kept], pair_count[kept] = k, found
            kept += found > 0.0
            holders[k] -= found == 0.0
        for i in range(n_fresh):
            k = fresh[i]
            if tally[k] > 0:
                pair_topic[kept], pair_count[kept] = k, amount * tally[k]
                tally[k] = 0
                holders[k] += 1
                kept += 1
        size_of[w] = kept - begin
    return words.size, end


@njit(cache=True, nogil=True)
def add_to_pairs(words, topics, counts, begin_of, size_of, pair_topic, pair_count):
    """Add to pairs of words and topics that are in the lists."""
    for p in range(words.size):
        for i in range(begin_of[words[p]], begin_of[words[p]] + size_of[words[p]]):
            if pair_topic[i] == topics[p]:
                pair_count[i] += counts[p]
                break


@njit(cache=True, nogil=True)
def copy_lists(begin_of, size_of, store, out):
    """Write the lists of the words one after another."""
    end = 0
    for w in range(size_of.size):
        for i in range(begin_of[w], begin_of[w] + size_of[w]):
            out[end] = store[i]
            end += 1


@njit(cache=True, nogil=True)
def drop_topics(gone, begin_of, size_of, pair_topic, pair_count):
    """Take the pairs of topics out of the lists of their words."""
    for w in range(size_of.size):
        kept = begin_of[w]
        for i in range(begin_of[w], begin_of[w] + size_of[w]):
            if not gone[pair_topic[i]]:
                pair_topic[kept], pair_count[kept] = pair_topic[i], pair_count[i]
                kept += 1
        size_of[w] = kept - begin_of[w]


@njit(cache=True, nogil=True)
def count_topics(z, out):
    """Count the tokens of each topic over the saved sweeps."""
    for s in range(z.shape[0]):
        for i in range(z.shape[1]):
            out[z[s, i]] += 1


@njit(cache=True, nogil=True, error_model="numpy")
def poisson_tails(S, limit):
    """Return T_j = sum of P(n > j), n ~ Poisson(S), over the expected counts with 0 < S <= limit.   docs/math (B10)"""
    tails = np.zeros(4 * limit)
    for i in range(S.size):
        if 0.0 < S[i] <= limit:
            p = math.exp(-S[i])  # P(n = j)
            more = 1.0 - p
            for j in range(tails.size):
                if more < 1e-12:
                    break
                tails[j] += more
                p *= S[i] / (j + 1)
                more -= p
    return tails
