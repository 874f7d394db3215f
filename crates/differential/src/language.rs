//! The language of the test programs: operations of a process and their operands.
//!
//! Data types only; nothing runs here. Processes, messages, names and monitors are small numbers,
//! so that every interpreter gives a program the same meaning. The interpreter in Erlang reads the
//! terms that `serde` makes of these types, such as `{send, To, Tag}`.
//!
//! A program has *base processes*, which all exist and know each other before any of them starts,
//! and *children*, which are spawned by the scripts. A child knows itself, its parent and the
//! processes that its parent knew at the spawn; only its parent and its own descendants know it. A
//! process whose script is finished returns.
//!
//! In a program with aliases each base process has a priority alias, which all processes know.
//!
//! A program may be spread over two nodes, one of purlin and one of the BEAM. A child is on its
//! parent's node. Each name then belongs to a node: the first to purlin's, the second to the
//! BEAM's.

mod show;

use std::fmt;

use serde::{Deserialize, Serialize};

/// A process, by its number in the program.
pub type Who = u8;
/// Content of a message.
pub type Tag = u8;
/// A name that can be registered.
pub type Name = u8;
/// A monitor, by a number that is unique in its script.
pub type Slot = u8;

/// Maximum number of processes in a program.
pub const MOST_PROCESSES: usize = 5;
/// Number of names.
pub const NAMES: u8 = 2;
/// Number of tags.
pub const TAGS: u8 = 3;

/// Exit reason of a process or an exit signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// `normal`.
    Normal,
    /// `shutdown`.
    Shutdown,
    /// `{shutdown, x}`.
    ShutdownWith,
    /// `kill`, which cannot be trapped as a signal and is an ordinary reason if a process exits
    /// with it.
    Kill,
    /// `killed`.
    Killed,
    /// `noproc`.
    #[serde(rename = "noproc")]
    NoProcess,
    /// A user-defined reason.
    Boom,
    /// Another user-defined reason.
    Bang,
    /// An error or panic with any message.
    Crash,
    /// `noconnection`.
    #[serde(rename = "noconnection")]
    NoConnection,
    /// Any other reason. No program has it, so an outcome that contains it is never allowed.
    Other,
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

/// Pattern of a receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Any message.
    Any,
    /// A message with this tag.
    Tag(Tag),
    /// A call request.
    Request,
    /// The down message of any monitor.
    Down,
    /// The down message of this monitor.
    DownOf(Slot),
    /// An exit message.
    Exit,
}

/// Timeout of a receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum After {
    /// Waits forever.
    Never,
    /// Does not wait.
    Zero,
    /// Waits until the whole program is at rest; of several processes that wait this way, the one
    /// with the lowest number times out first.
    Idle,
}

/// How a process is spawned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// `spawn`.
    Plain,
    /// `spawn_link`.
    Link,
    /// `spawn_monitor`.
    Monitor(Slot),
}

/// One step of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Spawns a child; each child is spawned by one operation only.
    Spawn(Who, How),
    /// Sends a message.
    Send(Who, Tag),
    /// Sends a message to a name.
    SendName(Name, Tag),
    /// Receives a message.
    Receive(Pattern, After),
    /// Links to a process.
    Link(Who),
    /// Removes a link.
    Unlink(Who),
    /// Monitors a process.
    Monitor(Who, Slot),
    /// Monitors the process registered under a name.
    MonitorName(Name, Slot),
    /// Removes a monitor; with `true` also its message (flush).
    Demonitor(Slot, bool),
    /// Exits with a reason.
    ExitSelf(Reason),
    /// Exits by an error or a panic.
    Crash,
    /// Sends an exit signal.
    Exit(Who, Reason),
    /// Sets whether exit signals are trapped.
    Trap(bool),
    /// Registers a process under a name.
    Register(Name, Who),
    /// Unregisters a name.
    Unregister(Name),
    /// Looks up a name.
    Whereis(Name),
    /// Calls a process and waits forever for the reply.
    Call(Who, Tag),
    /// Replies to the oldest received call without a reply; does nothing if there is no such call.
    Reply(Tag),
    /// Waits forever without receiving; the mailbox is visible at the end.
    Park,
    /// Cuts the connection between the two nodes.
    Cut(By),
    /// Sends a message to the alias of a base process; with `true` with priority.
    SendAlias(Who, Tag, bool),
    /// Sends an exit signal to the alias of a base process; with `true` with priority.
    ExitAlias(Who, Reason, bool),
    /// Removes the process's alias.
    Unalias,
    /// Links to a process, with priority.
    LinkPriority(Who),
    /// Monitors a process, with priority.
    MonitorPriority(Who, Slot),
}

/// Origin of a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The wire breaks; neither node has requested it.
    Wire,
    /// The node of the process disconnects.
    Node,
}

/// A node of a spread program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// purlin's node.
    Purlin,
    /// The BEAM's node.
    Beam,
}

impl Side {
    /// Both nodes.
    pub const ALL: [Self; 2] = [Self::Purlin, Self::Beam];

    /// Returns the node that a name belongs to in a spread program.
    pub fn of_name(name: Name) -> Self {
        Self::ALL[usize::from(name % 2)]
    }
}

