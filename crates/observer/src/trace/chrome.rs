//! Chrome's trace event format, for `chrome://tracing` and Perfetto.
//!
//! Each process is a track. An event is shown as a slice of one microsecond, because flow arrows begin and end at
//! slices with a duration. A flow arrow leads from the sending of a message to its receipt.

use purlin::ProcessId;
use purlin::trace::{Event, EventKind};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::sequence::sequence;

/// Converts events to Chrome's trace event format. `names` returns the registered name of a process, if it has one.
///
/// ```
/// use purlin::trace::{Options, Trace};
/// use purlin::{Node, Process, spawn};
/// use purlin_observer::trace::chrome;
///
/// #[purlin::main]
/// async fn main() {
///     let node = Node::current().expect("a process has a node");
///     let trace = Trace::start(&node, Options::default());
///     let pid = spawn(async |mut me: Process<u32>| assert_eq!(me.receive().await, 7));
///     trace.follow(pid.id()).expect("it lives");
///     pid.send(7);
///     pid.ended().await;
///     let file = chrome(node.name(), &trace.events(0), |_| None).to_string();
///     assert!(file.contains("traceEvents"), "{file}");
/// }
/// ```
pub fn chrome(node: &str, events: &[Event], names: impl Fn(ProcessId) -> Option<String>) -> Value {
    let mut lines: FxHashMap<ProcessId, usize> = FxHashMap::default();
    let mut written = vec![json!({
        "ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": { "name": node },
    })];
    for step in sequence(events) {
        let next = lines.len() + 1;
        let line = *lines.entry(step.event.process).or_insert_with(|| {
            let id = step.event.process;
            let name = names(id).map_or_else(|| id.to_string(), |name| format!("{name} {id}"));
            written.push(json!({
                "ph": "M", "name": "thread_name", "pid": 1, "tid": next, "args": { "name": name },
            }));
            next
        });
        let Event { number, at, kind, what, .. } = step.event;
        // Microseconds.
        let ts = at.as_nanos() as f64 / 1000.0;
        let other = step.other.map(|other| other.to_string());
        written.push(json!({
            "ph": "X", "name": kind.name(), "cat": "process", "pid": 1, "tid": line, "ts": ts, "dur": 1,
            "args": { "number": number, "other": other, "what": what },
        }));
        let (ends, arrow) = match (kind, step.partner) {
            (EventKind::Send, Some(_)) => ("s", *number),
            (EventKind::Receive, Some(sent)) => ("f", sent),
            _ => continue,
        };
        written.push(json!({
            "ph": ends, "bp": "e", "name": "message", "cat": "message", "id": arrow,
            "pid": 1, "tid": line, "ts": ts,
        }));
    }
    json!({ "displayTimeUnit": "ns", "traceEvents": written })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::chrome;
    use crate::trace::fixture::passed_on;

    #[test]
    fn each_event_is_a_slice_on_its_process_track_and_message_pairs_are_flow_arrows() {
        let (events, [first, middle, _]) = passed_on();
        let hostile = "\"</script>\u{7}";
        let names = |id| (id == first).then(|| hostile.to_owned());
        let text = chrome("shop", &events, names).to_string();
        let file: Value = serde_json::from_str(&text).expect("it is JSON");
        let all = file["traceEvents"].as_array().expect("a list");
        let phase =
            |phase: &str| all.iter().filter(move |it| it["ph"] == phase).collect::<Vec<_>>();
        assert_eq!(phase("X").len(), events.len());
        assert_eq!(phase("M").len(), 1 + 3, "the node and three processes");
        let named: Vec<_> =
            phase("M").iter().filter_map(|it| it["args"]["name"].as_str()).collect();
        assert!(named.contains(&"shop") && named.contains(&&*middle.to_string()));
        assert!(named.contains(&&*format!("{hostile} {first}")));
        let (starts, ends) = (phase("s"), phase("f"));
        assert_eq!((starts.len(), ends.len()), (2, 2));
        for (start, end) in starts.iter().zip(&ends) {
            assert_eq!(start["id"], end["id"]);
            assert_ne!(start["tid"], end["tid"]);
        }
    }
}
