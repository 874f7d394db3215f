#!/usr/bin/env bash
# check-docs.sh: the API documentation of every crate; a broken link or a missing page is an error.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
export RUSTDOCFLAGS="${RUSTDOCFLAGS:-} -D warnings"
cargo doc --workspace --no-deps --locked --quiet
