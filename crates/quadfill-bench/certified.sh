#!/usr/bin/env bash
# Certified optima, automatic ranks and convex programs, through the program: certified.sh QUADFILL [SEEDS]
set -euo pipefail
quadfill=$(realpath "$1")
seeds=${2:-3}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# field NAME: a number or a word from the JSON of a fit
field() { sed -E "s/.*\"$1\": *\"?([0-9a-z_.eE+-]+).*/\1/"; }

# each NAME SYNTH_FLAGS... -- FIT_FLAGS...: rank, relative gap, error and CPU-seconds of every seed
each() {
    local name=$1
    shift
    local synth=()
    while [ "$1" != -- ]; do synth+=("$1"); shift; done
    shift
    for seed in $(seq "$seeds"); do
        "$quadfill" --quiet --seed "$seed" synth "${synth[@]}" -o train.tns --test test.tns > /dev/null
        "$quadfill" --json --quiet --seed "$seed" fit train.tns -o model --test test.tns "$@" > fit.json
        printf '%-44s seed %d: %s, rank %d, relative gap %.1e, error %.1e, %.1f CPU-s\n' "$name" "$seed" \
            "$(field status < fit.json)" "$(field rank < fit.json)" "$(field relative_gap < fit.json)" \
            "$(field relative_error < fit.json)" "$(field cpu_seconds < fit.json)"
        rm -rf model
    done
}

noisy=(--dims 200,200,200 --rank 5 --observations 10000 --noise 0.1)
for penalty in 1e-2 1e-3 1e-4; do
    each "noise 0.1, m=10000, --penalty $penalty" "${noisy[@]}" -- --penalty "$penalty"
done
each "exact, m=4000, automatic rank" --dims 200,200,200 --rank 5 --observations 4000 --
each "noise 0.1, m=10000, automatic rank" "${noisy[@]}" -- --solver path
for size in 50 100; do
    each "convex program, d=$size, m=$((40 * size))" --dims "$size,$size,$size" --rank 5 --observations $((40 * size)) -- --solver sdp
done
