//! Signals of a peer that need an answer: held, undecoded, while this node owes the peer too many answers.
//!
//! A signal that needs an answer is handled immediately while the link owes the peer few answers
//! ([`Link::owes_too_much`]). Otherwise it is held until the peer has read earlier answers, and so are all later signals
//! to the same process, which must not overtake it. All other signals are handled as they arrive, so that answers to
//! this node's own calls are never behind the peer's requests.
//!
//! While the held signals take more than [`MAX_HELD`], nothing more is received. What had arrived of incomplete messages
//! when the pause below began does not count. INVARIANT: two purlin nodes do not stop each other by this. While a node
//! holds more than [`PAUSE_AT`], it sends answers and no further messages of its processes ([`Link::pause`]). So of two
//! nodes that both do, the one that began later receives, besides answers, only what was on its way: about 1 MiB in the
//! queue, and the kernel's buffers. It reads on, the answers of the other one drain, and that one handles what it holds.
//!
//! At most [`MAX_TURNS`] functions of a connection run at a time until they first wait. The others have waited; they
//! may run for long, and their number is not limited.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use purlin::ProcessId;
use purlin_dist_protocol::control::Control;
use purlin_dist_protocol::frame::StoredPayload;
use purlin_dist_protocol::link::Link;
use purlin_term::Atom;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Maximum number of functions that run until they first wait.
const MAX_TURNS: usize = 64;

/// Memory of held signals beyond which nothing is received, in bytes.
const MAX_HELD: usize = 64 << 20;

/// Memory of held signals beyond which messages of local processes wait, in bytes.
const PAUSE_AT: usize = 16 << 20;

/// Estimated memory of a held signal beyond its payload, trace token and options.
const OVERHEAD: usize = 512;

/// Permit of a function to run until it first waits. Dropped when its answer is queued, if it never waits.
pub(crate) type Turn = OwnedSemaphorePermit;

/// What a signal needs to be handled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// It causes no answer.
    Nothing,
    /// The peer has read earlier answers.
    Answer,
    /// As `Answer`, and a turn, as it runs a function.
    Turn,
}

/// Recipient of a signal. Signals to the same recipient stay in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Recipient {
    Process(ProcessId),
    Name(Atom),
    /// A pid or an alias of another node, or of an earlier incarnation of this one.
    Unknown,
}

/// The recipients of a signal: a process, or a name and the process that is registered under it.
pub(super) type Recipients = [Option<Recipient>; 2];

/// A held signal.
pub(super) struct Held {
    pub(super) control: Control,
    pub(super) payload: Option<StoredPayload>,
    pub(super) recipients: Recipients,
    pub(super) need: Need,
    /// Its memory, in bytes.
    memory: usize,
}

impl Held {
    pub(super) fn new(
        control: Control,
        payload: Option<StoredPayload>,
        recipients: Recipients,
        need: Need,
    ) -> Self {
        let of_payload = payload.as_ref().map_or(0, StoredPayload::memory);
        let memory = OVERHEAD + control.memory_of_terms() + of_payload;
        Self { control, payload, recipients, need, memory }
    }
}

/// Held signals of one connection.
pub(in crate::cluster) struct Requests {
    turns: Arc<Semaphore>,
    state: Mutex<State>,
    /// Whether any signal is held, or a held one is being handled. Set by the reader task, and cleared by the task that
    /// handles held signals.
    holds: AtomicBool,
    /// Notified when a held signal is handled.
    started: Notify,
    /// The connection has ended: no held signal is handled. Locked while one is.
    ended: Mutex<bool>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Held>,
    /// Number of signals to each recipient that are held or being handled.
    recipients: HashMap<Recipient, usize>,
    /// Memory of the queue.
    memory: usize,
    /// Number of signals with [`Need::Answer`] that are held or being handled.
    answers: usize,
    /// Messages of local processes wait.
    is_paused: bool,
    /// Bytes of incomplete messages when the last pause began.
    incomplete: usize,
}

impl State {
    /// Begins or ends a pause of local processes, after a change of the memory.
    fn update_pause(&mut self, link: &Link) {
        let is_paused = self.memory > PAUSE_AT;
        if std::mem::replace(&mut self.is_paused, is_paused) != is_paused {
            link.pause(is_paused);
            if is_paused {
                self.incomplete = link.incomplete();
            }
        }
    }
}

impl Default for Requests {
    fn default() -> Self {
        let (state, holds, started, ended) = Default::default();
        Self { turns: Arc::new(Semaphore::new(MAX_TURNS)), state, holds, started, ended }
    }
}

impl fmt::Debug for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Requests").field("held", &self.state().queue.len()).finish_non_exhaustive()
    }
}

impl Requests {
    fn state(&self) -> MutexGuard<'_, State> {
        // No code under the lock panics.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether any signal is held.
    pub(super) fn holds(&self) -> bool {
        // ORDER: acquire, partner of the release in `next`: the held signals have been handled before later ones.
        self.holds.load(Ordering::Acquire)
    }

