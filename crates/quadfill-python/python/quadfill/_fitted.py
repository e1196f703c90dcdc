"""The state of a fitted model: what it tells, how rows find their way to it, how it is pickled."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from quadfill import _quadfill
from quadfill._data import Data, reading_options
from quadfill._errors import DataError, SettingError, UnsupportedError
from quadfill._frames import columns_of, is_path, kind_of
from quadfill._sklearn import EstimatorManners, not_fitted

if TYPE_CHECKING:
    from quadfill._model import Source, TensorModel

#: Kinds of tables that answers come back in.
FRAMES = ("pandas", "polars", "pyarrow")


class Fitted(EstimatorManners):
    """A fitted model, or one that will be."""

    _core: _quadfill.Model | None
    _source: Source | None
    _dtypes: dict[str, Any]
    _kind: str
    n_jobs: int | None
    missing: float | None
    on_duplicate: str
    verbose: bool | str
    n_features_in_: int
    feature_names_in_: Any
    roles_: dict[str, Any] | None

    def fit(self, X: Any, y: Any = None) -> TensorModel:
        """Fit the model; the estimator does."""
        raise NotImplementedError

    def _settings(self) -> dict[str, Any]:
        raise NotImplementedError

    def _adopt(self, core: _quadfill.Model, source: Source | None) -> None:
        """Take over a fitted model and everything that is told about it."""
        summary = json.loads(core.summary())
        self._core = core
        self._source = source
        self._kind = "numpy" if source is None else source.kind
        binned = core.binned
        dtypes = {} if source is None else source.dtypes
        self._dtypes = {
            mode: dtypes[mode]
            for mode, is_binned in zip(core.modes, binned, strict=True)
            if mode in dtypes and not is_binned
        }
        self.modes_ = core.modes
        self.kind_ = core.kind
        self.rank_ = core.rank
        self.penalty_ = summary["penalty"]
        self.status_ = summary["status"]
        self.certificate_ = summary.get("certificate")
        self.race_ = summary.get("race")
        self.chosen_ = None if self.race_ is None else self.race_["heats"][self.race_["chosen"]]
        self.held_out_ = (
            None if self.race_ is None else {**self.race_["held_out"], "baselines": self.race_["baselines"]}
        )
        self.summary_ = summary
        if not hasattr(self, "n_features_in_") or source is None:
            self.n_features_in_ = len(self.modes_)

    def _fitted(self) -> _quadfill.Model:
        core: _quadfill.Model | None = getattr(self, "_core", None)
        if core is None:
            raise not_fitted(self)
        return core

    def __getstate__(self) -> dict[str, Any]:
        """A model is pickled as the bytes of its file, without the data of its fit."""
        state = self.__dict__.copy()
        if state.get("_core") is not None:
            state["_core"] = bytes(state["_core"].to_bytes())
            state["_source"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if state.get("_core") is not None:
            self._core = _quadfill.Model.from_bytes(state["_core"])

    @property
    def labels_(self) -> dict[str, Any]:
        """The labels of each mode, as arrays."""
        core = self._fitted()
        return {mode: np.asarray(core.labels(at)) for at, mode in enumerate(core.modes)}

    @property
    def path_(self) -> Any:
        """The path of penalties, one record per step: penalty, train_rmse, validation_rmse."""
        self._fitted()
        names = ("penalty", "train_rmse", "validation_rmse")
        path = np.zeros(len(self.summary_["path"]), dtype=[(name, np.float64) for name in names])
        for at, point in enumerate(self.summary_["path"]):
            for name in names:
                number = point.get(name)
                path[name][at] = np.nan if number is None else number
        return path

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        core = getattr(self, "_core", None)
        return f"<pre>{escape(repr(self))}</pre>" if core is None else core.card()

    def _rows(self, X: Any, y: Any = None, title: str = "X", **options: Any) -> tuple[Any, dict[str, Any]]:
        """Rows for the compiled part, and how they are read."""
        reading = reading_options(on_duplicate=self.on_duplicate, missing=self.missing, **options)
        if isinstance(X, Data):
            if y is not None:
                raise SettingError("Data have values: leave `y` out")
            return X._core, reading
        if is_path(X):
            return X, reading
        if isinstance(X, np.ndarray) and X.ndim == len(self.modes_) and X.ndim > 2:
            X = _cells_of(X, self.missing)
        elif isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] != self.n_features_in_ and title == "X":
            raise DataError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                "as input"
            )
        builder, found = columns_of(X, y=y, title=title)
        return builder.core, {**reading, **found}

    def _answer_kind(self, X: Any) -> str:
        kind = kind_of(X)
        if kind in FRAMES:
            return kind
        return self._kind if self._kind in FRAMES and not isinstance(X, (np.ndarray, tuple)) else "numpy"

    def _data_of_fit(self, data: Any, what: str) -> _quadfill.Data:
        """The data of the fit: as given, or those that the fit has seen."""
        from quadfill._model import Source

        source = self._source
        if data is not None:
            if isinstance(data, Data):
                return data._core
            reading = {} if source is None else source.reading
            names = ("modes", "value", "weight", "bins")
            source = Source(data, None, **{name: reading.get(name) for name in names})
        if source is None:
            raise UnsupportedError(f"{what} needs the data that the model was fitted to: give them as `data`")
        return source.observe(cast("TensorModel", self))


def _cells_of(cube: Any, missing: float | None) -> dict[str, Any]:
    """The cells of a dense array as rows."""
    present = ~np.isnan(cube.astype(np.float64))
    if missing is not None:
        present &= cube != missing
    where = np.nonzero(present)
    columns: dict[str, Any] = {f"mode{mode + 1}": at for mode, at in enumerate(where)}
    return {**columns, "value": cube[where]}
