//! State of the connection between two nodes: cuts, losses, and the node of each process.
//!
//! The ends of a wire, with N processes: `0..N` are the processes; `N..2N` are the same processes addressed by a name,
//! for which there is no order relative to signals to the pid; from `2N` on are the names themselves, which their node
//! looks up when a signal arrives; and after these the processes of purlin that send to an alias on the BEAM, for which
//! there is no order relative to signals to the pid either.

use crate::language::{NAMES, Name, Program, Side, Who};

/// Where a signal in flight is: on its receiver's node, or on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Carrier {
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
        end.checked_sub(2 * self.processes).filter(|name| *name < NAMES)
    }

    /// Returns the wire end of a process that sends to the alias of another.
    pub(super) fn by_alias(&self, from: Who, to: Who) -> Who {
        let ordered = !self.is_between(from, to) || self.side(from) == Side::Beam;
        if ordered { from } else { 2 * self.processes + NAMES + from }
    }

    /// Returns the wire end of a sender whose receiver was addressed by a name.
    pub(super) fn by_name(&self, from: Who) -> Who {
        self.processes + from
    }

    /// Returns the process at the sending end of a wire.
    pub(super) fn sender(&self, end: Who) -> Who {
        match end.checked_sub(2 * self.processes + NAMES) {
            Some(sender) => sender,
            None if end < 2 * self.processes => end % self.processes,
            None => end,
        }
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

    /// Returns the number of connections that the node has lost.
    pub(super) fn lost(&self, side: Side) -> u8 {
        self.lost[side as usize]
    }

    pub(super) fn carrier(&self, from: Who, to: Who) -> Carrier {
        let far = self.is_between(from, to);
        if far { Carrier::On(self.lost(self.side(from))) } else { Carrier::Here }
    }

    /// Returns whether it is decided if the signal arrives, so that it can be handled now.
    pub(super) fn is_due(&self, carrier: Carrier, from: Who, to: Who) -> bool {
        let lost = |end| self.lost(self.side(end));
        match carrier {
            Carrier::Here => true,
            // WHY both: a sender that has not lost the connection yet may find that the signal was not sent on it.
            Carrier::On(number) => number == lost(to) || number < lost(to).min(lost(from)),
        }
    }

    /// Returns whether the signal is lost, because its receiver's node has lost the connection.
    pub(super) fn is_lost(&self, carrier: Carrier, to: Who) -> bool {
        matches!(carrier, Carrier::On(number) if number < self.lost(self.side(to)))
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

    /// The node notices the loss of its connection.
    pub(super) fn lose(&mut self, side: Side) {
        self.lost[side as usize] += 1;
    }

    /// Returns the nodes that have not noticed all cuts yet.
    pub(super) fn losers(&self) -> impl Iterator<Item = Side> + use<> {
        let (lost, cuts) = (self.lost, self.cuts);
        Side::ALL.into_iter().filter(move |side| lost[*side as usize] < cuts)
    }
}
