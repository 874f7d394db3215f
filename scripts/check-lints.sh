#!/usr/bin/env bash
# check-lints.sh: clippy over every target of every crate; a warning is an error.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
scripts/add-component.sh clippy
cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
