#!/usr/bin/env bash
# check-js.sh [--write]: type-checks all JavaScript with tsc and checks its format with prettier; --write formats it.
# Prints errors alone. The tools come from npm, into target/js.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

own=crates/browser/script
tools=target/js
if ! cmp -s "$own/package-lock.json" "$tools/node_modules/.installed"; then
  if [ "${PURLIN_NO_INSTALL:-}" = 1 ]; then
    echo "left out: the checks of JavaScript, because their tools are not in $tools and PURLIN_NO_INSTALL=1"
    exit 0
  fi
  if ! command -v npm >/dev/null 2>&1; then
    echo "no npm found: on Debian \`apt-get install nodejs npm\`, or PURLIN_NO_INSTALL=1 to leave the check out" >&2
    exit 2
  fi
  mkdir -p "$tools"
  cp "$own/package.json" "$own/package-lock.json" "$own/.npmrc" "$tools/"
  (cd "$tools" && npm ci --no-audit --no-fund --silent)
  # WHY last: an installation that was broken off is done again.
  cp "$own/package-lock.json" "$tools/node_modules/.installed"
fi

mapfile -t files < <(git ls-files --cached --others --exclude-standard -- '*.js' '*.mjs')
unchecked=$(grep -L '^// @ts-check$' "${files[@]}" || true)
if [ -n "$unchecked" ]; then
  printf '%s\n' "$unchecked" | sed 's|$|: has no line // @ts-check|' >&2
  exit 1
fi
for program in scripts observer report; do
  "$tools/node_modules/.bin/tsc" --project "$own/tsconfig.$program.json"
done
case ${1:-} in
  --write) mode=--write ;;
  *) mode=--check ;;
esac
"$tools/node_modules/.bin/prettier" --config "$own/.prettierrc.json" --log-level warn "$mode" "${files[@]}"
