//! Pairing of sent and received messages.
//!
//! A message does not carry its sender, so a receive event does not name one. If sender and receiver are both traced,
//! the order identifies it: a process receives messages of one type in the order in which they were sent. This does not
//! hold if the process receives selectively, or if an untraced process sends it messages of the same type. A pair is
//! therefore the most likely match, not a certain one.

use std::collections::VecDeque;

use purlin::ProcessId;
use purlin::trace::{Event, EventKind};
use rustc_hash::FxHashMap;

/// An event and its counterpart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step<'a> {
    /// The event.
    pub event: &'a Event,
    /// The other process. For a receive event it is derived from the paired send event.
    pub other: Option<ProcessId>,
    /// For a paired send event the number of the receive event, and vice versa.
    pub partner: Option<u64>,
}

/// Returns the events as steps of a sequence diagram, in their order.
///
/// COST: one pass over the events, and one index per message in flight.
pub fn sequence(events: &[Event]) -> Vec<Step<'_>> {
    let mut steps: Vec<_> =
        events.iter().map(|event| Step { event, other: event.other, partner: None }).collect();
    let mut under_way: FxHashMap<(ProcessId, &str), VecDeque<usize>> = FxHashMap::default();
    for (at, event) in events.iter().enumerate() {
        match (event.kind, event.other) {
            (EventKind::Send, Some(to)) => {
                under_way.entry((to, &event.what)).or_default().push_back(at);
            }
            (EventKind::Receive, None) => {
                let sent = under_way.get_mut(&(event.process, &*event.what));
                let Some(sent) = sent.and_then(VecDeque::pop_front) else { continue };
                steps[sent].partner = Some(event.number);
                steps[at].partner = Some(events[sent].number);
                steps[at].other = Some(events[sent].process);
            }
            _ => {}
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use purlin::trace::EventKind;

    use super::sequence;
    use crate::trace::fixture::passed_on;

    #[test]
    fn a_receipt_is_paired_with_the_message_that_was_sent() {
        let (events, [first, middle, last]) = passed_on();
        let steps = sequence(&events);
        assert_eq!(steps.len(), events.len());
        let receipts = steps.iter().filter(|step| step.event.kind == EventKind::Receive);
        let from: Vec<_> = receipts.map(|step| (step.event.process, step.other)).collect();
        assert_eq!(
            from,
            [(first, None), (middle, Some(first)), (last, Some(middle)), (middle, None)]
        );
        for step in &steps {
            let Some(partner) = step.partner else { continue };
            let partner =
                steps.iter().find(|step| step.event.number == partner).expect("it is there");
            assert_eq!(partner.partner, Some(step.event.number));
            assert_eq!(
                (partner.other, step.other),
                (Some(step.event.process), Some(partner.event.process))
            );
        }
    }
}
