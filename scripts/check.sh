#!/usr/bin/env bash
# check.sh: static checks, cheapest first: format, house rules, tools, lints, docs.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
step "format: cargo fmt" scripts/check-format.sh
step "house rules: sizes, clauses, clocks in tests, notes to self, links, commands" scripts/check-house.sh
scripts/check-tools.sh
scripts/check-languages.sh
step "JavaScript: types and format" scripts/check-js.sh
step "lints: clippy on every target, warnings denied" scripts/check-lints.sh
step "docs: every page builds, warnings denied" scripts/check-docs.sh
