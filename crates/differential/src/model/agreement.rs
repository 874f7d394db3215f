//! Agreement of a state with an observed outcome: prunes the search of [`allows`](super::allows).

use super::state::{Phase, Process, State};
use crate::language::{Op, Program, Script};
use crate::outcome::{End, Item, Outcome, Seen, Trace};

/// An observed outcome of a program.
pub(super) struct Agreement<'a> {
    program: &'a Program,
    seen: &'a Outcome,
    /// Whether mailboxes only grow at the end.
    keeps_order: bool,
}

impl<'a> Agreement<'a> {
    pub(super) fn new(program: &'a Program, seen: &'a Outcome) -> Self {
        Self { program, seen, keeps_order: !program.has_priority() }
    }

    /// Returns `false` if no path leads from this state to the outcome.
    pub(super) fn holds(&self, state: &State) -> bool {
        let all = state.processes.iter().zip(&self.seen.0).zip(&self.program.scripts);
        all.into_iter().all(|((process, trace), script)| {
            trace.log.starts_with(&process.log)
                && match process.phase {
                    Phase::Ended(reason) => {
                        trace.end == End::Ended(reason) && trace.log.len() == process.log.len()
                    }
                    _ => self.mailbox_agrees(process, trace, script),
                }
        })
    }

    /// Returns whether each item of the mailbox is taken later, or left at the end.
    fn mailbox_agrees(&self, process: &Process, trace: &Trace, script: &Script) -> bool {
        let End::Waits(left) = &trace.end else { return true };
        let rest = &script[usize::from(process.at)..];
        // A flush removes an item without an observation.
        if rest.iter().any(|op| matches!(op, Op::Demonitor(_, true))) {
            return true;
        }
        let later = trace.log[process.log.len()..].iter();
        let taken: Vec<Item> = later.filter_map(taken).collect();
        if taken.is_empty() && self.keeps_order {
            return left.starts_with(&process.mailbox);
        }
        let mut wanted: Vec<Item> = left.iter().copied().chain(taken).collect();
        process.mailbox.iter().all(|item| {
            let at = wanted.iter().position(|own| own == item);
            at.map(|at| wanted.swap_remove(at)).is_some()
        })
    }
}

fn taken(seen: &Seen) -> Option<Item> {
    match seen {
        Seen::Got(item) => Some(*item),
        _ => None,
    }
}
