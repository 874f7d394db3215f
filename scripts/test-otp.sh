#!/usr/bin/env bash
# test-otp.sh RELEASE: the tests of purlin-dist, and differential programs over a node of each runtime, with that release
# of Erlang/OTP (see otp.sh) in place of the installed one.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

release=${1:-}
if ! scripts/otp.sh "$release" >/dev/null; then
  left_out "Erlang/OTP $release cannot be provided here"
fi
# WHY not etop: its output differs between releases, and docs/stability.md says where it fails.
scripts/otp.sh "$release" scripts/test-workspace.sh -p purlin-dist -E 'not test(/^observed::etop/)'
scripts/otp.sh "$release" scripts/differential.sh --spread --seconds 40
