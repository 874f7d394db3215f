#!/usr/bin/env bash
# check-house.sh: the rules for the whole workspace that no compiler or linter has; crates/checks holds them.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
cargo test -p purlin-checks --locked --quiet -- --show-output
