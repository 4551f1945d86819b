"""One sweep over documents whose topics are learned again; NumPy twin in tests/path/reference.py."""

from __future__ import annotations

from stickbreak.numerics.compiling import njit


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def ratios(indptr, word, count, topics, theta, prior, ratio, new):
    """ratio[i] = c_i / sum_k theta_dk phi_kw,   new_dk = prior_k + theta_dk sum_i ratio[i] phi_kw.  math.md (J1)

    `topics` is phi by word, (W, K); `word` and `count` are of all documents, `theta` and `new` of those of `indptr`.
    """
    K = prior.size
    for d in range(indptr.size - 1):
        theta_d, new_d = theta[d], new[d]
        for k in range(K):
            new_d[k] = 0.0
        for i in range(indptr[d], indptr[d + 1]):
            row, total = topics[word[i]], 0.0
            for k in range(K):
                total += theta_d[k] * row[k]
            part = count[i] / total
            ratio[i] = part
            for k in range(K):
                new_d[k] += part * row[k]
        for k in range(K):
            new_d[k] = prior[k] + theta_d[k] * new_d[k]
