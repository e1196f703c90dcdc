"""Writes ratings-like observations in parts: generate.py FOLDER USERS ITEMS WEEKS OBSERVATIONS PARTS.

Users are spread over the parts. Items and weeks are skewed as those of ratings are, no cell comes twice, and the
values are half stars: a mean, a bias of user and item, a product of rank 4, a trend, and noise.
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl

RANK = 4


def factors(count: int, stream: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng([7, stream])
    rows = 0.35 * draw.standard_normal((count, RANK), dtype=np.float32)
    return rows, 0.3 * draw.standard_normal(count, dtype=np.float32)


def part(folder: Path, sizes: tuple[int, int, int], rows: int, parts: int, number: int) -> int:
    users, items, weeks = sizes
    draw = np.random.default_rng([11, number])
    own = np.arange(number, users, parts, dtype=np.uint32)
    user = own[draw.integers(0, len(own), rows, dtype=np.uint32)]
    # A few items have most of the ratings.
    item = (items * draw.random(rows, dtype=np.float32) ** 2).astype(np.uint32)
    # Users rate around a week of their own.
    week = user.astype(np.uint64) * 2_654_435_761 % weeks
    week = (week + (40 * draw.standard_exponential(rows, dtype=np.float32)).astype(np.uint64)) % weeks
    cell = np.unique((user.astype(np.uint64) * items + item) * weeks + week)
    draw.shuffle(cell)
    week = (cell % weeks).astype(np.uint32)
    item = (cell // weeks % items).astype(np.uint32)
    user = (cell // (weeks * items)).astype(np.uint32)
    (u, of_user), (v, of_item) = factors(users, 1), factors(items, 2)
    value = 3.5 + of_user[user] + of_item[item] + np.einsum("ij,ij->i", u[user], v[item])
    value += 0.2 * np.sin(week / 50, dtype=np.float32)
    value += 0.7 * draw.standard_normal(len(cell), dtype=np.float32)
    stars = (np.clip(np.round(2 * value), 1, 10) / 2).astype(np.float32)
    table = pl.DataFrame({"user": user, "item": item, "week": week, "rating": stars})
    table.write_parquet(folder / f"part-{number:04}.parquet", compression="snappy")
    return len(cell)


def main() -> None:
    folder = Path(sys.argv[1])
    users, items, weeks, observations, parts = map(int, sys.argv[2:])
    folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(2) as pool:
        jobs = [
            pool.submit(part, folder, (users, items, weeks), observations // parts, parts, number)
            for number in range(parts)
        ]
        print(sum(job.result() for job in jobs), "rows in", parts, "parts")


if __name__ == "__main__":
    main()
