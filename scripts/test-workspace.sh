#!/usr/bin/env bash
# test-workspace.sh [OPTION...]: runs the unit and integration tests of all crates except crates/checks with
# cargo-nextest: one process per test, two per core at a time, no retries. The options go to `cargo nextest run`, as in:
# scripts/test-workspace.sh -p purlin -E 'test(fairness)'
#
# PURLIN_CHROMIUM names the browser; by default the tests search the PATH. If a browser, node or PostgreSQL is missing
# and PURLIN_NO_INSTALL=1 forbids installing it, the tests with it pass without running and print that they were skipped.
# So do the tests with Erlang's libraries for C and Java wherever these are missing.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
scripts/add-tool.sh cargo-nextest
if [ "${PURLIN_NO_INSTALL:-}" = 1 ]; then
  for program in chromium node npm; do
    case $(scripts/install-missing.sh "$program") in
      missing*)
        echo "no $program, and PURLIN_NO_INSTALL=1: the browser tests are left out"
        export PURLIN_SKIP_BROWSER=1
        ;;
    esac
  done
  case $(scripts/install-missing.sh postgres) in
    missing*)
      echo "no postgres, and PURLIN_NO_INSTALL=1: the tests with PostgreSQL are left out"
      export PURLIN_SKIP_POSTGRES=1
      ;;
  esac
fi

# left_out_without COMMAND VARIABLE: leaves out the tests with a command that is missing.
left_out_without() {
  case $(PURLIN_NO_INSTALL=1 scripts/install-missing.sh "$1") in
    missing*)
      echo "no $1: the tests with it are left out; scripts/install-missing.sh $1 installs it"
      export "$2=1"
      ;;
  esac
}
left_out_without ei PURLIN_SKIP_EI
left_out_without jinterface PURLIN_SKIP_JINTERFACE

# WHY two per core: many tests wait for a socket, a BEAM or a timer; one per core leaves a third of the time idle.
cores=$(nproc 2>/dev/null || sysctl -n hw.ncpu)
cargo nextest run --workspace --exclude purlin-checks --locked --test-threads "${TEST_THREADS:-$((2 * cores))}" "$@"
