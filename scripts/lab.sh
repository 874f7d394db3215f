#!/usr/bin/env bash
# lab.sh [OPTION...]: installs what is missing, builds, and runs the lab; options are those of `purlin lab run`.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
step "set-up: a C compiler to link with, and Erlang to measure beside" scripts/install-missing.sh cc erlc
step "build: the purlin command and the contenders, optimised" \
  cargo build --release --locked -p purlin-cli -p contender-purlin -p contender-tokio \
  -p contender-ractor -p contender-kameo -p contender-actix -p contender-may -p contender-threads -p contender-load
printf '\n== lab: purlin lab run %s\n' "$*"
# WHY: exec, so that the table and the path of the page are the last thing printed.
exec "${CARGO_TARGET_DIR:-target}/release/purlin" lab run "$@"
