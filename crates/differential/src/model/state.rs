//! One moment of a program: every process, every signal under way, every name.

use std::collections::VecDeque;
use std::rc::Rc;

use super::Runtime;
use super::crossing::{Crossing, Said};
use crate::language::{NAMES, Name, Program, Reason, Side, Slot, Tag, Who};
use crate::outcome::{End, Item, Outcome, Seen, Trace, Watched};

/// What goes from one process to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Signal {
    /// For the mailbox: a message or a request.
    Item(Item),
    /// The answer of a call.
    Answer(Tag),
    /// A link is made.
    Link,
    /// A link is taken back; the number comes back in the acknowledgement.
    Unlink(u8),
    /// The taking back is known at the other end.
    UnlinkAck(u8),
    /// Somebody linked has ended.
    LinkExit(Reason),
    /// `exit(pid, reason)`.
    Exit(Reason),
    /// A monitor begins.
    Monitor(Slot, Watched),
    /// A monitor is taken back.
    Demonitor(Slot),
    /// A monitor fires.
    Down(Slot, Watched, Reason),
}

impl Signal {
    /// Does it tell of an end?
    fn is_of_an_end(&self) -> bool {
        matches!(self, Self::LinkExit(_) | Self::Down(..))
    }
}

/// Where a process is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    Unborn,
    Running,
    /// In a call, until an answer or the down signal of this monitor.
    Calling(Slot),
    /// The call is over, with this to see.
    Called(Seen),
    Ended(Reason),
}

/// What is between two that are linked, or were.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Tie {
    /// They are linked.
    Up,
    /// They were, until a connection was lost, and this one has not been told.
    Lost,
    /// The link was taken back, and the other end has not yet said that it knows.
    TakenBack(u8),
}

/// The end of a link.
pub(super) type LinkEnd = (Who, Tie);

/// One process.
///
/// INVARIANT: an ended process has only its phase, its place and its log, so that lives that end
/// alike are the same state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pub(super) phase: Phase,
    /// How many steps of its script are done.
    pub(super) at: u8,
    pub(super) trap: bool,
    pub(super) mailbox: Vec<Item>,
    /// Kept in order, as are the monitors.
    pub(super) links: Vec<LinkEnd>,
    /// How often it unlinked.
    pub(super) unlinks: u8,
    /// Its own monitors that may still fire, and whom they watch.
    pub(super) monitors: Vec<(Slot, Who)>,
    /// Who monitors it.
    pub(super) watchers: Vec<(Who, Slot, Watched)>,
    /// Whose calls it has received and not answered, the oldest first.
    pub(super) owed: Vec<Who>,
    pub(super) log: Vec<Seen>,
}

impl Process {
    /// One that has done nothing.
    pub(super) fn new(phase: Phase) -> Self {
        Self {
            phase,
            at: 0,
            trap: false,
            mailbox: Vec::new(),
            links: Vec::new(),
            unlinks: 0,
            monitors: Vec::new(),
            watchers: Vec::new(),
            owed: Vec::new(),
            log: Vec::new(),
        }
    }
}

/// A program at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) runtime: Runtime,
    /// Shared with the states they are copied from, until they change.
    pub(super) processes: Vec<Rc<Process>>,
    /// What is under way from each to each, where there is anything; in order.
    pub(super) wires: Vec<Wire>,
    pub(super) names: [Option<Who>; NAMES as usize],
    pub(super) crossing: Crossing,
}

/// What is under way from one to another, the oldest first. Both are processes, or what stands for them in
/// programs that are spread: see `crossing.rs`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Wire {
    pub(super) from: Who,
    pub(super) to: Who,
    pub(super) signals: VecDeque<(Said, Signal)>,
}

impl State {
    pub(super) fn new(program: &Program, runtime: Runtime) -> Self {
        let count = program.scripts.len();
        let process = |who| {
            let there = who < usize::from(program.bases);
            Rc::new(Process::new(if there { Phase::Running } else { Phase::Unborn }))
        };
        Self {
            runtime,
            processes: (0..count).map(process).collect(),
            wires: Vec::new(),
            names: [None; NAMES as usize],
            crossing: Crossing::new(program),
        }
    }

    /// Whose rules hold for a process.
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

    /// What is under way from one process to another, the oldest first.
    pub(super) fn wire(&self, from: Who, to: Who) -> impl DoubleEndedIterator<Item = &Signal> {
        let there = self.place(from, to).ok().map(|at| &self.wires[at].signals);
        there.into_iter().flatten().map(|(_, signal)| signal)
    }

    /// Changes what is under way.
    pub(super) fn rewire<R>(
        &mut self,
        from: Who,
        to: Who,
        change: impl FnOnce(&mut VecDeque<(Said, Signal)>) -> R,
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

    /// Puts a signal to another process on its way.
    pub(super) fn put(&mut self, from: Who, to: Who, signal: Signal) {
        let said = self.crossing.said(from, to);
        self.rewire(from, to, |signals| signals.push_back((said, signal)));
    }

    /// Puts the answer to a link or a monitor that came too late on its way, in every place that it
    /// can have. It comes after all that the process sent while it lived, but who gives it may know
    /// of the end before all others have been told, so among those signals it is in no order.
    pub(super) fn put_late(self, from: Who, to: Who, signal: Signal) -> Vec<Self> {
        let late = self.wire(from, to).rev().take_while(|earlier| earlier.is_of_an_end()).count();
        let first = self.wire(from, to).count() - late;
        let said = self.crossing.said(from, to);
        let at = |place| {
            let mut state = self.clone();
            state.rewire(from, to, |signals| signals.insert(place, (said, signal)));
            state
        };
        (first..=first + late).map(at).collect()
    }

    /// Takes the oldest signal off a wire.
    pub(super) fn take(&mut self, from: Who, to: Who) -> Option<(Said, Signal)> {
        self.rewire(from, to, VecDeque::pop_front)
    }

    pub(super) fn see(&mut self, who: Who, seen: Seen) {
        self.change(who).log.push(seen);
    }

    pub(super) fn name_of(&self, who: Who) -> Option<Name> {
        self.names.iter().position(|owner| *owner == Some(who)).map(|name| name as Name)
    }

    /// What can be seen of it now.
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
