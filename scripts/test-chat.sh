#!/usr/bin/env bash
# test-chat.sh N: connects N WebSocket clients to examples/chat, kills rooms and the program, and checks that every
# acknowledged line is in the journal, unless it is older than those that are kept.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
scripts/add-tool.sh cargo-nextest
PURLIN_CLIENTS=${1:?number of clients} cargo nextest run -p example-chat --locked -E 'test(/^(compaction|crashes|stop)::/)'
