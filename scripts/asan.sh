#!/usr/bin/env bash
# asan.sh [MODULE...]: the tests of crates/purlin under AddressSanitizer, which detects use after free and memory leaks. Linux on x86-64. A module is a file of crates/purlin/tests/it, as in:
# scripts/asan.sh messages stress
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
scripts/add-tool.sh cargo-nextest
# WHY the flag: every block is then allocated and freed through the allocator that the sanitizer intercepts.
sanitizer address --cfg purlin_plain_memory
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1}"
if [ $# -eq 0 ]; then
  set -- blocking calls crowd ending fairness hogs macros messages processes receive stress timers with_tokio
fi
modules=$(test_modules "$@")
# WHY only these targets: examples and doc tests are programs that would need the sanitizer's library too.
cargo nextest run -p purlin "${sanitized[@]}" --lib --test hog_log --test it \
  -E "kind(lib) | binary(hog_log) | test(/^($modules)::/)"
