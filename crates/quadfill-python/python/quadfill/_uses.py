"""What a fitted model can do."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from quadfill import _quadfill
from quadfill._data import Data
from quadfill._errors import DataError, LabelError, SettingError
from quadfill._fitted import FRAMES, Fitted
from quadfill._frames import as_kind, describe_type, dtypes_of, is_path, kind_of
from quadfill._progress import bar_for

if TYPE_CHECKING:
    from quadfill._model import TensorModel


class Uses(Fitted):
    """The methods of a fitted model."""

    def predict(self, X: Any, interval: float | None = None, *, data: Any = None) -> Any:
        """Predict cells: an array, one number for each row of `X`.

        With `interval=0.9` a table with columns prediction, lower and upper, of the kind of `X`: a new observation is
        between lower and upper with this probability. Models without draws need the data of the fit for that; they
        have them until they are pickled or loaded, or you give `data`. Terms of labels that the model does not know
        are left out.

        >>> import quadfill
        >>> train, test = quadfill.synth((12, 12, 12), rank=1, observations=300, noise=0.1, seed=1)
        >>> model = quadfill.TensorModel(rank=1, solver="path").fit(train)
        >>> model.predict(test).shape == test["value"].shape
        True
        >>> table = model.predict(test, interval=0.9)
        >>> bool((table["lower"] < table["upper"]).all())
        True
        """
        core = self._fitted()
        rows, reading = self._rows(X)
        predictions = core.predict(rows, reading, self.n_jobs)
        if interval is None:
            return predictions
        own = None if core.is_sampled else self._data_of_fit(data, "`interval`")
        half = core.half_widths(rows, reading, float(interval), own, self.n_jobs)
        columns = {"prediction": predictions, "lower": predictions - half, "upper": predictions + half}
        return as_kind(self._answer_kind(X), columns, {}, getattr(X, "index", None))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the coefficient of determination, R^2; `y` may also be a column of `X`.

        >>> import quadfill
        >>> train, test = quadfill.synth((12, 12, 12), rank=1, observations=300, seed=1)
        >>> round(quadfill.TensorModel(rank=1).fit(train).score(test), 6)
        1.0
        """
        core = self._fitted()
        rows, reading = self._rows(X, y)
        _, predictions, values = core.evaluate(rows, reading, self.n_jobs)
        spread = float(((values - values.mean()) ** 2).sum())
        error = float(((values - predictions) ** 2).sum())
        if spread == 0.0:
            return 1.0 if error == 0.0 else 0.0
        return 1.0 - error / spread

    def evaluate(self, X: Any, y: Any = None) -> dict[str, Any]:
        """Compare predictions with values: rmse, mse, mae, relative_error, count, unknown.

        >>> import quadfill
        >>> train, test = quadfill.synth((12, 12, 12), rank=1, observations=300, test_observations=99, seed=1)
        >>> quadfill.TensorModel(rank=1).fit(train).evaluate(test)["count"]
        99
        """
        core = self._fitted()
        rows, reading = self._rows(X, y)
        errors: dict[str, Any] = json.loads(core.evaluate(rows, reading, self.n_jobs)[0])
        return errors

    def rank_metrics(self, X: Any, *, mode: str | Sequence[str] | None = None, known: Any = None) -> dict[str, Any]:
        """Rank the right labels of a mode among all: mrr, mean_rank, hits_at_1, .., recall_at_10, ndcg_at_10.

        `mode` is one or several modes, all by default; with several, "modes" has the figures of each. Other right
        labels of the same query, in `X` or in `known` (a table or a list of tables), are left out of the ranking.

        >>> import quadfill
        >>> train, test = quadfill.synth((12, 12, 12), rank=1, observations=300, test_observations=99, seed=1)
        >>> figures = quadfill.TensorModel(rank=1).fit(train).rank_metrics(test, mode="mode2")
        >>> 0 < figures["mrr"] <= 1
        True
        """
        core = self._fitted()
        names = [str(mode)] if isinstance(mode, (str, int)) else [str(name) for name in mode or self.modes_]
        tables = [] if known is None else known if isinstance(known, list) else [known]
        rows, reading = self._rows(X)
        filters = [self._rows(table, title="known")[0] for table in tables]
        together, each = core.rank_metrics(rows, reading, names, filters, self.n_jobs)
        figures: dict[str, Any] = json.loads(together)
        if len(names) > 1:
            figures["modes"] = {name: json.loads(one) for name, one in zip(names, each, strict=True)}
        return figures

    def top(
        self,
        given: Any,
        mode: str,
        k: int = 10,
        *,
        exclude: Any = None,
        exclude_by: Sequence[str] | None = None,
        candidates: Sequence[Any] | None = None,
        order: str | None = None,
    ) -> Any:
        """Find the labels of a mode with the best predictions, given a label for every other mode.

        `given` is a dict such as `{"user": 42}`, a list of such dicts, or a table with one query per row; then the
        answer has a column for each given mode, too, and `k` rows per query. `exclude` leaves out what was seen: a
        table of cells, of which those with the labels of a query in the modes `exclude_by` count (all other modes by
        default), or a list of labels. `candidates` are the labels to choose from. `order` is "highest" or "lowest";
        models of distances have the smallest first.

        >>> import quadfill
        >>> train, _ = quadfill.synth((12, 15), rank=1, observations=120, seed=1)
        >>> model = quadfill.TensorModel(rank=1).fit(train)
        >>> best = model.top({"mode1": 3}, mode="mode2", k=2, exclude=train)
        >>> len(best), best.dtype.names
        (2, ('mode2', 'score'))
        >>> len(model.top({"mode1": [3, 4, 5]}, mode="mode2", k=2))
        6
        """
        core = self._fitted()
        at = core.find_mode(str(mode))
        name = self.modes_[at]
        if not isinstance(k, (int, np.integer)) or k < 1:
            raise SettingError(f"`k` is {k!r}: it must be a whole number above 0")
        if order not in (None, "highest", "lowest"):
            raise SettingError(f'`order` is {order!r}: it must be "highest" or "lowest"')
        pairs, rows, reading, columns = self._queries(given)
        seen, always = None, []
        if exclude is not None:
            if _is_list_of_labels(exclude):
                always = [_text(label) for label in exclude]
            else:
                seen = self._rows(exclude, title="exclude")[0]
        query, label, score = core.top(
            pairs,
            at,
            int(k),
            rows=rows,
            reading=reading,
            exclude=seen,
            exclude_by=None if exclude_by is None else [str(each) for each in exclude_by],
            exclude_labels=always,
            candidates=None if candidates is None else [_text(each) for each in candidates],
            lowest=None if order is None else order == "lowest",
            n_jobs=self.n_jobs,
        )
        answer = {other: column[query] for other, column in columns.items() if other != name}
        dtypes = {**self._dtypes, **{other: dtype for other, dtype in dtypes_of(given).items() if other != name}}
        answer[name] = _labels_as_array(core.labels_at(at, label))
        answer["score"] = score
        return as_kind(self._answer_kind(given), answer, dtypes)

    def _queries(self, given: Any) -> tuple[Any, Any, dict[str, Any], dict[str, Any]]:
        """Queries as pairs of modes and labels, or as rows, with the columns that tell them apart."""
        if isinstance(given, Mapping) and not any(_is_list_of_labels(label) for label in given.values()):
            return [[(str(mode), _text(label)) for mode, label in given.items()]], None, {}, {}
        if isinstance(given, list) and given and all(isinstance(one, Mapping) for one in given):
            pairs = [[(str(mode), _text(label)) for mode, label in one.items()] for one in given]
            modes = [str(mode) for mode in given[0]]
            columns = {mode: np.asarray([one.get(mode) for one in given]) for mode in modes}
            return pairs, None, {}, columns
        if isinstance(given, (str, bytes)) or given is None:
            raise TypeError(f"`given` is a {describe_type(given)}: give a dict of labels, a list of them, or a table")
        if isinstance(given, Data):
            given = given.columns()
        rows, reading = self._rows(given, title="given")
        return [], rows, reading, _columns_as_arrays(given, self.modes_)

    def similar(self, mode: str, label: Any, k: int = 10) -> Any:
        """Find the labels of a mode that are most like one of them, with the cosines of the angles of their rows.

        >>> import quadfill
        >>> train, _ = quadfill.synth((12, 15), rank=1, observations=120, seed=1)
        >>> like = quadfill.TensorModel(rank=1).fit(train).similar("mode1", 3, k=4)
        >>> len(like), bool(abs(like["score"]).max() <= 1 + 1e-12)
        (4, True)
        """
        core = self._fitted()
        at = core.find_mode(str(mode))
        labels, cosines = core.similar(at, _text(label), int(k))
        answer = {self.modes_[at]: _labels_as_array(core.labels_at(at, labels)), "score": cosines}
        return as_kind(self._answer_kind(None), answer, self._dtypes)

    def explain(self, cell: Any, *, influences: int = 0, data: Any = None) -> dict[str, Any]:
        """Take a prediction apart: the mean, biases, and what each pair of modes or each column adds.

        `cell` is a dict, or one label per mode in the order of the modes. With `influences=5` the answer also has the
        five observations of each of its labels that matter most; they need the data of the fit, as intervals do.

        >>> import quadfill
        >>> train, _ = quadfill.synth((12, 15), rank=1, observations=120, seed=1)
        >>> told = quadfill.TensorModel(rank=1).fit(train).explain({"mode1": 3, "mode2": 8})
        >>> bool(abs(sum(part["value"] for part in told["parts"]) - told["prediction"]) < 1e-9)
        True
        """
        core = self._fitted()
        if not isinstance(cell, Mapping):
            if isinstance(cell, (str, bytes)) or not isinstance(cell, (Sequence, np.ndarray)):
                raise TypeError(f"`cell` is a {describe_type(cell)}: give a dict, or one label for each mode")
            if len(cell) != len(self.modes_):
                raise LabelError(
                    f"`cell` has {len(cell)} labels, the model {len(self.modes_)} modes: give one for each"
                )
            cell = dict(zip(self.modes_, cell, strict=True))
        pairs = [(str(mode), _text(label)) for mode, label in cell.items()]
        told: dict[str, Any] = json.loads(core.explain(pairs))
        for part in told["parts"]:
            if "mode" in part:
                part["mode"] = self.modes_[part["mode"]]
            if "modes" in part:
                part["modes"] = [self.modes_[mode] for mode in part["modes"]]
        if influences:
            found = core.influences(pairs, self._data_of_fit(data, "`influences`"), int(influences))
            told["influences"] = {
                mode: [
                    {
                        "cell": dict(zip(self.modes_, labels, strict=True)),
                        "value": value,
                        "leverage": leverage,
                        "effect": effect,
                    }
                    for labels, value, leverage, effect in of_mode
                ]
                for mode, of_mode in zip(self.modes_, found, strict=True)
            }
        return told

    def fold_in(self, X: Any, y: Any = None, **reading: Any) -> TensorModel:
        """Return a model with rows for new labels, from the observations that have them. Nothing else changes.

        >>> import quadfill
        >>> train, _ = quadfill.synth((12, 15), rank=1, observations=120, seed=1)
        >>> model = quadfill.TensorModel(rank=1).fit(train)
        >>> wider = model.fold_in({"mode1": [99, 99], "mode2": [1, 2], "value": [1.0, 2.0]})
        >>> len(wider.labels_["mode1"]) - len(model.labels_["mode1"])
        1
        """
        core = self._fitted()
        rows, options = self._rows(X, y, **reading)
        return self._with(core.fold_in(rows, options, self.n_jobs))

    def update(self, X: Any, y: Any = None, **reading: Any) -> TensorModel:
        """Return a model that is fitted further, from where this one is, to more data: old and new together.

        >>> import quadfill
        >>> train, _ = quadfill.synth((12, 15), rank=1, observations=120, seed=1)
        >>> model = quadfill.TensorModel(rank=1, penalty=0.01).fit(train)
        >>> model.update(train).rank_
        1
        """
        core = self._fitted()
        rows, options = self._rows(X, y, **reading)
        bar = bar_for(self.verbose)
        try:
            updated, _ = core.update(rows, options, self.n_jobs, bar)
        finally:
            if bar is not None:
                bar.close()
        return self._with(updated)

    def _with(self, core: _quadfill.Model) -> TensorModel:
        """The same estimator with another fitted model."""
        other = cast("TensorModel", type(self)(**self.get_params()))
        other._adopt(core, None)
        other._kind, other._dtypes = self._kind, self._dtypes
        for name in ("n_features_in_", "feature_names_in_", "roles_"):
            if hasattr(self, name):
                setattr(other, name, getattr(self, name))
        return other

    def factors(self, mode: str, *, biases: bool = False) -> Any:
        """Return the vectors of a mode: a table with the labels, or an array where the model came from arrays.

        >>> import quadfill
        >>> train, _ = quadfill.synth((12, 15), rank=2, observations=150, seed=1)
        >>> quadfill.TensorModel(rank=2).fit(train).factors("mode2").shape
        (15, 2)
        """
        core = self._fitted()
        at = core.find_mode(str(mode))
        numbers = core.factors(at)
        offsets = core.biases(at) if biases else None
        if self._kind not in FRAMES:
            return numbers if offsets is None else np.column_stack([numbers, offsets])
        columns = {self.modes_[at]: np.asarray(core.labels(at))}
        columns.update({f"factor{column + 1}": numbers[:, column] for column in range(numbers.shape[1])})
        if offsets is not None:
            columns["bias"] = offsets
        return as_kind(self._kind, columns, self._dtypes)

    def fill(self, cube: Any) -> Any:
        """Fit the model to a dense array and return the array without its missing cells.

        `cube` is an array of numpy or xarray, or a pandas table of numbers; NaN cells, and those that are equal to
        `missing`, are filled in.

        >>> import numpy as np, quadfill
        >>> table = np.outer([1.0, 2, 3, 4], [1.0, 2, 3, 4])
        >>> table[2, 3] = table[0, 1] = np.nan
        >>> quadfill.TensorModel(rank=1).fill(table)[2, 3].round(6)
        np.float64(12.0)
        """
        kind = kind_of(cube)
        if kind not in ("pandas", "xarray") and not isinstance(cube, np.ndarray):
            raise TypeError(f"`cube` is a {describe_type(cube)}: give an array of numpy or xarray, or a pandas table")
        values = np.array(cube.values if kind != "numpy" else cube, dtype=np.float64)
        if values.ndim < 2:
            raise DataError(f"`cube` has {values.ndim} dimension(s): give an array with 2 to 8")
        missing = np.isnan(values)
        if self.missing is not None:
            missing |= values == self.missing
        self.fit(values)
        if missing.any():
            values[missing] = self.predict(tuple(np.nonzero(missing)))
        if kind == "pandas":
            return type(cube)(values, index=cube.index, columns=cube.columns)
        return cube.copy(data=values) if kind == "xarray" else values

    def report(self, path: Any, *, data: Any = None) -> None:
        """Write the page about the fit: choice, data, path, certificate, intervals, residuals, factors.

        A model that was pickled or loaded needs the `data` of the fit for that.

        >>> import quadfill, tempfile, pathlib
        >>> train, _ = quadfill.synth((12, 15), rank=1, observations=120, seed=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page = pathlib.Path(folder) / "fit.html"
        ...     quadfill.TensorModel(rank=1).fit(train).report(page)
        ...     page.read_text().startswith("<!DOCTYPE html>")
        True
        """
        core = self._fitted()
        if not is_path(path):
            raise TypeError(f"`path` is a {describe_type(path)}: give the path of a page to write")
        title = "a fit from Python" if self._source is None else self._source.title
        own = self._data_of_fit(data, "the report")
        core.report(path, title, own, self._settings())

    def save(self, path: Any) -> None:
        """Write the model into a folder that the `quadfill` command and other programs can open.

        >>> import quadfill, tempfile
        >>> train, _ = quadfill.synth((12, 15), rank=1, observations=120, seed=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     quadfill.TensorModel(rank=1).fit(train).save(folder + "/model")
        """
        core = self._fitted()
        if not is_path(path):
            raise TypeError(f"`path` is a {describe_type(path)}: give the path of a folder to write")
        core.save(path)


