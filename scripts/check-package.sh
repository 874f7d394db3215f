#!/usr/bin/env bash
# check-package.sh [--verify]: packs every crate of the workspace; with --verify builds each published one from its
# package alone, which takes minutes.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
# WHY --quiet: cargo would list every test and example, which packages do not contain.
options=(--workspace --allow-dirty --locked --quiet)
if [ "${1:-}" = --verify ]; then
  for manifest in crates/*/Cargo.toml contenders/*/Cargo.toml; do
    if grep -q '^publish = false' "$manifest"; then
      options+=(--exclude "$(sed -n '0,/^name = /s/^name = "\(.*\)"/\1/p' "$manifest")")
    fi
  done
else
  options+=(--no-verify)
  # WHY first: asking the registry takes half a minute, and cargo has the answers as a rule.
  if cargo package "${options[@]}" --offline 2>/dev/null; then exit 0; fi
fi
cargo package "${options[@]}"
