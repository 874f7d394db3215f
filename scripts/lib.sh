# shellcheck shell=bash
# Shell functions shared by the scripts of this folder. Sourced, never run; leaves the caller in the root of the workspace.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

# left_out WHY: prints why a proof cannot run here, marks it as not passed for prove.sh, and exits.
left_out() {
  echo "left out: $1"
  if [ -n "${LEFT_OUT:-}" ]; then touch "$LEFT_OUT"; fi
  exit 0
}

# test_modules MODULE...: the modules of crates/purlin/tests/it as a regular expression; ends with status 2 if one does
# not exist.
test_modules() {
  local module
  for module in "$@"; do
    if ! [ -e "crates/purlin/tests/it/$module.rs" ]; then
      echo "no tests '$module': there is no crates/purlin/tests/it/$module.rs" >&2
      exit 2
    fi
  done
  (IFS='|' && echo "$*")
}

# sanitizer NAME FLAG...: sets the environment in which cargo builds for that sanitizer of rustc, with those flags.
# "${sanitized[@]}" holds further options of the cargo command.
sanitizer() {
  if [ "$(uname -sm)" != "Linux x86_64" ]; then
    left_out "rustc's sanitizers run on Linux on x86-64, and this is $(uname -sm)"
  fi
  # WHY: the flag is unstable, and the stable compiler accepts it only with this variable.
  export RUSTC_BOOTSTRAP=1 RUSTFLAGS="${RUSTFLAGS:-} -Zsanitizer=$*"
  # WHY: the suppressions name files, and a report without lines is of little use.
  export CARGO_PROFILE_DEV_DEBUG=line-tables-only
  # WHY: resolving a backtrace takes seconds under a sanitizer, longer than the grace period of a node that stops.
  export RUST_BACKTRACE=0
  local out="${CARGO_TARGET_DIR:-target}/$1"
  # shellcheck disable=SC2034 # read by the scripts that source this one
  sanitized=(--locked --target x86_64-unknown-linux-gnu --target-dir "$out")
  # WHY: the folder is as large as the ordinary one, and no other build can use it.
  # shellcheck disable=SC2064 # the folder is known now
  trap "rm -rf '$out'" EXIT
}

# step TITLE COMMAND...: prints the title, runs the command and prints its duration; ends the script if it fails.
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

# passed WHAT: the last line of a script that ran several steps.
passed() {
  printf '\n== %s passed in %d min %d s\n' "$1" "$((SECONDS / 60))" "$((SECONDS % 60))"
}

# find_cargo: puts cargo on the PATH, or prints in one line how to install it and ends the script with status 2.
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

# install_for_tests: installs the programs that the tests run: compilers, BEAMs, a browser, PostgreSQL.
install_for_tests() {
  step "set-up: a C compiler, Erlang with its etop and its libraries for C and Java, Elixir, Go, a browser, node, PostgreSQL and strace, for the tests that use the real thing" \
    scripts/install-missing.sh cc erlc etop ei jinterface elixir go chromium node npm postgres strace
}
