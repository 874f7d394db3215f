#!/usr/bin/env bash
# check-tools.sh: runs shellcheck, typos, cargo-deny and `cargo package`. Installs a tool that is missing; with
# PURLIN_NO_INSTALL=1 its check is skipped. If typos or cargo-deny cannot be installed, the status is 2.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
PATH="$PATH:${CARGO_HOME:-${HOME:-}/.cargo}/bin"

# tool_step TOOL TITLE COMMAND...: a step that needs a cargo subcommand.
tool_step() {
  local tool=$1
  shift
  if scripts/add-tool.sh "$tool"; then
    step "$@"
  elif [ "${PURLIN_NO_INSTALL:-}" = 1 ]; then
    echo "left out: $1"
  else
    exit 2
  fi
}

tool_step typos "typos: spelling in sources and documents" typos
tool_step cargo-deny "cargo-deny: dependencies between crates, licences, sources" \
  cargo deny --locked --log-level error check bans licenses sources

shell="shellcheck: every shell script"
scripts/install-missing.sh shellcheck
if command -v shellcheck >/dev/null 2>&1; then
  step "$shell" shellcheck scripts/*.sh .ci/run examples/*/*.sh
else
  echo "left out: $shell"
fi

# WHY without building them: the same sources are built anyway. `scripts/check-package.sh --verify` builds each.
step "cargo package: every crate that is published" scripts/check-package.sh
