#!/usr/bin/env bash
# test-loom.sh: the loom models of crates/raw and crates/sched. LOOM_MAX_PREEMPTIONS bounds the search; unset it is 3.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
export LOOM_MAX_PREEMPTIONS="${LOOM_MAX_PREEMPTIONS:-3}"
echo "at most $LOOM_MAX_PREEMPTIONS preemptions in one execution"
# WHY: `--cfg loom` changes every crate, so it has a separate target folder.
RUSTFLAGS="${RUSTFLAGS:-} --cfg loom" cargo test -p purlin-raw -p purlin-sched --profile prove --locked --test 'loom*' \
  --target-dir "${CARGO_TARGET_DIR:-target}/loom"