/// The operations of one process, in order.
pub type Script = Vec<Op>;

/// A program: processes with their scripts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Program {
    /// Number of base processes.
    pub bases: u8,
    /// All scripts, those of the base processes first.
    pub scripts: Vec<Script>,
    /// In a spread program, a bit mask of the processes on the BEAM's node.
    pub abroad: Option<u8>,
}

impl Op {
    /// Returns the label under which the operation is counted.
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
            Self::SendAlias(.., false) => "send to alias",
            Self::SendAlias(.., true) => "send with priority",
            Self::ExitAlias(.., false) => "exit to alias",
            Self::ExitAlias(.., true) => "exit with priority",
            Self::Unalias => "unalias",
            Self::LinkPriority(_) => "link with priority",
            Self::MonitorPriority(..) => "monitor with priority",
        }
    }

    /// Returns `true` if the process never gets past this operation.
    pub fn is_last(&self) -> bool {
        matches!(self, Self::ExitSelf(_) | Self::Crash | Self::Park)
    }

    /// Returns the process that the operation refers to, except for a spawn.
    fn names(&self) -> Option<Who> {
        match *self {
            Self::Send(who, _)
            | Self::Link(who)
            | Self::LinkPriority(who)
            | Self::Unlink(who)
            | Self::Monitor(who, _)
            | Self::MonitorPriority(who, _)
            | Self::Exit(who, _)
            | Self::Register(_, who)
            | Self::Call(who, _) => Some(who),
            _ => None,
        }
    }

    /// Returns the monitor that the operation creates.
    fn makes(&self) -> Option<Slot> {
        match *self {
            Self::Monitor(_, slot)
            | Self::MonitorPriority(_, slot)
            | Self::MonitorName(_, slot)
            | Self::Spawn(_, How::Monitor(slot)) => Some(slot),
            _ => None,
        }
    }

    /// Returns the process whose alias the operation refers to, `who` being the process itself.
    pub(crate) fn alias(&self, who: Who) -> Option<Who> {
        match *self {
            Self::SendAlias(of, ..) | Self::ExitAlias(of, ..) => Some(of),
            Self::Unalias => Some(who),
            _ => None,
        }
    }

    /// Returns the monitor that the operation needs.
    fn needs(&self) -> Option<Slot> {
        match *self {
            Self::Demonitor(slot, _) | Self::Receive(Pattern::DownOf(slot), _) => Some(slot),
            _ => None,
        }
    }
}

impl Program {
    /// Returns the node of a process in a spread program.
    pub fn side(&self, who: Who) -> Side {
        Side::ALL[usize::from(self.abroad.unwrap_or(0) >> who & 1)]
    }

    /// Returns whether the base processes have aliases.
    pub fn has_aliases(&self) -> bool {
        self.scripts.iter().flatten().any(|op| op.alias(0).is_some())
    }

    /// Returns whether any message or signal has priority.
    pub fn has_priority(&self) -> bool {
        let is_one = |op: &Op| {
            matches!(
                op,
                Op::SendAlias(.., true)
                    | Op::ExitAlias(.., true)
                    | Op::LinkPriority(_)
                    | Op::MonitorPriority(..)
            )
        };
        self.scripts.iter().flatten().any(is_one)
    }

    /// Returns whether the connection may be cut.
    fn has_cuts(&self) -> bool {
        self.scripts.iter().flatten().any(|op| matches!(op, Op::Cut(_)))
    }

    /// Returns whether a process can execute an operation on its node.
    fn is_possible(&self, who: Who, op: &Op) -> bool {
        let here = self.side(who);
        match *op {
            Op::Cut(_) => self.abroad.is_some(),
            _ if op.alias(who).is_some_and(|of| of >= self.bases) => false,
            // On the BEAM such a signal may end the process immediately, on purlin at its next await.
            Op::ExitAlias(of, ..) if of == who => false,
            // A process of purlin waits for the connection to send to an alias.
            Op::SendAlias(of, ..) | Op::ExitAlias(of, ..) if self.side(of) != here => {
                !self.has_cuts()
            }
            _ if self.abroad.is_none() => true,
            Op::Spawn(child, _) => self.side(child) == here,
            Op::Register(name, of) => Side::of_name(name) == here && self.side(of) == here,
            Op::Unregister(name) | Op::Whereis(name) => Side::of_name(name) == here,
            // The two runtimes use different call protocols.
            Op::Call(..) | Op::Reply(_) => false,
            _ => true,
        }
    }

    /// Returns whether every process knows the processes it refers to, every child is spawned once,
    /// and every monitor is created before it is used.
    pub fn is_valid(&self) -> bool {
        let mut spawned = vec![false; self.scripts.len()];
        let bases: Vec<Who> = (0..self.bases).collect();
        self.bases > 0
            && self.scripts.len() <= MOST_PROCESSES
            && usize::from(self.bases) <= self.scripts.len()
            && bases.iter().all(|base| self.is_valid_script(*base, bases.clone(), &mut spawned))
            // A child that is never spawned has an empty script, so that each program has one
            // representation.
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
