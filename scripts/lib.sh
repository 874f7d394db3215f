# What the scripts beside this one share. Sourced, never run; leaves the caller in the root of the tree.

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# sanitizer NAME FLAG...: from now on cargo builds for that sanitizer of rustc, with those flags; "${sanitized[@]}" is
# what `cargo test` has to be told besides.
sanitizer() {
  if [ "$(uname -sm)" != "Linux x86_64" ]; then
    echo "left out: rustc's sanitizers run on Linux on x86-64, and this is $(uname -sm)"
    exit 0
  fi
  # WHY: it is behind a flag that the stable compiler accepts only when told that it may.
  export RUSTC_BOOTSTRAP=1 RUSTFLAGS="${RUSTFLAGS:-} -Zsanitizer=$*"
  # WHY: a backtrace takes so long here that a node that stops runs out of patience.
  export RUST_BACKTRACE=0
  local out="${CARGO_TARGET_DIR:-target}/$1"
  sanitized=(--locked --no-fail-fast --target x86_64-unknown-linux-gnu --target-dir "$out")
  # WHY: it is as large as the ordinary output and of no use to any other build.
  trap "rm -rf '$out'" EXIT
}

# step TITLE COMMAND...: says what begins, runs it, says how long it took; a failure ends the script.
step() {
  local title=$1 began=$SECONDS status=0
  shift
  printf '\n== %s\n' "$title"
  "$@" || status=$?
  if [ "$status" -ne 0 ]; then
    printf -- '-- failed after %d s with status %d: %s\n' "$((SECONDS - began))" "$status" "$*" >&2
    exit "$status"
  fi
  printf -- '-- %d s\n' "$((SECONDS - began))"
}

# find_cargo: puts cargo on the PATH, or says in one line how to get it and ends the script.
find_cargo() {
  if ! command -v cargo >/dev/null 2>&1 && [ -x "${HOME:-}/.cargo/bin/cargo" ]; then
    PATH="$HOME/.cargo/bin:$PATH"
    export PATH
  fi
  if ! command -v cargo >/dev/null 2>&1; then
    echo "no cargo found: install Rust 1.88 or later with: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh" >&2
    exit 2
  fi
}
