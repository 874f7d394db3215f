#!/usr/bin/env bash
# durable-rate.sh [FOLDER [OPTION...]]: rate of durable acks, and rate of a plain program that writes and syncs as many
# batches of their average size. FOLDER is on the disk to measure, by default the target folder; the options go to
# `purlin ack load`, by default --connections 4 --rounds 3 --messages 1000000 --size 100.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
place=${1:-$target}
options=("${@:2}")
[ ${#options[@]} -gt 0 ] || options=(--connections 4 --rounds 3 --messages 1000000 --size 100)
cargo build --release --locked -p purlin-cli --bin purlin
cargo build --release --locked -p purlin-log --example plain_sync

folder=$(mktemp -d "$place/durable-rate.XXXXXX")
server=
# shellcheck disable=SC2317 # called by the trap
clean() {
  if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
  rm -rf "$folder"
}
trap clean EXIT

"$target/release/purlin" ack serve --strategy best --listen 127.0.0.1:0 --handler file "$folder/log" >"$folder/out" &
server=$!
until address=$(sed -n 's/^best listens on //p' "$folder/out") && [ -n "$address" ]; do
  kill -0 "$server" || exit
  sleep 0.1
done
"$target/release/purlin" ack load "$address" --session durable "${options[@]}"
kill -TERM "$server"
wait "$server"
server=
"$target/release/purlin" ack log info "$folder/log" | sed -n 1p
"$target/release/examples/plain_sync" "$folder/log" "$folder/plain"
