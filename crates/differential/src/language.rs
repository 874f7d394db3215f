//! The language of the programs: what a process can do, and with what.
//!
//! Values only; nothing runs here. Processes, messages, names and monitors are small numbers, so
//! that the same program means the same to every interpreter.
//!
//! A program has *bases*, which are all there and know each other before any of them begins, and
//! *children*, which are spawned by the scripts. A child knows whom its parent knew when it was
//! spawned, its parent and itself; nobody else knows it but its parent and its own descendants.
//! A script that comes to its end returns.
//!
//! A program may be spread over two nodes, one of purlin's and one of the BEAM's. A child is where its
//! parent is. Each name then belongs to a node: the first to purlin's, the second to the BEAM's.

mod show;

use std::fmt;

/// A process, by its number in the program.
pub type Who = u8;
/// What a message says.
pub type Tag = u8;
/// A name that can be registered.
pub type Name = u8;
/// A monitor, by a number that is unique in its script.
pub type Slot = u8;

/// How many processes a program may have.
pub const MOST_PROCESSES: usize = 5;
/// How many names there are.
pub const NAMES: u8 = 2;
/// How many tags there are.
pub const TAGS: u8 = 3;

/// Why a process ends, or is told to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// `normal`.
    Normal,
    /// `shutdown`.
    Shutdown,
    /// `{shutdown, x}`.
    ShutdownWith,
    /// `kill`, which kills as a signal and is only a word as a reason of one's own.
    Kill,
    /// `killed`.
    Killed,
    /// `noproc`.
    NoProcess,
    /// A word of the user's.
    Boom,
    /// Another word of the user's.
    Bang,
    /// An error or panic, whatever it says.
    Crash,
    /// `noconnection`.
    NoConnection,
    /// None of these. No program has it, so an outcome in which it appears is never allowed.
    Other,
}

impl Reason {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 11] = [
        Self::Normal,
        Self::Shutdown,
        Self::ShutdownWith,
        Self::Kill,
        Self::Killed,
        Self::NoProcess,
        Self::Boom,
        Self::Bang,
        Self::Crash,
        Self::NoConnection,
        Self::Other,
    ];
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Normal => "normal",
            Self::Shutdown => "shutdown",
            Self::ShutdownWith => "{shutdown, x}",
            Self::Kill => "kill",
            Self::Killed => "killed",
            Self::NoProcess => "noproc",
            Self::Boom => "boom",
            Self::Bang => "bang",
            Self::Crash => "crash",
            Self::NoConnection => "noconnection",
            Self::Other => "another reason",
        })
    }
}

/// What a receive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// Anything.
    Any,
    /// A message with this tag.
    Tag(Tag),
    /// A request of a call.
    Request,
    /// The down message of any monitor.
    Down,
    /// The down message of this monitor.
    DownOf(Slot),
    /// An exit message.
    Exit,
}

/// How long a receive waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum After {
    /// For ever.
    Never,
    /// Not at all.
    Zero,
    /// Until nothing else in the whole program can go on; of several that wait so, the process
    /// with the lowest number goes on first.
    Idle,
}

/// How a process is spawned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum How {
    /// `spawn`.
    Plain,
    /// `spawn_link`.
    Link,
    /// `spawn_monitor`.
    Monitor(Slot),
}

/// One step of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Spawns a child that nothing else spawns.
    Spawn(Who, How),
    /// Sends a message.
    Send(Who, Tag),
    /// Sends a message to a name.
    SendName(Name, Tag),
    /// Receives.
    Receive(Pattern, After),
    /// Links.
    Link(Who),
    /// Unlinks.
    Unlink(Who),
    /// Monitors.
    Monitor(Who, Slot),
    /// Monitors whoever has a name.
    MonitorName(Name, Slot),
    /// Takes a monitor back; with `true` its message too.
    Demonitor(Slot, bool),
    /// Ends with a reason of one's own.
    ExitSelf(Reason),
    /// Ends by an error or a panic.
    Crash,
    /// Sends an exit signal.
    Exit(Who, Reason),
    /// Sets whether exit signals become messages.
    Trap(bool),
    /// Gives a process a name.
    Register(Name, Who),
    /// Frees a name.
    Unregister(Name),
    /// Looks up a name.
    Whereis(Name),
    /// Calls, and waits for ever for the answer.
    Call(Who, Tag),
    /// Answers the oldest call that was received and not answered; without one, nothing.
    Reply(Tag),
    /// Waits for ever and receives nothing; the mailbox can be seen at the end.
    Park,
    /// Has the connection between the two nodes cut.
    Cut(By),
}

/// Who cuts a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum By {
    /// The wire breaks; neither node has asked for it.
    Wire,
    /// The node of the process disconnects itself.
    Node,
}

/// A node that a program is spread over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// purlin's.
    Purlin,
    /// The BEAM's.
    Beam,
}

impl Side {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Purlin, Self::Beam];

    /// The node that a name belongs to in a program that is spread.
    #[must_use]
    pub fn of_name(name: Name) -> Self {
        Self::ALL[usize::from(name % 2)]
    }
}

/// What one process does, step by step.
pub type Script = Vec<Op>;

