#!/usr/bin/env bash
# tsan.sh: the tests of crates/raw, sched and purlin under ThreadSanitizer, which finds accesses that no order of events
# keeps apart. Linux on x86-64. Arguments go to `cargo test`, as in: scripts/tsan.sh --test stress
#
# The standard library is built for it too, from rustc's component rust-src, which is added where it may be: it would
# report every contended lock otherwise. tsan.supp explains what it still reports of correct code.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
sanitizer thread
if ! scripts/add-component.sh rust-src; then
  echo "left out: without the sources of the standard library every contended lock would be a false alarm"
  exit 0
fi
# WHY optimised a little: unoptimised it is eight times as slow, meets less, and runs out of patience.
export CARGO_PROFILE_DEV_OPT_LEVEL=1
export TSAN_OPTIONS="suppressions=$PWD/scripts/tsan.supp history_size=5 ${TSAN_OPTIONS:-}"
if [ $# -eq 0 ]; then
  set -- --lib --test blocking --test bounds --test bounds_stress --test calls --test crowd --test ending \
    --test fairness --test hogs --test links_and_monitors --test messages \
    --test processes --test receive --test stress --test timers --test with_tokio
fi
step "the tests of raw, sched and purlin under ThreadSanitizer" \
  cargo test -Zbuild-std -p purlin-raw -p purlin-sched -p purlin "${sanitized[@]}" "$@"
