#!/usr/bin/env bash
# check-languages.sh: warnings of the compilers of Erlang, Elixir and Go, and of their formatters, as errors. A language
# whose compiler is missing is skipped.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# have COMMAND LANGUAGE: true if COMMAND is installed; otherwise prints that the language is skipped.
have() {
  if command -v "$1" >/dev/null 2>&1; then return 0; fi
  echo "left out: $2, because $1 is missing"
  return 1
}

# guide_blocks LANGUAGE PAGE: prints the blocks of that language of a page of the guide.
guide_blocks() {
  sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/{/^\`\`\`/d;p}" "docs/guide/$2.md"
}

# WHY `|| return`: bash ignores `set -e` in a function whose status is used, as `step` does.
erlang() {
  local script said
  # WHY a folder each: modules of the same name would overwrite each other.
  mkdir "$out/differential" "$out/beam"
  erlc -Werror -o "$out/differential" crates/differential/erlang/*.erl || return
  erlc -Werror -o "$out/beam" contenders/beam/*.erl || return
  guide_blocks erlang coming-from >"$out/market.erl"
  erlc -Werror -o "$out" "$out/market.erl" || return
  erlc -Werror -o "$out" scripts/otp_suite.erl examples/gateway/store.erl || return
  for script in crates/*/tests/it/*.escript crates/*/tests/it/*/*.escript crates/purlin/src/supervisor/tests/*.escript; do
    # WHY: a warning leaves the status at 0.
    said=$(escript -s "$script" 2>&1) || said="$script: not valid: $said"
    if [ -n "$said" ]; then
      echo "$said" >&2
      return 1
    fi
  done
}

elixir() {
  local page
  mkdir "$out/elixir"
  for page in coming-from servers services; do guide_blocks elixir "$page" >"$out/$page.ex"; done
  elixirc --warnings-as-errors -o "$out/elixir" "$out"/*.ex || return
  elixirc --warnings-as-errors -pa "$out/beam" -o "$out/elixir" contenders/elixir/*.ex || return
  (cd examples/elixir && MIX_BUILD_PATH="$out/shop" mix compile --force --warnings-as-errors >/dev/null) || return
  mix format --check-formatted
}

go_sources() {
  local unformatted
  (cd contenders/go && go vet ./...) || return
  unformatted=$(gofmt -l contenders/go) || return
  if [ -n "$unformatted" ]; then
    echo "not formatted, see \`gofmt -d\`: $unformatted" >&2
    return 1
  fi
}

if have erlc Erlang; then
  step "Erlang: warnings are errors" erlang
  if have elixirc Elixir; then step "Elixir: warnings are errors, and the format" elixir; fi
fi
if have go Go; then step "Go: vet and format" go_sources; fi
