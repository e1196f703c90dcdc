#!/usr/bin/env bash
# A billion observations on one machine: run.sh QUADFILL FOLDER [GB] [auto]
#
# Fits the parts in FOLDER (made by generate.py) with 20 ALS sweeps at rank 10, or with `auto` without any settings,
# in a control group of GB gigabytes (default 20) where the system lets one be made. Prints seconds and memory.
set -euo pipefail
quadfill=$(realpath "$1")
folder=$(realpath "$2")
limit=$((${3:-20} * 1000000000))
settings=(--solver als --sweeps 20 --tolerance 0 --rank 10 --penalty 1e-4 --bias modes --precision f32)
[ "${4:-}" = auto ] && settings=()
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
group=/sys/fs/cgroup/memory/quadfill-scale
if [ -w /sys/fs/cgroup/memory ] && mkdir -p "$group"; then
    echo "$limit" > "$group/memory.limit_in_bytes"
    echo 0 > "$group/memory.max_usage_in_bytes"
    echo $$ > "$group/cgroup.procs"
else
    group=
    echo "no control group: memory is measured, not limited"
fi
/usr/bin/time -v "$quadfill" --json fit "$folder/part-*.parquet" -o "$out/model" "${settings[@]}" > "$out/fit.json" 2> "$out/log" || {
    grep quadfill: "$out/log"
    exit 1
}
python3 - "$out" "$group" << 'END'
import json, pathlib, re, sys
out, group = pathlib.Path(sys.argv[1]), sys.argv[2]
fit, log = json.loads((out / "fit.json").read_text()), (out / "log").read_text()
for what in ("Elapsed .*", "User time .*", "System time .*", "Maximum resident .*"):
    print(re.search(what, log).group())
if group:
    print("most memory of the group, page cache included, GB", int(pathlib.Path(group, "memory.max_usage_in_bytes").read_text()) / 1e9)
print("reading", round(fit["read_seconds"]), "s, fit", round(fit["seconds"]), "s,", fit["sweeps"], "sweeps, CPU", round(fit["cpu_seconds"]), "s")
points = [point["seconds"] for point in fit["path"]]
steps = sorted(later - earlier for earlier, later in zip(points, points[1:]))
if steps:
    print("a sweep, median", round(steps[len(steps) // 2], 1), "s, slowest", round(steps[-1], 1), "s")
print(fit["model"], "rank", fit["rank"], fit["status"], "train rmse", fit["train"]["rmse"], "held out", fit["validation"]["rmse"])
print("model", sum(file.stat().st_size for file in (out / "model").iterdir()) / 1e6, "MB")
END
