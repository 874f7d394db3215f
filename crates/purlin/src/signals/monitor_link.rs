//! Ends of links and monitors, as a process keeps them: OTP's `erl_monitor_link`.

use std::num::NonZero;

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
    /// Number of the unlink that has not been acknowledged.
    pub(super) unlinking: Option<NonZero<u64>>,
}

impl Link {
    pub(crate) fn new(peer: Option<Peer>) -> Self {
        Self { peer, unlinking: None }
    }

    pub(crate) fn is_up(&self) -> bool {
        self.unlinking.is_none()
    }
}

/// The watcher's end of a monitor. WHY: an enum, because it is usually one word and is moved often.
#[derive(Debug)]
pub(crate) enum Monitoring {
    /// Monitor of a process.
    Of(Peer),
    /// Monitor by name, or of a process that had already ended, with the process if there was one.
    As(Box<(Monitored, Option<Peer>)>),
}

impl Monitoring {
    /// Returns the target of the monitor.
    #[inline]
    pub(crate) fn of(&self) -> Monitored {
        match self {
            Self::Of(peer) => Monitored::Process(ProcessId::of(peer)),
            Self::As(given) => given.0.clone(),
        }
    }

    pub(super) fn peer(&self) -> Option<&Peer> {
        match self {
            Self::Of(peer) => Some(peer),
            Self::As(given) => given.1.as_ref(),
        }
    }

    /// Removes the monitor at its target, because the watcher has ended or removed it.
    pub(crate) fn over(&self, reference: Reference) {
        if let Some(peer) = self.peer() {
            send_signal(peer, Signal::Demonitor(reference));
        }
    }
}
