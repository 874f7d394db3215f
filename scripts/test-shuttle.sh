#!/usr/bin/env bash
# test-shuttle.sh [TEST...]: shuttle's models of the whole scheduler. ITERATIONS is how many seeds are tried, 2000 unless
# set, and SEED the first of them, chosen at random unless set and printed; so is the seed that fails.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
# WHY --nocapture: a schedule that aborts the program would otherwise lose its seed.
# WHY plain memory: free lists are thread-local, and shuttle's threads share one OS thread.
# WHY: `--cfg shuttle` changes every crate, so it has a separate target folder.
RUSTFLAGS="${RUSTFLAGS:-} --cfg shuttle --cfg purlin_plain_memory" CARGO_PROFILE_PROVE_DEBUG_ASSERTIONS=true \
  cargo test -p purlin-sched --profile prove --locked --test shuttle \
  --target-dir "${CARGO_TARGET_DIR:-target}/shuttle" -- --no-capture "$@"
