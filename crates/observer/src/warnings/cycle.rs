//! Rule: call cycles, in which each process waits for a reply of the next and the last for the first: a deadlock.
//!
//! *Detects*: the same cycle among the pending calls in two consecutive tables. One table is not enough: its processes
//! are sampled one after the other, so two calls of different moments can look like a cycle. A process that waits for
//! several replies and continues with the first may be in a cycle without being stuck; it is reported as well.
//!
//! *Advice*: see [`ADVICE`].
//!
//! COST: proportional to the number of pending calls, and a sort of them.

use std::fmt::Write as _;
use std::time::Duration;

use purlin::ProcessId;
use rustc_hash::FxHashMap;

use super::rule::{MOST_OF_A_KIND, Rule, describe};
use super::warning::{Kind, Subject, Warning};
use crate::snapshot::{Call, Snapshot};

/// Advice for this warning.
pub const ADVICE: &str = "None of them answers while it waits, so it lasts until a call times out. Have \
     one of them send instead of call, keep the Reply and answer later, or put what both need into a process \
     that calls neither.";

/// Largest number of processes named of a longer cycle. A reader looks at the neighbours.
pub const MOST_NAMED: usize = 8;

/// State of the rule.
#[derive(Debug, Default)]
pub(super) struct Cycles {
    /// Time at which the last checked table was completed.
    at: Duration,
    /// Cycles of that table and the time each was first detected.
    kept: FxHashMap<Vec<ProcessId>, Duration>,
    seen: Vec<Warning>,
}

impl Rule for Cycles {
    fn check(&mut self, snapshot: &Snapshot) -> Vec<Warning> {
        let at = snapshot.processes.made().1;
        if at > self.at {
            self.at = at;
            let before = std::mem::take(&mut self.kept);
            for cycle in cycles(&snapshot.calls) {
                let since = before.get(&cycle).copied();
                self.kept.insert(cycle, since.unwrap_or(at));
            }
            let lasting = self.kept.iter().filter(|(_, since)| **since < at);
            let mut seen: Vec<_> = lasting
                .map(|(cycle, since)| Warning {
                    kind: Kind::CallCycle,
                    line: line(snapshot, cycle),
                    subject: Subject::Cycle(cycle.clone()),
                    since: *since,
                })
                .collect();
            seen.sort_by(|a, b| (a.since, &a.subject).cmp(&(b.since, &b.subject)));
            self.seen = seen;
        }
        self.seen.clone()
    }
}

fn line(snapshot: &Snapshot, cycle: &[ProcessId]) -> String {
    let who = |at: usize| describe(snapshot, cycle[at]);
    let mut line = format!("deadlock: {} waits for {}", who(0), who(1 % cycle.len()));
    for at in 2..cycle.len().min(MOST_NAMED) {
        let _ = write!(line, ", which waits for {}", who(at));
    }
    if cycle.len() > MOST_NAMED {
        let _ = write!(line, ", and so on for {} more", cycle.len() - MOST_NAMED);
    }
    let _ = write!(line, ", which waits for {}", who(0));
    line
}

/// Finds cycles among calls: at least one of each strongly connected component, each rotated to its lowest pid, at most
/// [`MOST_OF_A_KIND`].
///
/// Depth-first search. A process that is met again on the current path closes a cycle.
fn cycles(calls: &[Call]) -> Vec<Vec<ProcessId>> {
    let mut edges: Vec<_> = calls.iter().map(|call| (call.caller, call.callee)).collect();
    edges.sort_unstable();
    edges.dedup();
    // Index of each caller's first edge.
    let mut first = FxHashMap::default();
    for (at, (caller, _)) in edges.iter().enumerate() {
        first.entry(*caller).or_insert(at);
    }
    let mut found: Vec<Vec<ProcessId>> = Vec::new();
    // Index on the current path; `None` for processes whose search is complete.
    let mut seen: FxHashMap<ProcessId, Option<usize>> = FxHashMap::default();
    for &(start, _) in &edges {
        if seen.contains_key(&start) {
            continue;
        }
        // The current path: each process with its next edge.
        let mut way = vec![(start, first[&start])];
        seen.insert(start, Some(0));
        while let Some((here, next)) = way.last_mut() {
            let edge = edges.get(*next).filter(|(caller, _)| caller == here);
            let Some(&(_, callee)) = edge else {
                seen.insert(*here, None);
                way.pop();
                continue;
            };
            *next += 1;
            match seen.get(&callee) {
                Some(Some(place)) => {
                    if found.len() < MOST_OF_A_KIND {
                        found.push(turned(way[*place..].iter().map(|(id, _)| *id).collect()));
                    }
                }
                Some(None) => {}
                // A process without a pending call is on no cycle.
                None => {
                    if let Some(&edge) = first.get(&callee) {
                        seen.insert(callee, Some(way.len()));
                        way.push((callee, edge));
                    }
                }
            }
        }
    }
    found
}

