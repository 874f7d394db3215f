//! The end of a process and the signals that it sends.

use super::state::{Phase, Process, Signal, State, Tie};
use crate::language::{Reason, Who};

/// Ends a process. N1: its name is free before any process can observe the end.
///
/// L2, D1: linked and monitoring processes get a signal. The order in which several signals of one
/// end arrive at one process is not defined, so there is a state for each order.
pub(super) fn end(mut state: State, who: Who, reason: Reason) -> Vec<State> {
    if let Some(name) = state.name_of(who) {
        state.names[usize::from(name)] = None;
    }
    let process = state.change(who);
    let log = std::mem::take(&mut process.log);
    let ended = Process { at: process.at, log, ..Process::new(Phase::Ended(reason)) };
    let gone = std::mem::replace(process, ended);
    let mut states = vec![state];
    for to in states[0].all() {
        // L5: a link that this process has removed carries no signal.
        let linked = gone.links.contains(&(to, Tie::Up)).then_some(Signal::LinkExit(reason));
        let downs = gone.watchers.iter().filter(|(watcher, ..)| *watcher == to);
        let downs = downs.map(|(_, slot, watched)| Signal::Down(*slot, *watched, reason));
        let signals: Vec<Signal> = linked.into_iter().chain(downs).collect();
        if !signals.is_empty() {
            states = orders(&signals)
                .iter()
                .flat_map(|order| states.iter().map(move |state| with(state, who, to, order)))
                .collect();
        }
    }
    states
}

fn with(state: &State, from: Who, to: Who, signals: &[Signal]) -> State {
    let mut state = state.clone();
    for signal in signals {
        state.put(from, to, *signal);
    }
    state
}

/// Returns every permutation of the signals.
pub(super) fn orders(signals: &[Signal]) -> Vec<Vec<Signal>> {
    if signals.len() < 2 {
        return vec![signals.to_vec()];
    }
    let mut all = Vec::new();
    for at in 0..signals.len() {
        let mut others = signals.to_vec();
        let first = others.remove(at);
        all.extend(orders(&others).into_iter().map(|mut order| {
            order.insert(0, first);
            order
        }));
    }
    all
}