def _text(label: Any) -> str:
    """A label as the model has it: whole numbers print without a point."""
    if isinstance(label, (float, np.floating)) and float(label).is_integer():
        return str(int(label))
    if isinstance(label, (bool, np.bool_)):
        return str(int(label))
    if isinstance(label, np.datetime64):
        return str(label)
    return label.isoformat() if hasattr(label, "isoformat") else str(label)


def _is_list_of_labels(labels: Any) -> bool:
    if isinstance(labels, np.ndarray):
        return labels.ndim == 1
    return isinstance(labels, (list, set, frozenset, range)) and not any(
        isinstance(label, (Mapping, list, tuple)) for label in labels
    )


def _labels_as_array(labels: Any) -> Any:
    """Whole numbers are an array already; texts keep their type even if there are none."""
    return np.asarray(labels, dtype=np.str_) if isinstance(labels, list) else labels


def _columns_as_arrays(table: Any, modes: list[str]) -> dict[str, Any]:
    """The columns of a table that are modes, as arrays."""
    if is_path(table) or isinstance(table, (np.ndarray, tuple)):
        return {}
    return {mode: np.asarray(table[mode]) for mode in modes if mode in _column_names(table)}


def _column_names(table: Any) -> list[str]:
    if isinstance(table, Mapping):
        return [str(name) for name in table]
    names = getattr(table, "column_names", None) or getattr(table, "columns", [])
    return [str(name) for name in names]
