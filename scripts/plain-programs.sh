#!/usr/bin/env bash
# plain-programs.sh: compares the lab's tokio and Go contenders with plain programs for the same experiments, which share
# no code with the lab. Fails if a contender is slower than the plain program by more than 10 % beyond noise.
# ROUNDS=15: alternating runs of each side, at least 6. ONLY=REGEX: experiments to run. Go is left out without a compiler.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

rounds=${ROUNDS:-15} only=${ONLY:-.}

# experiment, operations per run, parameters of the contender
cases=(
  'throughput 1000000 "n":1000000'
  'fan-in 1000000 "senders":64,"n":1000000'
  'ping-pong 300000 "n":300000'
  'spawn-chain 500000 "n":1000,"reps":500'
  'fork-join 100000 "n":100000'
  'call 100000 "n":100000'
)

find_cargo
step "build: tokio" cargo build --release --locked -p contender-tokio --bins --example plain
built=$(realpath "${CARGO_TARGET_DIR:-target}")/release
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if command -v go >/dev/null; then
  # As the lab builds it: with the go.mod that `go mod init` of this compiler writes.
  cp -r contenders/go "$folder/go"
  rm "$folder/go/go.mod"
  cd "$folder/go"
  step "set-up: Go's defaults of a new module" go mod init contender
  step "build: Go" go build -o "$folder/contender-go" .
  step "build: plain Go" go build -o "$folder/plain" ./plain
  cd - >/dev/null
fi

# contender PROGRAM EXPERIMENT PARAMS: runs the contender twice in one process; prints the ns per operation of the second.
contender() {
  local request="{\"op\":\"run\",\"experiment\":\"$2\",\"params\":{$3}}"
  printf '%s\n%s\n' "$request" "$request" | "$1" | tail -n 1 | tr ',{}' '\n' |
    awk -F: '$1 == "\"elapsed_ns\"" { ns = $2 } $1 == "\"ops\"" { ops = $2 } END { print ns / ops }'
}

# versus NAME CONTENDER PLAIN: alternates both programs and prints one line per experiment: both medians, and the median
# of the ratio contender/plain with its 95 % interval by order statistics.
versus() {
  local case experiment n params round slower=0
  for case in "${cases[@]}"; do
    read -r experiment n params <<<"$case"
    [[ $experiment =~ $only ]] || continue
    : >"$folder/pairs"
    for round in $(seq "$rounds"); do
      local lab plain
      if ((round % 2)); then
        lab=$(contender "$2" "$experiment" "$params") plain=$("$3" "$experiment" "$n")
      else
        plain=$("$3" "$experiment" "$n") lab=$(contender "$2" "$experiment" "$params")
      fi
      echo "$lab $plain" >>"$folder/pairs"
    done
    awk -v name="$1 $experiment" '
      function median(v, n) { return (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2 }
      function sorted(v, n, i, j, x) {
        for (i = 2; i <= n; i++) { x = v[i]; for (j = i - 1; j > 0 && v[j] > x; j--) v[j + 1] = v[j]; v[j + 1] = x }
      }
      { n++; lab[n] = $1; plain[n] = $2; ratio[n] = $1 / $2 }
      END {
        sorted(lab, n); sorted(plain, n); sorted(ratio, n)
        # Ranks of the interval: the largest k for which the binomial tail below k is at most 2.5 %.
        p = 0.5 ^ n; tail = p; k = 0
        while (tail <= 0.025) { k++; p *= (n - k + 1) / k; tail += p }
        low = ratio[k > 0 ? k : 1]; high = ratio[k > 0 ? n + 1 - k : n]
        printf "%-22s contender %8.1f ns, plain %8.1f ns, ratio %.2f (%.2f to %.2f)", name,
          median(lab, n), median(plain, n), median(ratio, n), low, high
        bad = low > 1 && median(ratio, n) > 1.1
        print (bad ? "  SLOWER" : "")
        exit bad
      }' "$folder/pairs" || slower=1
  done
  return "$slower"
}

status=0
for workers in "" 1; do
  if [ -n "$workers" ]; then export TOKIO_WORKER_THREADS=$workers GOMAXPROCS=$workers; fi
  versus "tokio${workers:+ $workers worker}" "$built/contender-tokio" "$built/examples/plain" || status=1
  if [ -e "$folder/plain" ]; then
    versus "go${workers:+ $workers thread}" "$folder/contender-go" "$folder/plain" || status=1
  fi
done
if [ "$status" -ne 0 ]; then
  echo "a contender is slower than a plain program: the contender is wrong" >&2
  exit 1
fi
passed "no contender is slower than the plain program"
