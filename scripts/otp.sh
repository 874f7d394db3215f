#!/usr/bin/env bash
# otp.sh RELEASE [COMMAND...]: provides Erlang/OTP 25, 27 or 29 with its Elixir, and runs a command in the workspace with
# them in place of the installed ones; without a command it prints the path of the release's `erl`, as in:
# scripts/otp.sh 29 scripts/test-workspace.sh -p purlin-dist
#
# The release is installed by debootstrap, as root on Linux, into ~/.cache/purlin/otp/RELEASE/root: about 1 GB and some
# minutes the first time. The folder ~/.cache/purlin/otp/RELEASE/bin has a script per program, which starts it with the
# loader and the libraries of that root: an ordinary process of the host, without chroot, mounts and privileges.
# Elsewhere, put links to `erl`, `erlc` and `escript` of an installed release into that folder. `purlin lab run` measures
# these releases as beam@27 and beam@29. The exit status is that of the command, or 2 if the release cannot be had.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# unavailable WHY: ends the script without running the command.
unavailable() {
  echo "otp: $1" >&2
  exit 2
}

release=${1:-}
options=()
case $release in
  25) first=bookworm suite=bookworm ;;
  27) first=trixie suite=trixie ;;
  # WHY unchecked: the index of a snapshot of sid may have expired.
  29) first=trixie suite=sid options=(-o Acquire::Check-Valid-Until=false) ;;
  *) unavailable "'$release' is not a release that is known here, 25, 27 or 29; as in: scripts/otp.sh 29 erl -noshell" ;;
esac
shift

home=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/purlin/otp/$release
root=$home/root
bin=$home/bin

# install_root: installs the release into $root.
install_root() {
  if [ "$(uname -s)" != Linux ] || [ "$(id -u)" -ne 0 ]; then
    unavailable "Erlang/OTP $release is installed by debootstrap as root on Linux; run as root: scripts/otp.sh $release, or link erl, erlc and escript of an installed release into $bin"
  fi
  if [ "${PURLIN_NO_INSTALL:-}" = 1 ]; then
    unavailable "Erlang/OTP $release is not installed, and PURLIN_NO_INSTALL=1; run without it: scripts/otp.sh $release"
  fi
  if ! command -v debootstrap >/dev/null && ! apt-get install -qq -y debootstrap >/dev/null 2>&1; then
    unavailable "Erlang/OTP $release needs debootstrap: apt-get install debootstrap"
  fi
  echo "otp: installing Erlang/OTP $release from Debian $suite in $root" >&2
  local new=$home/new
  rm -rf "$new"
  export DEBIAN_FRONTEND=noninteractive
  if ! {
    debootstrap --variant=minbase "$first" "$new" &&
      sed -i "s/$first/$suite/" "$new/etc/apt/sources.list" &&
      chroot "$new" apt-get "${options[@]}" -qq update &&
      chroot "$new" apt-get "${options[@]}" -qq -y --no-install-recommends install \
        erlang-base erlang-dev erlang-observer erlang-runtime-tools erlang-ssl erlang-tools elixir
  } >"$home/log" 2>&1; then
    unavailable "Erlang/OTP $release could not be installed; $home/log ends with: $(tail -n 1 "$home/log")"
  fi
  rm -rf "$new/var/cache/apt/archives"
  mv "$new" "$root"
}

# write_scripts: writes the scripts of $bin.
write_scripts() {
  local new=$home/new-bin loader libraries program
  rm -rf "$new"
  mkdir "$new"
  for loader in "$root"/lib64/ld-linux-*.so.* "$root"/lib/ld-linux-*.so.*; do
    if [ -e "$loader" ]; then break; fi
  done
  libraries=$(echo "$root"/usr/lib/*-linux-gnu)
  # script NAME WORD...: a script that runs these words, with the arguments that it gets.
  script() {
    { printf '#!/bin/sh\nexec' && printf ' %q' "${@:2}" && printf ' "$@"\n'; } >"$new/$1"
  }
  for program in "$root"/usr/lib/erlang/erts-*/bin/*; do
    if [ "$(head -c 4 "$program" | tail -c 3)" = ELF ]; then
      script "${program##*/}" "$loader" --library-path "$libraries" "$program"
    fi
  done
  script erl env EMU=beam PROGNAME=erl "ROOTDIR=$root/usr/lib/erlang" "BINDIR=$bin" "$bin/erlexec"
  for program in erlc escript; do
    mv "$new/$program" "$new/$program.bin"
    script "$program" env "ERLC_EMULATOR=$bin/erl" "ESCRIPT_EMULATOR=$bin/erl" "$bin/$program.bin"
  done
  for program in elixir elixirc iex; do
    # WHY the path: these scripts start the `erl` that they find there.
    # shellcheck disable=SC2016 # the script expands them
    printf '#!/bin/sh\nPATH=%q:$PATH exec %q "$@"\n' "$bin" "$root/usr/lib/elixir/bin/$program" >"$new/$program"
  done
  chmod +x "$new"/*
  # WHY a link: mix is written in Elixir, and `elixir -S mix` reads it.
  ln -s "$root/usr/lib/elixir/bin/mix" "$new/mix"
  mv "$new" "$bin"
}

if ! [ -x "$bin/erl" ]; then
  mkdir -p "$home"
  if command -v flock >/dev/null; then
    # WHY: two scripts at the same time would install into the same folder.
    exec 9>"$home/lock"
    flock 9
  fi
  if ! [ -d "$root" ]; then install_root; fi
  if ! [ -d "$bin" ]; then write_scripts; fi
  exec 9>&-
fi
found=$("$bin/erl" -noshell -eval 'io:put_chars(erlang:system_info(otp_release)), halt().') ||
  unavailable "$bin/erl does not start; remove $home and run scripts/otp.sh $release again"
if [ "$found" != "$release" ]; then
  unavailable "$bin/erl is Erlang/OTP $found, not $release; remove $home and run scripts/otp.sh $release again"
fi
if [ $# -eq 0 ]; then
  echo "$bin/erl"
  exit
fi
export PATH="$bin:$PATH"
exec "$@"
