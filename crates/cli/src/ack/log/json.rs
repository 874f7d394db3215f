//! JSON output of `purlin ack log`.

use std::path::Path;

use purlin_ack::handler::Converted;
use purlin_log::{Damage, Omitted, Repaired, Segment, Summary, Torn};
use serde_json::{Value, json};

/// Renders the contents of a log, with what is damaged.
pub(super) fn summary(summary: &Summary) -> String {
    let Summary { segments, clients, next, confirmed, damage, torn, damaged_checkpoints } = summary;
    let segment = |Segment { name, length, batches, records, .. }: &Segment| json!({ "name": name, "bytes": length, "batches": batches, "messages": records });
    let damaged = |Damage { path, offset, what }: &Damage| json!({ "path": text(path), "offset": offset, "what": what });
    let torn = torn.as_ref().map(|Torn { path, offset, bytes, zeros, .. }| {
        json!({ "path": text(path), "offset": offset, "bytes": bytes, "zeros": zeros })
    });
    lines(&json!({
        "whole": summary.is_whole(),
        "bytes": summary.bytes(),
        "messages": summary.records(),
        "clients": clients,
        "next": next,
        "confirmed": confirmed,
        "segments": segments.iter().map(segment).collect::<Vec<_>>(),
        "damage": damage.iter().map(damaged).collect::<Vec<_>>(),
        "torn": torn,
        "damaged_checkpoints": damaged_checkpoints,
    }))
}

/// Renders what a repair copied and left out.
pub(super) fn repaired(Repaired { records, omitted }: &Repaired) -> String {
    let range = |Omitted { path, offset, bytes, what }: &Omitted| json!({ "path": text(path), "offset": offset, "bytes": bytes, "what": what });
    let omitted: Vec<_> = omitted.iter().map(range).collect();
    lines(&json!({ "messages": records, "omitted": omitted }))
}

/// Renders what a conversion copied, and where it stopped.
pub(super) fn converted(Converted { messages, stopped }: &Converted) -> String {
    lines(&json!({ "messages": messages, "stopped": stopped }))
}

fn lines(document: &Value) -> String {
    format!("{document:#}\n")
}

/// Returns a path as text. JSON has no other form of it: bytes that are not UTF-8 are replaced.
fn text(path: &Path) -> String {
    path.display().to_string()
}
