#!/usr/bin/env bash
# lab.sh [OPTION...]: installs what is missing, builds, and runs the lab; options are those of `purlin lab run`.
# FLAGS=both also builds the contenders in Rust with cargo's default release profile, and measures both builds of each:
# `tokio` and `tokio-default-flags`. ALLOCATOR=both does so with the allocator of the system in place of mimalloc:
# `tokio-default-allocator`. Other contenders then take part as `-c` names them.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

target=${CARGO_TARGET_DIR:-target}
ids=(purlin tokio ractor kameo actix may)
contenders=("${ids[@]/#/-pcontender-}")
selected=()

# second NAME VALUE SUFFIX FOLDER: selects the contenders, and their other builds in FOLDER, if VALUE is "both".
second() {
  case $2 in
    "") ;;
    both)
      for id in "${ids[@]}"; do
        selected+=(-c "$id" -c "$id-default-$3=$4/contender-$id")
      done
      ;;
    *)
      echo "lab.sh: $1 is \"$2\"; set it to \"both\" or not at all" >&2
      exit 2
      ;;
  esac
}

second FLAGS "${FLAGS:-}" flags "$target/release-default"
second ALLOCATOR "${ALLOCATOR:-}" allocator "$target/default-allocator/release"
find_cargo
step "set-up: a C compiler to link with, Erlang and Elixir to measure beside" scripts/install-missing.sh cc erlc elixir
step "build: the purlin command and the contenders, optimised" \
  cargo build --release --locked -p purlin-cli "${contenders[@]}" -p contender-threads -p contender-load
if [ -n "${FLAGS:-}" ]; then
  step "build: the contenders with cargo's default flags" \
    cargo build --profile release-default --locked "${contenders[@]}"
fi
if [ -n "${ALLOCATOR:-}" ]; then
  step "build: the contenders with the allocator of the system" \
    cargo build --release --locked --no-default-features --target-dir "$target/default-allocator" "${contenders[@]}"
fi
printf '\n== lab: purlin lab run %s\n' "$*"
# WHY: exec, so that the table and the path of the page are the last thing printed.
exec "$target/release/purlin" lab run ${selected[@]+"${selected[@]}"} "$@"
