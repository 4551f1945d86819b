"""The enumerated posteriors that the samplers are held to agree with values from another program."""

import math

import numpy as np
import pytest

from .enumeration import EXACT, Tiny, from_document_order, posterior, seatings


@pytest.mark.parametrize("name", "ABCDEF")
def test_enumeration_gives_the_stored_posteriors(name):
    tiny, exact = Tiny.named(name), EXACT["exact"][name]
    states, p, log_evidence = posterior(tiny)
    N = len(tiny.words)
    z = np.array([state.topics for state in states])
    tables = np.array([len(state.dish) for state in states])
    assert log_evidence == pytest.approx(exact["log_evidence"], abs=1e-9)
    assert np.bincount(z.max(axis=1), p, N) == pytest.approx(exact["P_num_topics"], abs=1e-10)
    assert np.bincount(tables - 1, p, N) == pytest.approx(exact["P_num_tables"], abs=1e-10)
    same = np.einsum("s,sij->ij", p, z[:, :, None] == z[:, None, :])
    assert same == pytest.approx(np.array(exact["P_same_topic"]), abs=1e-10)
    partitions: dict[str, float] = {}
    for row, share in zip(z, p, strict=True):
        partitions["".join(map(str, row))] = partitions.get("".join(map(str, row)), 0.0) + share
    assert exact.get("P_partition", partitions) == pytest.approx(partitions, abs=1e-10)


def test_enumeration_gives_the_stored_joint_probability():
    tiny = Tiny.named("E")
    stored = EXACT["crf"]
    seating = from_document_order(tiny.docs, stored["tables"], stored["dishes"])
    assert math.isclose(seatings(tiny)[seating], stored["log_joint"], abs_tol=1e-9)
