"""Tables of other packages: how their columns come in, and how answers go back in the same kind.

Nothing here imports pandas, polars, pyarrow, xarray or scipy unless the caller already has one of their objects.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from quadfill._errors import DataError
from quadfill._quadfill import Columns
from quadfill._sklearn import warn_of_column_vector

#: How many seconds one unit of `datetime64` is.
_SECONDS = {"D": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def kind_of(table: object) -> str:
    """Which kind of table something is: the package that it belongs to, or `numpy` for anything else."""
    package = type(table).__module__.partition(".")[0]
    name = type(table).__name__
    if package == "pandas" and name in ("DataFrame", "Series"):
        return "pandas"
    if package == "polars" and name in ("DataFrame", "Series", "LazyFrame"):
        return "polars"
    if package == "pyarrow":
        return "pyarrow"
    if package == "xarray" and name in ("DataArray", "Dataset"):
        return "xarray"
    if package == "scipy" and hasattr(table, "tocoo"):
        return "scipy"
    if hasattr(table, "__arrow_c_stream__"):
        return "arrow"
    return "numpy"


def is_path(table: object) -> bool:
    """Whether something is the path of a file."""
    return isinstance(table, (str, os.PathLike))


def describe_type(thing: object) -> str:
    """Name the type of something in a message."""
    return f"{type(thing).__module__}.{type(thing).__qualname__}".removeprefix("builtins.")


def first_true(mask: Any) -> int | None:
    """Find the position of the first true entry."""
    return int(np.argmax(mask)) if bool(mask.any()) else None


class ColumnBuilder:
    """Gathers columns for the compiled part, which reads them where they are."""

    def __init__(self, title: str, named: bool) -> None:
        self.title = title
        self.core = Columns(title, named)
        self.dtypes: dict[str, Any] = {}

    def add_array(self, name: str, array: Any) -> None:
        """Add one column that is, or can be made, an array of numpy."""
        try:
            array = np.asarray(array)
        except ValueError as error:
            raise DataError(f"{self.title}: column `{name}` is not one column of fields: {error}") from None
        if array.ndim != 1:
            raise DataError(f"{self.title}: column `{name}` has {array.ndim} dimensions: give one field for each row")
        kind = array.dtype.kind
        if kind == "b":
            self.core.add_numpy(name, np.ascontiguousarray(array).view(np.uint8))
        elif kind in "iuf" and array.dtype.itemsize <= 8:
            if array.dtype == np.float16:
                array = array.astype(np.float32)
            self.core.add_numpy(name, np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")))
        elif kind == "M":
            self._add_times(name, array)
        elif kind in "UT":
            self.core.add_texts(name, array.tolist())
        elif kind == "O":
            self._add_objects(name, array)
        elif kind == "c":
            raise DataError(f"{self.title}: column `{name}` holds complex numbers. Complex data not supported")
        else:
            raise DataError(f"{self.title}: column `{name}` is of type {array.dtype}: give numbers, texts or times")

    def _add_times(self, name: str, array: Any) -> None:
        unit = np.datetime_data(array.dtype)[0]
        if unit not in _SECONDS or np.datetime_data(array.dtype)[1] != 1:
            array, unit = array.astype("datetime64[s]"), "s"
        missing = first_true(np.isnat(array))
        numbers = np.ascontiguousarray(array).view(np.int64)
        self.core.add_numpy(name, numbers, _SECONDS[unit], missing)

    def _add_objects(self, name: str, array: Any) -> None:
        fields = array.tolist()
        # `None`, and whatever else differs from itself: NaN, NaT.
        missing = [row for row, field in enumerate(fields) if field is None or field != field][:1]
        first_null = missing[0] if missing else None
        present = [field for field in fields if field is not None and field == field]
        if all(isinstance(field, (bool, np.bool_)) for field in present):
            truths = [bool(field) for field in fields]
            self.core.add_numpy(name, np.array(truths).view(np.uint8), None, first_null)
            return
        if all(isinstance(field, (int, float, np.number)) for field in present):
            numbers = [field if field is not None and field == field else 0 for field in fields]
            try:
                self.core.add_numpy(name, np.array(numbers), None, first_null)
                return
            except (OverflowError, TypeError):
                pass
        elif hasattr(present[0], "isoformat"):
            try:
                # Missing ones become NaT.
                self._add_times(name, np.array([None if f is None or f != f else f for f in fields], "datetime64[us]"))
                return
            except (TypeError, ValueError):
                pass
        for row, field in enumerate(fields):
            if not isinstance(field, (str, int, float, np.number)) and row != first_null:
                if field is None or field != field:
                    continue
                raise DataError(
                    f"{self.title}, row {row + 1}: column `{name}` holds an object of type "
                    f"{describe_type(field)}: labels and values are numbers, texts or times"
                    " (argument must be a string or a number)"
                )
        self.core.add_texts(name, ["" if field is None else str(field) for field in fields], first_null)


def dtypes_of(table: Any) -> dict[str, Any]:
    """The types of the columns of a frame, by name."""
    kind = kind_of(table)
    if kind == "pandas" and hasattr(table, "columns"):
        return {str(name): dtype for name, dtype in table.dtypes.items()}
    if kind == "polars" and hasattr(table, "schema"):
        return dict(table.schema)
    if kind == "pyarrow" and hasattr(table, "schema"):
        return {field.name: field.type for field in table.schema}
    return {}


def _names(title: str, names: Iterable[object]) -> list[str]:
    texts = [str(name) for name in names]
    for at, name in enumerate(texts):
        if name in texts[:at]:
            raise DataError(f"{title}: there are two columns `{name}`: rename one of them")
    return texts


def _add_pandas(builder: ColumnBuilder, frame: Any) -> None:
    names = _names(builder.title, frame.columns)
    for at, name in enumerate(names):
        column = frame.iloc[:, at]
        dtype = column.dtype
        if isinstance(dtype, np.dtype):
            builder.add_array(name, column.to_numpy())
            continue
        if getattr(dtype, "tz", None) is not None:
            builder.add_array(name, column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
            continue
        try:
            import pyarrow as pa
        except ImportError:
            builder.add_array(name, column.to_numpy(dtype=object))
            continue
        builder.core.add_arrow(pa.table({name: pa.array(column, from_pandas=True)}))


def columns_of(
    table: Any, *, title: str = "X", y: Any = None, weight: Any = None
) -> tuple[ColumnBuilder, dict[str, Any]]:
    """Turn a table into columns.

    Returns them and what they say about the reading: the names of the columns of `y` and `weight` where these are
    arrays.
    """
    kind = kind_of(table)
    reading: dict[str, Any] = {}
    if kind == "polars" and hasattr(table, "collect"):
        table = table.collect()
    if kind == "xarray":
        table, kind = _cells_of_xarray(title, table), "mapping"
    elif kind == "scipy":
        if y is not None:
            raise TypeError(f"{title} is a sparse array, which holds the values itself: leave `y` out")
        table, kind = _cells_of_sparse(table), "mapping"
    elif isinstance(table, Mapping):
        kind = "mapping"
    if kind in ("pandas", "polars", "pyarrow", "arrow", "mapping"):
        builder = ColumnBuilder(title, True)
        if kind == "pandas":
            _add_pandas(builder, table if hasattr(table, "columns") else table.to_frame())
        elif kind == "mapping":
            for name in _names(title, table):
                builder.add_array(name, table[name])
        else:
            if kind == "polars" and not hasattr(table, "columns"):
                table = table.to_frame()
            try:
                builder.core.add_arrow(table)
            except TypeError as error:
                raise TypeError(f"{title} is a {describe_type(table)}, which is not a table: {error}") from None
        names = _names(title, builder.core.names)
        builder.dtypes = dtypes_of(table)
    else:
        builder = ColumnBuilder(title, False)
        names = []
        for at, column in enumerate(_plain_columns(title, table)):
            builder.add_array(str(at + 1), column)
            names.append(str(at + 1))
    for role, array in (("value", y), ("weight", weight)):
        if array is None:
            continue
        name = str(len(names) + 1) if kind == "numpy" else _name_of(array, "y" if role == "value" else "weight")
        if name in names:
            raise DataError(
                f"`{'y' if role == 'value' else role}` is called `{name}`, and so is a column of {title}: leave one "
                "of them out"
            )
        builder.add_array(name, _numbers(array, "y" if role == "value" else role))
        names.append(name)
        reading[role] = name
    return builder, reading


def _name_of(array: Any, default: str) -> str:
    if getattr(array, "ndim", 1) == 2 and hasattr(array, "columns") and len(array.columns) == 1:
        return str(array.columns[0])
    name = getattr(array, "name", None)
    return default if name is None or name == "" else str(name)


def _numbers(array: Any, what: str) -> Any:
    """Turn `y` or weights into an array of numbers."""
    if kind_of(array) == "scipy":
        raise TypeError(f"`{what}` is sparse: give a plain array, one number for each row")
    if hasattr(array, "to_numpy"):
        array = array.to_numpy()
    numbers = np.asarray(array)
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
        warn_of_column_vector()
    if numbers.ndim != 1:
        raise DataError(
            f"`{what}` has {numbers.ndim} dimensions: y should be a 1d array, one number for each row, got an array "
            f"of shape {numbers.shape}"
        )
    if numbers.dtype.kind == "c":
        raise DataError(f"`{what}` holds complex numbers. Complex data not supported")
    if numbers.dtype.kind not in "biuf":
        try:
            numbers = numbers.astype(np.float64)
        except (TypeError, ValueError):
            raise DataError(f"`{what}` is of type {numbers.dtype}: give one number for each row") from None
    return numbers


def _plain_columns(title: str, table: Any) -> Sequence[Any]:
    """Take apart a tuple of columns, or a two-dimensional array of labels."""
    if table is None:
        raise TypeError(f"{title} is None: give a table, arrays or the path of a file")
    if isinstance(table, tuple):
        return table
    if isinstance(table, (bytes, int, float)) or hasattr(table, "read"):
        raise TypeError(f"{title} is a {describe_type(table)}: give a table, arrays or the path of a file")
    try:
        array = np.asarray(table)
    except ValueError as error:
        raise DataError(f"{title}: the rows differ in length: {error}") from None
    if array.ndim == 0:
        raise TypeError(f"{title} is a {describe_type(table)}: give a table, arrays or the path of a file")
    if array.ndim == 1:
        raise DataError(
            f"{title} is an array with 1 dimension: give a column for each mode. Expected 2D array, got 1D array "
            "instead. Reshape your data: for several arrays, write a tuple of them"
        )
    if array.ndim != 2:
        raise DataError(
            f"{title} is an array with {array.ndim} dimensions: rows of labels are an array with 2 dimensions"
        )
    if array.dtype.kind == "c":
        raise DataError(f"{title} holds complex numbers. Complex data not supported")
    if array.shape[1] == 1:
        raise DataError(f"{title} has 1 feature(s): give a column for each of 2 to 8 modes")
    if array.shape[1] == 0:
        raise DataError(f"{title} has 0 columns: 0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
    return [array[:, column] for column in range(array.shape[1])]


def _cells_of_sparse(matrix: Any) -> dict[str, Any]:
    """The stored cells of a sparse array."""
    cells = matrix.tocoo()
    coords = getattr(cells, "coords", None) or (cells.row, cells.col)
    names = ["row", "column"] if len(coords) == 2 else [f"mode{mode + 1}" for mode in range(len(coords))]
    return {**dict(zip(names, coords, strict=True)), "value": cells.data}


def _cells_of_xarray(title: str, array: Any) -> dict[str, Any]:
    """The cells of an xarray that are not NaN, by the coordinates of its dimensions."""
    if hasattr(array, "data_vars"):
        raise TypeError(
            f"{title} is a Dataset: give one of its arrays, such as {title}[{next(iter(array.data_vars))!r}]"
        )
    values = np.asarray(array.values, dtype=np.float64)
    where = np.nonzero(~np.isnan(values))
    columns: dict[str, Any] = {}
    for dim, at in zip(array.dims, where, strict=True):
        coordinate = array.coords[dim].values if dim in array.coords else None
        columns[str(dim)] = at if coordinate is None else coordinate[at]
    columns[str(array.name) if array.name is not None else "value"] = values[where]
    return columns


def as_kind(kind: str, columns: dict[str, Any], dtypes: Mapping[str, Any], index: Any = None) -> Any:
    """Make a table of some kind. Columns whose types are known get these types back."""
    columns = {name: _times_as_numbers(column, dtypes.get(name)) for name, column in columns.items()}
    if kind == "pandas":
        import pandas as pd

        frame = pd.DataFrame(columns, index=index)
        for name in columns:
            if name in dtypes:
                frame[name] = _as_pandas(frame[name], dtypes[name])
        return frame
    if kind == "polars":
        import polars as pl

        return pl.DataFrame(
            [
                pl.Series(name, column).cast(dtypes[name], strict=False) if name in dtypes else pl.Series(name, column)
                for name, column in columns.items()
            ]
        )
    if kind == "pyarrow":
        import pyarrow as pa

        return pa.table({name: _as_arrow(pa, column, dtypes.get(name)) for name, column in columns.items()})
    arrays = {name: np.asarray(column) for name, column in columns.items()}
    length = len(next(iter(arrays.values())))
    table = np.empty(length, dtype=[(name, array.dtype) for name, array in arrays.items()])
    for name, array in arrays.items():
        table[name] = array
    return table


def _times_as_numbers(column: Any, dtype: Any) -> Any:
    """Times in nanoseconds have too many digits for labels that are numbers, and were texts."""
    is_time = dtype is not None and any(word in str(dtype).lower() for word in ("date", "timestamp"))
    return column.astype(np.int64) if is_time and np.asarray(column).dtype.kind == "U" else column


def _as_pandas(column: Any, dtype: Any) -> Any:
    if getattr(dtype, "tz", None) is not None:
        unit = getattr(dtype, "unit", "ns")
        return column.astype(f"datetime64[{unit}]").dt.tz_localize("UTC").dt.tz_convert(dtype.tz)
    if type(dtype).__name__ == "CategoricalDtype" and column.dtype == object:
        # Categories that are not texts are found again by how they print.
        by_text = {str(category): category for category in dtype.categories}
        column = column.map(lambda label: by_text.get(label, label))
    return column.astype(dtype)


def _as_arrow(pa: Any, column: Any, dtype: Any) -> Any:
    array = pa.array(column)
    if dtype is None:
        return array
    if pa.types.is_date32(dtype):
        array = array.cast(pa.int32())
    return array.dictionary_encode().cast(dtype) if pa.types.is_dictionary(dtype) else array.cast(dtype)


def in_notebook() -> bool:
    """Whether this runs in the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
