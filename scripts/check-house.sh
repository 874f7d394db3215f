#!/usr/bin/env bash
# check-house.sh: workspace rules that no compiler or linter checks; they are in crates/checks.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
cargo test -p purlin-checks --locked --quiet -- --show-output
