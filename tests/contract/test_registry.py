"""The contract is about every method that is installed, of stickbreak and of plug-ins."""

import stickbreak
from stickbreak.methods import OWN, methods


def test_every_method_of_words_is_under_contract(request):
    plugin = request.config.pluginmanager
    entries = next(
        (*module.ESTIMATORS, *module.SPARSE)
        for module in plugin.get_plugins()
        if str(getattr(module, "__file__", "")).endswith("contract/conftest.py")
    )
    of_words = [method.estimator for method in methods().values() if method.data == "documents"]
    assert sorted(entry.name for entry in entries) == sorted(of_words)


def test_own_estimators_are_in_all():
    assert {method.estimator for method in OWN.values()} <= set(stickbreak.__all__)
