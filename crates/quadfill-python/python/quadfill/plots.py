"""Charts of fits, with matplotlib: each takes `ax=None`, returns the axes, and shows nothing by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from quadfill._data import Data
from quadfill._errors import DataError, UnsupportedError

if TYPE_CHECKING:
    from quadfill._model import TensorModel

__all__ = ["calibration", "coverage", "path", "phase", "residuals", "spectrum"]

#: The levels at which intervals are compared with what falls into them.
_LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("charts need matplotlib: pip install 'quadfill[plots]'") from error
    import matplotlib.pyplot as plt

    figure: Figure = plt.figure()
    return figure.subplots()


def path(model: TensorModel, *, ax: Any = None) -> Any:
    """Draw the error along the path of penalties, on training and on held-out data.

    >>> import quadfill
    >>> train, _ = quadfill.synth((12, 12, 12), rank=1, observations=300, noise=0.2, seed=1)
    >>> ax = quadfill.plots.path(quadfill.TensorModel(rank=1, solver="path").fit(train))
    >>> ax.get_xlabel()
    'penalty'
    """
    points = model.path_
    points = points[points["penalty"] > 0]
    if len(points) < 2 or points["penalty"][0] <= points["penalty"][-1]:
        raise UnsupportedError('this fit had no path of penalties: fit with `solver`="path"')
    ax = _axes(ax)
    ax.plot(points["penalty"], points["train_rmse"], label="training data")
    if not np.isnan(points["validation_rmse"]).all():
        ax.plot(points["penalty"], points["validation_rmse"], label="held-out data")
        ax.axvline(model.penalty_, color="0.7", linestyle=":", label="chosen")
    ax.set(xscale="log", xlabel="penalty", ylabel="rmse", title="Error along the path")
    ax.invert_xaxis()
    ax.legend()
    return ax


def phase(
    trials: Any, *, x: str = "observations", recovered: str = "recovered", by: str | None = None, ax: Any = None
) -> Any:
    """Draw the share of trials that were recovered against the number of observations.

    `trials` is a table (or a dict of arrays) with one row per trial: how many observations it had, relative or
    absolute, and whether it was recovered. `by` is a column that makes one curve for each of its values.

    >>> import quadfill
    >>> trials = {"observations": [100, 100, 200, 200], "recovered": [False, True, True, True]}
    >>> quadfill.plots.phase(trials).lines[0].get_ydata().tolist()
    [0.5, 1.0]
    """
    for column in (x, recovered, *([] if by is None else [by])):
        try:
            trials[column]
        except (KeyError, IndexError, ValueError, TypeError):
            raise DataError(f"`trials` has no column `{column}`: give one row for each trial") from None
    sizes, shares = np.asarray(trials[x], dtype=np.float64), np.asarray(trials[recovered], dtype=np.float64)
    groups = np.zeros(len(sizes)) if by is None else np.asarray(trials[by])
    ax = _axes(ax)
    for group in np.unique(groups):
        own = groups == group
        at = np.unique(sizes[own])
        share = [shares[own & (sizes == size)].mean() for size in at]
        ax.plot(at, share, marker="o", label=None if by is None else f"{by} {group}")
    ax.set(xlabel=x, ylabel="share recovered", ylim=(-0.05, 1.05), title="Recovery")
    if by is not None:
        ax.legend()
    return ax


def residuals(model: TensorModel, X: Any, y: Any = None, *, ax: Any = None) -> Any:
    """Draw a histogram of values minus predictions, beside a normal curve of the same width.

    >>> import quadfill
    >>> train, _ = quadfill.synth((12, 12, 12), rank=1, observations=300, noise=0.2, seed=1)
    >>> model = quadfill.TensorModel(rank=1, penalty=0.1).fit(train)
    >>> quadfill.plots.residuals(model, train).get_xlabel()
    'value minus prediction'
    """
    rows, reading = model._rows(X, y)
    _, predictions, values = model._fitted().evaluate(rows, reading, model.n_jobs)
    errors: Any = values - predictions
    ax = _axes(ax)
    ax.hist(errors, bins=min(60, max(10, len(errors) // 50)), density=True, alpha=0.6)
    width = float(errors.std())
    if width > 0:
        grid = np.linspace(errors.min(), errors.max(), 200)
        middle = float(errors.mean())
        ax.plot(grid, np.exp(-0.5 * ((grid - middle) / width) ** 2) / (width * np.sqrt(2 * np.pi)), label="normal")
        ax.legend()
    ax.set(xlabel="value minus prediction", ylabel="density", title="Residuals")
    return ax


def spectrum(model: TensorModel, *, ax: Any = None) -> Any:
    """Draw the singular values of all factors, one below the other: columns that are in use, and how much.

    >>> import quadfill
    >>> train, _ = quadfill.synth((12, 12, 12), rank=2, observations=400, seed=1)
    >>> len(quadfill.plots.spectrum(quadfill.TensorModel(rank=2).fit(train)).patches)
    2
    """
    core = model._fitted()
    stacked = np.concatenate([core.factors(mode) for mode in range(len(model.modes_))])
    values = np.linalg.svd(stacked, compute_uv=False)
    ax = _axes(ax)
    ax.bar(np.arange(1, len(values) + 1), values)
    ax.set(xlabel="column, largest first", ylabel="singular value", title="Spectrum of the factors")
    return ax


def coverage(data: Any, *, ax: Any = None) -> Any:
    """Draw how many observations the labels of each mode have: labels with few of them are known badly.

    `data` are :class:`quadfill.Data`, or a table or dict whose columns are modes.

    >>> import quadfill
    >>> train, _ = quadfill.synth((12, 12, 12), rank=1, observations=300, seed=1)
    >>> modes = {mode: train[mode] for mode in ("mode1", "mode2")}
    >>> len(quadfill.plots.coverage(modes).lines)
    2
    """
    if isinstance(data, Data):
        columns = {mode: data.columns()[mode] for mode in data.modes}
    else:
        names = list(data) if isinstance(data, Mapping) else list(getattr(data, "column_names", data.columns))
        columns = {str(name): np.asarray(data[name]) for name in names}
    ax = _axes(ax)
    for name, labels in columns.items():
        counts = np.sort(np.unique(labels, return_counts=True)[1])
        ax.plot(np.linspace(0, 100, len(counts)), counts, label=name, marker="." if len(counts) < 3 else None)
    ax.set(yscale="log", xlabel="per cent of the labels", ylabel="observations, at most", title="Coverage of labels")
    ax.legend()
    return ax


def calibration(model: TensorModel, X: Any, *, ax: Any = None) -> Any:
    """Draw which share of values falls into the intervals about their predictions, against what it should be.

    `X` has the values in a column, as in :meth:`quadfill.TensorModel.evaluate`.

    >>> import quadfill
    >>> train, _ = quadfill.synth((12, 12, 12), rank=1, observations=300, noise=0.2, seed=1)
    >>> model = quadfill.TensorModel(rank=1, solver="path").fit(train)
    >>> len(quadfill.plots.calibration(model, train).lines)
    2
    """
    rows, reading = model._rows(X)
    _, predictions, values = model._fitted().evaluate(rows, reading, model.n_jobs)
    shares = []
    for level in _LEVELS:
        table = model.predict(X, interval=level)
        half = (np.asarray(table["upper"]) - np.asarray(table["lower"])) / 2
        shares.append(float((abs(values - predictions) <= half).mean()))
    ax = _axes(ax)
    ax.plot([0, 1], [0, 1], color="0.7", linestyle=":", label="as they say")
    ax.plot(_LEVELS, shares, marker="o", label="found")
    ax.set(
        xlabel="probability of the interval",
        ylabel="share of values in it",
        title="Intervals",
        xlim=(0.4, 1),
        ylim=(0.4, 1.02),
    )
    ax.legend()
    return ax
