//! Loss of the connection: which signals arrive, and who gets `noconnection`.
//!
//! Each node loses its connections one after the other, and never more of them than were cut. A signal to the other
//! node is sent on one connection, identified by its number, and arrives only if the other node is on the same one.
//! When a node loses a connection, a prefix of the signals in flight to each of its processes has arrived; the rest is
//! lost, and the prefix is followed by `noconnection` for each link and each monitor that crossed the connection. So
//! the lost signals between two processes are contiguous, nothing is duplicated or reordered, and `noconnection` is
//! caused only by a cut.
//!
//! Before the first cut, and when the program is at rest, the nodes are connected; so the next cut takes effect.
//! Another cut after it may have no effect, as there may be no connection at that time.
//!
//! A process of purlin does not wait for a connection: its latest signals may be sent on the next one.

use std::collections::VecDeque;

use super::crossing::Carrier;
use super::end::orders;
use super::state::{Signal, State, Tie};
use crate::language::{Name, Op, Program, Reason, Side, Who};
use crate::outcome::Watched;

/// Returns whether a connection may still be lost.
pub(super) fn may_be_lost(program: &Program, state: &State) -> bool {
    state.crossing.losers().next().is_some()
        || state.all().any(|who| {
            let rest = &program.scripts[usize::from(who)][usize::from(state.get(who).at)..];
            !state.has_ended(who) && rest.iter().any(|op| matches!(op, Op::Cut(_)))
        })
}

/// Handles the arrival of a signal to a name at its node; returns the possible next states.
pub(super) fn look_up(mut state: State, from: Who, name: Name, signal: Signal) -> Vec<State> {
    match (state.names[usize::from(name)], signal) {
        (Some(owner), signal) => {
            let by_name = state.crossing.by_name(from);
            state.rewire(by_name, owner, |signals| signals.push_back((Carrier::Here, signal)));
        }
        // D2: the name is not registered.
        (None, Signal::Monitor(slot, watched)) => {
            let ended = state.crossing.end_of_name(name);
            state.put(ended, from, Signal::Down(slot, watched, Reason::NoProcess));
        }
        (None, _) => {}
    }
    vec![state]
}

/// A node notices the loss of its connection; returns the possible next states.
pub(super) fn lose(state: State, side: Side) -> Vec<State> {
    let number = state.crossing.lost(side);
    let mut states = vec![state];
    // Signals that purlin has not sent yet go out on the next connection.
    let ends = |state: &State, out: bool| -> Vec<(Who, Who)> {
        let crossing = &state.crossing;
        let far = |from, to| crossing.is_between(from, to);
        let own = |from, to| crossing.side(if out { from } else { to }) == side;
        let wires = state.wires.iter().map(|wire| (wire.from, wire.to));
        wires.filter(|(from, to)| far(*from, *to) && own(*from, *to)).collect()
    };
    if side == Side::Purlin {
        for (from, to) in ends(&states[0], true) {
            states = states.into_iter().flat_map(|state| unsaid(state, from, to, number)).collect();
        }
    }
    for (from, to) in ends(&states[0], false) {
        states = states.into_iter().flat_map(|state| arrived(state, from, to, number)).collect();
    }
    states = states.into_iter().flat_map(|state| disconnect(state, side, number)).collect();
    for state in &mut states {
        state.crossing.lose(side);
    }
    states
}

/// Moves any number of the latest signals to the next connection; returns a state for each number.
fn unsaid(state: State, from: Who, to: Who, number: u8) -> Vec<State> {
    let next = |mut state: State, count: usize| {
        state.rewire(from, to, |signals| {
            let own = signals.iter_mut().rev().take(count);
            own.for_each(|(carrier, _)| *carrier = Carrier::On(number + 1));
        });
        state
    };
    let count = count(&state, from, to, number);
    (0..=count).map(|count| next(state.clone(), count)).collect()
}

