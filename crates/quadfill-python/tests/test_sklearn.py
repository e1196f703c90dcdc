"""The manners of scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted

from quadfill import TensorModel

#: Checks of scikit-learn that cannot hold here, and why.
TEN_MODES = "the data of this check have ten columns, and a tensor has 2 to 8 modes"
EXPECTED_FAILURES = {
    "check_dtype_object": TEN_MODES,
    "check_regressors_train": TEN_MODES,
    "check_regressor_data_not_an_array": TEN_MODES,
    "check_regressors_int": TEN_MODES,
    "check_fit2d_1sample": TEN_MODES,
}


@pytest.mark.filterwarnings("ignore:Estimator TensorModel does not inherit")
def test_check_estimator():
    results = check_estimator(
        TensorModel(rank=1, penalty=0.1, sweeps=3, on_duplicate="mean"),
        expected_failed_checks=EXPECTED_FAILURES,
        on_fail=None,
        on_skip=None,
    )
    failed = [result for result in results if result["status"] == "failed"]
    assert [(result["check_name"], repr(result["exception"])[:200]) for result in failed] == []
    unexpected = {result["check_name"] for result in results if result["status"] == "passed"} & set(EXPECTED_FAILURES)
    assert not unexpected, "these pass: take them off the list"


def test_parameters_and_clones():
    model = TensorModel(rank=3, tie=["head", "tail"], kernel=np.eye(2))
    copy = clone(model)
    assert copy is not model
    assert copy.rank == 3
    assert copy.tie == ["head", "tail"]
    assert copy.set_params(rank=4).get_params()["rank"] == 4
    assert repr(TensorModel(rank=4)) == "TensorModel(rank=4)"
    assert is_regressor(model)
    with pytest.raises(TypeError):
        TensorModel(speed=1)


def test_is_fitted(model):
    check_is_fitted(model)
    with pytest.raises(NotFittedError):
        check_is_fitted(TensorModel())
    assert not hasattr(TensorModel(), "labels_")


def test_search_and_pipeline(ratings):
    frame = pd.DataFrame(ratings)
    X, y = frame[["user", "film"]], frame["stars"]
    search = GridSearchCV(TensorModel(sweeps=20, solver="als", rank=2), {"penalty": [1e-4, 1e3]}, cv=3)
    search.fit(X, y)
    assert search.best_params_ == {"penalty": 1e-4}
    assert search.best_estimator_.feature_names_in_.tolist() == ["user", "film"]
    steps = [("same", FunctionTransformer()), ("model", TensorModel(rank=2, penalty=1e-3, bias="modes"))]
    pipeline = Pipeline(steps).fit(X, y)
    assert pipeline.score(X, y) > 0.8
    assert pipeline.predict(X).shape == y.shape
    scores = cross_val_score(TensorModel(rank=2, penalty=1e-3, bias="modes"), X.to_numpy(), y, cv=5)
    assert scores.mean() > 0.3
