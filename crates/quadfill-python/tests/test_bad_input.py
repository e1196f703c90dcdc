"""Broken calls: each with its exception and what it says. None panics, none leaves a half-written file."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import xarray as xr

import quadfill
from quadfill import (
    DataError,
    FileError,
    LabelError,
    MissingFileError,
    ModelFileError,
    SettingError,
    TensorModel,
    UnsupportedError,
)

GOOD = {"user": [1, 1, 2, 2, 3], "film": ["a", "b", "a", "c", "b"], "stars": [1.0, 2.0, 3.0, 4.0, 5.0]}
FAST = {"rank": 1, "penalty": 0.1, "sweeps": 3}


def fit(X=None, y=None, *, of=None, **reading):
    return TensorModel(**{**FAST, **(of or {})}).fit(GOOD if X is None else X, y, **reading)


def with_column(**columns):
    return {**GOOD, **columns}


@pytest.fixture(scope="module")
def fitted():
    return fit()


# What is called, what it raises, and a part of what it says.
FITS = {
    "nothing": (lambda: fit(X=5), TypeError, "X is a int: give a table"),
    "none": (lambda: TensorModel().fit(None), TypeError, "X is None"),
    "a set": (lambda: fit({1, 2}), TypeError, "X is a set"),
    "an open file": (lambda: fit(io.StringIO("a,b\n")), TypeError, "X is a _io.StringIO: give a table"),
    "a closed file": (lambda: fit(closed_file()), TypeError, "X is a _io.TextIOWrapper"),
    "a missing file": (lambda: fit("nowhere.csv"), MissingFileError, "nowhere.csv: there is no such file"),
    "an unknown ending": (lambda: fit(__file__), DataError, "`.py` is not an ending that Quadfill knows"),
    "one dimension": (lambda: fit(np.arange(4.0), np.arange(4.0)), DataError, "1 dimension"),
    "ragged rows": (lambda: fit([[1, 2], [3]], [1.0, 2.0]), DataError, "the rows differ in length"),
    "three dimensions and y": (lambda: fit(np.zeros((2, 2, 2)), np.zeros(2)), DataError, "leave `y` out"),
    "a cube of texts": (lambda: fit(np.full((2, 2, 2), "x")), DataError, "its cells must be numbers"),
    "a cube of nothing": (lambda: fit(np.full((2, 2, 2), np.nan)), DataError, "no rows"),
    "a cube with infinity": (lambda: fit(np.full((2, 2, 2), np.inf)), DataError, "values must be finite"),
    "nine dimensions": (lambda: fit(np.zeros((2,) * 9)), DataError, "9 dimensions"),
    "an empty frame": (lambda: fit(pd.DataFrame({"a": [], "b": [], "v": []})), DataError, "no rows"),
    "no columns": (lambda: fit(pl.DataFrame()), DataError, "column"),
    "one column": (lambda: fit(pd.DataFrame({"a": [1, 2]})), DataError, "column"),
    "other lengths": (lambda: fit(([1, 2], [1, 2, 3]), [1.0, 2.0]), DataError, "has 3 entries where 2 were expected"),
    "y too short": (lambda: fit(([1, 2], [1, 2]), [1.0]), DataError, "has 1 entries where 2 were expected"),
    "y of texts": (lambda: fit(([1, 2], [1, 2]), ["a", "b"]), DataError, "`y` is of type"),
    "y with two columns": (lambda: fit(([1, 2], [1, 2]), np.zeros((2, 2))), DataError, "`y` has 2 dimensions"),
    "y and value": (lambda: fit(GOOD, [1.0] * 5, value="stars"), SettingError, "both give values"),
    "y called like a column": (
        lambda: fit(pd.DataFrame(GOOD), pd.Series([1.0] * 5, name="stars")),
        DataError,
        "`y` is called `stars`",
    ),
    "an unknown mode": (lambda: fit(modes=["user", "movie"]), DataError, "there is no column `movie`"),
    "an unknown value": (lambda: fit(value="rating"), DataError, "there is no column `rating`"),
    "an unknown weight": (lambda: fit(weight="w"), DataError, "there is no column `w`"),
    "a column twice": (lambda: fit(modes=["user", "user"]), DataError, "used twice"),
    "modes as a text": (lambda: fit(modes="user"), TypeError, "`modes` is a text"),
    "bins of no column": (lambda: fit(bins={"day": "1w"}), DataError, "day"),
    "bins without a unit": (lambda: fit(bins={"user": "20y"}), SettingError, "the unit is not known"),
    "bins as a text": (lambda: fit(bins="user=20w"), TypeError, "`bins` is of type str"),
    "NaN among the values": (
        lambda: fit(with_column(stars=[1.0, np.nan, 3.0, 4.0, 5.0])),
        DataError,
        "X, row 2: column `stars` holds `NaN`",
    ),
    "infinity": (
        lambda: fit(with_column(stars=[1.0, 2.0, np.inf, 4.0, 5.0])),
        DataError,
        "X, row 3: column `stars` holds `inf`",
    ),
    "a null in polars": (
        lambda: fit(pl.DataFrame(with_column(user=[1, 1, None, 2, 3]))),
        DataError,
        "X, row 3: column `user` is null",
    ),
    "a null in pyarrow": (
        lambda: fit(pa.table(with_column(film=["a", "b", "a", None, "b"]))),
        DataError,
        "X, row 4: column `film` is null",
    ),
    "a null in pandas": (
        lambda: fit(pd.DataFrame(with_column(film=["a", None, "a", "c", "b"]))),
        DataError,
        "X, row 2: column `film` is null",
    ),
    "a null category": (
        lambda: fit(pd.DataFrame(GOOD).assign(film=pd.Categorical(["a", "b", "a", "c", None]))),
        DataError,
        "X, row 5: column `film` is null",
    ),
    "NaT": (
        lambda: fit(with_column(user=np.array(["2020-01-01"] * 4 + ["NaT"], "datetime64[D]"))),
        DataError,
        "X, row 5: column `user` is null",
    ),
    "an empty label": (
        lambda: fit(with_column(film=["a", "", "a", "c", "b"])),
        DataError,
        "row 2: column `film` is empty",
    ),
    "an object as label": (
        lambda: fit(with_column(film=["a", object(), "a", "c", "b"])),
        DataError,
        "X, row 2: column `film` holds an object",
    ),
    "lists as labels": (
        lambda: fit(pl.DataFrame(with_column(film=[["a"]] * 5)), modes=["user", "film"], value="stars"),
        DataError,
        "column `film` holds fields of type",
    ),
    "complex values": (lambda: fit(with_column(stars=np.ones(5) * 1j)), DataError, "Complex data not supported"),
    "texts as values": (
        lambda: fit(value="film", modes=["user", "stars"]),
        DataError,
        "column `film` holds `a`, which is not a number",
    ),
    "too large a label": (
        lambda: fit(with_column(user=np.array([2**64 - 1] * 5, dtype=np.uint64))),
        DataError,
        "integers above 9223372036854775807",
    ),
    "a cell twice": (
        lambda: fit(with_column(user=[1, 1, 1, 2, 3])),
        DataError,
        "set `on_duplicate` to mean, last or sum",
    ),
    "two columns of one name": (
        lambda: fit(pd.DataFrame([[1, 2, 3.0]], columns=["a", "a", "v"])),
        DataError,
        "two columns `a`",
    ),
    "a negative weight": (
        lambda: fit(weight=[1, -1, 1, 1, 1.0], value="stars"),
        DataError,
        "weights must not be negative",
    ),
    "a short weight": (lambda: fit(weight=[1.0], value="stars"), DataError, "has 1 entries where 5"),
    "a Dataset": (lambda: fit(xr.Dataset({"a": ("x", [1.0])})), TypeError, "X is a Dataset"),
    "sparse y": (lambda: fit(([1], [1]), scipy.sparse.eye_array(3)), TypeError, "`y` is sparse"),
    "a callback that is none": (lambda: fit(callback=5), TypeError, "`callback` is of type int"),
    "nine modes": (lambda: fit(tuple([1, 2] for _ in range(9)), [1.0, 2.0]), DataError, "modes"),
}

SETTINGS = {
    "rank 0": ({"rank": 0}, SettingError, "`rank`"),
    "rank -1": ({"rank": -1}, SettingError, "`rank` is -1: it must be"),
    "rank 1.5": ({"rank": 1.5}, SettingError, "`rank` is 1.5"),
    "rank many": ({"rank": "many"}, SettingError, "`rank` is 'many'"),
    "rank a list": ({"rank": [1]}, TypeError, "`rank` is of type list"),
    "model": ({"model": "linear"}, SettingError, "linear"),
    "solver": ({"solver": "magic"}, SettingError, '`solver` is "magic": it must be one of "auto", "path"'),
    "penalty": ({"penalty": -1.0}, SettingError, "`penalty` is -1"),
    "penalty NaN": ({"penalty": float("nan")}, SettingError, "`penalty` is NaN"),
    "bias": ({"bias": "some"}, SettingError, '`bias` is "some"'),
    "centre": ({"centre": "on"}, SettingError, "`centre` is 'on'"),
    "hold_out": ({"hold_out": 2}, SettingError, "`hold_out` is 2: it must be a number between 0 and 1"),
    "tolerance": ({"tolerance": -1}, SettingError, "`tolerance` is -1"),
    "effort": ({"effort": "lots"}, SettingError, '`effort` is "lots"'),
    "precision": ({"precision": "f16"}, SettingError, '`precision` is "f16"'),
    "views": ({"views": "small"}, SettingError, '`views` is "small"'),
    "time_limit": ({"time_limit": -1}, SettingError, "`time_limit`"),
    "sweeps": ({"sweeps": 0}, SettingError, "`sweeps` is 0"),
    "tie": ({"tie": "user"}, SettingError, "`tie` is 'user'"),
    "tie of no mode": ({"tie": ["user", "movie"]}, LabelError, "there is no mode `movie`"),
    "on_duplicate": ({"on_duplicate": "first"}, SettingError, '`on_duplicate` is "first"'),
    "random_state": ({"random_state": "seed"}, SettingError, "`random_state` is 'seed'"),
    "negative seed": ({"random_state": -3}, SettingError, "`random_state` is -3"),
    "n_jobs": ({"n_jobs": 0}, ValueError, "`n_jobs` is 0"),
    "verbose": ({"verbose": "loud"}, ValueError, "`verbose` is 'loud'"),
    "step of another solver": ({"step": 0.1}, SettingError, '`step` is for `solver`="gd" only'),
    "samples of another solver": ({"samples": 10}, SettingError, '`solver`="gibbs" only'),
    "kernel": ({"kernel": [[0, 1], [2, 0]]}, SettingError, "kernel"),
    "kernel of another size": ({"kernel": np.ones((3, 3))}, SettingError, "kernel is for 3 modes but the data have 2"),
    "implicit without penalty": ({"implicit": 0.1, "penalty": "auto"}, SettingError, "`penalty`"),
}


def closed_file():
    with open(__file__) as file:
        pass
    return file


@pytest.mark.parametrize("name", FITS)
def test_fits(name):
    call, error, message = FITS[name]
    with pytest.raises(error) as raised:
        call()
    assert message in str(raised.value)
    assert "--" not in str(raised.value), "parameters, not flags"


@pytest.mark.parametrize("name", SETTINGS)
def test_settings(name):
    parameters, error, message = SETTINGS[name]
    with pytest.raises(error) as raised:
        fit(of=parameters)
    assert message in str(raised.value)
    assert "--" not in str(raised.value), "parameters, not flags"


USES = {
    "predict nothing": (lambda m: m.predict(None), TypeError, "X is None"),
    "predict without a mode": (lambda m: m.predict({"user": [1]}), DataError, "there is no column `film`"),
    "predict no rows": (lambda m: m.predict(pd.DataFrame({"user": [], "film": []})), DataError, "no rows"),
    "predict with a null": (
        lambda m: m.predict(pl.DataFrame({"user": [1, None], "film": ["a", "b"]})),
        DataError,
        "X, row 2: column `user` is null",
    ),
    "predict other columns": (lambda m: m.predict(np.zeros((2, 5))), DataError, "X has 5 features"),
    "predict a missing file": (lambda m: m.predict("nowhere.csv"), MissingFileError, "nowhere.csv"),
    "an interval of 2": (lambda m: m.predict(GOOD, interval=2), UnsupportedError, "between 0 and 1"),
    "evaluate without values": (lambda m: m.evaluate({"user": [1], "film": ["a"]}), DataError, "value"),
    "score with a short y": (lambda m: m.score(([1, 2], ["a", "b"]), [1.0]), DataError, "1 entries"),
    "top of an unknown mode": (lambda m: m.top({"user": 1}, mode="movie"), LabelError, "there is no mode `movie`"),
    "top of an unknown label": (lambda m: m.top({"user": 99}, mode="film"), LabelError, "`99` is not a label"),
    "top of an unknown row": (
        lambda m: m.top(pd.DataFrame({"user": [1, 99]}), mode="film"),
        LabelError,
        "given, row 2: the model does not know this label of mode `user`",
    ),
    "top without a label": (lambda m: m.top({}, mode="film"), LabelError, "mode `user` is missing"),
    "top of what is given": (
        lambda m: m.top({"user": 1, "film": "a"}, mode="film"),
        LabelError,
        "both given and wanted",
    ),
    "top of a text": (lambda m: m.top("user", mode="film"), TypeError, "`given` is a str"),
    "top with k 0": (lambda m: m.top({"user": 1}, mode="film", k=0), SettingError, "`k` is 0"),
    "top with k of text": (lambda m: m.top({"user": 1}, mode="film", k="all"), SettingError, "`k` is 'all'"),
    "top in no order": (lambda m: m.top({"user": 1}, mode="film", order="up"), SettingError, "`order` is 'up'"),
    "top among strangers": (
        lambda m: m.top({"user": 1}, mode="film", candidates=["z"]),
        LabelError,
        "`z` is not a label",
    ),
    "top excluding by itself": (
        lambda m: m.top({"user": 1}, mode="film", exclude=GOOD, exclude_by=["film"]),
        LabelError,
        "which is the wanted mode",
    ),
    "similar to a stranger": (lambda m: m.similar("film", "z"), LabelError, "`z` is not a label of mode `film`"),
    "explain too little": (lambda m: m.explain({"user": 1}), LabelError, "mode `film` is missing"),
    "explain too much": (lambda m: m.explain([1, "a", 2]), LabelError, "`cell` has 3 labels"),
    "explain a text": (lambda m: m.explain("1,a"), TypeError, "`cell` is a str"),
    "fold in what is known": (lambda m: m.fold_in(GOOD), UnsupportedError, "no label that the model does not know"),
    "factors of no mode": (lambda m: m.factors("movie"), LabelError, "there is no mode `movie`"),
    "fill a list": (lambda m: TensorModel(**FAST).fill([1, 2]), TypeError, "`cube` is a list"),
    "fill one dimension": (lambda m: TensorModel(**FAST).fill(np.zeros(3)), DataError, "`cube` has 1 dimension"),
    "rank_metrics of no mode": (lambda m: m.rank_metrics(GOOD, mode="movie"), LabelError, "no mode `movie`"),
    "save to nowhere": (lambda m: m.save("/nowhere/at/all"), ModelFileError, "there is no folder /nowhere/at"),
    "save to an open file": (lambda m: m.save(io.BytesIO()), TypeError, "`path` is a _io.BytesIO"),
    "report to nowhere": (lambda m: m.report("/nowhere/fit.html"), FileError, "/nowhere/fit.html"),
    "load nothing": (lambda m: quadfill.load("nowhere"), (MissingFileError, ModelFileError), "nowhere"),
    "load a number": (lambda m: quadfill.load(5), TypeError, "`path` is a int"),
    "read a frame": (lambda m: quadfill.read(pd.DataFrame(GOOD)), TypeError, "`path` is a pandas"),
    "synth too many": (lambda m: quadfill.synth((2, 2), observations=5), SettingError, "there are 4 cells"),
    "an unknown parameter": (lambda m: TensorModel().set_params(speed=1), ValueError, "Invalid parameter 'speed'"),
}


@pytest.mark.parametrize("name", USES)
def test_uses(name, fitted):
    call, error, message = USES[name]
    with pytest.raises(error) as raised:
        call(fitted)
    assert message in str(raised.value)
    assert "--" not in str(raised.value), "parameters, not flags"


def test_there_are_enough_broken_calls():
    assert len(FITS) + len(SETTINGS) + len(USES) >= 100


def test_models_that_were_not_fitted():
    from sklearn.exceptions import NotFittedError

    for call in (
        lambda model: model.predict(GOOD),
        lambda model: model.top({}, mode="film"),
        lambda model: model.save("model"),
        lambda model: model.labels_,
        lambda model: model.fold_in(GOOD),
    ):
        with pytest.raises(NotFittedError):
            call(TensorModel())
    assert not Path("model").exists()


def test_broken_models(tmp_path, fitted):
    fitted.save(tmp_path / "model")
    about = json.loads((tmp_path / "model" / "model.json").read_text())
    version = next(name for name in about if "version" in name)
    (tmp_path / "model" / "model.json").write_text(json.dumps({**about, version: 999}))
    with pytest.raises(ModelFileError, match="999"):
        quadfill.load(tmp_path / "model")
    fitted.save(tmp_path / "other")
    numbers = tmp_path / "other" / "model.safetensors"
    numbers.write_bytes(numbers.read_bytes()[:-9])
    with pytest.raises(ModelFileError):
        quadfill.load(tmp_path / "other")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "precious.txt").write_text("mine")
    with pytest.raises(ModelFileError):
        fitted.save(tmp_path / "folder")
    assert sorted(path.name for path in (tmp_path / "folder").iterdir()) == ["precious.txt"]


def test_nothing_half_written(tmp_path, fitted):
    before = sorted(tmp_path.iterdir())
    with pytest.raises(FileError):
        fitted.report(tmp_path)
    with pytest.raises(ModelFileError):
        fitted.save(tmp_path / "no folder" / "model")
    assert sorted(tmp_path.iterdir()) == before


def test_a_fit_that_fails_leaves_the_model_as_it_was(fitted):
    model = fit()
    before = model._core.to_bytes()
    with pytest.raises(DataError):
        model.fit(with_column(stars=[np.nan] * 5))
    assert model._core.to_bytes() == before


def test_errors_are_value_errors_and_more():
    assert issubclass(MissingFileError, FileNotFoundError)
    assert issubclass(LabelError, LookupError)
    for error in (DataError, SettingError, LabelError, UnsupportedError, ModelFileError, FileError):
        assert issubclass(error, quadfill.QuadfillError)
        assert issubclass(error, ValueError)
