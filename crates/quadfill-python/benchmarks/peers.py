"""Quadfill beside its peers through their Python interfaces: MovieLens-100K, seconds and test RMSE in one table.

    python crates/quadfill-python/benchmarks/peers.py ml-100k/u.data [--seeds 1,2,3] [--only quadfill,myFM] [--out FILE]

A seed draws which fifth of the ratings is for testing. Each peer runs in a process of its own, with the settings of
its documentation; ours has none. Seconds are those of fit and predict, without imports. Peers that are not installed
are left out: pip install myfm lenskit implicit scikit-surprise cmfrec
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

Predict = Callable[[pd.DataFrame, pd.DataFrame, int], Any]


def quadfill(train: pd.DataFrame, test: pd.DataFrame, seed: int) -> Any:
    from quadfill import TensorModel

    return TensorModel(random_state=seed, verbose=False).fit(train).predict(test)


def my_fm(train: pd.DataFrame, test: pd.DataFrame, seed: int) -> Any:
    """Follow its tutorial with MovieLens: one group of columns per field, 200 draws, rank 10."""
    from myfm import MyFMRegressor
    from sklearn.preprocessing import OneHotEncoder

    fields = ["user", "movie", "day"]
    encoder = OneHotEncoder(handle_unknown="ignore")
    known = encoder.fit_transform(train[fields])
    model = MyFMRegressor(rank=10, random_seed=seed)
    groups = [len(labels) for labels in encoder.categories_]
    model.fit(known, train["rating"].to_numpy(float), n_iter=200, n_kept_samples=200, group_shapes=groups)
    return model.predict(encoder.transform(test[fields]))


def lenskit(train: pd.DataFrame, test: pd.DataFrame, seed: int) -> Any:
    """Run its pipeline for ratings, with its defaults: biased ALS, and biases alone for labels without ratings."""
    from lenskit.als import BiasedMFScorer
    from lenskit.batch import predict
    from lenskit.data import from_interactions_df
    from lenskit.pipeline import predict_pipeline
    from lenskit.training import TrainingOptions

    names = {"user": "user_id", "movie": "item_id"}
    pipeline = predict_pipeline(BiasedMFScorer())
    pipeline.train(
        from_interactions_df(train[["user", "movie", "rating"]].rename(columns=names)), TrainingOptions(rng=seed)
    )
    wanted = test[["user", "movie"]].rename(columns=names)
    answers = predict(pipeline, wanted, n_jobs=1).to_df()
    return wanted.merge(answers, on=["user_id", "item_id"], how="left")["score"].to_numpy()


def cmfrec(train: pd.DataFrame, test: pd.DataFrame, seed: int) -> Any:
    """Run its model for ratings with its defaults: 40 columns, penalty 10."""
    from cmfrec import CMF

    names = {"user": "UserId", "movie": "ItemId", "rating": "Rating"}
    model = CMF(random_state=seed, verbose=False).fit(train[list(names)].rename(columns=names))
    return model.predict(test["user"].to_numpy(), test["movie"].to_numpy())


def surprise(name: str) -> Predict:
    """Run one of the algorithms of its benchmark on this very data set, with its defaults."""

    def run(train: pd.DataFrame, test: pd.DataFrame, seed: int) -> Any:
        import surprise as package

        reader = package.Reader(rating_scale=(1, 5))
        data = package.Dataset.load_from_df(train[["user", "movie", "rating"]], reader).build_full_trainset()
        model = getattr(package, name)(random_state=seed).fit(data)
        pairs = zip(test["user"], test["movie"], strict=True)
        return np.array([model.predict(user, movie).est for user, movie in pairs])

    return run


def implicit(train: pd.DataFrame, test: pd.DataFrame, seed: int) -> Any:
    """Fit the model of its first example; its scores rank movies and are not ratings, so that nothing is predicted."""
    from implicit.als import AlternatingLeastSquares
    from scipy.sparse import csr_matrix

    weights = csr_matrix((train["rating"].to_numpy(np.float32), (train["user"], train["movie"])))
    model = AlternatingLeastSquares(factors=50, random_state=seed)
    model.fit(weights, show_progress=False)
    model.recommend(np.unique(test["user"]), weights[np.unique(test["user"])])
    return None


class Peer(NamedTuple):
    """A row of the table."""

    name: str
    package: str
    modes: str
    run: Predict
    settings: str


PEERS = [
    Peer("quadfill", "quadfill", "user, movie, day", quadfill, "none"),
    Peer("myFM", "myfm", "user, movie, day", my_fm, "its MovieLens tutorial: rank 10, grouped, 200 draws"),
    Peer("LensKit BiasedMF", "lenskit", "user, movie", lenskit, "defaults, in `predict_pipeline`"),
    Peer("cmfrec CMF", "cmfrec", "user, movie", cmfrec, "defaults"),
    Peer("Surprise SVD", "scikit-surprise", "user, movie", surprise("SVD"), "defaults, as its benchmark"),
    Peer("Surprise SVD++", "scikit-surprise", "user, movie", surprise("SVDpp"), "defaults, as its benchmark"),
    Peer(
        "implicit ALS",
        "implicit",
        "user, movie",
        implicit,
        "50 factors, as its first example; its scores are not ratings",
    ),
]


def version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def split(file: str, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    rows = pd.read_csv(file, sep="\t", names=["user", "movie", "rating", "time"])
    rows["day"] = rows["time"] // 86_400 - rows["time"].min() // 86_400
    rows = rows[["user", "movie", "day", "rating"]]
    is_test = np.random.default_rng(seed).permutation(len(rows)) < len(rows) // 5
    return rows[~is_test].reset_index(drop=True), rows[is_test].reset_index(drop=True)


def measure(peer: Peer, file: str, seed: int) -> dict[str, float | None]:
    """What a process of its own does."""
    train, test = split(file, seed)
    # The first call imports and starts threads; it is not counted.
    peer.run(train.head(2_000), train.head(100), seed)
    begun = time.perf_counter()
    predictions = peer.run(train, test.drop(columns="rating"), seed)
    seconds = time.perf_counter() - begun
    if predictions is None:
        return {"seconds": seconds, "rmse": None}
    predictions = np.where(np.isfinite(predictions), predictions, train["rating"].mean())
    return {"seconds": seconds, "rmse": float(np.sqrt(np.mean((predictions - test["rating"]) ** 2)))}


def in_own_process(peer: Peer, file: str, seed: int) -> dict[str, float | None] | None:
    # implicit asks for this: its threads and those of the library below it are in each other's way.
    limits = {"OPENBLAS_NUM_THREADS": "1"} if peer.package == "implicit" else {}
    command = [sys.executable, __file__, file, "--child", peer.name, "--seeds", str(seed)]
    done = subprocess.run(command, env={**os.environ, **limits}, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{peer.name} failed:\n{done.stderr}", file=sys.stderr)
        return None
    figures: dict[str, float | None] = json.loads(done.stdout.splitlines()[-1])
    return figures


def table(peers: list[Peer], file: str, seeds: list[int]) -> str:
    lines = ["| | version | modes | settings | seconds | test RMSE |", "|---|---|---|---|---|---|"]
    for peer in peers:
        told = [in_own_process(peer, file, seed) for seed in seeds]
        figures = [one for one in told if one is not None]
        seconds = f"{statistics.median(one['seconds'] for one in figures):.1f}" if figures else "failed"
        errors = [one["rmse"] for one in figures if one["rmse"] is not None]
        rmse = f"{statistics.mean(errors):.4f}" if errors else ""
        row = [peer.name, version(peer.package), peer.modes, peer.settings, seconds, rmse]
        lines.append(f"| {' | '.join(map(str, row))} |")
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", help="MovieLens-100K's u.data")
    parser.add_argument("--seeds", default="1", help="one split for each, separated by commas")
    parser.add_argument("--only", help="names of rows, separated by commas; all that are installed by default")
    parser.add_argument("--out", type=Path, help="where to write the table")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    if arguments.child:
        peer = next(peer for peer in PEERS if peer.name == arguments.child)
        print(json.dumps(measure(peer, arguments.file, seeds[0])))
        return
    wanted = None if arguments.only is None else arguments.only.split(",")
    installed = [peer for peer in PEERS if version(peer.package) is not None]
    text = table([peer for peer in installed if wanted is None or peer.name in wanted], arguments.file, seeds)
    print(text, end="")
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
