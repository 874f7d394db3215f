#!/usr/bin/env bash
# test-docs.sh: the examples in the API documentation, compiled and run.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
cargo test --workspace --doc --locked --quiet
