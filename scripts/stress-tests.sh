#!/usr/bin/env bash
# stress-tests.sh [ROUNDS]: runs all tests of the workspace ROUNDS times, by default 10, under load: LOOPS busy loops of
# normal priority per core, by default 2. Prints each failed test with its output, and a line for each round; the status
# is 1 if any test failed. FILTER is a filter expression of cargo-nextest for less than all tests, as in:
# FILTER='package(purlin)' scripts/stress-tests.sh 50
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

rounds=${1:-10}
if ! [[ $rounds =~ ^[1-9][0-9]*$ ]]; then
  echo "stress-tests: '$rounds' is not a number of rounds; as in: scripts/stress-tests.sh 10" >&2
  exit 2
fi
find_cargo
install_for_tests
step "build: every test" scripts/test-workspace.sh --no-run

cores=$(nproc 2>/dev/null || sysctl -n hw.ncpu)
loops=$((${LOOPS:-2} * cores))
output=$(mktemp -d)
busy=()
trap 'kill "${busy[@]}" 2>/dev/null || true; rm -rf "$output"' EXIT
for _ in $(seq "$loops"); do
  (while :; do :; done) &
  busy+=("$!")
done

printf '\n== stress: %d rounds with %d busy loops on %d cores\n' "$rounds" "$loops" "$cores"
failed=0
for round in $(seq "$rounds"); do
  status=0
  scripts/test-workspace.sh --no-fail-fast ${FILTER:+-E "$FILTER"} >"$output/round" 2>&1 || status=$?
  summary=$(grep -E '^ *Summary' "$output/round" | sed -E 's/^ *Summary *//' || true)
  printf 'round %d of %d: %s\n' "$round" "$rounds" "${summary:-did not run, status $status}"
  if [ "$status" -ne 0 ]; then
    failed=$((failed + 1))
    cat "$output/round"
  fi
done
printf '\n%d of %d rounds passed\n' "$((rounds - failed))" "$rounds"
[ "$failed" -eq 0 ]
