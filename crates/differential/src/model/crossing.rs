//! Two nodes: what crosses the connection between them, and what is lost with it.
//!
//! Each node loses its connections one after the other, and never more of them than were cut. What is said
//! to the other node is said on one of them, by its number, and arrives only where the other node has that
//! one too. When a node loses one, of what was on its way to each of its processes some has arrived, the
//! oldest first; the rest is lost, and behind what has arrived stands `noconnection` for each link and
//! each monitor that crossed it. So what is lost between two processes is lost in one piece, nothing comes
//! twice or in another order, and `noconnection` comes of a cut alone.
//!
//! Before anything was cut, and when the program has rested, the nodes are connected; so the next cut counts.
//! Another one after it may be in vain, as it may come while there is no connection.
//!
//! A process of purlin's is not held up by a connection that is not there yet: what it has sent last may be
//! said on the next one.
//!
//! Who stands at the ends of a wire, with N processes: `0..N` are the processes; `N..2N` are the same where
//! they were found by a name, for which nothing is promised of the order beside what goes to a pid; from
//! `2N` on are the names themselves, which their node looks up when a signal arrives.

use std::collections::VecDeque;

use super::end::orders;
use super::state::{Signal, State, Tie};
use crate::language::{Name, Op, Program, Reason, Side, Who};
use crate::outcome::Watched;

/// On which connection a signal was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Said {
    /// It is on the node of its receiver: it was from the beginning, or has arrived there.
    Here,
    /// On the connection of that number.
    On(u8),
}

/// What is known of the connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Crossing {
    processes: Who,
    /// `None` if there is one node only.
    abroad: Option<u8>,
    /// How many connections each node has lost.
    lost: [u8; 2],
    /// How often one was cut.
    cuts: u8,
    /// The nodes are connected, and both know.
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

    /// The end of a wire that stands for a name of the other node.
    pub(super) fn end_of_name(&self, name: Name) -> Who {
        2 * self.processes + name
    }

    /// The name that an end of a wire stands for.
    pub(super) fn name_of_end(&self, end: Who) -> Option<Name> {
        end.checked_sub(2 * self.processes)
    }

    /// The end that stands for a sender where its receiver was found by a name.
    pub(super) fn by_name(&self, from: Who) -> Who {
        self.processes + from
    }

    /// The process that is at the beginning of a wire.
    pub(super) fn sender(&self, end: Who) -> Who {
        if end < 2 * self.processes { end % self.processes } else { end }
    }

    pub(super) fn side(&self, end: Who) -> Side {
        match self.name_of_end(end) {
            Some(name) => Side::of_name(name),
            None => Side::ALL[usize::from(self.abroad.unwrap_or(0) >> self.sender(end) & 1)],
        }
    }

    /// Is that between two nodes?
    pub(super) fn is_between(&self, from: Who, to: Who) -> bool {
        self.is_spread() && self.side(from) != self.side(to)
    }

    /// Is a name of the other node meant?
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

    /// Is it known what becomes of this, and can it be dealt with now?
    pub(super) fn is_due(&self, said: Said, from: Who, to: Who) -> bool {
        let lost = |end| self.lost(self.side(end));
        match said {
            Said::Here => true,
            // WHY both: a sender that has not lost the connection may find that this was not said on it.
            Said::On(number) => number == lost(to) || number < lost(to).min(lost(from)),
        }
    }

    /// Is this lost, as its node has lost that connection?
    pub(super) fn is_lost(&self, said: Said, to: Who) -> bool {
        matches!(said, Said::On(number) if number < self.lost(self.side(to)))
    }

    /// A connection is cut, if there is one: soon after another cut there may be none to be cut, or none yet.
    pub(super) fn cut(&mut self) -> Option<Self> {
        let in_vain = (!self.is_steady).then(|| self.clone());
        self.cuts += 1;
        self.is_steady = false;
        in_vain
    }

    /// Was a connection cut since the program last rested?
    pub(super) fn was_cut(&self) -> bool {
        !self.is_steady
    }

    /// The program rests, and for that the nodes are connected.
    pub(super) fn rests(&mut self) {
        self.is_steady = true;
    }

    /// The nodes that have still to find out that a connection was cut.
    pub(super) fn losers(&self) -> impl Iterator<Item = Side> + use<> {
        let (lost, cuts) = (self.lost, self.cuts);
        Side::ALL.into_iter().filter(move |side| lost[*side as usize] < cuts)
    }
}

/// Can a connection still be lost?
pub(super) fn may_be_lost(program: &Program, state: &State) -> bool {
    state.crossing.losers().next().is_some()
        || state.all().any(|who| {
            let rest = &program.scripts[usize::from(who)][usize::from(state.get(who).at)..];
            !state.has_ended(who) && rest.iter().any(|op| matches!(op, Op::Cut(_)))
        })
}

/// A signal to a name has come to its node: the states that may follow.
pub(super) fn look_up(mut state: State, from: Who, name: Name, signal: Signal) -> Vec<State> {
    match (state.names[usize::from(name)], signal) {
        (Some(owner), signal) => {
            let by_name = state.crossing.by_name(from);
            state.rewire(by_name, owner, |signals| signals.push_back((Said::Here, signal)));
        }
        // D2: nobody has the name.
        (None, Signal::Monitor(slot, watched)) => {
            let nobody = state.crossing.end_of_name(name);
            state.put(nobody, from, Signal::Down(slot, watched, Reason::NoProcess));
        }
        (None, _) => {}
    }
    vec![state]
}

/// A node finds out that it has lost its connection: the states that may follow.
pub(super) fn lose(state: State, side: Side) -> Vec<State> {
    let number = state.crossing.lost(side);
    let mut states = vec![state];
    // What purlin has not said yet it says on the next one.
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

/// Some of what was sent last is said on the next connection.
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

/// Some of what was on its way has arrived, and the rest never will.
fn arrived(state: State, from: Who, to: Who, number: u8) -> Vec<State> {
    let next = |mut state: State, count: usize| {
        state.rewire(from, to, |signals| {
            let own = signals.iter_mut().filter(|(said, _)| *said == Said::On(number));
            own.take(count).for_each(|(said, _)| *said = Said::Here);
        });
        state
    };
    // What goes to a name is with its owner when it has arrived.
    let is_name = state.crossing.name_of_end(to).is_some();
    let count = if is_name { 0 } else { count(&state, from, to, number) };
    (0..=count).map(|count| next(state.clone(), count)).collect()
}

fn count(state: &State, from: Who, to: Who, number: u8) -> usize {
    let wire = state.wires.iter().find(|wire| (wire.from, wire.to) == (from, to));
    let signals = wire.into_iter().flat_map(|wire| &wire.signals);
    signals.filter(|(said, _)| *said == Said::On(number)).count()
}

/// `noconnection` for all that crosses it.
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
                // Whoever would say that it knows is gone.
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

/// Puts signals behind all that has arrived.
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
