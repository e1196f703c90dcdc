#!/usr/bin/env bash
# How often planted tensors are recovered from few observations, through the program: recovery.sh QUADFILL [SEEDS]
set -euo pipefail
quadfill=$(realpath "$1")
seeds=${2:-10}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# bar NAME LIMIT SYNTH_FLAGS... -- FIT_FLAGS...
bar() {
    local name=$1 limit=$2 good=0 worst=0 start=$SECONDS
    shift 2
    local synth=()
    while [ "$1" != -- ]; do synth+=("$1"); shift; done
    shift
    for seed in $(seq "$seeds"); do
        "$quadfill" --quiet --seed "$seed" synth "${synth[@]}" -o train.tns --test test.tns > /dev/null
        error=$("$quadfill" --json --quiet --seed "$seed" fit train.tns -o model --test test.tns "$@" |
            sed -E 's/.*"relative_error": *([0-9.eE+-]+).*/\1/' | tr -d '\n' | grep -oE '[0-9.eE+-]+$')
        good=$((good + $(awk -v e="$error" -v l="$limit" 'BEGIN { print (e < l) ? 1 : 0 }')))
        worst=$(awk -v e="$error" -v w="$worst" 'BEGIN { print (e > w) ? e : w }')
        rm -rf model
    done
    printf '%-48s %2d of %d below %s, worst %.1e, %d s\n' "$name" "$good" "$seeds" "$limit" "$worst" $((SECONDS - start))
}

pairwise() { bar "pairwise d=$1 r=5, m=$2" 1e-3 --dims "$1,$1,$1" --rank 5 --observations "$2" -- --rank 5 "${@:3}"; }

pairwise 50 1000
pairwise 200 4000
pairwise 1000 20000
pairwise 200 3400 --path-steps 1000
bar "pairwise d=50 r=5, m=1000, to 1e-8" 1e-8 --dims 50,50,50 --rank 5 --observations 1000 -- --rank 5
bar "pairwise d=500 r=10, m=20000" 1e-3 --dims 500,500,500 --rank 10 --observations 20000 -- --rank 10
bar "transe d=50 r=5, m=1500" 1e-3 --dims 50,50,50 --rank 5 --model transe --observations 1500 -- --rank 5 --model transe
random="0.44 -1.01 0.73; -1.01 0.31 0.58; 0.73 0.58 -0.92"
bar "random kernel d=50 r=5, m=1500" 1e-3 --dims 50,50,50 --rank 5 --kernel "$random" --observations 1500 -- --rank 5 --kernel "$random"
bar "transe d=80 r=3, m=1422 (twice the parameters)" 1e-3 --dims 80,80,80 --rank 3 --model transe --observations 1422 -- --rank 3 --model transe
bar "four modes 60,40,30,20 r=4, 1.4 x parameters" 1e-3 --dims 60,40,30,20 --rank 4 --observations 832 -- --rank 4
bar "plain ALS d=50 r=5, m=2250" 1e-3 --dims 50,50,50 --rank 5 --observations 2250 -- --rank 5 --solver als
bar "plain ALS d=200 r=5, m=9000" 1e-3 --dims 200,200,200 --rank 5 --observations 9000 -- --rank 5 --solver als
