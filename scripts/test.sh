#!/usr/bin/env bash
# test.sh: every check and every test, cheapest first; the first failure ends it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
step "set-up: a C compiler, Erlang with its etop, Elixir, Go, a browser, node and strace, for the tests that use the real thing" \
  scripts/install-missing.sh cc erlc etop elixir go chromium node npm strace
scripts/check.sh
step "tests: unit, integration and doc tests of every crate" scripts/test-workspace.sh
step "differential: some thousand programs on the BEAM and on purlin" scripts/differential.sh --programs 5000
step "differential: some hundred programs over a node of each, whose connection is cut" \
  scripts/differential.sh --spread --seconds 40
step "loom: every interleaving of the lock-free core, up to a bound" scripts/test-loom.sh
step "shuttle: the whole scheduler under thousands of schedules" scripts/test-shuttle.sh
step "AddressSanitizer" scripts/asan.sh
# WHY not all: the others add a minute and few meetings; those of hogs have to be in time, on a machine made slow.
step "ThreadSanitizer: the tests in which threads meet most" \
  scripts/tsan.sh --lib --test bounds_stress --test calls --test crowd --test links_and_monitors --test messages \
  --test stress --test timers
printf '\n== everything passed in %d min %d s\n' "$((SECONDS / 60))" "$((SECONDS % 60))"
