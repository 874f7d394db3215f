#!/usr/bin/env bash
# check-house.sh: the rules of the house that no compiler knows; crates/checks holds them, each with its own test.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
cargo test -p purlin-checks --locked --quiet -- --show-output
