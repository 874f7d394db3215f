//! State of a program: processes, signals in flight and names.

use std::collections::VecDeque;
use std::rc::Rc;

use super::crossing::{Carrier, Crossing};
use super::runtime::Runtime;
use crate::language::{NAMES, Name, Program, Reason, Side, Slot, Tag, Who};
use crate::outcome::{End, Item, Outcome, Seen, Trace, Watched};

/// A signal from one process to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Signal {
    /// A message or a call request, for the mailbox.
    Item(Item),
    /// A message to an alias; with `true` with priority.
    Aliased(Item, bool),
    /// An exit signal to an alias; with `true` with priority.
    AliasExit(Reason, bool),
    /// The reply of a call.
    Answer(Tag),
    /// Creates a link.
    Link,
    /// Removes a link; the number is repeated in the acknowledgement.
    Unlink(u8),
    /// Acknowledges an unlink.
    UnlinkAck(u8),
    /// A linked process has ended.
    LinkExit(Reason),
    /// `exit(pid, reason)`.
    Exit(Reason),
    /// Starts a monitor.
    Monitor(Slot, Watched),
    /// Removes a monitor.
    Demonitor(Slot),
    /// A monitor fires.
    Down(Slot, Watched, Reason),
}

impl Signal {
    /// Returns whether the signal reports an end.
    fn is_of_an_end(&self) -> bool {
        matches!(self, Self::LinkExit(_) | Self::Down(..))
    }
}

/// Phase of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// Not spawned yet.
    Unborn,
    Running,
    /// In a call, until the reply or the down signal of this monitor.
    Calling(Slot),
    /// The call is over, with this result.
    Called(Seen),
    Ended(Reason),
}

/// State of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Tie {
    /// Linked.
    Up,
    /// The connection was lost, and this process has not handled the exit signal yet.
    Lost,
    /// The link was removed, and the other process has not acknowledged it yet.
    TakenBack(u8),
}

/// One end of a link: the other process and the state.
pub(super) type LinkEnd = (Who, Tie);

/// State of one process.
///
/// INVARIANT: an ended process has only its phase, its position and its log, so that different
/// histories with the same end are the same state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pub(super) phase: Phase,
    /// Number of steps executed.
    pub(super) at: u8,
    /// Whether the process traps exits.
    pub(super) trap: bool,
    pub(super) mailbox: Vec<Item>,
    /// Number of priority messages, which are the first of the mailbox.
    pub(super) ahead: u8,
    /// Whether the process has an alias, which is a priority alias.
    pub(super) alias: bool,
    /// Sorted, like the monitors.
    pub(super) links: Vec<LinkEnd>,
    /// Linked processes whose exit signal has priority; sorted.
    pub(super) prior_links: Vec<Who>,
    /// Monitors whose down signal has priority; sorted.
    pub(super) prior_monitors: Vec<Slot>,
    /// Number of unlinks so far.
    pub(super) unlinks: u8,
    /// Monitors of this process that may still fire, with their targets.
    pub(super) monitors: Vec<(Slot, Who)>,
    /// Monitors on this process.
    pub(super) watchers: Vec<(Who, Slot, Watched)>,
    /// Callers whose requests were received and not answered, the oldest first.
    pub(super) owed: Vec<Who>,
    /// Observations of the process, in order.
    pub(super) log: Vec<Seen>,
}

impl Process {
    /// Returns a process that has executed nothing.
    pub(super) fn new(phase: Phase) -> Self {
        Self {
            phase,
            at: 0,
            trap: false,
            mailbox: Vec::new(),
            ahead: 0,
            alias: false,
            links: Vec::new(),
            prior_links: Vec::new(),
            prior_monitors: Vec::new(),
            unlinks: 0,
            monitors: Vec::new(),
            watchers: Vec::new(),
            owed: Vec::new(),
            log: Vec::new(),
        }
    }
}

impl Process {
    /// Puts a message into the mailbox. M6: a priority message comes before all ordinary ones.
    pub(super) fn receive(&mut self, item: Item, priority: bool) {
        if priority {
            self.mailbox.insert(self.ahead.into(), item);
            self.ahead += 1;
        } else {
            self.mailbox.push(item);
        }
    }

    /// Removes a message from the mailbox.
    pub(super) fn remove(&mut self, at: usize) -> Item {
        self.ahead -= u8::from(at < self.ahead.into());
        self.mailbox.remove(at)
    }

    /// Sets whether the link to a process has priority.
    pub(super) fn prioritize_link(&mut self, to: Who, priority: bool) {
        self.prior_links.retain(|own| *own != to);
        if priority {
            self.prior_links.push(to);
            self.prior_links.sort_unstable();
        }
    }
}

/// State of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) runtime: Runtime,
    /// Copy-on-write: shared with the state this one was cloned from, until it changes.
    pub(super) processes: Vec<Rc<Process>>,
    /// Wires that have signals in flight, sorted.
    pub(super) wires: Vec<Wire>,
    pub(super) names: [Option<Who>; NAMES as usize],
    pub(super) crossing: Crossing,
}

