"""The manners of scikit-learn, which need not be installed."""

from __future__ import annotations

import inspect
import sys
import warnings
from typing import Any

import numpy as np

from quadfill._errors import SettingError


class _NotFitted(ValueError, AttributeError):
    """A model that was not fitted yet."""


def not_fitted(model: object) -> Exception:
    """The exception for models that were not fitted: scikit-learn's where it is installed."""
    message = (
        f"This {type(model).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before using "
        "this estimator."
    )
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        return _NotFitted(message)
    error: Exception = NotFittedError(message)
    return error


def warn_of_column_vector() -> None:
    """Warn as scikit-learn does, where it is in use."""
    exceptions = sys.modules.get("sklearn.exceptions")
    category = UserWarning if exceptions is None else exceptions.DataConversionWarning
    message = "A column-vector y was passed when a 1d array was expected: its only column is taken"
    warnings.warn(message, category, stacklevel=5)


def seed_of(random_state: Any) -> int:
    """The seed that `random_state` stands for."""
    if random_state is None:
        return int(np.random.randint(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    try:
        seed = int(random_state)
    except (TypeError, ValueError):
        raise SettingError(
            f"`random_state` is {random_state!r}: it must be a whole number, a RandomState or None"
        ) from None
    if not 0 <= seed < 2**64:
        raise SettingError(f"`random_state` is {seed}: it must be from 0 to 2**64 - 1")
    return seed


class EstimatorManners:
    """What scikit-learn asks of an estimator."""

    _estimator_type = "regressor"

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return sorted(name for name in inspect.signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the estimator.

        >>> import quadfill
        >>> quadfill.TensorModel(rank=3).get_params()["rank"]
        3
        """
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> Any:
        """Change parameters and return the estimator.

        >>> import quadfill
        >>> quadfill.TensorModel().set_params(rank=3).rank
        3
        """
        known = self._parameter_names()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {known!r}.")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        given = [
            f"{name}={getattr(self, name)!r}"
            for name, parameter in defaults.items()
            if not _same(getattr(self, name, parameter.default), parameter.default)
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "_core", None) is not None

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, RegressorTags, Tags, TargetTags

        return Tags(
            estimator_type="regressor",
            target_tags=TargetTags(required=False),
            regressor_tags=RegressorTags(poor_score=True),
            input_tags=InputTags(sparse=False, string=True, categorical=True),
        )


def _same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    try:
        return bool(type(value) is type(default) and value == default)
    except ValueError:
        return False
