#!/bin/sh
# Fuzzes every target for some seconds: fuzz/all.sh SECONDS
set -eu
cd "$(dirname "$0")"
for target in delimited tns npy npz parquet mat model; do
    echo "== $target"
    ./run.sh "$target" "$1" > "/tmp/quadfill-fuzz-$target.log" 2>&1 || {
        tail -40 "/tmp/quadfill-fuzz-$target.log"
        exit 1
    }
    tail -1 "/tmp/quadfill-fuzz-$target.log"
done
