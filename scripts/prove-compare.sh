#!/usr/bin/env bash
# prove-compare.sh: measures the error rates of the lab's verdict on this machine with real runs. A contender compared
# with itself must be reported as different in at most 16 of 200 runs; slowed by 5 %, in at least 18 of 20. The report of
# a run and `purlin lab compare` must agree in each of them.
# SAME=200, SLOWED=20: number of runs of each kind. SAMPLES=151: rounds per run. APART=1: compares two consecutive runs
# instead of two contenders of one run, which is harder on a machine that drifts. BUILT=DIR: programs built before.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

same=${SAME:-200} slowed=${SLOWED:-20} samples=${SAMPLES:-151} apart=${APART:-}

find_cargo
if [ -z "${BUILT:-}" ]; then
  step "build: the purlin command and a contender that can be slowed" \
    cargo build --release --locked -p purlin-cli -p purlin-contender --example slowed --bins
fi
built=$(realpath "${BUILT:-${CARGO_TARGET_DIR:-target}/release}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# take FILE CONTENDER...: a short run of these contenders.
take() {
  local file=$1 status=0
  shift
  "$built/purlin" lab run -e serial-spawn "${@/#/-c}" --samples "$samples" --fresh \
    --dir "$folder/run" --json "$folder/$file" >"$folder/out" 2>&1 || status=$?
  if [ "$status" -ne 0 ]; then
    cat "$folder/out" >&2
    exit 1
  fi
}

# agrees WORD: checks that the report of the last run has the verdict that compare prints as WORD; a rate is compared.
agrees() {
  local verdict
  case $1 in
    slower) verdict=worse ;;
    faster) verdict=better ;;
    *) verdict=$1 ;;
  esac
  if ! grep -q "\"verdict\": \"$verdict\"" "$folder/both.json"; then
    echo "the report of the run does not say $verdict, as compare does" >&2
    exit 1
  fi
}

# told PERCENT: prints the verdict of compare, one word, on the contender and itself slowed by PERCENT.
told() {
  local word
  local old="old='$built/examples/slowed' 0" new="new='$built/examples/slowed' $1"
  if [ -n "$apart" ]; then
    take old.json "one='$built/examples/slowed' 0"
    take new.json "one='$built/examples/slowed' $1"
    "$built/purlin" lab compare "$folder/old.json" "$folder/new.json" >"$folder/told"
  else
    take both.json "$old" "$new"
    "$built/purlin" lab compare "$folder/both.json" -c old,new >"$folder/told"
  fi
  word=$(grep -oE '^1 (slower|faster|indistinguishable)' "$folder/told" | cut -d ' ' -f 2)
  if [ -z "$apart" ]; then agrees "$word"; fi
  echo "$word"
}

# tally PERCENT RUNS: counts the verdicts of RUNS comparisons in slower, faster and indistinguishable.
tally() {
  slower=0 faster=0 indistinguishable=0
  local word
  for _ in $(seq "$2"); do
    word=$(told "$1")
    printf -v "$word" %d $((${!word} + 1))
  done
  printf '%s %% slower: %d slower, %d faster, %d indistinguishable of %d\n' "$1" \
    "$slower" "$faster" "$indistinguishable" "$2"
}

mode='both in one run'
if [ -n "$apart" ]; then mode='two runs for each comparison'; fi
began=$SECONDS
printf '\n== %s rounds, %s\n' "$samples" "$mode"
tally 0 "$same"
false_alarms=$((slower + faster))
tally 5 "$slowed"
found=$slower
printf -- '-- %d s\n' "$((SECONDS - began))"
if [ "$((false_alarms * 200))" -gt "$((same * 16))" ] || [ "$((found * 20))" -lt "$((slowed * 18))" ]; then
  echo "not proven: at most 16 of 200 may be called different, and at least 18 of 20 must be found" >&2
  exit 1
fi
echo "proven: $false_alarms of $same of the same were called different, $found of $slowed that were slowed were found"
