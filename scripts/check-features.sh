#!/usr/bin/env bash
# check-features.sh: clippy over the crates that have optional features, without these. check-lints.sh sees them with
# all features, since another crate of the workspace enables them.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
scripts/add-component.sh clippy
cargo clippy -p purlin-ack --all-targets --no-default-features --locked --quiet -- -D warnings
