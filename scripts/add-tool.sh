#!/usr/bin/env bash
# add-tool.sh NAME: installs cargo-deny, cargo-fuzz, cargo-nextest or typos into cargo's bin folder if it is missing.
#
# An installed version is used as it is. Exits with status 2 if the tool is missing and PURLIN_NO_INSTALL=1
# forbids installing it.
set -euo pipefail
name=${1:?"usage: add-tool.sh NAME"}
bin=${CARGO_HOME:-${HOME:-}/.cargo}/bin
PATH="$PATH:$bin"

# WHY these versions: the newest that Rust 1.88 builds.
case $name in
  cargo-deny) package=(cargo-deny --version 0.20.2) ;;
  cargo-fuzz) package=(cargo-fuzz --version 0.13.2) ;;
  # WHY no default features: its self-update brings in a TLS stack.
  cargo-nextest) package=(cargo-nextest --version 0.9.114 --no-default-features --features default-no-update) ;;
  typos) package=(typos-cli --version 1.40.0) ;;
  *)
    echo "add-tool: unknown tool '$name'; known are cargo-deny, cargo-fuzz, cargo-nextest, typos" >&2
    exit 2
    ;;
esac

if command -v "$name" >/dev/null 2>&1; then exit 0; fi
# WHY --debug: it halves the time of the build, and the tool is fast enough.
remedy=(cargo install --locked --debug "${package[@]}")
if [ "${PURLIN_NO_INSTALL:-}" = 1 ]; then
  echo "missing: $name; PURLIN_NO_INSTALL=1 forbids installing. This would: ${remedy[*]}"
  exit 2
fi

# prebuilt: the program from the Python package of the same name, which holds nothing else.
prebuilt() {
  local folder
  folder=$(mktemp -d)
  python3 -m pip install --quiet --no-deps --target "$folder" "typos==1.40.0" >/dev/null 2>&1 &&
    mkdir -p "$bin" && install -m 755 "$folder/bin/typos" "$bin/typos"
  local status=$?
  rm -rf "$folder"
  return "$status"
}

if [ "$name" = typos ] && prebuilt; then
  echo "missing: typos; installed with pip into $bin (PURLIN_NO_INSTALL=1 forbids it)"
else
  echo "missing: $name; building it, which takes minutes (PURLIN_NO_INSTALL=1 forbids it): ${remedy[*]}"
  CARGO_PROFILE_DEV_DEBUG=0 "${remedy[@]}" --quiet </dev/null
fi
