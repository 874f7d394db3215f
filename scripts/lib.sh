# What the scripts beside this one share. Sourced, never run; leaves the caller in the root of the tree.

cd "$(dirname "${BASH_SOURCE[0]}")/.."

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
