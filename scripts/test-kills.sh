#!/usr/bin/env bash
# test-kills.sh N: kills server, clients and database of examples/postgres at N random moments, and checks that the
# database has each message once; then the same with the program of examples/jobs and its jobs. PURLIN_SEED repeats a
# run. Before that it kills the Erlang node behind examples/gateway N times, and checks the values of its clients.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
scripts/add-tool.sh cargo-nextest
export PURLIN_KILLS=${1:?number of kills}
cargo nextest run -p example-gateway --locked --no-capture -E 'test(kills::)'
case $(PURLIN_NO_INSTALL=1 scripts/install-missing.sh postgres) in
  missing*) left_out "no PostgreSQL; on Debian: apt-get install postgresql" ;;
esac
cargo nextest run -p example-postgres -p example-jobs --locked --no-capture -E 'test(kills::)'
