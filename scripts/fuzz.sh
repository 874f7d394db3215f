#!/usr/bin/env bash
# fuzz.sh [SECONDS]: every fuzz target for so many seconds, 20 unless told. Installs cargo-fuzz if it is missing.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
seconds=${1:-20}
if ! cargo fuzz --version >/dev/null 2>&1; then
  step "set-up: cargo-fuzz" cargo install --quiet --locked cargo-fuzz
fi
# WHY: the coverage and the sanitizer of rustc are behind flags that the stable compiler accepts only when told to.
export RUSTC_BOOTSTRAP=1
for target in request answer page outcome results otp_text ack_frames ack_answers term term_text \
  dist_handshake dist_frames dist_control dist_epmd; do
  step "fuzz: $target, $seconds s" cargo fuzz run "$target" -- -max_total_time="$seconds" -max_len=4096 -verbosity=0 -print_funcs=0
done