/// Marks any prefix of the signals in flight as arrived, the rest is lost; returns a state for each prefix.
fn arrived(state: State, from: Who, to: Who, number: u8) -> Vec<State> {
    let next = |mut state: State, count: usize| {
        state.rewire(from, to, |signals| {
            let own = signals.iter_mut().filter(|(carrier, _)| *carrier == Carrier::On(number));
            own.take(count).for_each(|(carrier, _)| *carrier = Carrier::Here);
        });
        state
    };
    // A signal to a name that has arrived is already on the wire of the name's owner.
    let is_name = state.crossing.name_of_end(to).is_some();
    let count = if is_name { 0 } else { count(&state, from, to, number) };
    (0..=count).map(|count| next(state.clone(), count)).collect()
}

fn count(state: &State, from: Who, to: Who, number: u8) -> usize {
    state.signals(from, to).filter(|(carrier, _)| *carrier == Carrier::On(number)).count()
}

/// Adds `noconnection` for every link and monitor that crosses the connection.
fn disconnect(mut state: State, side: Side, number: u8) -> Vec<State> {
    let mut sent: Vec<(Who, Who, Vec<Signal>)> = Vec::new();
    let mut add = |from, to, signal| match sent.iter_mut().find(|(f, t, _)| (*f, *t) == (from, to))
    {
        Some((.., signals)) => signals.push(signal),
        None => sent.push((from, to, vec![signal])),
    };
    for who in state.all().filter(|who| state.crossing.side(*who) == side).collect::<Vec<_>>() {
        for at in 0..state.get(who).links.len() {
            let (peer, tie) = state.get(who).links[at];
            if !state.crossing.is_between(who, peer) {
                continue;
            }
            let unsaid = |what: fn(&Signal) -> bool| is_unsaid(&state, who, peer, number, what);
            match tie {
                Tie::Up if !unsaid(|signal| matches!(signal, Signal::Link)) => {
                    add(peer, who, Signal::LinkExit(Reason::NoConnection));
                    state.change(who).links[at].1 = Tie::Lost;
                }
                // The process that would acknowledge the unlink is unreachable.
                Tie::TakenBack(id) if !unsaid(|signal| matches!(signal, Signal::Unlink(_))) => {
                    add(peer, who, Signal::UnlinkAck(id));
                }
                _ => {}
            }
        }
        state.change(who).links.sort_unstable();
        for (slot, target) in state.get(who).monitors.clone() {
            let is_it = |signal: &Signal| matches!(signal, Signal::Monitor(own, _) if *own == slot);
            if state.crossing.is_between(who, target)
                && !is_unsaid(&state, who, target, number, is_it)
            {
                let name = state.crossing.name_of_end(target);
                let watched = name.map_or(Watched::Process(target), Watched::Name);
                add(target, who, Signal::Down(slot, watched, Reason::NoConnection));
            }
        }
    }
    let mut states = vec![state];
    for (from, to, signals) in sent {
        let all = orders(&signals);
        states = states
            .into_iter()
            .flat_map(|state| all.iter().map(move |order| behind(&state, from, to, order)))
            .collect();
    }
    states
}

fn is_unsaid(
    state: &State,
    from: Who,
    to: Who,
    number: u8,
    what: impl Fn(&Signal) -> bool,
) -> bool {
    state.signals(from, to).any(|(carrier, signal)| *carrier > Carrier::On(number) && what(signal))
}

/// Inserts signals after all that have arrived.
fn behind(state: &State, from: Who, to: Who, more: &[Signal]) -> State {
    let mut state = state.clone();
    state.rewire(from, to, |signals| {
        let (here, rest): (VecDeque<_>, VecDeque<_>) =
            signals.drain(..).partition(|(carrier, _)| *carrier == Carrier::Here);
        *signals = here;
        signals.extend(more.iter().map(|signal| (Carrier::Here, *signal)));
        signals.extend(rest);
    });
    state
}
