//! State shared by the users of a client and its connection task.
//!
//! Any task may call [`Shared::push`], [`Shared::flushed`] and [`Shared::close`]; the other methods
//! are for the connection task. The lock is held while one message is copied or answers are
//! applied, never across an await or a system call.
//!
//! Two notifications: `moved` wakes all tasks that wait for capacity, answers or the end of the
//! client; `work` wakes the connection task, and is sent only while it waits.
//!
//! COST: a push takes an uncontended lock and copies the message.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::task::yield_now;

use super::error::{Ended, Lost, Refused, SendError};
use super::outbox::{NotSent, Outbox, Piece};
use crate::wire::session::Opened;
use crate::wire::verifier::{AckVerifier, Answer};

/// State shared by a client's handles and its connection task.
pub(super) struct Shared {
    state: Mutex<State>,
    moved: Notify,
    work: Notify,
    /// Set after every `TURN` messages: the next sender yields once.
    turn_over: AtomicBool,
}

/// Messages pushed between two yields. WHY: with capacity in the window a sender never waits, and
/// on a single-threaded runtime the connection task would run only once the window is full.
const TURN: u64 = 1024;

/// Highest id at which a numbering is continued.
///
/// WHY: a server must not bring the client to the end of all ids.
pub(super) const LAST_RESUMED: u64 = 1 << 63;

/// The part of it behind the lock.
struct State {
    outbox: Outbox,
    /// Messages below this id do not linger: a task waits for their answers or for capacity.
    no_linger_before: u64,
    waits: Waits,
    closing: bool,
    ended: Option<Ended>,
    /// No session was open yet, and the first one continues at the position of the server.
    resumes: bool,
}

/// Event for which the connection task must be woken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    Nothing,
    Message,
    Batch,
}

/// Next action of the writing half.
pub(super) enum Work {
    Write(Piece),
    /// Messages are ready, and more may be coalesced with them.
    Linger,
    Wait,
    /// All messages are answered and the client is closed.
    End,
}

