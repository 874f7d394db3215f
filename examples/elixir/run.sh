#!/bin/sh
# Builds the Rust and the Elixir part, and shows calls, crashes and restarts between them. Needs Rust, Erlang and
# Elixir 1.14 or later. SHOP_NATIVE is the path of an already built Rust program.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
target=${CARGO_TARGET_DIR:-$here/../../target}
if [ -z "${SHOP_NATIVE:-}" ]; then
    cargo build --manifest-path "$here/../../Cargo.toml" -p purlin-dist --example shop_native --quiet
    SHOP_NATIVE=$target/debug/examples/shop_native
fi
export SHOP_NATIVE
export MIX_BUILD_PATH="${MIX_BUILD_PATH:-$target/elixir-shop}"
cd "$here"
exec elixir --name shop@127.0.0.1 -S mix run -e 'Shop.Demo.run()'
