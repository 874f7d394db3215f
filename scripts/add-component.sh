#!/usr/bin/env bash
# add-component.sh NAME: adds rustfmt, clippy or rust-src if it is missing; PURLIN_NO_INSTALL=1 forbids adding it.
set -euo pipefail
name=$1

present() {
  case $name in
    rust-src) [ -d "$(rustc --print sysroot)/lib/rustlib/src/rust/library" ] ;;
    *) cargo "${name/rustfmt/fmt}" --version >/dev/null 2>&1 ;;
  esac
}

if present; then exit 0; fi
remedy="rustup component add $name"
if [ "${PURLIN_NO_INSTALL:-}" = 1 ] || ! command -v rustup >/dev/null 2>&1; then
  echo "$name is missing; this would add it: $remedy" >&2
  exit 2
fi
echo "$name is missing; adding it (PURLIN_NO_INSTALL=1 forbids it): $remedy"
rustup component add "$name"