/// Signals in flight from one end to another, the oldest first. An end is a process, or a name in a
/// spread program: see `crossing.rs`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Wire {
    pub(super) from: Who,
    pub(super) to: Who,
    pub(super) signals: VecDeque<(Carrier, Signal)>,
}

impl State {
    pub(super) fn new(program: &Program, runtime: Runtime) -> Self {
        let count = program.scripts.len();
        let process = |who| {
            let there = who < usize::from(program.bases);
            let process = Process::new(if there { Phase::Running } else { Phase::Unborn });
            Rc::new(Process { alias: there && program.has_aliases(), ..process })
        };
        Self {
            runtime,
            processes: (0..count).map(process).collect(),
            wires: Vec::new(),
            names: [None; NAMES as usize],
            crossing: Crossing::new(program),
        }
    }

    /// Returns the runtime whose rules apply to a process.
    pub(super) fn runtime(&self, who: Who) -> Runtime {
        match (self.runtime, self.crossing.side(who)) {
            (Runtime::Both, Side::Purlin) => Runtime::Purlin,
            (Runtime::Both, Side::Beam) => Runtime::Beam,
            (runtime, _) => runtime,
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = Who> + use<> {
        0..self.processes.len() as Who
    }

    pub(super) fn get(&self, who: Who) -> &Process {
        &self.processes[usize::from(who)]
    }

    pub(super) fn change(&mut self, who: Who) -> &mut Process {
        Rc::make_mut(&mut self.processes[usize::from(who)])
    }

    pub(super) fn has_ended(&self, who: Who) -> bool {
        matches!(self.get(who).phase, Phase::Ended(_))
    }

    fn place(&self, from: Who, to: Who) -> Result<usize, usize> {
        self.wires.binary_search_by_key(&(from, to), |wire| (wire.from, wire.to))
    }

    /// Returns the signals in flight from one process to another, the oldest first, with their
    /// connections.
    pub(super) fn signals(
        &self,
        from: Who,
        to: Who,
    ) -> impl DoubleEndedIterator<Item = &(Carrier, Signal)> {
        let there = self.place(from, to).ok().map(|at| &self.wires[at].signals);
        there.into_iter().flatten()
    }

    /// Returns the signals in flight from one process to another, the oldest first.
    pub(super) fn wire(&self, from: Who, to: Who) -> impl DoubleEndedIterator<Item = &Signal> {
        self.signals(from, to).map(|(_, signal)| signal)
    }

    /// Modifies the signals in flight on a wire.
    pub(super) fn rewire<R>(
        &mut self,
        from: Who,
        to: Who,
        change: impl FnOnce(&mut VecDeque<(Carrier, Signal)>) -> R,
    ) -> R {
        let at = self.place(from, to).unwrap_or_else(|at| {
            self.wires.insert(at, Wire { from, to, signals: VecDeque::new() });
            at
        });
        let result = change(&mut self.wires[at].signals);
        if self.wires[at].signals.is_empty() {
            self.wires.remove(at);
        }
        result
    }

    /// Sends a signal to a process.
    pub(super) fn put(&mut self, from: Who, to: Who, signal: Signal) {
        let carrier = self.crossing.carrier(from, to);
        self.rewire(from, to, |signals| signals.push_back((carrier, signal)));
    }

    /// Sends the `noproc` answer to a late link or monitor; returns a state for every position that
    /// it can have. It comes after all that the process sent while it lived, but the runtime may
    /// answer before all other processes have been notified of the end, so it has no order among
    /// those signals.
    pub(super) fn put_late(self, from: Who, to: Who, signal: Signal) -> Vec<Self> {
        let late = self.wire(from, to).rev().take_while(|earlier| earlier.is_of_an_end()).count();
        let first = self.wire(from, to).count() - late;
        let carrier = self.crossing.carrier(from, to);
        let at = |place| {
            let mut state = self.clone();
            state.rewire(from, to, |signals| signals.insert(place, (carrier, signal)));
            state
        };
        (first..=first + late).map(at).collect()
    }

    /// Removes the oldest signal of a wire.
    pub(super) fn take(&mut self, from: Who, to: Who) -> Option<(Carrier, Signal)> {
        self.rewire(from, to, VecDeque::pop_front)
    }

    pub(super) fn see(&mut self, who: Who, seen: Seen) {
        self.change(who).log.push(seen);
    }

    pub(super) fn name_of(&self, who: Who) -> Option<Name> {
        self.names.iter().position(|owner| *owner == Some(who)).map(|name| name as Name)
    }

    /// Returns the outcome that is visible in this state.
    pub(super) fn outcome(&self) -> Outcome {
        let trace = |process: &Rc<Process>| Trace {
            log: process.log.clone(),
            end: match process.phase {
                Phase::Unborn => End::Unborn,
                Phase::Ended(reason) => End::Ended(reason),
                Phase::Running | Phase::Calling(_) | Phase::Called(_) => {
                    End::Waits(process.mailbox.clone())
                }
            },
        };
        Outcome(self.processes.iter().map(trace).collect())
    }
}
