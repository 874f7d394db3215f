#!/usr/bin/env bash
# otp.sh RELEASE [COMMAND...]: runs a command in the workspace with Erlang/OTP 27 or 29 and its Elixir in place of the
# installed ones; without a command it only prepares the release and prints its folder, as in:
# scripts/otp.sh 29 scripts/test-workspace.sh -p purlin-dist
#
# The release is a Debian root made by debootstrap, about 1 GB, which takes some minutes the first time; it is kept in
# ~/.cache/purlin or in OTP_ROOTS. The command runs chrooted in it, with the workspace, the Rust toolchain and /tmp
# mounted at their places, and on the network of the host. A root has no C compiler: build with `--no-run` before.
# Needs Linux, root and debootstrap. The exit status is that of the command, or 2 if the release cannot be had.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# unavailable WHY: ends the script without running the command.
unavailable() {
  echo "otp: $1" >&2
  exit 2
}

release=${1:-}
case $release in
  27) suite=trixie options=() ;;
  # WHY unchecked: the index of a snapshot of sid may have expired.
  29) suite=sid options=(-o Acquire::Check-Valid-Until=false) ;;
  *)
    echo "otp: '$release' is not a release that is known here, 27 or 29; as in: scripts/otp.sh 29 erl -noshell" >&2
    exit 2
    ;;
esac
shift

roots=${OTP_ROOTS:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/purlin}
root=$roots/otp-$release
export DEBIAN_FRONTEND=noninteractive

if ! [ -e "$root/ready" ]; then
  if [ "$(uname -s)" != Linux ] || [ "$(id -u)" -ne 0 ]; then
    unavailable "Erlang/OTP $release is made by debootstrap as root on Linux; run as root: scripts/otp.sh $release"
  fi
  if ! command -v debootstrap >/dev/null; then
    if [ "${PURLIN_NO_INSTALL:-}" = 1 ] || ! apt-get install -qq -y debootstrap >/dev/null; then
      unavailable "Erlang/OTP $release needs debootstrap: apt-get install debootstrap"
    fi
  fi
  echo "otp: preparing Erlang/OTP $release from Debian $suite in $root" >&2
  rm -rf "$root"
  mkdir -p "$root"
  if ! {
    debootstrap --variant=minbase trixie "$root" &&
      sed -i "s/trixie/$suite/" "$root/etc/apt/sources.list" &&
      chroot "$root" apt-get "${options[@]}" -qq update &&
      chroot "$root" apt-get "${options[@]}" -qq -y --no-install-recommends install \
        erlang-base erlang-dev erlang-observer erlang-runtime-tools erlang-ssl erlang-tools elixir strace
  } >"$root.log" 2>&1; then
    tail -n 5 "$root.log" >&2
    unavailable "Erlang/OTP $release could not be installed; the whole output is in $root.log"
  fi
  found=$(chroot "$root" erl -noshell -eval 'io:put_chars(erlang:system_info(otp_release)), halt().')
  if [ "$found" != "$release" ]; then
    unavailable "Debian $suite has Erlang/OTP $found, not $release"
  fi
  rm -rf "$root/var/cache/apt/archives"
  touch "$root/ready"
fi

if [ $# -eq 0 ]; then
  echo "$root"
  exit
fi

work=$(pwd -P)
shared=("$work" /tmp /dev /proc /sys "${CARGO_HOME:-${HOME:-/root}/.cargo}" "${RUSTUP_HOME:-${HOME:-/root}/.rustup}")
if [ -n "${CARGO_TARGET_DIR:-}" ]; then
  mkdir -p "$CARGO_TARGET_DIR"
  shared+=("$(realpath "$CARGO_TARGET_DIR")")
fi
# WHY unshare: the mounts are seen by this command alone and end with it.
# shellcheck disable=SC2016 # the inner shell expands them
exec unshare --mount --propagation private bash -euc '
  root=$1 work=$2 count=$3
  shift 3
  for folder in "${@:1:count}"; do
    mkdir -p "$root$folder"
    mount --rbind "$folder" "$root$folder"
  done
  shift "$count"
  for file in /etc/hosts /etc/resolv.conf; do
    if [ -e "$file" ]; then
      touch "$root$file"
      mount --bind "$file" "$root$file"
    fi
  done
  exec chroot "$root" bash -c "cd \"\$1\" && shift && exec \"\$@\"" bash "$work" "$@"
' bash "$root" "$work" "${#shared[@]}" "${shared[@]}" "$@"
