#!/usr/bin/env bash
# test.sh: every check and every test, cheapest first; the first failure ends it. The longer proofs are in prove.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
install_for_tests
scripts/check.sh
step "tests: unit and integration tests of every crate" scripts/test-workspace.sh
step "tests: the examples in the API documentation" scripts/test-docs.sh
passed "every check and every test"
