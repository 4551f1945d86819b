"""Write gensim_hdp.json: one minibatch of gensim's HdpModel, from given topics.

    python baselines/tests/data/gensim_hdp.py baselines/tests/data/gensim_hdp.json

gensim 4.4.0; its K and T are our n_tables and n_topics. The step is not ordered and has the size one.
"""

import json
import sys

import numpy as np
from gensim.models import HdpModel

ETA, ALPHA, GAMMA, N_TABLES, N_TOPICS, N_WORDS = 0.3, 0.8, 1.4, 3, 5, 9


def step(counts, S, tables):
    """Return S, tables and score of a minibatch; an empty document is left out, as gensim leaves it out."""
    bags = [[(int(w), float(c)) for w, c in enumerate(row) if c] for row in counts]
    model = HdpModel(
        None, dict(enumerate(map(str, range(N_WORDS)))), T=N_TOPICS, K=N_TABLES, alpha=ALPHA, gamma=GAMMA, eta=ETA,
        var_converge=-1.0, kappa=1.0, tau=0.0,
    )  # fmt: skip
    model.m_D, model.m_lambda, model.m_lambda_sum = len(bags), S.T.copy(), S.sum(axis=0)
    after = tables.sum() - np.cumsum(tables)
    model.m_var_sticks = np.array([1.0 + tables[:-1], GAMMA + after[:-1]])
    score, _ = model.update_chunk(bags, opt_o=False)
    return {"S": model.m_lambda.T.tolist(), "tables": model.m_varphi_ss.tolist(), "score": float(score)}


if __name__ == "__main__":
    rng = np.random.default_rng(5)
    counts = rng.poisson(1.1, (8, N_WORDS))
    counts[3] = 0
    S, tables = rng.gamma(0.6, 4.0, (N_WORDS, N_TOPICS)), rng.gamma(2.0, 2.0, N_TOPICS)
    known = {"eta": ETA, "alpha": ALPHA, "gamma": GAMMA, "sweeps": 100, "counts": counts.tolist(), "S": S.tolist()}
    found = {"counts": step(counts, S, tables), "ones": step(np.minimum(counts, 1), S, tables)}
    with open(sys.argv[1], "w") as file:
        json.dump({"gensim": "4.4.0", **known, "tables": tables.tolist(), "found": found}, file)