impl Shared {
    pub(super) fn new(outbox: Outbox, resumes: bool) -> Self {
        let state = State {
            outbox,
            no_linger_before: 0,
            waits: Waits::Nothing,
            closing: false,
            ended: None,
            resumes,
        };
        Self {
            state: Mutex::new(state),
            moved: Notify::new(),
            work: Notify::new(),
            turn_over: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a message. Returns `None` if the window is full.
    pub(super) fn push(&self, payload: &[u8]) -> Result<Option<u64>, SendError> {
        let mut state = self.lock();
        if let Some(ended) = state.gone() {
            return Err(SendError::Ended(ended));
        }
        let pushed = state.outbox.push(payload).map_err(SendError::TooLarge)?;
        if pushed.is_some_and(|id| id % TURN == TURN - 1) {
            // ORDER: relaxed, here and below: the flag publishes no data, and an extra or missed
            // yield is harmless.
            self.turn_over.store(true, Ordering::Relaxed);
        }
        if pushed.is_none() {
            // WHY: capacity is freed by answers only, and lingering messages get none.
            state.no_linger_before = state.outbox.next_id();
        }
        let wake = match state.waits {
            Waits::Nothing => false,
            Waits::Message => state.outbox.has_unsent(),
            Waits::Batch => pushed.is_none() || state.outbox.has_whole_batch(),
        };
        if wake {
            state.waits = Waits::Nothing;
            drop(state);
            self.work.notify_one();
        }
        Ok(pushed)
    }

    /// Like [`push`](Self::push), but waits for capacity.
    pub(super) async fn push_wait(&self, payload: &[u8]) -> Result<u64, SendError> {
        if self.turn_over.load(Ordering::Relaxed) {
            self.turn_over.store(false, Ordering::Relaxed);
            yield_now().await;
        }
        loop {
            // WHY before `push`: a notification sent from here on ends the wait.
            let moved = self.moved.notified();
            match self.push(payload)? {
                Some(id) => return Ok(id),
                None => moved.await,
            }
        }
    }

    /// Returns the id of the newest answered message.
    pub(super) fn newest(&self) -> Option<u64> {
        self.lock().outbox.first().checked_sub(1)
    }

    /// Waits until all messages pushed so far are answered.
    pub(super) async fn flushed(&self) -> Result<(), Ended> {
        let due = {
            let mut state = self.lock();
            state.no_linger_before = state.outbox.next_id();
            state.no_linger_before
        };
        self.work.notify_one();
        loop {
            let moved = self.moved.notified();
            {
                let state = self.lock();
                if state.outbox.first() >= due {
                    return Ok(());
                }
                if let Some(ended) = &state.ended {
                    return Err(ended.clone());
                }
            }
            moved.await;
        }
    }

    /// Stops accepting messages. Accepted messages are still sent.
    pub(super) fn close(&self) {
        self.lock().closing = true;
        self.moved.notify_waiters();
        self.work.notify_one();
    }

    /// Waits for the end of the client. Returns the reason and the unanswered messages.
    pub(super) async fn ended(&self) -> (Ended, Vec<(u64, Vec<u8>)>) {
        loop {
            let moved = self.moved.notified();
            {
                let state = self.lock();
                if let Some(ended) = &state.ended {
                    let left = state.outbox.unanswered();
                    let left = left.map(|(id, payload)| (id, payload.to_vec())).collect();
                    return (ended.clone(), left);
                }
            }
            moved.await;
        }
    }

    /// Records that the connection task has ended. The first reason is kept.
    pub(super) fn end(&self, why: Ended) {
        self.lock().ended.get_or_insert(why);
        self.moved.notify_waiters();
    }

    /// Returns the next action of the writing half. `may_linger`: a partly filled batch may wait
    /// for more.
    pub(super) fn work(&self, may_linger: bool) -> Work {
        let mut state = self.lock();
        let State { outbox, no_linger_before: hurry, waits, closing, .. } = &mut *state;
        *waits = Waits::Nothing;
        if !outbox.has_unsent() {
            if *closing && outbox.is_empty() {
                return Work::End;
            }
            *waits = Waits::Message;
            return Work::Wait;
        }
        let hurries = *closing || outbox.unsent() < *hurry || outbox.has_whole_batch();
        if may_linger && !hurries {
            *waits = Waits::Batch;
            return Work::Linger;
        }
        outbox.piece().map_or(Work::Wait, Work::Write)
    }

    /// Waits until the result of [`work`](Self::work) may have changed.
    pub(super) async fn more_work(&self) {
        self.work.notified().await;
    }

    /// Waits until a message is unanswered or the client is closed. Returns whether one is
    /// unanswered.
    pub(super) async fn has_something(&self) -> bool {
        loop {
            {
                let mut state = self.lock();
                if !state.outbox.is_empty() || state.closing {
                    return !state.outbox.is_empty();
                }
                state.waits = Waits::Message;
            }
            self.work.notified().await;
        }
    }

    /// Applies the received answers and appends refused messages to `refused`.
    pub(super) fn answered(
        &self,
        verifier: &mut AckVerifier,
        mut bytes: &[u8],
        refused: &mut Vec<Refused>,
    ) -> Result<(), Lost> {
        let mut state = self.lock();
        let outbox = &mut state.outbox;
        let mut apply = || -> Result<(), Lost> {
            while let Some(answer) = verifier.take(&mut bytes)? {
                match answer {
                    Answer::Acked { id, .. } => {
                        outbox.acked(id)?;
                    }
                    Answer::Refused(refusal) => {
                        let payload = outbox.refused(refusal.id)?;
                        refused.extend(payload.map(|payload| Refused::new(refusal, payload)));
                    }
                }
            }
            Ok(())
        };
        let applied = apply();
        let wake = state.waits == Waits::Message
            && (state.outbox.has_unsent() || (state.closing && state.outbox.is_empty()));
        drop(state);
        self.moved.notify_waiters();
        if wake {
            self.work.notify_one();
        }
        applied
    }

    /// Prepares the outbox for a new connection without a session.
    pub(super) fn begin(&self) {
        self.lock().outbox.rewind();
    }

    /// Prepares the outbox for a new epoch, in which the server knows no message.
    pub(super) fn begin_epoch(&self) {
        self.lock().outbox.begin_epoch();
    }

    /// Prepares the outbox for a new connection with a session at the position in `opened`.
    pub(super) fn resume(&self, opened: &Opened, refused: &mut Vec<Refused>) -> Result<(), Lost> {
        let mut state = self.lock();
        let State { outbox, resumes, .. } = &mut *state;
        if std::mem::take(resumes)
            && let Some(newest) = opened.newest.filter(|newest| *newest < LAST_RESUMED)
        {
            let missed = opened.refused.iter().filter(|refusal| refusal.id >= outbox.first());
            refused.extend(missed.map(|refusal| Refused::new(*refusal, Vec::new())));
            outbox.start_at(newest + 1);
        }
        // WHY first: a position of another numbering must not answer a message of this client.
        if let Some(id) = opened.newest.filter(|newest| *newest >= outbox.handed()) {
            return Err(NotSent { id }.into());
        }
        // WHY: the server may have handled messages of an earlier connection meanwhile.
        outbox.recall();
        for refusal in &opened.refused {
            let payload = outbox.refused(refusal.id)?;
            refused.extend(payload.map(|payload| Refused::new(*refusal, payload)));
        }
        if let Some(newest) = opened.newest {
            outbox.acked(newest)?;
        }
        outbox.grant(opened.window.into(), opened.largest);
        outbox.rewind();
        drop(state);
        self.moved.notify_waiters();
        Ok(())
    }

    /// Returns the oldest message that awaits an answer.
    pub(super) fn awaited(&self) -> Option<u64> {
        let state = self.lock();
        state.outbox.awaits_answers().then(|| state.outbox.first())
    }

    /// Returns the oldest unanswered id.
    pub(super) fn first(&self) -> u64 {
        self.lock().outbox.first()
    }
}

impl State {
    /// Returns why the client accepts no messages.
    fn gone(&self) -> Option<Ended> {
        self.ended.clone().or_else(|| self.closing.then_some(Ended::Closed))
    }
}
