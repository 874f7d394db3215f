#!/usr/bin/env bash
# test.sh: every check and every test, cheapest first; the first failure ends it. The longer proofs are in prove.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
step "set-up: a C compiler, Erlang with its etop, Elixir, Go, a browser, node and strace, for the tests that use the real thing" \
  scripts/install-missing.sh cc erlc etop elixir go chromium node npm strace
scripts/check.sh
step "tests: unit and integration tests of every crate" scripts/test-workspace.sh
step "tests: the examples in the API documentation" scripts/test-docs.sh
passed "every check and every test"
