//! What the users of a client and the task that keeps its connection share.
//!
//! Any task calls [`Shared::push`], [`Shared::flushed`] and [`Shared::close`];
//! all else is for the keeper. The lock is held for as long as a message is
//! copied or an answer is applied, never across an await or a call of the system.
//!
//! Two bells: `moved` rings for everybody who waits for room, for answers or for
//! the end; `work` rings for the keeper, and only while it waits.
//!
//! COST: of a push an uncontended lock and the copy of the message.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::task::yield_now;

use super::error::{Ended, Lost, Refused, SendError};
use super::outbox::{Outbox, Piece};
use crate::checked::{Answer, Checked};
use crate::session::Opened;

pub(super) struct Shared {
    state: Mutex<State>,
    moved: Notify,
    work: Notify,
    /// So many have been pushed that who pushes next lets others run first.
    turn_over: AtomicBool,
}

/// How many messages are pushed in a turn. WHY: as long as there is room a sender never has to wait,
/// and on a runtime with one thread the keeper would get to write only when there is none.
const TURN: u64 = 1024;

struct State {
    outbox: Outbox,
    /// Messages below this id do not linger: somebody waits for their answers, or for room.
    hurry: u64,
    waits: Waits,
    closing: bool,
    ended: Option<Ended>,
}

/// What the keeper has to be woken for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    Nothing,
    Message,
    Batch,
}

/// What the keeper is to do next.
pub(super) enum Work {
    Write(Piece),
    /// There is something, and more may come to go with it.
    Linger,
    Wait,
    /// Everything is answered and nothing more will come.
    End,
}

impl Shared {
    pub(super) fn new(outbox: Outbox) -> Self {
        let state = State { outbox, hurry: 0, waits: Waits::Nothing, closing: false, ended: None };
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

    /// Takes a message; nothing if there is no room.
    pub(super) fn push(&self, payload: &[u8]) -> Result<Option<u64>, SendError> {
        let mut state = self.lock();
        if let Some(ended) = state.gone() {
            return Err(SendError::Ended(ended));
        }
        let pushed = state.outbox.push(payload).map_err(SendError::TooLarge)?;
        if pushed.is_some_and(|id| id % TURN == TURN - 1) {
            // ORDER: relaxed, here and below, because it carries nothing; one turn more or less is no harm.
            self.turn_over.store(true, Ordering::Relaxed);
        }
        if pushed.is_none() {
            // WHY: room comes of answers alone, and there are none to what lingers.
            state.hurry = state.outbox.next_id();
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

    /// As [`push`](Self::push), when there is room.
    pub(super) async fn push_wait(&self, payload: &[u8]) -> Result<u64, SendError> {
        if self.turn_over.load(Ordering::Relaxed) {
            self.turn_over.store(false, Ordering::Relaxed);
            yield_now().await;
        }
        loop {
            // WHY before: whatever moves from here on ends the wait.
            let moved = self.moved.notified();
            match self.push(payload)? {
                Some(id) => return Ok(id),
                None => moved.await,
            }
        }
    }

    /// The newest message that is answered.
    pub(super) fn newest(&self) -> Option<u64> {
        self.lock().outbox.first().checked_sub(1)
    }

    /// Waits until everything that has been pushed is answered.
    pub(super) async fn flushed(&self) -> Result<(), Ended> {
        let due = {
            let mut state = self.lock();
            state.hurry = state.outbox.next_id();
            state.hurry
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

    /// Takes no more; what there is is still sent.
    pub(super) fn close(&self) {
        self.lock().closing = true;
        self.moved.notify_waiters();
        self.work.notify_one();
    }

    /// Waits for the end, and tells the reason and what is unanswered.
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

    /// The keeper is gone. The first reason counts.
    pub(super) fn end(&self, why: Ended) {
        self.lock().ended.get_or_insert(why);
        self.moved.notify_waiters();
    }

    /// What the keeper is to do. `may_linger`: a batch that is not full may wait for more.
    pub(super) fn work(&self, may_linger: bool) -> Work {
        let mut state = self.lock();
        let State { outbox, hurry, waits, closing, .. } = &mut *state;
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

    /// Waits until there may be other work than before.
    pub(super) async fn more_work(&self) {
        self.work.notified().await;
    }

    /// Waits until there is a message that is not answered: yes; or none will come: no.
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

    /// Applies the answers that have come; gives the messages that were refused.
    pub(super) fn answered(
        &self,
        checked: &mut Checked,
        mut bytes: &[u8],
        refused: &mut Vec<Refused>,
    ) -> Result<(), Lost> {
        let mut state = self.lock();
        let outbox = &mut state.outbox;
        let mut apply = || -> Result<(), Lost> {
            while let Some(answer) = checked.take(&mut bytes)? {
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

    /// There is a connection without a session.
    pub(super) fn begin(&self) {
        self.lock().outbox.rewind();
    }

    /// There is a connection with a session, and this is where it stands.
    pub(super) fn resume(&self, opened: &Opened, refused: &mut Vec<Refused>) -> Result<(), Lost> {
        let mut state = self.lock();
        let outbox = &mut state.outbox;
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

    /// The oldest message that waits for an answer.
    pub(super) fn awaited(&self) -> Option<u64> {
        let state = self.lock();
        state.outbox.awaits_answers().then(|| state.outbox.first())
    }

    /// The first message that is not answered.
    pub(super) fn first(&self) -> u64 {
        self.lock().outbox.first()
    }
}

impl State {
    /// Why no message is taken any more.
    fn gone(&self) -> Option<Ended> {
        self.ended.clone().or_else(|| self.closing.then_some(Ended::Closed))
    }
}
