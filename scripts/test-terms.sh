#!/usr/bin/env bash
# test-terms.sh: the random tests of crates/term with more terms than `make test` takes. PURLIN_TERMS is their number on the
# BEAM, by default 5000, and PROPTEST_CASES that of the property tests, by default 256.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
scripts/add-tool.sh cargo-nextest
export PURLIN_TERMS="${PURLIN_TERMS:-5000}" PROPTEST_CASES="${PROPTEST_CASES:-256}"
cargo nextest run -p purlin-term --locked --test it -E 'test(/^(beam|oracles|properties)::/)'
