"""The methods behind `fit --method`, with those of plug-ins."""

from stickbreak.methods import GROUPS, Method, methods

__all__ = ["DEFAULT", "GROUPS_OF_METHODS", "METHODS", "Method", "method_of"]

DEFAULT = "topics"
METHODS = methods()
GROUPS_OF_METHODS = {
    key: title for key, title in GROUPS.items() if any(method.group == key for method in METHODS.values())
}


def method_of(estimator: str) -> Method | None:
    """Return the method of an estimator; None where the command line has none."""
    return next((method for method in METHODS.values() if method.estimator == estimator), None)
