#!/usr/bin/env bash
# test-workspace.sh [OPTION...]: the unit and integration tests of all crates but crates/checks, by cargo-nextest: each test in a process
# of its own, twice as many at a time as there are cores, none repeated. The options go to `cargo nextest run`, as in:
# scripts/test-workspace.sh -p purlin -E 'test(fairness)'
#
# PURLIN_CHROMIUM names the browser; unset, the tests look for one. Where there is none, or no node to drive it with,
# and PURLIN_NO_INSTALL=1 forbids installing, the browser tests pass without running and say so.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
scripts/add-tool.sh cargo-nextest
if [ "${PURLIN_NO_INSTALL:-}" = 1 ]; then
  for program in chromium node npm; do
    if scripts/install-missing.sh "$program" | grep -q '^missing'; then
      echo "no $program, and PURLIN_NO_INSTALL=1: the browser tests are left out"
      export PURLIN_SKIP_BROWSER=1
    fi
  done
fi

# WHY twice the cores: many tests wait for a socket, a BEAM or a timer, and two alone leave a third of the time unused.
cores=$(nproc 2>/dev/null || sysctl -n hw.ncpu)
cargo nextest run --workspace --exclude purlin-checks --locked --test-threads "${TEST_THREADS:-$((2 * cores))}" "$@"
