//! Ends of links and monitors, as a process keeps them: OTP's `erl_monitor_link`.

use crate::ProcessId;
use crate::node::erlang_types::Peer;
use crate::signals::notices::Monitored;
use crate::signals::reference::Reference;
use crate::signals::signal::{Signal, send_signal};

/// One end of a link.
#[derive(Debug)]
pub(crate) struct Link {
    /// The process at the other end; `None` if it had already ended when the link was created.
    pub(super) peer: Option<Peer>,
    state: LinkState,
}

/// State of a link: up, up with priority, or the number of the unlink that has not been acknowledged.
///
/// WHY not an enum: a link would be one word longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LinkState(u64);

impl LinkState {
    const UP: Self = Self(0);
    /// WHY no unlink has this number: a node would have made more references than 2³².
    const PRIORITY: Self = Self(u64::MAX);
}

impl Link {
    pub(crate) fn new(peer: Option<Peer>) -> Self {
        Self { peer, state: LinkState::UP }
    }

    pub(crate) fn is_up(&self) -> bool {
        matches!(self.state, LinkState::UP | LinkState::PRIORITY)
    }

    /// Returns whether the exit signal of the link becomes a priority message (M6).
    pub(crate) fn has_priority(&self) -> bool {
        self.state == LinkState::PRIORITY
    }

    /// Marks the link as up, with or without priority. Returns whether it was down.
    pub(super) fn set_up(&mut self, priority: bool) -> bool {
        let was_down = !self.is_up();
        self.state = if priority { LinkState::PRIORITY } else { LinkState::UP };
        was_down
    }

    /// Marks the link as down until the unlink with this number is acknowledged.
    pub(super) fn set_down(&mut self, number: u64) {
        self.state = LinkState(number);
    }

    /// Returns whether the unlink with this number has not been acknowledged.
    pub(super) fn waits_for(&self, number: u64) -> bool {
        !self.is_up() && self.state == LinkState(number)
    }
}

/// The watcher's end of a monitor. WHY: an enum, because it is usually one word and is moved often.
#[derive(Debug)]
pub(crate) enum Monitoring {
    /// Monitor of a process.
    Of(Peer),
    /// Monitor by name, or of a process that had already ended, with the process if there was one.
    As(Box<(Monitored, Option<Peer>)>),
    /// The same, or monitor of a process; the down signal becomes a priority message (M6).
    Priority(Box<(Monitored, Option<Peer>)>),
}

impl Monitoring {
    /// Returns the target of the monitor.
    #[inline]
    pub(crate) fn of(&self) -> Monitored {
        match self {
            Self::Of(peer) => Monitored::Process(ProcessId::of(peer)),
            Self::As(given) | Self::Priority(given) => given.0.clone(),
        }
    }

    pub(super) fn peer(&self) -> Option<&Peer> {
        match self {
            Self::Of(peer) => Some(peer),
            Self::As(given) | Self::Priority(given) => given.1.as_ref(),
        }
    }

    /// Returns whether the down signal becomes a priority message (M6).
    #[inline]
    pub(crate) fn has_priority(&self) -> bool {
        matches!(self, Self::Priority(_))
    }

    /// Returns the same monitor, whose down signal becomes a priority message.
    pub(super) fn with_priority(self) -> Self {
        match self {
            Self::Of(peer) => {
                let of = Monitored::Process(ProcessId::of(&peer));
                Self::Priority(Box::new((of, Some(peer))))
            }
            Self::As(given) | Self::Priority(given) => Self::Priority(given),
        }
    }

    /// Removes the monitor at its target, because the watcher has ended or removed it.
    pub(crate) fn over(&self, reference: Reference) {
        if let Some(peer) = self.peer() {
            send_signal(peer, Signal::Demonitor(reference));
        }
    }
}
