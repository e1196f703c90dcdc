"""What a fitted model can do, against what it must be."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import quadfill
from quadfill import TensorModel


def test_top_is_the_sorted_list_of_predictions(ratings, model):
    films = model.labels_["film"]
    everything = model.predict({"user": np.full(20, 106), "film": films})
    best = model.top({"user": 106}, mode="film", k=20)
    np.testing.assert_array_equal(best["score"], np.sort(everything)[::-1])
    np.testing.assert_array_equal(best["film"], films[np.argsort(-everything)])
    worst = model.top({"user": 106}, mode="film", k=20, order="lowest")
    np.testing.assert_array_equal(worst["film"], best["film"][::-1])
    some = model.top({"user": 106}, mode="film", k=20, candidates=["film 3", "film 9"])
    assert set(some["film"]) == {"film 3", "film 9"}


def test_top_leaves_out_what_was_seen(ratings, model):
    seen = set(ratings["film"][ratings["user"] == 106])
    best = model.top({"user": 106}, mode="film", k=20, exclude=ratings)
    assert set(best["film"]) == set(model.labels_["film"]) - seen
    one = model.top({"user": 106}, mode="film", k=20, exclude=["film 3"])
    assert set(one["film"]) == set(model.labels_["film"]) - {"film 3"}


def test_top_of_many_is_that_of_each(ratings, model):
    users = [100, 106, 112]
    frame = pd.DataFrame({"user": users})
    many = model.top(frame, mode="film", k=4, exclude=ratings)
    for user in users:
        one = model.top({"user": user}, mode="film", k=4, exclude=ratings)
        own = many[many["user"] == user]
        assert own["film"].tolist() == one["film"].tolist()
        np.testing.assert_allclose(own["score"], one["score"])
    listed = model.top([{"user": user} for user in users], mode="film", k=4, exclude=ratings)
    assert listed["film"].tolist() == many["film"].tolist()
    by_name = model.top({"user": np.array(users)}, mode="film", k=4, exclude=ratings)
    assert by_name["film"].tolist() == many["film"].tolist()


def test_exclusions_by_some_modes():
    train, _ = quadfill.synth((5, 6, 7), rank=1, observations=100, seed=1)
    model = TensorModel(rank=1, penalty=0.1).fit(train)
    given = {"mode1": 1, "mode3": 1}
    narrow = model.top(given, mode="mode2", k=6, exclude=train)
    wide = model.top(given, mode="mode2", k=6, exclude=train, exclude_by=["mode1"])
    both = (train["mode1"] == 1) & (train["mode3"] == 1)
    assert set(narrow["mode2"]) == set(range(1, 7)) - set(train["mode2"][both])
    assert set(wide["mode2"]) == set(range(1, 7)) - set(train["mode2"][train["mode1"] == 1])


def test_similar_labels_have_the_largest_cosines(model):
    rows = model.factors("film")
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = unit @ unit[4]
    label = model.labels_["film"][4]
    like = model.similar("film", label, k=3)
    order = [at for at in np.argsort(-cosines) if at != 4][:3]
    assert like["film"].tolist() == model.labels_["film"][order].tolist()
    np.testing.assert_allclose(like["score"], cosines[order], rtol=1e-9)


def test_explanations_add_up(ratings, model):
    told = model.explain([106, "film 3"])
    assert told["prediction"] == model.predict({"user": [106], "film": ["film 3"]})[0]
    assert {part["kind"] for part in told["parts"]} == {"pair"}
    assert told["parts"][0]["modes"] == ["user", "film"]
    told = model.explain({"film": "film 3", "user": 106}, influences=2)
    assert len(told["influences"]["user"]) == 2
    assert told["influences"]["user"][0]["cell"]["user"] == "106"


def test_intervals_need_the_data_or_draws(ratings, model):
    table = model.predict(ratings, interval=0.9)
    inside = (table["lower"] <= ratings["stars"]) & (ratings["stars"] <= table["upper"])
    assert inside.mean() > 0.8
    loaded = TensorModel()
    loaded.__setstate__(model.__getstate__())
    with pytest.raises(quadfill.UnsupportedError, match="give them as `data`"):
        loaded.predict(ratings, interval=0.9)
    again = loaded.predict(ratings, interval=0.9, data=ratings)
    np.testing.assert_array_equal(again["lower"], table["lower"])
    sampled = TensorModel(solver="gibbs", rank=2, burn_in=5, samples=20).fit(ratings)
    widths = sampled.predict(ratings, interval=0.9)
    assert (widths["upper"] > widths["lower"]).all()
    wider = sampled.predict(ratings, interval=0.99)
    assert (wider["upper"] > widths["upper"]).all()


def test_new_labels(ratings, model):
    new = pd.DataFrame({"user": [7, 7, 7], "film": ["film 1", "film 2", "film 3"], "stars": [1.0, 2.0, 3.0]})
    wider = model.fold_in(new)
    assert 7 in wider.labels_["user"]
    assert 7 not in model.labels_["user"]
    np.testing.assert_array_equal(wider.predict(ratings), model.predict(ratings))
    both = pd.concat([pd.DataFrame(ratings), new])
    updated = model.update(both)
    assert updated.summary_["observations"] == 353
    assert updated.evaluate(new)["unknown"] == 0
    assert model.evaluate(new)["unknown"] == 3


def test_score_is_r_squared(ratings, model):
    predictions = model.predict(ratings)
    values = ratings["stars"]
    expected = 1 - ((values - predictions) ** 2).sum() / ((values - values.mean()) ** 2).sum()
    assert model.score(ratings) == pytest.approx(expected)
    X = pd.DataFrame(ratings)[["user", "film"]]
    assert model.score(X, values) == pytest.approx(expected)
    assert model.evaluate(ratings)["rmse"] == pytest.approx(np.sqrt(((values - predictions) ** 2).mean()))


def test_what_a_fit_tells(ratings):
    model = TensorModel(effort="quick").fit(pl.DataFrame(ratings))
    assert model.race_["heats"][model.race_["chosen"]] == model.chosen_
    assert 0 < model.held_out_["rmse"] < model.held_out_["baselines"]["mean"]
    assert model.roles_["value"] == "stars"
    assert model.rank_ >= 1
    exact, _ = quadfill.synth((12, 12, 12), rank=1, observations=300, seed=1)
    model = TensorModel().fit(exact)
    assert model.status_ == "exact"
    assert model.certificate_["outcome"] == "globally_optimal"
    assert len(model.path_) > 1
    assert (np.diff(model.path_["penalty"]) <= 0).all()


def test_a_notebook_shows_facts_chart_and_certificate(ratings):
    model = TensorModel(model="pairwise", rank=2, solver="path", path_steps=20).fit(ratings)
    html = model._repr_html_()
    assert "350 observations of 30 x 20 cells" in html
    assert "<svg" in html
    assert "The verdict" in html
    assert TensorModel(rank=2)._repr_html_() == "<pre>TensorModel(rank=2)</pre>"


def test_reports(tmp_path, ratings, model):
    model.report(tmp_path / "fit.html")
    page = (tmp_path / "fit.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "Residuals" in page
    model.save(tmp_path / "model")
    loaded = quadfill.load(tmp_path / "model")
    with pytest.raises(quadfill.UnsupportedError, match="the report needs the data"):
        loaded.report(tmp_path / "other.html")
    loaded.report(tmp_path / "other.html", data=pd.DataFrame(ratings))
    assert (tmp_path / "other.html").exists()


def test_negatives_theory_and_ties():
    rng = np.random.default_rng(4)
    cells = np.unique(rng.integers(0, 8 * 3 * 8, 60))
    triples = {"head": cells // 24, "relation": cells // 8 % 3, "tail": cells % 8}
    model = TensorModel(model="transe", tie=["head", "tail"], negatives=2, penalty=1e-3, rank=2).fit(triples)
    assert model.summary_["observations"] > len(cells)
    assert model.factors("head").shape == model.factors("tail").shape
    figures = model.rank_metrics(triples, mode=["head", "tail"])
    assert set(figures["modes"]) == {"head", "tail"}
    train, _ = quadfill.synth((8, 8), rank=1, observations=40, seed=1)
    theory = TensorModel(theory=4.0).fit(train)
    assert theory.penalty_ > 0
    kernel = TensorModel(kernel=[[0, 0.5], [0.5, 0]], rank=1, penalty=0.1).fit(train)
    assert kernel.kind_ == "pairwise"


def test_labels_never_seen_are_left_out_of_predictions(ratings):
    model = TensorModel(rank=2, penalty=0.05, bias="modes").fit(ratings)
    strange = model.predict({"user": [99_999, 106], "film": ["film 3", "never seen"]})
    assert np.isfinite(strange).all()
    assert model.evaluate({"user": [99_999], "film": ["film 3"], "stars": [3.0]})["unknown"] == 1


def test_a_distilled_mean_in_double_precision_comes_back_bit_by_bit(tmp_path):
    train, test = quadfill.synth((30, 20), rank=1, observations=300, noise=0.1, seed=1)
    model = quadfill.TensorModel(effort="quick").fit(train)
    factors = model.factors("mode1")
    assert (factors != factors.astype(np.float32)).any(), "single precision would do"
    model.save(tmp_path / "model")
    loaded = quadfill.load(tmp_path / "model")
    assert np.array_equal(loaded.factors("mode1"), factors)
    assert np.array_equal(loaded.predict(test), model.predict(test))
