#!/usr/bin/env bash
# prove.sh: the proofs that take longer than tests: lints without optional features, loom, shuttle, simulated cores,
# differential tests, other releases of Erlang/OTP, kills, faults of the log, sanitizers, fuzzing. A proof is skipped
# while no file it depends on has changed since it passed in this target folder; ALL=1 runs all.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
stamps=${CARGO_TARGET_DIR:-target}/proved
mkdir -p "$stamps"
# A proof creates this file if it cannot run here.
export LEFT_OUT="$stamps/left-out"
all_ran=1

# content PATH...: a digest of the names and contents of the files below these paths that git tracks or could track.
content() {
  git ls-files -z --cached --others --exclude-standard -- "$@" | sort -zu |
    # WHY true: sha256sum fails on a symbolic link to a directory and on a deleted file, which have no content.
    { xargs -0 sha256sum 2>/dev/null || true; } | sha256sum
}

# bounds: the variables that make a proof shorter or longer.
bounds() {
  echo "${ITERATIONS:-} ${LOOM_MAX_PREEMPTIONS:-} ${PROPTEST_CASES:-} ${PURLIN_TERMS:-} ${PURLIN_LOG_CASES:-}"
}

# proof NAME TITLE CRATES COMMAND...: runs the command unless it has passed for the same sources.
proof() {
  local name=$1 title=$2 crates=$3 digest
  shift 3
  # shellcheck disable=SC2086 # several paths in one argument
  digest=$(content Cargo.toml Cargo.lock clippy.toml .config scripts crates/polling $crates && rustc -vV && bounds)
  if [ "${ALL:-}" != 1 ] && [ "$(cat "$stamps/$name" 2>/dev/null)" = "$digest" ]; then
    printf '\n== %s\n-- unchanged since it passed; ALL=1 runs it again\n' "$title"
    return
  fi
  rm -f "$LEFT_OUT"
  step "$title" "$@"
  if [ -e "$LEFT_OUT" ]; then all_ran=0; else echo "$digest" >"$stamps/$name"; fi
}

core="crates/raw crates/sched"
library="$core crates/macros crates/purlin crates/testkit"
nodes="$library crates/socket crates/term crates/tls crates/dist-protocol crates/dist crates/differential"
step "set-up: a C and C++ compiler, Erlang and PostgreSQL" scripts/install-missing.sh cc c++ erlc postgres
proof features "lints: crates without their optional features" "$nodes crates/ack crates/log crates/observer" \
  scripts/check-features.sh
proof loom "loom: every interleaving of the lock-free core, up to a bound" "$core" scripts/test-loom.sh
proof shuttle "shuttle: the whole scheduler under thousands of schedules" "$core" scripts/test-shuttle.sh
proof many-cores "many cores: queues keep the order of each sender on simulated cores" \
  "$core crates/simulator crates/many-cores" scripts/test-many-cores.sh
proof differential "differential: 5000 programs on the BEAM and on purlin" "$nodes" \
  scripts/differential.sh --programs 5000
proof spread "differential: programs over a node of each, whose connection is cut" "$nodes" \
  scripts/differential.sh --spread --seconds 40
for release in 27 29; do
  proof "otp-$release" "OTP $release: tests of purlin-dist, and programs on both and over a node of each" "$nodes" \
    scripts/test-otp.sh "$release"
done
proof terms "terms: 5000 random terms on the BEAM, and property tests of 256 cases" crates/term scripts/test-terms.sh
proof kills "kills: 50 of server, clients and database, of workers, and of an Erlang node; each message and effect once" \
  "$nodes crates/ack crates/log examples/gateway examples/postgres examples/jobs" scripts/test-kills.sh 50
proof chat "chat: 1000 clients, kills of rooms and SIGTERM; no acknowledged line is lost" \
  "$library crates/axum examples/chat" scripts/test-chat.sh 1000
proof new "new: a project of purlin new is built, runs, stops at Ctrl-C and passes its tests" \
  "$library crates/cli" scripts/test-new.sh
proof log "log: 2000 random programs with power losses and errors, and 2000 damaged logs" crates/log \
  env PURLIN_LOG_CASES="${PURLIN_LOG_CASES:-2000}" cargo test --locked --quiet -p purlin-log --test it
proof log-mistakes "log: planted mistakes are caught" crates/log scripts/mutate-log.sh
proof power-loss "log: power losses on a loop device" crates/log scripts/power-loss.sh
proof asan "AddressSanitizer: the tests of purlin" "$library" scripts/asan.sh
# WHY not all modules: the others add a minute and little concurrency.
proof tsan "ThreadSanitizer: the tests in which threads meet most" "$library" \
  scripts/tsan.sh bounds_stress calls crowd links_and_monitors messages stress timers
proof fuzz "fuzzing: every target for a few seconds" "$nodes crates/ack crates/log crates/otel crates/lab crates/timing contenders/protocol examples/gateway fuzz" \
  scripts/fuzz.sh 3 --dev
if [ "$all_ran" = 1 ]; then passed "every proof"; else passed "every proof that runs here"; fi
