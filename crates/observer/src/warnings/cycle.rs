//! Rule: processes that wait for each other's answers, each for the next and the last for the first: a
//! deadlock.
//!
//! *What it sees*: the same cycle among the calls that are under way, in two tables in a row, because the
//! processes of a table are looked at one after the other, and two calls of different moments can look like a
//! cycle once. A process that waits for several at a time
//! and goes on with the first answer may be in a cycle and yet not stuck; it is told of all the same.
//!
//! *What to do*: see [`ADVICE`].
//!
//! COST: proportional to the calls that are under way, and a sort of them.

use std::fmt::Write as _;
use std::time::Duration;

use purlin::ProcessId;
use rustc_hash::FxHashMap;

use super::{Kind, MOST_OF_A_KIND, Rule, Sighting, Subject, called};
use crate::census::{Call, Census};

/// What to do about it.
pub const ADVICE: &str = "None of them answers while it waits, so it lasts until a call times out. Have \
     one of them send instead of call, keep the Reply and answer later, or put what both need into a process \
     that calls neither.";

/// How many of a longer cycle are named. It is the neighbours that one looks at.
pub const MOST_NAMED: usize = 8;

/// The rule.
#[derive(Debug, Default)]
pub(super) struct Cycles {
    /// When the table was made that was looked at last.
    at: Duration,
    /// The cycles in it, and since when each has been there.
    kept: FxHashMap<Vec<ProcessId>, Duration>,
    seen: Vec<Sighting>,
}

impl Rule for Cycles {
    fn look(&mut self, census: &Census) -> Vec<Sighting> {
        let at = census.processes.made().1;
        if at > self.at {
            self.at = at;
            let before = std::mem::take(&mut self.kept);
            for cycle in cycles(&census.calls) {
                let since = before.get(&cycle).copied();
                self.kept.insert(cycle, since.unwrap_or(at));
            }
            let lasting = self.kept.iter().filter(|(_, since)| **since < at);
            let mut seen: Vec<_> = lasting
                .map(|(cycle, since)| Sighting {
                    kind: Kind::CallCycle,
                    line: line(census, cycle),
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

fn line(census: &Census, cycle: &[ProcessId]) -> String {
    let who = |at: usize| called(census, cycle[at]);
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

/// Cycles among calls: at least one of each set of processes that can all reach each other, each with its
/// lowest pid first, at most [`MOST_OF_A_KIND`].
///
/// It walks along the calls, depth first. Whoever is met again on the way that leads to it closes a cycle.
fn cycles(calls: &[Call]) -> Vec<Vec<ProcessId>> {
    let mut edges: Vec<_> = calls.iter().map(|call| (call.caller, call.callee)).collect();
    edges.sort_unstable();
    edges.dedup();
    // Where each caller's edges begin.
    let mut first = FxHashMap::default();
    for (at, (caller, _)) in edges.iter().enumerate() {
        first.entry(*caller).or_insert(at);
    }
    let mut found: Vec<Vec<ProcessId>> = Vec::new();
    // Its place on the way, for those that are on it; `None` for those that are done with.
    let mut seen: FxHashMap<ProcessId, Option<usize>> = FxHashMap::default();
    for &(start, _) in &edges {
        if seen.contains_key(&start) {
            continue;
        }
        // Who is on the way, and the edge that is to be followed next from there.
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
                // Who calls nobody is on no cycle.
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

/// The same cycle, with its lowest pid first.
fn turned(mut cycle: Vec<ProcessId>) -> Vec<ProcessId> {
    let lowest = (0..cycle.len()).min_by_key(|at| cycle[*at]).unwrap_or_default();
    cycle.rotate_left(lowest);
    cycle
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Cycles, MOST_NAMED, cycles, line};
    use crate::census::Call;
    use crate::warnings::Rule;
    use crate::warnings::fixture::{at, named, pid, with};

    fn calls(edges: &[(u32, u32)]) -> Vec<Call> {
        edges.iter().map(|&(a, b)| Call { caller: pid(a), callee: pid(b) }).collect()
    }

    fn found(edges: &[(u32, u32)]) -> Vec<Vec<u32>> {
        let found = cycles(&calls(edges)).into_iter();
        found.map(|cycle| cycle.into_iter().map(|id| id.id()).collect()).collect()
    }

    #[test]
    fn two_that_call_each_other_are_a_deadlock_and_a_chain_is_none() {
        assert_eq!(found(&[(2, 1), (1, 2)]), [[1, 2]]);
        assert!(found(&[(1, 2), (2, 3), (4, 3), (1, 3)]).is_empty());
    }

    #[test]
    fn who_waits_for_a_deadlock_is_not_named_as_a_part_of_it() {
        assert_eq!(
            found(&[(9, 5), (5, 7), (7, 6), (6, 5), (8, 9), (1, 2), (2, 1)]),
            [vec![1, 2], vec![5, 7, 6]]
        );
    }

    #[test]
    fn a_cycle_has_to_be_in_two_tables_in_a_row() {
        let mut rule = Cycles::default();
        let seen = [true, false, true, true, true, false].into_iter().zip(1..);
        let told = seen.map(|(there, second)| {
            let mut census = at(second);
            census.calls = if there { calls(&[(1, 2), (2, 1)]) } else { Vec::new() }.into();
            let once = rule.look(&census);
            assert_eq!(once, rule.look(&census), "the same table is no second one");
            once.first().map(|seen| seen.since.as_secs())
        });
        assert_eq!(told.collect::<Vec<_>>(), [None, None, None, Some(3), Some(3), None]);
    }

    #[test]
    fn a_deadlock_is_told_with_names_and_pids_and_a_long_one_in_part() {
        let billing = "billing".into();
        let census = with(at(1), &[named(pid(1), &billing)]);
        let due =
            "deadlock: billing (<0.1.0>) waits for <0.2.0>, which waits for billing (<0.1.0>)";
        assert_eq!(line(&census, &[pid(1), pid(2)]), due);
        let long: Vec<_> = (1..=20).map(pid).collect();
        let line = line(&census, &long);
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
        /// What is found are cycles, and every process that can reach itself can reach one that was found,
        /// and be reached from it.
        #[test]
        fn what_is_found_are_the_cycles(
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
