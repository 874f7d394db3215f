#!/usr/bin/env bash
# otp-suite.sh FILE [ROUNDS]: runs OTP's parallel_messages_SUITE and the lab's BEAM contender alternately on the same
# scenarios, and prints the signals per second of both, computed as the suite does.
#
# FILE is erts/test/parallel_messages_SUITE.erl of a checkout of Erlang/OTP, or of Debian's `apt-get source erlang`. The
# third column is the contender with the suite's function that chooses and sends a signal: docs/lab/otp/README.md explains
# it. With an OTP of scripts/otp.sh: scripts/otp.sh 29 scripts/otp-suite.sh FILE
set -euo pipefail
started=$PWD
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

file=${1:-}
if [ "${file##*/}" != parallel_messages_SUITE.erl ] || ! file=$(cd "$started" && realpath -e "$file" 2>/dev/null); then
  echo "otp-suite: no parallel_messages_SUITE.erl at '${1:-}'; name the file in erts/test of a checkout of Erlang/OTP" >&2
  exit 2
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
erlc -o "$folder" scripts/otp_suite.erl
for flags in "+S 1:1" "+sbt tnnps"; do
  # shellcheck disable=SC2086 # several words in one variable
  erl $flags -noshell -pa "$folder" -run otp_suite main "$file" contenders/beam/signals.erl "$folder" "${2:-5}"
done
