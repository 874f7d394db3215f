#!/usr/bin/env bash
# test-workspace.sh: all tests of all crates but the house rules, which check-house.sh runs.
#
# PURLIN_CHROMIUM names the browser; unset it is looked for. Where there is none, or no node to drive it with,
# and PURLIN_NO_INSTALL=1 forbids installing, the browser tests are left out, aloud.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  if [ -z "${PURLIN_CHROMIUM:-}" ] && command -v "$name" >/dev/null 2>&1; then
    PURLIN_CHROMIUM=$(command -v "$name")
    export PURLIN_CHROMIUM
  fi
done
if [ "${PURLIN_NO_INSTALL:-}" = 1 ]; then
  if [ -z "${PURLIN_CHROMIUM:-}" ] || ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
    echo "no browser, or no node and npm to drive it with, and PURLIN_NO_INSTALL=1: the browser tests are left out"
    export PURLIN_SKIP_BROWSER=1
  fi
fi

# WHY: the tests of one crate start programs of another, which `cargo test` builds only for some crates. With
# --tests, dependencies get the same features as below, so that nothing is compiled twice.
cargo build --workspace --exclude purlin-checks --lib --bins --tests --examples --locked
cargo test --workspace --exclude purlin-checks --locked --no-fail-fast