/// Processes with their scripts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    /// How many of the processes are there from the beginning.
    pub bases: u8,
    /// Their scripts, the bases' first.
    pub scripts: Vec<Script>,
    /// If it is spread over two nodes, the processes that are on the BEAM's: a bit for each.
    pub abroad: Option<u8>,
}

impl Op {
    /// What the operation is called where operations are counted.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Spawn(_, How::Plain) => "spawn",
            Self::Spawn(_, How::Link) => "spawn_link",
            Self::Spawn(_, How::Monitor(_)) => "spawn_monitor",
            Self::Send(..) => "send",
            Self::SendName(..) => "send by name",
            Self::Receive(_, After::Never) => "receive",
            Self::Receive(_, After::Zero) => "receive after 0",
            Self::Receive(_, After::Idle) => "receive after a while",
            Self::Link(_) => "link",
            Self::Unlink(_) => "unlink",
            Self::Monitor(..) => "monitor",
            Self::MonitorName(..) => "monitor by name",
            Self::Demonitor(_, false) => "demonitor",
            Self::Demonitor(_, true) => "demonitor with flush",
            Self::ExitSelf(_) => "exit self",
            Self::Crash => "crash",
            Self::Exit(_, Reason::Kill) => "exit other: kill",
            Self::Exit(_, Reason::Normal) => "exit other: normal",
            Self::Exit(..) => "exit other: a reason",
            Self::Trap(true) => "trap_exit on",
            Self::Trap(false) => "trap_exit off",
            Self::Register(..) => "register",
            Self::Unregister(_) => "unregister",
            Self::Whereis(_) => "whereis",
            Self::Call(..) => "call",
            Self::Reply(_) => "reply",
            Self::Park => "wait for ever",
            Self::Cut(By::Wire) => "cut the wire",
            Self::Cut(By::Node) => "disconnect",
        }
    }

    /// Does the process surely not get past this?
    #[must_use]
    pub fn is_last(&self) -> bool {
        matches!(self, Self::ExitSelf(_) | Self::Crash | Self::Park)
    }

    /// The process that the operation names, unless it spawns it.
    fn names(&self) -> Option<Who> {
        match *self {
            Self::Send(who, _)
            | Self::Link(who)
            | Self::Unlink(who)
            | Self::Monitor(who, _)
            | Self::Exit(who, _)
            | Self::Register(_, who)
            | Self::Call(who, _) => Some(who),
            _ => None,
        }
    }

    /// The monitor that the operation makes.
    fn makes(&self) -> Option<Slot> {
        match *self {
            Self::Monitor(_, slot)
            | Self::MonitorName(_, slot)
            | Self::Spawn(_, How::Monitor(slot)) => Some(slot),
            _ => None,
        }
    }

    /// The monitor that the operation needs.
    fn needs(&self) -> Option<Slot> {
        match *self {
            Self::Demonitor(slot, _) | Self::Receive(Pattern::DownOf(slot), _) => Some(slot),
            _ => None,
        }
    }
}

impl Program {
    /// Where a process is, in a program that is spread.
    #[must_use]
    pub fn side(&self, who: Who) -> Side {
        Side::ALL[usize::from(self.abroad.unwrap_or(0) >> who & 1)]
    }

    /// Can a process do that where it is?
    fn is_possible(&self, who: Who, op: &Op) -> bool {
        let here = self.side(who);
        match *op {
            Op::Cut(_) => self.abroad.is_some(),
            _ if self.abroad.is_none() => true,
            Op::Spawn(child, _) => self.side(child) == here,
            Op::Register(name, of) => Side::of_name(name) == here && self.side(of) == here,
            Op::Unregister(name) | Op::Whereis(name) => Side::of_name(name) == here,
            // The two runtimes call their own by protocols of their own.
            Op::Call(..) | Op::Reply(_) => false,
            _ => true,
        }
    }

    /// Does every process know whom it names, is every child spawned once, and does every monitor
    /// exist before it is used?
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let mut spawned = vec![false; self.scripts.len()];
        let bases: Vec<Who> = (0..self.bases).collect();
        self.bases > 0
            && self.scripts.len() <= MOST_PROCESSES
            && usize::from(self.bases) <= self.scripts.len()
            && bases.iter().all(|base| self.is_valid_script(*base, bases.clone(), &mut spawned))
            // What nobody spawns does nothing, so that there is one way to write each program.
            && (usize::from(self.bases)..self.scripts.len())
                .all(|child| spawned[child] || self.scripts[child].is_empty())
    }

    fn is_valid_script(&self, who: Who, mut known: Vec<Who>, spawned: &mut [bool]) -> bool {
        let mut slots = Vec::new();
        known.push(who);
        for op in &self.scripts[usize::from(who)] {
            if op.names().is_some_and(|other| !known.contains(&other))
                || op.needs().is_some_and(|slot| !slots.contains(&slot))
                || !self.is_possible(who, op)
            {
                return false;
            }
            if let Some(slot) = op.makes() {
                if slots.contains(&slot) {
                    return false;
                }
                slots.push(slot);
            }
            if let Op::Spawn(child, _) = *op {
                let at = usize::from(child);
                if child < self.bases || at >= spawned.len() || spawned[at] {
                    return false;
                }
                spawned[at] = true;
                if !self.is_valid_script(child, known.clone(), spawned) {
                    return false;
                }
                known.push(child);
            }
        }
        true
    }
}
