"""Records of runs, as if they had been made."""

import numpy as np
import pytest


@pytest.fixture
def make_record():
    """Return a function from a system and changes to the record of a run, as if it had been made."""

    def make(system="topics", **changes):
        about = {"processor": "none", "cores": 2, "memory_gib": 8, "system": "Linux x86_64"}
        score = changes.get("completion", -5.0)
        return {
            "kind": "run", "corpus": "planted", "fingerprint": "", "system": system, "settings": {}, "K": 10, "seed": 0,
            "repeat": 0, "limit": 1.0, "code": "abc", "title": "planted", "documents": 800, "words": 1000,
            "tokens": 64000.0, "seconds": 1.5, "cpu_seconds": 1.2, "passes": 30.0, "tokens_per_second": 1.28e6,
            "peak_mib": 300.0, "start_mib": 250.0, "K_at_the_end": 10, "topics": 9, "completion": score,
            "trajectory": [[0.2, 0.1, score - 0.3], [1.5, 1.2, score]], "left_to_right": -5.2,
            "left_to_right_documents": 50, "umass": -40.0, "umass_held_out": -50.0, "npmi": 0.1,
            "npmi_held_out": -0.1, "machine": about, "versions": {"python": "3.12", "gensim": None}, "commit": "abc",
            **changes,
        }  # fmt: skip

    return make


@pytest.fixture
def make_cost():
    """Return a function from changes to the record of a cost, as if it had been measured."""

    def make(system="topics", **changes):
        about = {"processor": "none", "cores": 2, "memory_gib": 8, "system": "Linux x86_64"}
        return {
            "kind": "cost", "system": system, "settings": {}, "K": 100, "words": 5000, "documents": 2000, "threads": 1,
            "seed": 0, "repeat": 0, "seconds_of_a_pass": 0.2, "cpu_seconds_of_a_pass": 0.1, "machine": about,
            "versions": {"python": "3.12"}, "commit": "abc", **changes,
        }  # fmt: skip

    return make


@pytest.fixture
def rng():
    return np.random.default_rng(0)
