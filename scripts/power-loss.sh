#!/usr/bin/env bash
# power-loss.sh [ROUNDS]: cuts the power under a program that appends durable messages to a log on ext4 on a loop device,
# ROUNDS times, by default 20, and requires that every acknowledged message is there once and in order. With the
# device mapper, dm-flakey drops all writes after a random moment. Otherwise the image of the device is copied while the
# program is stopped: the image lacks what was not synced. Needs root.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
rounds=${1:-20}
if [ "$(uname -s)" != Linux ]; then left_out "loop devices are Linux's, and this is $(uname -s)"; fi
if [ "$(id -u)" != 0 ]; then left_out "root is needed to mount a loop device"; fi
for program in losetup mkfs.ext4 mount; do
  if ! command -v "$program" >/dev/null; then left_out "no $program"; fi
done
cargo build --locked --quiet -p purlin-log --example append
cargo build --locked --quiet -p purlin-log --example check
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")/debug/examples

work=$(mktemp -d)
device='' mapped='' writer=''
# shellcheck disable=SC2317 # called by the trap
clean() {
  if [ -n "$writer" ]; then kill -KILL "$writer" 2>/dev/null || true; fi
  umount "$work/disk" 2>/dev/null || true
  if [ -n "$mapped" ]; then dmsetup remove --retry "$mapped" 2>/dev/null || true; fi
  if [ -n "$device" ]; then losetup -d "$device" 2>/dev/null || true; fi
  rm -rf "$work"
}
trap clean EXIT

mkdir "$work/disk"
truncate -s 64M "$work/image"
mkfs.ext4 -q "$work/image"
if ! device=$(losetup -f --show "$work/image" 2>/dev/null); then device='' && left_out "no loop device can be set up"; fi
if dmsetup targets 2>/dev/null | grep -q '^flakey'; then
  mapped=purlin-power-loss-$$
  sectors=$(blockdev --getsz "$device")
  dmsetup create "$mapped" --table "0 $sectors linear $device 0"
  echo "the power is cut by dm-flakey"
else
  echo "the kernel has no dm-flakey: the power is cut by copying the image"
fi

# table TABLE: replaces the mapping of the device.
table() {
  dmsetup suspend --nolockfs "$mapped"
  dmsetup load "$mapped" --table "$1"
  dmsetup resume "$mapped"
}

# cut: loses what the device has not been told to keep, while the program is stopped.
cut() {
  if [ -n "$mapped" ]; then
    table "0 $sectors flakey $device 0 0 3600 1 drop_writes"
  else
    cp "$work/image" "$work/copy"
  fi
  kill -KILL "$writer"
  wait "$writer" 2>/dev/null || true
  writer=
  umount "$work/disk"
  if [ -n "$mapped" ]; then
    table "0 $sectors linear $device 0"
  else
    losetup -d "$device"
    mv "$work/copy" "$work/image"
    device=$(losetup -f --show "$work/image")
  fi
}

total=0
for round in $(seq "$rounds"); do
  source=${mapped:+/dev/mapper/$mapped}
  if ! mount "${source:-$device}" "$work/disk" 2>"$work/error"; then left_out "cannot mount: $(cat "$work/error")"; fi
  "$target/append" "$work/disk/log" >"$work/acknowledged" 2>"$work/error" &
  writer=$!
  sleep "0.$((RANDOM % 9 + 1))"
  if ! kill -STOP "$writer" 2>/dev/null; then
    echo "round $round: $(cat "$work/error")" >&2
    exit 1
  fi
  # WHY a line that is being written does no harm: it is a smaller number.
  acknowledged=$(tail -n 1 "$work/acknowledged")
  total=${acknowledged:-$total}
  cut
  mount "${source:-$device}" "$work/disk"
  "$target/check" "$work/disk/log" "$total"
  umount "$work/disk"
done
passed "$rounds power losses, $total messages"
