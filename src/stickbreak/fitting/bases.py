"""scikit-learn's base classes, with the types that they lack.

To a type checker an untyped base class may hold anything: a misspelt attribute of a model would then not be a mistake.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from stickbreak.numerics.arrays import Float

    class BaseEstimator:
        """`sklearn.base.BaseEstimator`."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def _validate_params(self) -> None: ...
        def __sklearn_tags__(self) -> Tags: ...
        def __getstate__(self) -> dict[str, Any]: ...
        def __setstate__(self, state: Any) -> None: ...

    class TransformerMixin:
        """`sklearn.base.TransformerMixin`."""

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Float: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...
        def __sklearn_tags__(self) -> Tags: ...

    class ClassNamePrefixFeaturesOutMixin:
        """`sklearn.base.ClassNamePrefixFeaturesOutMixin`."""

        def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]: ...

    class DensityMixin:
        """`sklearn.base.DensityMixin`."""

        def __sklearn_tags__(self) -> Tags: ...

else:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, DensityMixin, TransformerMixin

__all__ = ["BaseEstimator", "ClassNamePrefixFeaturesOutMixin", "DensityMixin", "TransformerMixin"]
