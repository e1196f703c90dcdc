"""How fast the package is: beside the program on the same rows, and beside implicit.

    python crates/quadfill-python/benchmarks/speed.py [--rows 10_000_000] [--only fit,predict,import,top]

Prints one line per figure, with the bar where there is one. `top` needs `pip install implicit`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import quadfill

SIZES = (71_567, 10_681, 37)
SETTINGS = {"model": "pairwise", "rank": 10, "solver": "als", "penalty": 1e-3, "sweeps": 5, "precision": "f32"}
FLAGS = "--model pairwise --rank 10 --solver als --penalty 1e-3 --sweeps 5 --precision f32".split()


def tell(what: str, figure: str, bar: str = "") -> None:
    print(f"{what:<46} {figure:>18} {bar}", flush=True)


def columns(rows: int) -> dict[str, np.ndarray]:
    """Distinct cells with integer labels, and a value for each."""
    rng = np.random.default_rng(1)
    cells = np.unique(rng.integers(0, np.prod(SIZES, dtype=np.int64), int(rows * 1.01)))
    cells = rng.permutation(cells)[:rows]
    user, rest = np.divmod(cells, SIZES[1] * SIZES[2])
    film, week = np.divmod(rest, SIZES[2])
    return {
        "user": user.astype(np.int32),
        "film": film.astype(np.int32),
        "week": week.astype(np.int16),
        "rating": rng.integers(1, 11, rows).astype(np.float32) / 2,
    }


def memory(field: str) -> float:
    """What Linux says about the memory of this process, in bytes: VmRSS now, VmHWM at most."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def forget_high_water() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def fit_in_this_process(file: str) -> None:
    """What a process of its own does, so that its memory can be told: reads the frame, fits, predicts."""
    import polars as pl

    frame = pl.read_parquet(file).rechunk()
    quadfill.TensorModel(**SETTINGS).fit(frame.head(1000))
    forget_high_water()
    before = memory("VmRSS")
    begun = time.perf_counter()
    model = quadfill.TensorModel(**SETTINGS).fit(frame)
    fit_seconds = time.perf_counter() - begun
    grown = memory("VmHWM") - before
    predict_seconds = []
    wanted = frame.drop("rating")
    for _ in range(3):
        begun = time.perf_counter()
        model.predict(wanted)
        predict_seconds.append(time.perf_counter() - begun)
    print(
        json.dumps(
            {"fit": fit_seconds, "grown": grown, "frame": frame.estimated_size(), "predict": min(predict_seconds)}
        )
    )


def fit_and_predict(rows: int, only: set[str]) -> None:
    import polars as pl

    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "rows.parquet")
        pl.DataFrame(columns(rows)).write_parquet(file)
        here = json.loads(
            subprocess.run(
                [sys.executable, __file__, "--child", file], check=True, stdout=subprocess.PIPE, text=True
            ).stdout
        )
        command = [sys.executable, "-m", "quadfill", "fit", file, "-o", f"{folder}/model", "--quiet", "--json", *FLAGS]
        told = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    program = told["read_seconds"] + told["seconds"]
    if "fit" in only:
        tell("fit of a polars frame", f"{here['fit']:.2f} s")
        tell("the program on the Parquet file", f"{program:.2f} s", f"ratio {here['fit'] / program:.3f}, at most 1.05")
        per_row = here["grown"] / rows
        tell("memory beyond the frame, per observation", f"{per_row:.1f} bytes", "at most 50")
    if "predict" in only:
        speed = rows / here["predict"] / 1e6
        tell("predict", f"{speed:.1f} M rows/s", "at least 20")


def import_time() -> None:
    script = "import time; begun = time.perf_counter(); import quadfill; print(time.perf_counter() - begun)"
    seconds = [float(subprocess.check_output([sys.executable, "-c", script])) for _ in range(5)]
    tell("import quadfill", f"{statistics.median(seconds):.3f} s", "at most 0.25")


def top() -> None:
    """1000 users, the 20 best of 100,000 items, those excluded that they have seen; rank 64 in single precision."""
    import implicit
    import scipy.sparse

    users, items, rank, asked, k = 2_000, 100_000, 64, 1_000, 20
    rng = np.random.default_rng(2)
    seen = rng.integers(0, users * items, 200_000)
    seen = np.unique(np.concatenate([seen, np.arange(items) + (np.arange(items) % users) * items]))
    user, item = np.divmod(seen, items)
    matrix = scipy.sparse.csr_matrix((np.ones(len(seen), np.float32), (user, item)), shape=(users, items))
    theirs = implicit.als.AlternatingLeastSquares(factors=rank, iterations=1, num_threads=0, use_gpu=False)
    theirs.fit(matrix, show_progress=False)
    rows = {"user": user.astype(np.int32), "item": item.astype(np.int32), "seen": np.ones(len(seen), np.float32)}
    ours = quadfill.TensorModel(
        model="matrix", rank=rank, solver="als", penalty=0.01, sweeps=1, bias="none", precision="f32"
    ).fit(rows)
    given = {"user": np.arange(asked, dtype=np.int32)}
    some = np.arange(asked)

    def seconds(call) -> float:
        times = []
        for _ in range(5):
            begun = time.perf_counter()
            call()
            times.append(time.perf_counter() - begun)
        return min(times)

    mine = seconds(lambda: ours.top(given, mode="item", k=k, exclude=rows))
    other = seconds(lambda: theirs.recommend(some, matrix[some], N=k, filter_already_liked_items=True))
    tell("top for 1000 users, 20 of 100,000 items", f"{mine * 1e3:.0f} ms")
    tell(
        "implicit's recommend, same rank and threads", f"{other * 1e3:.0f} ms", f"{other / mine:.1f} times, at least 3"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--only", default="import,fit,predict,top")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        fit_in_this_process(arguments.child)
        return
    only = set(arguments.only.split(","))
    if "import" in only:
        import_time()
    if only & {"fit", "predict"}:
        fit_and_predict(arguments.rows, only)
    if "top" in only and os.environ.get("OPENBLAS_NUM_THREADS") == "1":
        top()
    elif "top" in only:
        # As implicit's documentation asks: it has threads of its own.
        command = [sys.executable, __file__, "--only", "top"]
        subprocess.run(command, check=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})


if __name__ == "__main__":
    main()
