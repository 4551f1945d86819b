"""scikit-learn's base classes; the stub beside this file has the types that they lack.

To a type checker an untyped base class may hold anything: a misspelt attribute of a model would then not be a mistake.
"""

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, DensityMixin, TransformerMixin

__all__ = ["BaseEstimator", "ClassNamePrefixFeaturesOutMixin", "DensityMixin", "TransformerMixin"]
