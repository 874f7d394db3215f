#!/usr/bin/env bash
# check-format.sh: is every Rust file as rustfmt would write it? `cargo fmt` mends it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
scripts/add-component.sh rustfmt
cargo fmt --all -- --check
