#!/usr/bin/env bash
# check-format.sh: checks the format of every Rust file; `cargo fmt` corrects it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
scripts/add-component.sh rustfmt
cargo fmt --all -- --check
