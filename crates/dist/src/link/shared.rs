//! What the tasks of a link and its senders share.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use purlin_term::{Pid, Term};
use tokio::runtime::Handle;
use tokio::sync::Notify;

use crate::frame::{Outgoing, Signal, Size, Unsendable};
use crate::handshake::Established;
use crate::link::large::Large;
use crate::link::{Ended, Settings, Unsent};

/// What the tasks of a link and its senders share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) peer: Established,
    pub(super) settings: Settings,
    /// Where the tasks of the link run.
    pub(super) runtime: Handle,
    state: Mutex<State>,
    /// For the writer: there is something to write, or nothing more will be.
    pub(super) to_write: Notify,
    /// For those who wait to send: it may be their turn.
    pub(super) room: Notify,
    /// For those who wait for the end.
    pub(super) over: Notify,
    /// How often something was read.
    pub(super) reads: AtomicU64,
    /// Whether the reader waits for the other node, and not for its receiver.
    pub(super) reading: AtomicBool,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) out: Outgoing,
    /// How many bytes the writer has taken and not yet written.
    pub(super) in_flight: usize,
    /// How many bytes of large messages are among those to be written, and among those the writer has taken.
    pub(super) portions: usize,
    pub(super) portions_in_flight: usize,
    /// How often the writer has written.
    pub(super) writes: u64,
    /// For each sender with a large message under way, what waits behind it.
    pub(super) behind: HashMap<Option<Pid>, VecDeque<Signal>>,
    pub(super) closing: bool,
    pub(super) ended: Option<Ended>,
}

impl State {
    /// How many bytes are to be written.
    pub(super) fn waiting(&self) -> usize {
        self.out.waiting() + self.in_flight
    }
}

impl Shared {
    pub(super) fn new(peer: Established, settings: Settings) -> Self {
        let state = State {
            out: Outgoing::new(peer.flags),
            in_flight: 0,
            portions: 0,
            portions_in_flight: 0,
            writes: 0,
            behind: HashMap::new(),
            closing: false,
            ended: None,
        };
        Self {
            peer,
            settings,
            runtime: Handle::current(),
            state: Mutex::new(state),
            to_write: Notify::new(),
            room: Notify::new(),
            over: Notify::new(),
            reads: AtomicU64::new(0),
            reading: AtomicBool::new(false),
        }
    }

    /// No user's code runs under the lock, so nobody who held it has left it half changed.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a sender may go on; also when it will be told that the link has ended.
    pub(super) fn has_room(&self, sender: Option<&Pid>) -> bool {
        let state = self.lock();
        let is_behind = || !state.behind.is_empty() && state.behind.contains_key(&sender.cloned());
        state.ended.is_some() || (state.waiting() <= self.settings.busy && !is_behind())
    }

    /// Puts out a signal, or has it wait behind its sender's large message. If it is large itself, what comes
    /// back is to be run.
    pub(super) fn put(
        shared: &Arc<Self>,
        sender: Option<Pid>,
        signal: Signal,
    ) -> Result<Option<Large>, Unsent> {
        let Signal { control, payload } = signal;
        if control.has_payload() != payload.is_some() {
            return Err(Unsendable::Payload.into());
        }
        let mut state = shared.lock();
        if let Some(ended) = &state.ended {
            return Err(Unsent::Ended(ended.clone()));
        }
        if state.closing {
            return Err(Unsent::Ended(Ended::ByUs));
        }
        if let Some(behind) = state.behind.get_mut(&sender) {
            behind.push_back(Signal { control, payload });
            return Ok(None);
        }
        let control = Term::from(control);
        match state.out.put(&control, payload.as_ref())? {
            Size::Small => {
                drop(state);
                shared.to_write.notify_one();
                Ok(None)
            }
            Size::Large => {
                state.behind.insert(sender.clone(), VecDeque::new());
                let payload = payload.unwrap_or(Term::NIL);
                Ok(Some(Large { shared: Arc::clone(shared), sender, control, payload }))
            }
        }
    }

    /// Counts something that was read.
    pub(super) fn has_read(&self) {
        // ORDER: relaxed, because the count carries nothing but itself.
        self.reads.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends it, unless it has ended; what was not written is lost.
    pub(super) fn end(&self, ended: Ended) {
        let mut state = self.lock();
        state.ended.get_or_insert(ended);
        let behind = std::mem::take(&mut state.behind);
        let out = std::mem::replace(&mut state.out, Outgoing::new(self.peer.flags));
        drop(state);
        drop((behind, out));
        self.room.notify_waiters();
        self.over.notify_waiters();
        self.to_write.notify_one();
    }
}
