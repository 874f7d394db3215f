#!/usr/bin/env bash
# asan.sh: the tests of crates/purlin under AddressSanitizer, which finds memory that is used after it was freed, and
# memory that was never freed. Linux on x86-64. Arguments go to `cargo test`, as in: scripts/asan.sh --test messages
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
# WHY: the sanitizers of rustc are behind a flag that the stable compiler accepts only when told that it may. With
# `purlin_plain_memory` every block comes from the allocator and goes back to it, where the sanitizer sees it.
export RUSTC_BOOTSTRAP=1
export RUSTFLAGS="${RUSTFLAGS:-} -Zsanitizer=address --cfg purlin_plain_memory"
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1}"
out="${CARGO_TARGET_DIR:-target}/asan"
# WHY: it is as large as the ordinary output and of no use to any other build.
trap 'rm -rf "$out"' EXIT
# WHY the tests are named: examples and doc tests are programs that would need the sanitizer's library too.
tests=("$@")
if [ ${#tests[@]} -eq 0 ]; then
  tests=(--lib --test calls --test ending --test fairness --test macros --test messages --test processes \
    --test receive --test stress --test with_tokio)
fi
step "the tests of purlin under AddressSanitizer" \
  cargo test -p purlin --locked --no-fail-fast --target x86_64-unknown-linux-gnu --target-dir "$out" "${tests[@]}"
