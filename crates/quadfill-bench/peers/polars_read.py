"""Seconds that polars takes to read a file: polars_read.py FILE.csv

With `FILE.csv FILE.parquet COMPRESSION` the rows are first written to the Parquet file, which is then read.
"""
import sys
import time

import polars


def read_csv():
    return polars.read_csv(sys.argv[1], has_header=False)


def read_parquet():
    return polars.read_parquet(sys.argv[2])


read = read_csv
if len(sys.argv) > 2:
    read_csv().write_parquet(sys.argv[2], compression=sys.argv[3])
    read = read_parquet
best = float("inf")
for _ in range(3):
    start = time.perf_counter()
    read()
    best = min(best, time.perf_counter() - start)
print(best)
