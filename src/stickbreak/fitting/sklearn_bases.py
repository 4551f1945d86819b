"""scikit-learn's base classes, and a decorator; the stub beside this file has their types.

To a type checker an untyped base class may hold anything: a misspelt attribute of a model would then not be a mistake.
"""

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, DensityMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if

__all__ = ["BaseEstimator", "ClassNamePrefixFeaturesOutMixin", "DensityMixin", "TransformerMixin", "available_if"]
