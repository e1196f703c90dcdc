#!/bin/sh
# Fuzzes one target: fuzz/run.sh TARGET SECONDS [libFuzzer flags]
# Works with a stable compiler: the coverage hooks come from LLVM's own pass.
set -eu
cd "$(dirname "$0")"
target=$1
seconds=$2
shift 2
triple=$(rustc -vV | sed -n 's/^host: //p')
[ -d "corpus/$target" ] ||
    (cd .. && cargo run --quiet -p quadfill-io --example fuzz_seeds -- fuzz/corpus)
if [ ! -d corpus/model ]; then
    mkdir -p corpus/model
    stored=../crates/quadfill/tests/compat/v1
    { cat "$stored/model.json"; printf '\377\376\375'; cat "$stored/labels.jsonl"; printf '\377\376\375'
        cat "$stored/model.safetensors"; } > corpus/model/v1
fi
RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
-Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing" \
    cargo build --quiet --release --target "$triple"
mkdir -p "artifacts/$target"
exec "target/$triple/release/$target" "corpus/$target" -max_total_time="$seconds" \
    -artifact_prefix="artifacts/$target/" -timeout=10 -rss_limit_mb=2048 "$@"
