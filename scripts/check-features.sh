#!/usr/bin/env bash
# check-features.sh: clippy over each crate that has optional features, with all of them disabled. In a build of the
# whole workspace, as in check-lints.sh, other crates enable them.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
scripts/add-component.sh clippy
cargo clippy -p purlin-ack --all-targets --no-default-features --locked --quiet -- -D warnings
# WHY libraries alone: `make test` lints their tests, in which few lines depend on a feature.
for crate in purlin-dist-protocol purlin-dist purlin-observer; do
  cargo clippy -p "$crate" --lib --no-default-features --locked --quiet -- -D warnings
done
