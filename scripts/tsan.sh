#!/usr/bin/env bash
# tsan.sh [MODULE...]: the tests of crates/raw, sched and purlin under ThreadSanitizer, which detects data races.
# Linux on x86-64. A module is a file of crates/purlin/tests/it, as in: scripts/tsan.sh stress
#
# Builds the standard library with the sanitizer too (component rust-src); otherwise every contended lock would be
# reported. tsan.supp lists and explains the remaining false reports.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
scripts/add-tool.sh cargo-nextest
sanitizer thread
if ! scripts/add-component.sh rust-src; then
  left_out "without the sources of the standard library every contended lock would be a false alarm"
fi
# WHY opt-level 1: unoptimised code is eight times slower here, and its threads interleave less.
export CARGO_PROFILE_DEV_OPT_LEVEL=1
export TSAN_OPTIONS="suppressions='$PWD/scripts/tsan.supp' history_size=5 ${TSAN_OPTIONS:-}"
if [ $# -eq 0 ]; then
  set -- blocking bounds bounds_stress calls crowd ending fairness hogs links_and_monitors messages processes receive \
    stress timers with_tokio
fi
modules=$(test_modules "$@")
cargo nextest run -Zbuild-std -p purlin-raw -p purlin-sched -p purlin "${sanitized[@]}" --lib --test it \
  -E "kind(lib) | test(/^($modules)::/)"
