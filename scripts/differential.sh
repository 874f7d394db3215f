#!/usr/bin/env bash
# differential.sh [--programs N | --seconds N] [--seed N] [--workers N] [--spread [--pairs N] [--latency MS]] [--show]: random
# process programs on the BEAM and on purlin, checked by a model of the clauses. With --spread each program is distributed
# over a BEAM node and a purlin node whose connection is cut; --pairs such pairs of nodes run at the same time, and all that
# they send each other takes --latency milliseconds. Without --seed the first seed is random; it is printed.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
scripts/install-missing.sh erlc
cargo build --profile prove --locked --quiet -p purlin-differential
"${CARGO_TARGET_DIR:-target}/prove/differential" "$@"