    /// Decides on a signal, for the reader task: `Err` if it must be held; otherwise its turn if it needs one.
    pub(super) fn admit(
        &self,
        link: &Link,
        need: Need,
        recipients: impl Fn() -> Recipients,
    ) -> Result<Option<Turn>, Recipients> {
        if self.holds() {
            let recipients = recipients();
            let state = self.state();
            let is_behind = |recipient| state.recipients.contains_key(recipient);
            // WHY not all: a held signal that waits for a turn does not delay one that needs none.
            let is_next = match need {
                Need::Nothing => true,
                Need::Answer => state.answers == 0,
                Need::Turn => false,
            };
            if !is_next || recipients.iter().flatten().any(is_behind) {
                drop(state);
                return Err(recipients);
            }
        }
        match need {
            Need::Nothing => Ok(None),
            _ if link.owes_too_much() => Err(recipients()),
            Need::Answer => Ok(None),
            Need::Turn => {
                let turn = Arc::clone(&self.turns).try_acquire_owned();
                turn.map(Some).map_err(|_| recipients())
            }
        }
    }

    /// Holds a signal. Returns whether the caller must start a task that calls [`Requests::next`].
    pub(super) fn hold(&self, link: &Link, held: Held) -> bool {
        let mut state = self.state();
        for recipient in held.recipients.iter().flatten() {
            *state.recipients.entry(recipient.clone()).or_default() += 1;
        }
        state.memory += held.memory;
        state.answers += usize::from(held.need == Need::Answer);
        state.queue.push_back(held);
        state.update_pause(link);
        // ORDER: relaxed: the reader task, which is the caller, sees it; the lock orders it for the other task.
        !self.holds.swap(true, Ordering::Relaxed)
    }

    /// Waits until the held signals take little memory.
    pub(super) async fn wait_for_memory(&self) {
        loop {
            let mut started = pin!(self.started.notified());
            started.as_mut().enable();
            let is_little = |state: &State| state.memory <= MAX_HELD + state.incomplete;
            if is_little(&self.state()) {
                return;
            }
            started.await;
        }
    }

    /// Waits until the oldest held signal can be handled, and removes it. Returns `None` if no signal is held or the link
    /// has ended; the calling task then ends.
    pub(super) async fn next(&self, link: &Link) -> Option<(Held, Turn)> {
        let turn = tokio::select! {
            turn = Arc::clone(&self.turns).acquire_owned() => turn.ok(),
            _ = link.ended() => None,
        };
        let is_up = link.wait_for_answers().await;
        let mut state = self.state();
        if !is_up {
            *state = State::default();
        }
        let next = state.queue.pop_front().zip(turn);
        match &next {
            Some((held, _)) => {
                state.memory -= held.memory;
                state.update_pause(link);
            }
            // ORDER: release, see `holds`.
            None => self.holds.store(false, Ordering::Release),
        }
        drop(state);
        self.started.notify_waiters();
        next
    }

    /// Handles a held signal by `handle`, unless the connection has ended.
    pub(super) fn handle(&self, handle: impl FnOnce()) {
        // A poisoned lock means that handling an earlier signal has panicked.
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if !*ended {
            handle();
        }
    }

    /// The connection has ended. Waits for the end of [`Requests::handle`].
    pub(in crate::cluster) fn end(&self) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }

    /// A held signal has been handled.
    pub(super) fn handled(&self, need: Need, recipients: &Recipients) {
        let mut state = self.state();
        state.answers = state.answers.saturating_sub(usize::from(need == Need::Answer));
        for recipient in recipients.iter().flatten() {
            if let Some(count) = state.recipients.get_mut(recipient) {
                *count -= 1;
                if *count == 0 {
                    state.recipients.remove(recipient);
                }
            }
        }
    }
}

/// Runs a function. Returns its turn, if it has one, with its result if it has not waited.
pub(crate) async fn in_turn<F: Future>(
    mut turn: Option<Turn>,
    function: F,
) -> (F::Output, Option<Turn>) {
    let mut function = pin!(function);
    let output = std::future::poll_fn(|cx| {
        let polled = function.as_mut().poll(cx);
        if polled.is_pending() {
            turn = None;
        }
        polled
    });
    let output = output.await;
    (output, turn)
}

#[cfg(test)]
mod tests {
    use purlin_dist_protocol::control::Spawn;
    use purlin_term::{Atom, Pid, Reference, Term};

    use super::*;

    #[test]
    fn memory_of_a_held_spawn_request_includes_its_options() {
        let pid = Pid { node: Atom::from_static("a@h"), id: 1, serial: 0, creation: 1 };
        let spawn = Spawn {
            request: Reference::new(Atom::from_static("a@h"), 1, &[1, 2, 3]).expect("three words"),
            from: pid.clone(),
            group_leader: pid,
            module: Atom::from_static("m"),
            function: Atom::from_static("f"),
            arity: 0,
            options: vec![Term::list((0..10_000).map(|_| Term::NIL))],
            token: None,
        };
        let held = Held::new(Control::Spawn(Box::new(spawn)), None, [None, None], Need::Turn);
        assert!(held.memory > 10_000 * size_of::<Term>(), "{}", held.memory);
    }
}
