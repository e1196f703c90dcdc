"""The same rows in every kind of table give the same model, and answers come back in that kind."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import xarray as xr

import quadfill
from quadfill import TensorModel

KINDS = {
    "dict": lambda columns: columns,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars lazy": lambda columns: pl.DataFrame(columns).lazy(),
    "pyarrow": pa.table,
    "pyarrow reader": lambda columns: pa.table(columns).to_reader(),
    "pyarrow chunks": lambda columns: pa.concat_tables(
        [pa.table({n: c[:100] for n, c in columns.items()}), pa.table({n: c[100:] for n, c in columns.items()})]
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_the_same_bytes(kind, ratings, settings, model):
    table = KINDS[kind](ratings)
    assert TensorModel(**settings).fit(table)._core.to_bytes() == model._core.to_bytes()


def arrow_forms(film):
    texts = pa.array(film)
    return {
        "utf8": texts,
        "large_utf8": texts.cast(pa.large_string()),
        "utf8 view": texts.cast(pa.string_view()),
        "dictionary": texts.dictionary_encode(),
        "sliced": pa.concat_arrays([pa.array(["x"]), texts])[1:],
    }


@pytest.mark.parametrize("form", ["utf8", "large_utf8", "utf8 view", "dictionary", "sliced"])
def test_texts_in_all_forms_of_arrow(form, ratings, settings, model):
    table = pa.table({**ratings, "film": arrow_forms(ratings["film"])[form]})
    assert TensorModel(**settings).fit(table)._core.to_bytes() == model._core.to_bytes()


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]
)
def test_labels_of_every_number_type(dtype, settings):
    rng = np.random.default_rng(1)
    cells = rng.permutation(100)[:60]
    labels, values = (cells // 10, cells % 10), rng.normal(size=60)
    expected = TensorModel(**settings).fit(labels, values)._core.to_bytes()
    got = TensorModel(**settings).fit(tuple(label.astype(dtype) for label in labels), values)
    assert got._core.to_bytes() == expected
    rows = np.column_stack(labels).astype(dtype)
    assert TensorModel(**settings).fit(rows, values)._core.to_bytes() == expected
    assert TensorModel(**settings).fit(rows.astype(object), values)._core.to_bytes() == expected
    if dtype != "float32":
        table = pl.DataFrame({"a": labels[0].astype(dtype), "b": labels[1].astype(dtype), "value": values})
        assert TensorModel(**settings).fit(table).predict(table).shape == (60,)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_answers_come_back_in_the_kind_that_was_given(kind, ratings, settings):
    table = KINDS[kind](ratings)
    model = TensorModel(**settings).fit(table)
    best = model.top({"user": 100}, mode="film", k=3)
    assert type(best) is type(table)
    assert len(best) == 3
    like = model.similar("user", 100, k=2)
    assert type(like) is type(table)
    factors = model.factors("film")
    assert type(factors) is type(table)
    assert len(factors) == 20
    intervals = model.predict(table, interval=0.9)
    assert type(intervals) is type(table)
    names = intervals.column_names if kind == "pyarrow" else list(intervals.columns)
    assert names == ["prediction", "lower", "upper"]


def test_pandas_labels_keep_their_types(ratings, settings):
    frame = pd.DataFrame(ratings)
    frame["user"] = frame["user"].astype("int32")
    frame["film"] = frame["film"].astype("category")
    model = TensorModel(**settings).fit(frame)
    best = model.top(frame[["user"]].drop_duplicates().head(4), mode="film", k=2)
    assert best["user"].dtype == "int32"
    assert best["film"].dtype == frame["film"].dtype
    assert len(best) == 8
    assert best["user"].tolist() == np.repeat(frame["user"].drop_duplicates().head(4), 2).tolist()
    wide = frame[["user"]].head(1).astype("int64")
    assert model.top(wide, mode="film", k=1)["user"].dtype == "int64"
    intervals = model.predict(frame.iloc[5:9], interval=0.5)
    assert intervals.index.tolist() == [5, 6, 7, 8]


def test_polars_labels_keep_their_types(ratings, settings):
    frame = pl.DataFrame(ratings).with_columns(pl.col("user").cast(pl.Int16), pl.col("film").cast(pl.Categorical))
    model = TensorModel(**settings).fit(frame)
    best = model.top(frame.select("user").unique(maintain_order=True).head(3), mode="film", k=2)
    assert dict(best.schema) == {"user": pl.Int16, "film": pl.Categorical, "score": pl.Float64}


def test_labels_that_are_dates_come_back_as_dates(settings):
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=at) for at in range(6)]
    rows = [(day, item, float(at * item)) for at, day in enumerate(days) for item in range(4)]
    columns = {
        "day": [row[0] for row in rows],
        "item": [row[1] for row in rows],
        "value": [row[2] for row in rows],
    }
    for make in (pl.DataFrame, pa.table):
        table = make(columns)
        model = TensorModel(**settings).fit(table, bins={"day": None})
        best = model.top({"item": 2}, mode="day", k=6)
        assert sorted(best["day"].to_pylist() if make is pa.table else best["day"].to_list()) == days
    for unit in ("s", "us", "ns"):
        frame = pd.DataFrame(columns)
        frame["day"] = pd.to_datetime(frame["day"]).astype(f"datetime64[{unit}]")
        best = TensorModel(**settings).fit(frame, bins={"day": None}).top({"item": 2}, mode="day", k=6)
        assert best["day"].dtype == frame["day"].dtype
        assert sorted(best["day"].dt.date) == days


def test_times_are_cut_into_bins(settings):
    start = datetime.datetime(2021, 3, 1)
    rng = np.random.default_rng(3)
    times = [start + datetime.timedelta(hours=int(hour)) for hour in rng.integers(0, 24 * 70, 400)]
    columns = {"user": rng.integers(0, 9, 400), "time": times, "value": rng.normal(size=400)}
    made = {}
    for name, make in {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}.items():
        model = TensorModel(**settings, on_duplicate="mean").fit(make(columns), bins={"time": "1w"})
        assert len(model.labels_["time"]) == 10
        assert model.labels_["time"][0].startswith("2021-03-01 ")
        made[name] = model._core.to_bytes()
    assert made["pandas"] == made["polars"] == made["pyarrow"]
    automatic = TensorModel(**settings, on_duplicate="mean").fit(pd.DataFrame(columns))
    assert automatic.roles_["modes"][1] == {"column": "time", "bins": "1 week"}
    best = automatic.top({"time": "2021-03-09"}, mode="user", k=1)
    assert len(best) == 1


def test_sparse_arrays(settings):
    matrix = scipy.sparse.random_array((12, 9), density=0.5, rng=np.random.default_rng(1))
    model = TensorModel(**settings).fit(matrix)
    assert model.modes_ == ["row", "column"]
    coo = matrix.tocoo()
    assert model.evaluate(matrix)["count"] == coo.nnz
    same = TensorModel(**settings).fit({"row": coo.coords[0], "column": coo.coords[1], "value": coo.data})
    assert same._core.to_bytes() == model._core.to_bytes()


def test_dense_arrays_and_missing_cells(settings):
    rng = np.random.default_rng(1)
    cube = rng.normal(size=(5, 6, 7))
    cube[rng.random(cube.shape) < 0.4] = np.nan
    model = TensorModel(**settings).fit(cube)
    assert model.summary_["observations"] == np.isfinite(cube).sum()
    zeros = np.nan_to_num(cube)
    assert TensorModel(**settings, missing=0).fit(zeros)._core.to_bytes() == model._core.to_bytes()
    assert model.evaluate(cube)["count"] == np.isfinite(cube).sum()
    filled = TensorModel(**settings).fill(cube)
    assert np.isfinite(filled).all()
    assert (filled[np.isfinite(cube)] == cube[np.isfinite(cube)]).all()


def test_xarray_labels_are_coordinates(settings):
    rng = np.random.default_rng(2)
    values = rng.normal(size=(4, 5))
    values[0, 1] = values[2, 3] = np.nan
    array = xr.DataArray(values, dims=("city", "month"), coords={"city": list("abcd")}, name="rain")
    model = TensorModel(**settings).fit(array)
    assert model.modes_ == ["city", "month"]
    assert model.labels_["city"].tolist() == list("abcd")
    filled = TensorModel(**settings).fill(array)
    assert filled.dims == array.dims
    assert not filled.isnull().any()
    frame = TensorModel(**settings).fill(pd.DataFrame(values, index=list("abcd")))
    assert frame.index.tolist() == list("abcd")
    np.testing.assert_allclose(frame.to_numpy(), filled.to_numpy())


def test_weights_as_a_column_or_an_array(ratings, settings):
    weight = np.linspace(0.5, 2, len(ratings["stars"]))
    column = TensorModel(**settings).fit({**ratings, "weight": weight}, weight="weight")
    array = TensorModel(**settings).fit(ratings, value="stars", weight=weight)
    assert column._core.to_bytes() == array._core.to_bytes()
    assert column._core.to_bytes() != TensorModel(**settings).fit(ratings)._core.to_bytes()


def test_many_files(tmp_path, ratings, settings, model):
    frame = pd.DataFrame(ratings)
    # In their order, as text labels have the order in which they first occur.
    for number, first in enumerate(range(0, len(frame), 100)):
        frame.iloc[first : first + 100].to_parquet(tmp_path / f"part-{number}.parquet")
    for path in [tmp_path / "part-*.parquet", tmp_path]:
        fitted = TensorModel(**settings).fit(path)
        np.testing.assert_array_equal(fitted.predict(ratings), model.predict(ratings))
    with pytest.raises(ValueError, match="no file has such a name"):
        TensorModel(**settings).fit(tmp_path / "none-*.csv")


def test_files_and_data(tmp_path, ratings, settings, model):
    pd.DataFrame(ratings).to_parquet(tmp_path / "ratings.parquet")
    pd.DataFrame(ratings).to_csv(tmp_path / "ratings.csv", index=False)
    for name in ("ratings.parquet", "ratings.csv"):
        path = tmp_path / name
        fitted = TensorModel(**settings).fit(path)
        assert fitted._core.to_bytes() == model._core.to_bytes()
        np.testing.assert_array_equal(fitted.predict(str(path)), model.predict(ratings))
        data = quadfill.read(path)
        assert TensorModel(**settings).fit(data)._core.to_bytes() == model._core.to_bytes()
        assert model.evaluate(data) == model.evaluate(ratings) == model.evaluate(path)
        np.testing.assert_array_equal(data.columns()["film"], ratings["film"])
