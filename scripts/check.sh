#!/usr/bin/env bash
# check.sh: the checks that need no test of behaviour: format, house rules, lints, docs.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
step "format: cargo fmt" scripts/check-format.sh
step "house rules: sizes, arrows between crates, unsafe, left-overs, clauses, links, commands" scripts/check-house.sh
step "lints: clippy on every target, warnings denied" scripts/check-lints.sh
step "docs: every page builds, warnings denied" scripts/check-docs.sh
