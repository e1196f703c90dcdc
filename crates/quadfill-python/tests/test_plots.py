"""Charts draw on the axes that they get, return axes, and show nothing."""

from __future__ import annotations

import subprocess
import sys

import matplotlib as mpl
import pandas as pd
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

import quadfill
from quadfill import TensorModel, plots


@pytest.fixture(scope="module")
def path_model(ratings):
    return TensorModel(model="pairwise", rank=2, solver="path", path_steps=20).fit(pd.DataFrame(ratings))


CHARTS = {
    "path": lambda model, ratings, ax: plots.path(model, ax=ax),
    "phase": lambda model, ratings, ax: plots.phase(
        {"observations": [1, 1, 2], "recovered": [0, 1, 1], "rank": [1, 1, 2]}, by="rank", ax=ax
    ),
    "residuals": lambda model, ratings, ax: plots.residuals(model, ratings, ax=ax),
    "spectrum": lambda model, ratings, ax: plots.spectrum(model, ax=ax),
    "coverage": lambda model, ratings, ax: plots.coverage(pd.DataFrame(ratings)[["user", "film"]], ax=ax),
    "calibration": lambda model, ratings, ax: plots.calibration(model, ratings, ax=ax),
}


@pytest.mark.parametrize("name", plots.__all__)
def test_charts(name, path_model, ratings, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: pytest.fail("nothing is shown"))
    _, ax = plt.subplots()
    assert CHARTS[name](path_model, ratings, ax) is ax
    assert ax.has_data()
    assert CHARTS[name](path_model, ratings, None) is not ax
    plt.close("all")


def test_what_cannot_be_drawn(model):
    with pytest.raises(quadfill.UnsupportedError, match='`solver`="path"'):
        plots.path(model)
    with pytest.raises(quadfill.DataError, match="no column `recovered`"):
        plots.phase({"observations": [1]})


def test_importing_is_quick_and_needs_numpy_alone():
    script = (
        "import sys, quadfill; "
        "heavy = {'matplotlib', 'pandas', 'polars', 'pyarrow', 'scipy', 'sklearn', 'xarray'} & set(sys.modules); "
        "assert not heavy, heavy; assert quadfill.plots.path"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
