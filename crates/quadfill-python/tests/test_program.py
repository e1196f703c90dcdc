"""The package and the program are one: same bytes, same numbers, and the command is in the wheel."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest

import quadfill
from quadfill import TensorModel

COMMAND = [sys.executable, "-m", "quadfill"]


def program(*arguments):
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False)


def bytes_of(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


FITS = [
    ({"model": "pairwise", "rank": 2, "penalty": 0.05}, ["--model", "pairwise", "--rank", "2", "--penalty", "0.05"]),
    ({"effort": "quick", "random_state": 5}, ["--effort", "quick", "--seed", "5"]),
    (
        {"model": "cp", "rank": 2, "solver": "path", "hold_out": 0.2},
        ["--model", "cp", "--rank", "2", "--solver", "path", "--validation", "0.2"],
    ),
    (
        {"solver": "gibbs", "rank": 2, "burn_in": 5, "samples": 10, "prior": "wishart", "precision": "f32"},
        [
            "--solver",
            "gibbs",
            "--rank",
            "2",
            "--burn-in",
            "5",
            "--samples",
            "10",
            "--prior",
            "wishart",
            "--precision",
            "f32",
        ],
    ),
    (
        {"rank": 2, "penalty": 0.1, "bias": "modes", "penalty_scale": "count"},
        ["--rank", "2", "--penalty", "0.1", "--bias", "modes", "--penalty-scale", "count"],
    ),
    ({"implicit": 0.1, "penalty": 0.1, "rank": 2}, ["--implicit", "0.1", "--penalty", "0.1", "--rank", "2"]),
]


@pytest.mark.parametrize(("parameters", "flags"), FITS)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_same_bytes(tmp_path, ratings, parameters, flags, kind):
    frame = pl.DataFrame(ratings)
    file = tmp_path / f"ratings.{kind}"
    frame.write_csv(file) if kind == "csv" else frame.write_parquet(file)
    if "implicit" in parameters:
        # Without values a header cannot be told from labels.
        flags = [*flags, "--header"]
        frame = frame.drop("stars")
        frame.write_csv(file) if kind == "csv" else frame.write_parquet(file)
    answer = program("fit", file, "-o", tmp_path / "program", "--quiet", *flags)
    assert answer.returncode == 0, answer.stderr
    TensorModel(**parameters).fit(frame).save(tmp_path / "python")
    assert bytes_of(tmp_path / "python") == bytes_of(tmp_path / "program")


def test_arrays_without_names_are_a_file_without_a_header(tmp_path, ratings, settings):
    columns = (ratings["user"], np.arange(350) % 17, ratings["stars"])
    pl.DataFrame(columns).write_csv(tmp_path / "rows.csv", include_header=False)
    flags = [
        "--model",
        "pairwise",
        "--rank",
        "2",
        "--penalty",
        "0.05",
        "--solver",
        "als",
        "--sweeps",
        "8",
        "--on-duplicate",
        "mean",
    ]
    assert program("fit", tmp_path / "rows.csv", "-o", tmp_path / "program", *flags).returncode == 0
    model = TensorModel(**settings, on_duplicate="mean").fit(columns)
    model.save(tmp_path / "python")
    assert bytes_of(tmp_path / "python") == bytes_of(tmp_path / "program")
    assert model.predict(columns[:2]).shape == (350,)


def test_predictions_rankings_and_best_labels_are_those_of_the_program(tmp_path, ratings, model):
    pd.DataFrame(ratings).to_csv(tmp_path / "ratings.csv", index=False)
    model.save(tmp_path / "model")
    answer = program("evaluate", tmp_path / "model", tmp_path / "ratings.csv", "--json")
    assert json.loads(answer.stdout) == model.evaluate(ratings)
    answer = program("evaluate", tmp_path / "model", tmp_path / "ratings.csv", "--json", "--rank-mode", "film")
    told = json.loads(answer.stdout)
    assert {name: told[name] for name in told if name != "modes"} == model.rank_metrics(ratings, mode="film")
    arguments = ("top", tmp_path / "model", "--given", "user=100", "--mode", "film", "-k", "4", "--json")
    answer = json.loads(program(*arguments, "--exclude", tmp_path / "ratings.csv").stdout)
    best = model.top({"user": 100}, mode="film", k=4, exclude=ratings)
    assert [item["label"] for item in answer["items"]] == best["film"].tolist()
    assert [item["score"] for item in answer["items"]] == best["score"].tolist()


def test_models_of_the_program_open(tmp_path, ratings):
    pd.DataFrame(ratings).to_csv(tmp_path / "ratings.csv", index=False)
    flags = ["--rank", "2", "--penalty", "0.05"]
    assert program("fit", tmp_path / "ratings.csv", "-o", tmp_path / "model", *flags).returncode == 0
    model = quadfill.load(tmp_path / "model")
    assert model.modes_ == ["user", "film"]
    assert model.predict(pd.DataFrame(ratings)).shape == (350,)


def test_exit_codes(tmp_path):
    assert program("--version").returncode == 0
    wrong = program("fit", tmp_path / "nothing.csv", "-o", tmp_path / "model")
    assert wrong.returncode == 2
    assert "there is no such file" in wrong.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals are those of Unix")
def test_ctrl_c_ends_the_command_with_130(tmp_path):
    train, _ = quadfill.synth((400, 400, 400), rank=8, observations=200_000, noise=0.3, seed=1)
    pl.DataFrame(train).write_parquet(tmp_path / "train.parquet")
    command = [*COMMAND, "fit", str(tmp_path / "train.parquet"), "-o", str(tmp_path / "model")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        time.sleep(3)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
    assert running.returncode == 130, errors
    assert "interrupted" in errors
