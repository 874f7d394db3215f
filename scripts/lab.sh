#!/usr/bin/env bash
# lab.sh [OPTION...]: installs what is missing, builds, and runs the lab; options are those of `purlin lab run`.
# FLAGS=both also builds the contenders in Rust with cargo's default release profile, and measures both builds of each:
# `tokio` and `tokio-default-flags`.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

target=${CARGO_TARGET_DIR:-target}
contenders=(-p contender-purlin -p contender-tokio -p contender-ractor -p contender-kameo -p contender-actix -p contender-may)
selected=()

case "${FLAGS:-}" in
  "") ;;
  both)
    for id in purlin tokio ractor kameo actix may; do
      selected+=(-c "$id" -c "$id-default-flags=$target/release-default/contender-$id")
    done
    ;;
  *)
    echo "lab.sh: FLAGS is \"$FLAGS\"; set it to \"both\" or not at all" >&2
    exit 2
    ;;
esac
find_cargo
step "set-up: a C compiler to link with, Erlang and Elixir to measure beside" scripts/install-missing.sh cc erlc elixir
step "build: the purlin command and the contenders, optimised" \
  cargo build --release --locked -p purlin-cli "${contenders[@]}" -p contender-threads -p contender-load
if [ ${#selected[@]} -gt 0 ]; then
  step "build: the contenders with cargo's default flags" \
    cargo build --profile release-default --locked "${contenders[@]}"
fi
printf '\n== lab: purlin lab run %s\n' "$*"
# WHY: exec, so that the table and the path of the page are the last thing printed.
exec "$target/release/purlin" lab run ${selected[@]+"${selected[@]}"} "$@"
