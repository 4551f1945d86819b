"""Lists of the leaves of each word: counting tokens into them, merging, mass sums, directories, single changes."""

from __future__ import annotations

from stickbreak.backoff_tree.kernels.trees import first_leaf, node_at
from stickbreak.numerics.compiling import njit


@njit(cache=True, nogil=True, error_model="numpy")
def sort_by_digit(word, z, shift, heads, sorted_word, sorted_z):
    """Sort tokens by the digit of their leaves `shift` bits from the right; equal ones stay in their order.

    `heads` (number of digits + 1,), zeros of a power of two and one, is written.
    """
    last = heads.size - 2
    for i in range(z.size):
        heads[((z[i] >> shift) & last) + 1] += 1
    for digit in range(last + 1):
        heads[digit + 1] += heads[digit]
    for i in range(z.size):
        digit = (z[i] >> shift) & last
        at = heads[digit]
        sorted_word[at], sorted_z[at] = word[i], z[i]
        heads[digit] = at + 1


@njit(cache=True, nogil=True, error_model="numpy")
def list_leaves(word, z, start, free, size, leaf, count):
    """Count tokens, by leaf in ascending order, by word: the lists one after another.               docs/math (T2)

    `start` (W + 1,) is where the tokens of each word would begin; `free` begins as these, and is written.
    """
    for i in range(word.size):
        leaf[free[word[i]]] = z[i]
        free[word[i]] += 1
    end = 0
    for w in range(size.size):
        begin = end
        for i in range(start[w], start[w + 1]):
            if end > begin and leaf[i] == leaf[end - 1]:
                count[end - 1] += 1
            else:
                leaf[end], count[end] = leaf[i], 1
                end += 1
        size[w] = end - begin


@njit(cache=True, nogil=True, error_model="numpy")
def count_different(first, last, start, leaf, seen, size):
    """Count the leaves of words first .. last - 1 in any of several lists; `seen` (L,) is False before and after."""
    for w in range(first, last):
        n = 0
        for part in range(start.shape[0]):
            for i in range(start[part, w], start[part, w + 1]):
                n += not seen[leaf[i]]
                seen[leaf[i]] = True
        for part in range(start.shape[0]):
            for i in range(start[part, w], start[part, w + 1]):
                seen[leaf[i]] = False
        size[w] = n


@njit(cache=True, nogil=True, error_model="numpy")
def merge_lists(first, last, start, leaf, count, sums, out_start, out_leaf, out_count):
    """Add up several lists of words first .. last - 1; `sums` (L,) is 0 before and after."""
    for w in range(first, last):
        begin, end = out_start[w], out_start[w]
        for part in range(start.shape[0]):
            for i in range(start[part, w], start[part, w + 1]):
                if sums[leaf[i]] == 0:
                    out_leaf[end] = leaf[i]
                    end += 1
                sums[leaf[i]] += count[i]
        out_leaf[begin:end].sort()
        for i in range(begin, end):
            out_count[i] = sums[out_leaf[i]]
            sums[out_leaf[i]] = 0


@njit(cache=True, nogil=True, error_model="numpy")
def add_up(start, leaf, count, n_tokens, n_words, of_word):
    """Add up the tokens and the words of each leaf, and the tokens of each word."""
    for w in range(of_word.size):
        for i in range(start[w], start[w + 1]):
            n_tokens[leaf[i]] += count[i]
            n_words[leaf[i]] += 1
            of_word[w] += count[i]


@njit(cache=True, nogil=True, error_model="numpy")
def make_room(start, leaf, count, out_start, out_leaf, out_count):
    """Copy lists to where each has room to grow."""
    for w in range(start.size - 1):
        shift = out_start[w] - start[w]
        for i in range(start[w], start[w + 1]):
            out_leaf[i + shift], out_count[i + shift] = leaf[i], count[i]


@njit(cache=True, nogil=True, error_model="numpy")
def entry_mass(n, z, scale, given):
    """Return v_z = (n - Delta) / P*(z) of n tokens of a word at leaf z.                             docs/math (T6)"""
    return (n - given[given.size - 1]) * scale[z]


@njit(cache=True, nogil=True, error_model="numpy")
def sum_masses(first, last, words, scale, given):
    """Sum the masses of entries along the lists of words first .. last - 1.                         docs/math (T2)"""
    start, size, leaf, count, mass = words.start, words.size, words.leaf, words.n, words.mass
    for w in range(first, last):
        begin, total = start[w], 0.0
        for j in range(size[w]):
            mass[begin + w + j] = total
            total += entry_mass(count[begin + j], leaf[begin + j], scale, given)
        mass[begin + w + size[w]] = total


@njit(cache=True, nogil=True, error_model="numpy")
def fill_directories(first, last, words, below, directory):
    """Write where the nodes of the levels of a word's directory begin in its list."""
    start, size, leaf, mass = words.start, words.size, words.leaf, words.mass
    d_start, d_level, offset, row = directory.start, directory.level, directory.offset, directory.row
    for w in range(first, last):
        begin = start[w]
        for level in range(d_level[w] + 1):
            at, j = d_start[w] + offset[level], 0
            for a in range(offset[level + 1] - offset[level]):
                bound = first_leaf(a, level, below)
                while j < size[w] and leaf[begin + j] < bound:
                    j += 1
                row[at + a, 0] = j
                row[at + a, 1] = mass[begin + w + j]


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def lower_bound(values, low, high, wanted):
    """Return the first place in values[low:high], ascending, that is not below `wanted`."""
    while high - low > 8:
        middle = (low + high) >> 1
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    while low < high and values[low] < wanted:
        low += 1
    return low


@njit(cache=True, nogil=True, error_model="numpy")
def change_leaf(w, z, step, scale, trees):
    """Put a token of word w at leaf z (step = 1) or take it away (-1), in the list, its sums and its directory."""
    words, directory, given, finder = trees.words, trees.directory, trees.of_words.given, trees.finder
    start, size, leaf, count, mass = words.start, words.size, words.leaf, words.n, words.mass
    d_start, d_level, offset, row = directory.start, directory.level, directory.offset, directory.row
    begin = start[w]
    j = lower_bound(leaf, begin, begin + size[w], z) - begin
    there = j < size[w] and leaf[begin + j] == z
    entries = 0
    if step > 0 and not there:
        for i in range(size[w], j, -1):
            leaf[begin + i], count[begin + i] = leaf[begin + i - 1], count[begin + i - 1]
        for i in range(size[w] + 1, j, -1):
            mass[begin + w + i] = mass[begin + w + i - 1]
        leaf[begin + j], count[begin + j] = z, 1
        entries = 1
    elif step < 0 and count[begin + j] == 1:
        for i in range(j, size[w] - 1):
            leaf[begin + i], count[begin + i] = leaf[begin + i + 1], count[begin + i + 1]
        for i in range(j + 1, size[w]):
            mass[begin + w + i] = mass[begin + w + i + 1]
        entries = -1
    else:
        count[begin + j] += step
    size[w] += entries
    change = step * (scale[z] if entries == 0 else entry_mass(1.0, z, scale, given))
    for i in range(j + 1, size[w] + 1):
        mass[begin + w + i] += change
    for level in range(d_level[w] + 1):
        at = d_start[w] + offset[level]
        for a in range(node_at(z, level, finder) + 1, offset[level + 1] - offset[level]):
            row[at + a, 0] += entries
            row[at + a, 1] += change
