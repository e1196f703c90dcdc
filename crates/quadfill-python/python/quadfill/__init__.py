"""Fill in the missing entries of sparse multi-way data.

User x movie x week, head x relation x tail, row x column x wavelength: a :class:`TensorModel` learns a short
vector for every label and predicts any cell. It chooses the model by itself, tells its error honestly, and
bounds how far a fit is from the best possible.

>>> import quadfill
>>> train, test = quadfill.synth((20, 20, 20), rank=2, observations=400, test_observations=100, seed=1)
>>> model = quadfill.TensorModel().fit(train)
>>> model.rank_, model.status_
(2, 'exact')
>>> bool(model.evaluate(test)["rmse"] < 1e-9)
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quadfill._data import Data, read, synth
from quadfill._errors import (
    ColumnWarning,
    DataError,
    FileError,
    FitInterrupted,
    LabelError,
    MissingFileError,
    ModelFileError,
    QuadfillError,
    SettingError,
    UnsupportedError,
)
from quadfill._model import TensorModel, load
from quadfill._progress import Progress
from quadfill._quadfill import __version__

if TYPE_CHECKING:
    from quadfill import plots

__all__ = [
    "ColumnWarning",
    "Data",
    "DataError",
    "FileError",
    "FitInterrupted",
    "LabelError",
    "MissingFileError",
    "ModelFileError",
    "Progress",
    "QuadfillError",
    "SettingError",
    "TensorModel",
    "UnsupportedError",
    "__version__",
    "load",
    "plots",
    "read",
    "synth",
]


def __getattr__(name: str) -> object:
    # Charts are looked for only by those who want them.
    if name == "plots":
        import importlib

        return importlib.import_module("quadfill.plots")
    raise AttributeError(f"module 'quadfill' has no attribute {name!r}")
