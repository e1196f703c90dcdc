"""Labelled observations, from files, tables or a generator."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from quadfill import _quadfill
from quadfill._errors import ColumnWarning, SettingError
from quadfill._frames import describe_type, is_path

#: The default number of test cells.
_TEST_OBSERVATIONS = 20_000


def reading_options(
    *,
    modes: Sequence[object] | None = None,
    value: object = None,
    weight: object = None,
    bins: Mapping[Any, Any] | None = None,
    on_duplicate: str = "error",
    missing: float | None = None,
    **others: Any,
) -> dict[str, Any]:
    """Collect how a table is read, in the words of the compiled part."""
    if isinstance(modes, str):
        raise TypeError("`modes` is a text: give a list of columns")
    if bins is not None and not isinstance(bins, Mapping):
        raise TypeError(f"`bins` is of type {describe_type(bins)}: give a dict such as {{'time': '20w'}}")
    options = {
        "modes": None if modes is None else [str(mode) for mode in modes],
        "value": None if value is None else str(value),
        "weight": None if weight is None else str(weight),
        "bins": [f"{column}={'none' if size is None else size}" for column, size in (bins or {}).items()],
        "on_duplicate": on_duplicate,
        "missing": missing,
    }
    return {name: option for name, option in {**options, **others}.items() if option is not None}


class Data:
    """Labelled observations that a model can be fitted to; :func:`read` makes them.

    >>> import quadfill, tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "films.csv"
    >>> _ = path.write_text("user,film,stars\\nann,Heat,4\\nbob,Heat,5\\nann,Up,1\\n")
    >>> data = quadfill.read(path)
    >>> len(data), data.modes, data.sizes, data.value
    (3, ['user', 'film'], [2, 2], 'stars')
    >>> data.columns()["film"].tolist()
    ['Heat', 'Heat', 'Up']
    >>> folder.cleanup()
    """

    def __init__(self, core: _quadfill.Data) -> None:
        self._core = core

    def __len__(self) -> int:
        return len(self._core)

    def __repr__(self) -> str:
        sizes = " x ".join(f"{size:,} {mode}" for mode, size in zip(self.modes, self.sizes, strict=True))
        return f"<quadfill.Data: {len(self):,} observations of {sizes}, value {self.value}>"

    @property
    def modes(self) -> list[str]:
        """The names of the modes."""
        return self._core.modes

    @property
    def sizes(self) -> list[int]:
        """The number of labels of each mode."""
        return self._core.sizes

    @property
    def value(self) -> str:
        """The name of the column of values."""
        return self._core.value

    @property
    def roles(self) -> dict[str, Any] | None:
        """What each column was taken for; None for arrays."""
        roles = self._core.roles
        return None if roles is None else json.loads(roles)

    @property
    def summary(self) -> dict[str, Any]:
        """The data in numbers: observations, cells, range of the values, observations of each label."""
        summary: dict[str, Any] = json.loads(self._core.summary())
        return summary

    def labels(self, mode: str) -> Any:
        """Return the labels of a mode as an array."""
        return np.asarray(self._core.labels(self.modes.index(mode)))

    def columns(self) -> dict[str, Any]:
        """Return one array per column: the labels of each mode, the values, and the weights if there are any."""
        columns = {mode: self.labels(mode)[self._core.indices(at)] for at, mode in enumerate(self.modes)}
        columns[self.value] = self._core.values()
        weights = self._core.weights()
        return columns if weights is None else {**columns, "weight": weights}


def warn_about(core: _quadfill.Data) -> None:
    """Warn of columns that are probably not what they were taken for."""
    for warning in core.warnings:
        warnings.warn(warning, ColumnWarning, stacklevel=4)


def read(
    path: Any,
    *,
    modes: Sequence[object] | None = None,
    value: object = None,
    weight: object = None,
    bins: Mapping[Any, Any] | None = None,
    on_duplicate: str = "error",
    missing: float | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    format: str | None = None,
    mask: Any = None,
    variable: str | None = None,
    n_jobs: int | None = None,
) -> Data:
    """Read a file: delimited text (also `.gz`, `.zst`), Parquet, `.tns`, `.npy`, `.npz` or `.mat`.

    The name of a folder reads all of its files, a pattern such as `part-*.parquet` those that match it.

    What is left out is detected from the file: the column of values by its name, times by theirs and by what they
    hold. `modes` and `value` name columns, or count them from 1; `bins` cuts times, such as `{"time": "20w"}`, and
    None keeps them as labels. `missing` is the value of missing cells of a dense array, `mask` the path of a mask.

    >>> import quadfill, tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "ratings.dat"
    >>> _ = path.write_text("1::122::5.0\\n1::185::4.5\\n2::122::3\\n")
    >>> quadfill.read(path)
    <quadfill.Data: 3 observations of 2 mode1 x 2 mode2, value value>
    >>> folder.cleanup()
    """
    if not is_path(path):
        raise TypeError(f"`path` is a {describe_type(path)}: give the path of a file")
    reading = reading_options(
        modes=modes,
        value=value,
        weight=weight,
        bins=bins,
        on_duplicate=on_duplicate,
        missing=missing,
        delimiter=delimiter,
        header=header,
        format=format,
        mask=mask,
        variable=variable,
    )
    core = _quadfill.Data.from_file(path, reading, n_jobs)
    warn_about(core)
    return Data(core)


def synth(
    dims: Sequence[int],
    *,
    observations: int,
    rank: int = 10,
    model: str = "pairwise",
    kernel: Any = None,
    noise: float = 0.0,
    test_observations: int | None = None,
    min_per_label: int | None = None,
    seed: int = 0,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Draw cells of a tensor with known factors: data to fit, and other cells, without noise, to test on.

    The factors have standard normal entries, the cells are drawn uniformly, and labels count from 1. `noise` is
    relative to the root mean square of the values. Both answers are dicts of arrays: a fit takes them as they are,
    and so do `pandas.DataFrame` and `polars.DataFrame`.

    >>> import quadfill
    >>> train, test = quadfill.synth((30, 20, 10), rank=2, observations=500, test_observations=50, seed=1)
    >>> list(train), len(train["value"]), len(test["value"])
    (['mode1', 'mode2', 'mode3', 'value'], 500, 50)
    """
    sizes = [int(size) for size in dims]
    left = int(np.prod([float(size) for size in sizes])) - int(observations)
    if observations < 1 or left < 0:
        raise SettingError(f"`observations` is {observations}: there are {left + int(observations)} cells")
    if noise < 0 or not np.isfinite(noise):
        raise SettingError(f"`noise` is {noise}: it must be a number not below 0")
    if test_observations is None:
        test_observations = min(left, _TEST_OBSERVATIONS)
    if test_observations > left:
        raise SettingError(f"`test_observations` is {test_observations}: only {left} cells are left")
    which = {"model": model, "kernel": None if kernel is None else _table(kernel)}
    train, test = _quadfill.synth(
        sizes, rank, which, observations, test_observations or None, noise, min_per_label, seed
    )
    empty = ([np.empty(0, np.uint32) for _ in sizes], np.empty(0))
    return _columns(train), _columns(test if test is not None else empty)


def _table(kernel: Any) -> Any:
    return kernel if isinstance(kernel, str) else np.asarray(kernel, dtype=np.float64).tolist()


def _columns(cells: tuple[Sequence[Any], Any]) -> dict[str, Any]:
    labels, values = cells
    columns = {f"mode{mode + 1}": column.astype(np.int64) + 1 for mode, column in enumerate(labels)}
    return {**columns, "value": values}
