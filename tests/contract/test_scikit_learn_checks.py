"""scikit-learn's own contract (`check_estimator`), for every estimator."""


def test_estimator_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)
