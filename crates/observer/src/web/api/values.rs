//! Values shared by several requests and responses: times, pids, states, ages.

use axum::Json;
use purlin::{Node, ProcessId, ProcessState};
use serde::Serialize;

use crate::snapshot::Age;
use crate::web::refusal::Refusal;

/// Converts to nanoseconds for JSON; saturates after some five hundred years.
pub(crate) fn ns(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Age of a process.
#[derive(Serialize)]
pub(crate) struct AgeFields {
    age_ns: u64,
    /// Whether the age is a lower bound, because the process existed before sampling started.
    age_at_least: bool,
}

impl From<Age> for AgeFields {
    fn from(age: Age) -> Self {
        Self { age_ns: ns(age.time()), age_at_least: matches!(age, Age::MoreThan(_)) }
    }
}

/// Name of a state in the API.
pub(crate) fn state_name(state: ProcessState) -> &'static str {
    match state {
        ProcessState::Running => "running",
        ProcessState::Runnable => "runnable",
        ProcessState::Receiving => "receiving",
        ProcessState::Waiting => "waiting",
        _ => "ended",
    }
}

/// Confirmation of an action.
#[derive(Serialize)]
pub(crate) struct Done {
    done: bool,
}

impl Done {
    pub(crate) const YES: Json<Self> = Json(Self { done: true });
}

/// Parses a pid as it is printed, of the node with that creation. Returns `None` if no process can have it.
fn read_pid(text: &str, creation: u32) -> Option<ProcessId> {
    let mut parts = text.strip_prefix("<0.")?.strip_suffix('>')?.split('.');
    let (id, serial) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    parts.next().is_none().then(|| ProcessId::from_parts(id, serial, creation)).flatten()
}

/// Parses a pid, or returns an error response.
pub(crate) fn pid(text: &str, node: &Node) -> Result<ProcessId, Refusal> {
    read_pid(text, node.creation())
        .ok_or_else(|| Refusal::bad("a pid looks like <0.12.3>, and is one of this node's"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use purlin::{Node, Process};

    use super::read_pid;

    #[test]
    fn a_printed_pid_is_parsed_back() {
        let node = Node::builder().workers(1).build().expect("the node starts");
        let id = node.block_on(async |me: Process<()>| me.id());
        assert_eq!(read_pid(&id.to_string(), id.creation()), Some(id));
        for text in ["", "0.1.0", "<0.1>", "<0.1.0.0>", "<1.1.0>", "<0.-1.0>", "<0.99999999999.0>"]
        {
            assert_eq!(read_pid(text, 1), None, "{text}");
        }
        node.stop_blocking();
    }

    proptest! {
        #[test]
        fn a_parsed_pid_is_printed_as_one_that_parses_to_the_same(
            text in "<0\\.[0-9+]{0,10}\\.[0-9]{0,10}>|.{0,20}",
        ) {
            if let Some(id) = read_pid(&text, 7) {
                prop_assert_eq!(read_pid(&id.to_string(), 7), Some(id));
            }
        }
    }
}
