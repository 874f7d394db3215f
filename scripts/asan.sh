#!/usr/bin/env bash
# asan.sh: the tests of crates/purlin under AddressSanitizer, which finds memory that is used after it was freed, and
# memory that was never freed. Linux on x86-64. Arguments go to `cargo test`, as in: scripts/asan.sh --test messages
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
# WHY the flag: every block comes from the allocator then and goes back to it, where the sanitizer sees it.
sanitizer address --cfg purlin_plain_memory
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1}"
# WHY the tests are named: examples and doc tests are programs that would need the sanitizer's library too.
if [ $# -eq 0 ]; then
  set -- --lib --test blocking --test calls --test crowd --test ending --test fairness --test hog_log --test hogs \
    --test macros --test messages --test processes --test receive --test stress --test timers --test with_tokio
fi
step "the tests of purlin under AddressSanitizer" cargo test -p purlin "${sanitized[@]}" "$@"
