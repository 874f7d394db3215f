#!/usr/bin/env bash
# test-many-cores.sh: the tests of purlin-many-cores, with crates/raw and crates/sched on simulated cores.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
# WHY: `--cfg purlin_cores` changes every crate, so it has a separate target folder.
RUSTFLAGS="${RUSTFLAGS:-} --cfg purlin_cores" cargo test -p purlin-many-cores --profile prove --locked \
  --target-dir "${CARGO_TARGET_DIR:-target}/cores"
