#!/usr/bin/env bash
# fuzz.sh [SECONDS [--dev]]: runs every fuzz target for SECONDS, by default 20. --dev builds without optimisation, for
# short runs. Installs cargo-fuzz if it is missing.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
seconds=${1:-20}
scripts/add-tool.sh cargo-fuzz
# WHY: coverage and sanitizer are unstable flags of rustc, and the stable compiler accepts them only with this variable.
export RUSTC_BOOTSTRAP=1
step "fuzz: build every target" cargo fuzz build "${@:2}"
targets=$(cargo fuzz list)
for target in $targets; do
  step "fuzz: $target, $seconds s" cargo fuzz run "${@:2}" "$target" -- -max_total_time="$seconds" -max_len=4096 \
    -verbosity=0 -print_funcs=0
done
