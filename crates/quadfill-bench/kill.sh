#!/usr/bin/env bash
# Kills fits at random moments and checks that they resume to the same bytes: kill.sh QUADFILL [TIMES]
set -euo pipefail
quadfill=$(realpath "$1")
times=${2:-20}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export QUADFILL_CHECKPOINT_SECONDS=0
"$quadfill" --quiet synth --dims 150,150,150 --rank 4 --observations 9000 --noise 0.2 --seed 3 -o train.tns > /dev/null

check() {
    local name=$1 kills=0 starts=0
    shift
    "$quadfill" --quiet fit train.tns -o whole "$@" > /dev/null
    while [ "$kills" -lt "$times" ]; do
        starts=$((starts + 1))
        resume=()
        [ -e killed.checkpoint ] && resume=(--resume)
        "$quadfill" --quiet fit train.tns -o killed "$@" "${resume[@]}" > /dev/null 2>&1 &
        pid=$!
        sleep "0.$(printf '%03d' $((RANDOM % 400)))"
        if kill -9 "$pid" 2> /dev/null; then
            kills=$((kills + 1))
        fi
        wait "$pid" 2> /dev/null || true
        # Once it is done, the next one starts over.
        [ -e killed ] && { diff -r whole killed && rm -rf killed killed.checkpoint; }
    done
    resume=()
    [ -e killed.checkpoint ] && resume=(--resume)
    "$quadfill" --quiet fit train.tns -o killed "$@" "${resume[@]}" > /dev/null
    diff -r whole killed
    [ -z "$(find . -name '*.checkpoint' -o -name '*.partial')" ]
    echo "$name: killed $kills times in $starts runs, the same bytes in the end, nothing left over"
    rm -rf whole killed
}

check "plain fit         " --effort quick
check "path with hold-out" --rank 4 --solver path
check "path to a penalty " --rank 4 --penalty 1e-4 --tolerance 0
check "als               " --rank 4 --solver als --penalty 1e-4 --tolerance 0
