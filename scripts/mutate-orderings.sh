#!/usr/bin/env bash
# mutate-orderings.sh [FILE...]: mutation test of the loom models. Weakens each memory ordering of the lock-free code (or of
# these files), one at a time in a copy of the workspace, runs the models of that crate, and prints the models that fail.
# Takes six minutes of processor time. docs/internals/proof.md explains the mutations that no model detects.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
files=("$@")
[ $# -gt 0 ] || files=(crates/raw/src/*.rs crates/raw/src/*/*.rs crates/raw/src/*/*/*.rs crates/sched/src/worker/idle.rs)
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
copy=$target/mutations
output=$target/mutations.out

# The orderings of the files, without tests and comments: FILE LINE WHICH-OF-ITS-KIND-IN-THE-LINE FUNCTION OPERATION
# ORDERING.
orderings() {
  awk '
    FNR == 1 { test = 0 }
    /^#\[cfg\((all\()?test/ { test = 1 }
    test || /^ *\/\// || /compiler_fence/ { next }
    match($0, /fn [a-z_]+/) { function_ = substr($0, RSTART + 3, RLENGTH - 3) }
    {
      operation = /\.load\(/ ? "load" : /\.store\(/ ? "store" : /fence\(/ ? "fence" : "exchange"
      split("", seen)
      for (rest = $0; match(rest, /Ordering::(Acquire|Release|AcqRel|SeqCst)/); rest = substr(rest, RSTART + RLENGTH)) {
        ordering = substr(rest, RSTART + 10, RLENGTH - 10)
        print FILENAME, FNR, ++seen[ordering], function_, operation, ordering
      }
    }' "${files[@]}"
}

# The weaker orderings to try in place of an ordering.
weaker() {
  case $1-$2 in
    load-SeqCst) echo Acquire Relaxed ;;
    store-SeqCst) echo Release Relaxed ;;
    *-SeqCst) echo AcqRel ;;
    *-AcqRel) echo Acquire Release ;;
    *) echo Relaxed ;;
  esac
}

# Runs the models of a crate in the copy. WHY the same build options as test-loom.sh: its output is reused.
models() {
  RUSTFLAGS="${RUSTFLAGS:-} --cfg loom" CARGO_INCREMENTAL=1 \
    LOOM_MAX_PREEMPTIONS="${LOOM_MAX_PREEMPTIONS:-3}" \
    timeout 300 cargo test --manifest-path "$copy/Cargo.toml" -p "purlin-$1" --profile prove --locked --test 'loom*' \
    --target-dir "$target/loom" -- --nocapture >"$output" 2>&1
}

# Prints the result of a crate's models for the current copy.
verdict() {
  local status=0
  models "$1" || status=$?
  if [ "$status" -eq 0 ]; then
    echo "NOT CAUGHT"
  elif grep -q '^error: could not compile' "$output"; then
    echo "does not compile"
  elif [ "$status" -eq 124 ]; then
    echo "caught: a model does not end"
  else
    echo "caught by $(sed -n "s/^thread '\([a-z0-9_]*\)'.* panicked at .*/\1/p" "$output" | sed 1q)"
  fi
}

rm -rf "$copy"
mkdir -p "$copy"
cp -r Cargo.toml Cargo.lock crates contenders examples "$copy"
for crate in $(printf '%s\n' "${files[@]}" | cut -d / -f 2 | sort -u); do
  [ "$(verdict "$crate")" = "NOT CAUGHT" ] || {
    echo "the models of crates/$crate fail as it is: run scripts/test-loom.sh" >&2
    exit 1
  }
done
orderings | while read -r file line which function operation ordering; do
  original=$(<"$copy/$file")
  for weak in $(weaker "$operation" "$ordering"); do
    sed "${line}s/Ordering::$ordering/Ordering::$weak/$which" <<<"$original" >"$copy/$file"
    printf '%s:%s %s: %s %s -> %s: %s\n' "$file" "$line" "$function" "$operation" "$ordering" "$weak" \
      "$(verdict "$(cut -d / -f 2 <<<"$file")")"
  done
  echo "$original" >"$copy/$file"
done