/// Rotates a cycle so that its lowest pid comes first.
fn turned(mut cycle: Vec<ProcessId>) -> Vec<ProcessId> {
    let lowest = (0..cycle.len()).min_by_key(|at| cycle[*at]).unwrap_or_default();
    cycle.rotate_left(lowest);
    cycle
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Cycles, MOST_NAMED, cycles, line};
    use crate::snapshot::Call;
    use crate::snapshot::fixture::{at, named, pid, with};
    use crate::warnings::rule::Rule;

    fn calls(edges: &[(u32, u32)]) -> Vec<Call> {
        edges.iter().map(|&(a, b)| Call { caller: pid(a), callee: pid(b) }).collect()
    }

    fn found(edges: &[(u32, u32)]) -> Vec<Vec<u32>> {
        let found = cycles(&calls(edges)).into_iter();
        found.map(|cycle| cycle.into_iter().map(|id| id.id()).collect()).collect()
    }

    #[test]
    fn two_processes_that_call_each_other_are_a_deadlock_and_a_chain_of_calls_is_not() {
        assert_eq!(found(&[(2, 1), (1, 2)]), [[1, 2]]);
        assert!(found(&[(1, 2), (2, 3), (4, 3), (1, 3)]).is_empty());
    }

    #[test]
    fn a_process_that_waits_for_a_deadlocked_one_is_not_part_of_the_cycle() {
        assert_eq!(
            found(&[(9, 5), (5, 7), (7, 6), (6, 5), (8, 9), (1, 2), (2, 1)]),
            [vec![1, 2], vec![5, 7, 6]]
        );
    }

    #[test]
    fn a_cycle_is_reported_only_after_two_consecutive_tables() {
        let mut rule = Cycles::default();
        let seen = [true, false, true, true, true, false].into_iter().zip(1..);
        let reported = seen.map(|(there, second)| {
            let mut snapshot = at(second);
            snapshot.calls = if there { calls(&[(1, 2), (2, 1)]) } else { Vec::new() }.into();
            let once = rule.check(&snapshot);
            assert_eq!(once, rule.check(&snapshot), "the same table is no second one");
            once.first().map(|seen| seen.since.as_secs())
        });
        assert_eq!(reported.collect::<Vec<_>>(), [None, None, None, Some(3), Some(3), None]);
    }

    #[test]
    fn a_deadlock_is_reported_with_names_and_pids_and_a_long_one_is_abridged() {
        let billing = "billing".into();
        let snapshot = with(at(1), &[named(pid(1), &billing)]);
        let due =
            "deadlock: billing (<0.1.0>) waits for <0.2.0>, which waits for billing (<0.1.0>)";
        assert_eq!(line(&snapshot, &[pid(1), pid(2)]), due);
        let long: Vec<_> = (1..=20).map(pid).collect();
        let line = line(&snapshot, &long);
        let due =
            ", which waits for <0.8.0>, and so on for 12 more, which waits for billing (<0.1.0>)";
        assert!(line.ends_with(due) && MOST_NAMED == 8, "{line}");
    }

    #[test]
    fn a_long_chain_of_calls_does_not_exhaust_the_stack() {
        let chain: Vec<_> = (1..200_000).map(|n| (n, n + 1)).chain([(200_000, 1)]).collect();
        assert_eq!(found(&chain)[0].len(), 200_000);
    }

    proptest! {
        /// Every reported cycle is one, and every process that can reach itself is strongly connected to a process of a
        /// reported cycle.
        #[test]
        fn cycles_are_found_in_random_graphs(
            edges in proptest::collection::vec((0_u32..8, 0_u32..8), 0..20),
        ) {
            let edges: Vec<_> = edges.into_iter().filter(|(a, b)| a != b).collect();
            let mut reach = [[false; 8]; 8];
            for &(a, b) in &edges {
                reach[a as usize][b as usize] = true;
            }
            for via in 0..8 {
                for a in 0..8 {
                    for b in 0..8 {
                        reach[a][b] |= reach[a][via] && reach[via][b];
                    }
                }
            }
            let found = found(&edges);
            for cycle in &found {
                let next = cycle.iter().skip(1).chain(cycle.first());
                prop_assert!(cycle.iter().zip(next).all(|(a, b)| edges.contains(&(*a, *b))));
                prop_assert_eq!(cycle.iter().min(), cycle.first());
            }
            for id in (0..8).filter(|id| reach[*id][*id]) {
                let mut on_them = found.iter().flatten().map(|other| *other as usize);
                prop_assert!(on_them.any(|other| reach[id][other] && reach[other][id]));
            }
        }
    }
}
