"""The contract is about every estimator that stickbreak shows."""

import stickbreak


def test_every_public_estimator_is_under_contract(request):
    plugin = request.config.pluginmanager
    entries = next(
        (*module.ESTIMATORS, *module.SPARSE)
        for module in plugin.get_plugins()
        if str(getattr(module, "__file__", "")).endswith("contract/conftest.py")
    )
    assert sorted(entry.name for entry in entries) == sorted(stickbreak.ESTIMATORS)


def test_public_estimators_are_in_all():
    assert set(stickbreak.ESTIMATORS) <= set(stickbreak.__all__)
