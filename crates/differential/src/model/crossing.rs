//! Connection model of two nodes: signals that cross the connection, and their loss.
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
//!
//! The ends of a wire, with N processes: `0..N` are the processes; `N..2N` are the same processes addressed by a name,
//! for which there is no order relative to signals to the pid; from `2N` on are the names themselves, which their node
//! looks up when a signal arrives.

use std::collections::VecDeque;

use super::end::orders;
use super::state::{Signal, State, Tie};
use crate::language::{Name, Op, Program, Reason, Side, Who};
use crate::outcome::Watched;

/// Connection on which a signal was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Said {
    /// The signal is on the node of its receiver: it was local from the start, or it has arrived.
    Here,
    /// The signal is on the connection with this number.
    On(u8),
}

/// State of the connection between the nodes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Crossing {
    processes: Who,
    /// Bit mask of the processes on the BEAM's node; `None` if there is only one node.
    abroad: Option<u8>,
    /// Number of connections that each node has lost.
    lost: [u8; 2],
    /// Number of cuts.
    cuts: u8,
    /// The nodes are connected, and both know it.
    is_steady: bool,
}

impl Crossing {
    pub(super) fn new(program: &Program) -> Self {
        let processes = program.scripts.len() as Who;
        Self { processes, abroad: program.abroad, lost: [0; 2], cuts: 0, is_steady: true }
    }

    pub(super) fn is_spread(&self) -> bool {
        self.abroad.is_some()
    }

    /// Returns the wire end of a name of the other node.
    pub(super) fn end_of_name(&self, name: Name) -> Who {
        2 * self.processes + name
    }

    /// Returns the name of a wire end, if it is one.
    pub(super) fn name_of_end(&self, end: Who) -> Option<Name> {
        end.checked_sub(2 * self.processes)
    }

    /// Returns the wire end of a sender whose receiver was addressed by a name.
    pub(super) fn by_name(&self, from: Who) -> Who {
        self.processes + from
    }

    /// Returns the process at the sending end of a wire.
    pub(super) fn sender(&self, end: Who) -> Who {
        if end < 2 * self.processes { end % self.processes } else { end }
    }

    pub(super) fn side(&self, end: Who) -> Side {
        match self.name_of_end(end) {
            Some(name) => Side::of_name(name),
            None => Side::ALL[usize::from(self.abroad.unwrap_or(0) >> self.sender(end) & 1)],
        }
    }

    /// Returns whether the two ends are on different nodes.
    pub(super) fn is_between(&self, from: Who, to: Who) -> bool {
        self.is_spread() && self.side(from) != self.side(to)
    }

    /// Returns whether the name belongs to the other node.
    pub(super) fn is_far(&self, who: Who, name: Name) -> bool {
        self.is_spread() && self.side(who) != Side::of_name(name)
    }

    fn lost(&self, side: Side) -> u8 {
        self.lost[side as usize]
    }

    pub(super) fn said(&self, from: Who, to: Who) -> Said {
        let far = self.is_between(from, to);
        if far { Said::On(self.lost(self.side(from))) } else { Said::Here }
    }

    /// Returns whether it is decided if the signal arrives, so that it can be handled now.
    pub(super) fn is_due(&self, said: Said, from: Who, to: Who) -> bool {
        let lost = |end| self.lost(self.side(end));
        match said {
            Said::Here => true,
            // WHY both: a sender that has not lost the connection yet may find that the signal was not sent on it.
            Said::On(number) => number == lost(to) || number < lost(to).min(lost(from)),
        }
    }

    /// Returns whether the signal is lost, because its receiver's node has lost the connection.
    pub(super) fn is_lost(&self, said: Said, to: Who) -> bool {
        matches!(said, Said::On(number) if number < self.lost(self.side(to)))
    }

    /// Cuts the connection. Returns the state without the cut if there may be no connection, soon after another cut.
    pub(super) fn cut(&mut self) -> Option<Self> {
        let in_vain = (!self.is_steady).then(|| self.clone());
        self.cuts += 1;
        self.is_steady = false;
        in_vain
    }

    /// Returns whether a connection was cut since the program was last at rest.
    pub(super) fn was_cut(&self) -> bool {
        !self.is_steady
    }

    /// The program is at rest, which implies that the nodes are connected.
    pub(super) fn rests(&mut self) {
        self.is_steady = true;
    }

    /// Returns the nodes that have not noticed all cuts yet.
    pub(super) fn losers(&self) -> impl Iterator<Item = Side> + use<> {
        let (lost, cuts) = (self.lost, self.cuts);
        Side::ALL.into_iter().filter(move |side| lost[*side as usize] < cuts)
    }
}

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
            state.rewire(by_name, owner, |signals| signals.push_back((Said::Here, signal)));
        }
        // D2: the name is not registered.
        (None, Signal::Monitor(slot, watched)) => {
            let nobody = state.crossing.end_of_name(name);
            state.put(nobody, from, Signal::Down(slot, watched, Reason::NoProcess));
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
    states = states.into_iter().flat_map(|state| told(state, side, number)).collect();
    for state in &mut states {
        state.crossing.lost[side as usize] += 1;
    }
    states
}

/// Moves any number of the latest signals to the next connection; returns a state for each number.
fn unsaid(state: State, from: Who, to: Who, number: u8) -> Vec<State> {
    let next = |mut state: State, count: usize| {
        state.rewire(from, to, |signals| {
            let own = signals.iter_mut().rev().take(count);
            own.for_each(|(said, _)| *said = Said::On(number + 1));
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
            let own = signals.iter_mut().filter(|(said, _)| *said == Said::On(number));
            own.take(count).for_each(|(said, _)| *said = Said::Here);
        });
        state
    };
    // A signal to a name that has arrived is already on the wire of the name's owner.
    let is_name = state.crossing.name_of_end(to).is_some();
    let count = if is_name { 0 } else { count(&state, from, to, number) };
    (0..=count).map(|count| next(state.clone(), count)).collect()
}

fn count(state: &State, from: Who, to: Who, number: u8) -> usize {
    let wire = state.wires.iter().find(|wire| (wire.from, wire.to) == (from, to));
    let signals = wire.into_iter().flat_map(|wire| &wire.signals);
    signals.filter(|(said, _)| *said == Said::On(number)).count()
}

/// Adds `noconnection` for every link and monitor that crosses the connection.
fn told(mut state: State, side: Side, number: u8) -> Vec<State> {
    let mut tell: Vec<(Who, Who, Vec<Signal>)> = Vec::new();
    let mut add = |from, to, signal| match tell.iter_mut().find(|(f, t, _)| (*f, *t) == (from, to))
    {
        Some((.., signals)) => signals.push(signal),
        None => tell.push((from, to, vec![signal])),
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
    for (from, to, signals) in tell {
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
    let wire = state.wires.iter().find(|wire| (wire.from, wire.to) == (from, to));
    let mut signals = wire.into_iter().flat_map(|wire| &wire.signals);
    signals.any(|(said, signal)| *said > Said::On(number) && what(signal))
}

/// Inserts signals after all that have arrived.
fn behind(state: &State, from: Who, to: Who, more: &[Signal]) -> State {
    let mut state = state.clone();
    state.rewire(from, to, |signals| {
        let (here, rest): (VecDeque<_>, VecDeque<_>) =
            signals.drain(..).partition(|(said, _)| *said == Said::Here);
        *signals = here;
        signals.extend(more.iter().map(|signal| (Said::Here, *signal)));
        signals.extend(rest);
    });
    state
}
