#!/usr/bin/env bash
# test-new.sh: makes a project with `purlin new`, builds it, stops it with Ctrl-C and runs its tests.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
scripts/add-tool.sh cargo-nextest
cargo nextest run -p purlin-cli --locked --run-ignored only -E 'test(/^new::/)'
