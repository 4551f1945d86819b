"""Lists of the leaves of each word: counting tokens into them, mass sums, directories, changes one by one."""

from __future__ import annotations

from stickbreak.numerics.compiling import njit


@njit(cache=True, nogil=True, error_model="numpy")
def list_leaves(first, last, by_word, start, z, size, leaf, count):
    """Count the tokens of words first .. last - 1 by leaf.                                          math.md (T2)"""
    for w in range(first, last):
        begin, end = start[w], start[w + 1]
        for i in range(begin, end):
            leaf[i] = z[by_word[i]]
        leaf[begin:end].sort()
        j = begin - 1
        for i in range(begin, end):
            if i > begin and leaf[i] == leaf[j]:
                count[j] += 1
            else:
                j += 1
                leaf[j], count[j] = leaf[i], 1
        size[w] = j + 1 - begin


@njit(cache=True, nogil=True, error_model="numpy")
def words_of_leaves(start, size, leaf, n_words):
    """Add up, for each leaf, the words that have tokens there."""
    for w in range(size.size):
        for i in range(start[w], start[w] + size[w]):
            n_words[leaf[i]] += 1


@njit(cache=True, nogil=True, error_model="numpy")
def sum_masses(first, last, start, size, leaf, count, scale, discount, mass):
    """Sum v_z = (n_z - Delta) / P*(z) along the lists of words first .. last - 1.                   math.md (T6)"""
    for w in range(first, last):
        begin, total = start[w], 0.0
        for j in range(size[w]):
            mass[begin + w + j] = total
            total += (count[begin + j] - discount) * scale[leaf[begin + j]]
        mass[begin + w + size[w]] = total


@njit(cache=True, nogil=True, error_model="numpy")
def fill_directories(first, last, start, size, leaf, mass, below, d_start, d_level, offset, row):
    """Write where the nodes of the levels of a word's directory begin in its list."""
    for w in range(first, last):
        begin = start[w]
        for level in range(d_level[w] + 1):
            at, j = d_start[w] + offset[level], 0
            for a in range(below[0] // below[level] + 1):
                bound = a * below[level]
                while j < size[w] and leaf[begin + j] < bound:
                    j += 1
                row[at + a, 0] = j
                row[at + a, 1] = mass[begin + w + j]


@njit(cache=True, nogil=True, error_model="numpy")
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
def change_leaf(w, z, step, scale, discount, start, size, leaf, count, mass, below, d_start, d_level, offset, row):
    """Put a token of word w at leaf z (step = 1) or take it away (-1), in the list, its sums and its directory."""
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
    change = step * (scale[z] if entries == 0 else (1.0 - discount) * scale[z])
    for i in range(j + 1, size[w] + 1):
        mass[begin + w + i] += change
    for level in range(d_level[w] + 1):
        at = d_start[w] + offset[level]
        for a in range(z // below[level] + 1, below[0] // below[level] + 1):
            row[at + a, 0] += entries
            row[at + a, 1] += change
