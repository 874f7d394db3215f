#!/usr/bin/env bash
# mutate-log.sh [NAME...]: plants a mistake in the log, or these mistakes, one at a time in a copy of the crate, runs its
# tests, and prints the tests that fail. Ends with status 1 if a mistake is not caught, and with status 2 if one does not
# apply to the present code. `mutate-log.sh --check` only finds the latter.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_cargo
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
copy=$target/log-mistakes
output=$target/log-mistakes.out
# WHY 2000: the rarest mistake, no sync of the names of segments, is caught by case 692.
export PURLIN_LOG_CASES="${PURLIN_LOG_CASES:-2000}" RUST_BACKTRACE=0

# Each mistake: a name, a file of crates/log/src, and a change in the language of sed. A change that matches nothing is an
# error.
mistakes=(
  "no sync of a batch|log.rs|s/self\.file\.sync()\.map_err/Ok(()).map_err/"
  "sync after the acknowledgement|log.rs|s/if durable { self.sync_file() } else { Ok(()) }/if durable { self.durable.store(self.next, Ordering::Release) } Ok(())/"
  "no sync of a segment's header|recovery.rs|/\"write\", &name/,/sync_names/s/file\.sync()/Ok(())/"
  "no sync of the names of segments|recovery.rs|/\"sync\", &name/,/HEADER/s/storage\.sync_names()/Ok(())/"
  "no sync of the name of a checkpoint|recovery.rs|/pub(crate) fn replace/,\$s/storage\.sync_names()/Ok(())/"
  "no checksum of a body|format/batch.rs|s/crc32c(body) == self\.body/true/"
  "no checksum of a header|format/batch.rs|s/&& fields\.u32()? == crc32c(&bytes\[\.\.HEADER - 4\])//"
  "cutting at damage|analysis.rs|s/if durable > offset || found {/if false {/"
  "going on after a failure|log.rs|s/self\.failed\.get_or_insert(error\.to_string());/let _ = error;/"
  "checkpoint before the sync|log.rs|/fn rotate(/,/create(/s/self\.sync_file()?;//"
  "checkpoint not atomic|recovery.rs|/pub(crate) fn replace/,\$s/storage\.create(writing)/storage.create(name)/;/pub(crate) fn replace/,\$s/storage\.rename(writing, name)/Ok(())/"
  "checkpoint not synced before its name|recovery.rs|/pub(crate) fn replace/,\$s/file\.sync()/Ok(())/"
  "wrong base after a rotation|log.rs|s/let (base, previous) = (self\.next, self\.last\.base);/let (base, previous) = (self.next + 1, self.last.base);/"
  "removal before the confirmation|log.rs|s/if !due || following\.base > confirmed {/if !due || following.base > confirmed.saturating_add(9) {/"
  "confirmation of records that a power loss removed|recovery.rs|s/confirmed::lower(storage, next)?;//"
  "no second write of what a failed sync left|recovery.rs|s/while offset < length {/while offset < offset.min(length) {/"
  "position not synced|log.rs|/pub fn position/,/clients\.get/s/self\.sync()?;/self.check()?;/"
  "synced bytes not recorded|log.rs|s/synced: self\.synced,/synced: 0,/"
  "messages of a session stored twice|clients.rs|s/section\.remove_up_to(state\.position\.newest);//"
  "state of a client not restored|analysis.rs|s/self\.clients\.apply(&mut section, sequence);//"
)

tests() {
  timeout 600 cargo test --manifest-path "$copy/Cargo.toml" -p purlin-log --locked --test it \
    --target-dir "$target/mutations-log" >"$output" 2>&1
}

for mistake in "${mistakes[@]}"; do
  IFS='|' read -r name file change <<<"$mistake"
  # WHY: a change may contain the separator.
  change=${mistake#"$name|$file|"}
  if sed "$change" "crates/log/src/$file" | cmp -s - "crates/log/src/$file"; then
    echo "$name: the change does not apply to crates/log/src/$file" >&2
    exit 2
  fi
done
if [ "${1:-}" = --check ]; then exit; fi

rm -rf "$copy"
mkdir -p "$copy"
cp -r Cargo.toml Cargo.lock crates contenders examples "$copy"
if ! tests; then
  echo "the tests of crates/log fail as it is: see $output" >&2
  exit 1
fi
missed=0
for mistake in "${mistakes[@]}"; do
  IFS='|' read -r name file change <<<"$mistake"
  change=${mistake#"$name|$file|"}
  if [ $# -gt 0 ] && ! printf '%s\n' "$@" | grep -qxF "$name"; then continue; fi
  path=$copy/crates/log/src/$file
  sed -i "$change" "$path"
  if tests; then
    verdict="NOT CAUGHT"
    missed=1
  elif grep -q '^error: could not compile' "$output"; then
    verdict="does not compile"
    missed=1
  else
    failed=$(sed -n 's/^test \([a-z_:]*\) \.\.\. FAILED$/\1/p' "$output" | paste -sd ' ')
    verdict="caught by $failed"
    # WHY: a time-out or a failed cargo is no failed test.
    if [ -z "$failed" ]; then
      verdict="no test has failed: see $output"
      missed=1
    fi
  fi
  printf '%s: %s\n' "$name" "$verdict"
  cp "crates/log/src/$file" "$path"
done
exit "$missed"
