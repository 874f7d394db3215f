//! Operations that only the process itself may perform: receive, scan, access private state.
//!
//! An [`Owner`] may be moved to any thread. On a thread that is not running its process, the
//! operations that need the turn return [`NotInTurn`]. No operation runs user code while it borrows
//! the save queue.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::task::Waker;

use crate::RuntimeTypes;
use crate::catch_panic::catch_panic;
use crate::inbox::batch::Batch;
use crate::inbox::bound::Bound;
use crate::inbox::header::{Class, EmptyEnvelope, Envelope, Header};
use crate::inbox::save_queue::SaveQueue;
use crate::inbox::shards::Contention;
use crate::inbox::state::SingleTake;
use crate::process::address::Address;
use crate::process::cell::{Base, Front, HAS_LOCAL, LISTENING, RESCHEDULE, bound, count};
use crate::process::context::{is_running, is_traced, on_local};
use crate::process::deferred_rc;
use crate::process::trace::{traced, traced_received};
use crate::process::turn::release_handle;
use crate::process::waker;
use crate::sync::Ordering;
use crate::table::Slot;

/// Process's handle on itself. Holds a reference.
pub struct Owner<W: RuntimeTypes, M> {
    base: NonNull<Base>,
    types: PhantomData<fn(W, M) -> M>,
}

// SAFETY: access to what belongs to the running turn is checked against the calling thread; the
// rest is a counted reference. Messages cross threads, hence `M: Send`.
unsafe impl<W: RuntimeTypes, M: Send> Send for Owner<W, M> {}
// SAFETY: as above.
unsafe impl<W: RuntimeTypes, M: Send> Sync for Owner<W, M> {}

/// Error: this thread is not running the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotInTurn;

/// Result of looking for the next message.
enum Next {
    /// A message taken from the save queue.
    Fetched(NonNull<Header>),
    /// The save queue is empty. Result of looking in the inbox.
    New(SingleTake),
}

/// Result of handling a signal in the receiver.
#[derive(Debug)]
pub enum SignalOutcome<M> {
    /// The signal yields no message.
    Nothing,
    /// The signal is replaced by a message, in its position.
    Message(ConvertedMessage<M>),
    /// The process must end: nothing after the signal is received.
    Over,
}

/// Message that a signal has turned into, in its envelope.
#[derive(Debug)]
pub struct ConvertedMessage<M> {
    header: NonNull<Header>,
    message: PhantomData<M>,
}

impl<M> ConvertedMessage<M> {
    /// Seals a message, marked with a number by which [`Owner::withdraw`] finds it.
    #[inline]
    pub fn new(message: M, mark: u64) -> Self {
        Self { header: Envelope::seal_marked(message, mark), message: PhantomData }
    }

    fn into_header(self) -> NonNull<Header> {
        std::mem::ManuallyDrop::new(self).header
    }
}

impl<M> Drop for ConvertedMessage<M> {
    fn drop(&mut self) {
        // SAFETY: `self` owns the envelope, which holds an `M` and is not used again.
        drop(unsafe { Envelope::<M>::open(self.header) });
    }
}

/// Empty envelope of a message taken by [`Owner::peek_next`].
pub struct Peeked<M>(EmptyEnvelope<M>);

// SAFETY: the `EmptyEnvelope` holds no payload, and its successor pointer is not followed until the
// envelope is back in a save queue.
unsafe impl<M> Send for Peeked<M> {}
// SAFETY: a shared reference to an `EmptyEnvelope` gives access to nothing.
unsafe impl<M> Sync for Peeked<M> {}

impl<M> std::fmt::Debug for Peeked<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Peeked")
    }
}

impl<W: RuntimeTypes, M> std::fmt::Debug for Owner<W, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Owner").field(&self.base().slot).finish()
    }
}

impl<W: RuntimeTypes, M> Drop for Owner<W, M> {
    fn drop(&mut self) {
        // SAFETY: the handle holds a reference.
        unsafe { release_handle(self.base) }
    }
}

impl<W: RuntimeTypes, M: Send + 'static> Owner<W, M> {
    /// # Safety
    /// `base` is a cell of this type family and message type, and the handle takes over a
    /// reference.
    pub(crate) unsafe fn new(base: NonNull<Base>) -> Self {
        Self { base, types: PhantomData }
    }

    /// Calls `f` with the save queue if this thread is in the turn. `f` runs no user code.
    #[inline]
    fn save_queue<R>(&self, f: impl FnOnce(&mut SaveQueue) -> R) -> Result<R, NotInTurn> {
        if !is_running(self.base) {
            return Err(NotInTurn);
        }
        // SAFETY: this thread is in the process's turn, of which there is at most one, and no
        // caller of `save_queue` re-enters it within `f`.
        Ok(self.base().save_queue.with_mut(|save_queue| f(unsafe { &mut *save_queue })))
    }

    /// Returns whether a signal or a wake arrived since the last `fetch`.
    #[inline]
    pub fn has_arrivals(&self) -> bool {
        self.base().inbox.has_arrivals()
    }

    /// Returns whether a turn should begin with a `fetch`: a wake, or a signal that is not a
    /// message, has arrived.
    #[inline]
    pub fn has_signals(&self) -> bool {
        self.base().inbox.has_signals()
    }

    /// Moves arrived messages to the save queue, in order. Passes signals to `handle_signal`; a
    /// message that a signal turns into takes its position. Returns the number of messages added,
    /// or 0 if `handle_signal` returned [`SignalOutcome::Over`].
    ///
    /// With `beginning`, at the beginning of a turn, this turn satisfies a pending wake. Later in a
    /// turn a pending wake requests another turn.
    #[inline(never)]
    pub fn fetch(
        &self,
        beginning: bool,
        handle_signal: impl FnMut(W::Signal) -> SignalOutcome<M>,
    ) -> Result<usize, NotInTurn> {
        let arrived = self.save_queue(|save_queue| self.take(save_queue, beginning))?;
        if arrived.only_messages {
            return Ok(arrived.len);
        }
        Ok(self.sort(arrived.oldest, handle_signal)?.unwrap_or(0))
    }

    /// Receives the oldest message, from the inbox if the save queue is empty.
    #[inline]
    pub fn next(
        &self,
        handle_signal: impl FnMut(W::Signal) -> SignalOutcome<M>,
    ) -> Result<Option<M>, NotInTurn> {
        let next = self.save_queue(|save_queue| {
            if let Some(header) = save_queue.pop() {
                return Next::Fetched(header);
            }
            let base = self.base();
            // SAFETY: this thread is in the turn, and `take_single` does not re-enter.
            let single =
                |contention: *mut Contention| unsafe { base.inbox.take_single(&mut *contention) };
            Next::New(base.contention.with_mut(single))
        })?;
        match next {
            Next::Fetched(header) => Ok(Some(self.received(header))),
            Next::New(SingleTake::Message(header)) => Ok(Some(self.opened(header))),
            Next::New(SingleTake::Nothing) => Ok(None),
            Next::New(SingleTake::Others) => self.next_of_others(handle_signal),
        }
    }

    /// WHY a separate function: the common cases then save few registers.
    #[inline(never)]
    fn next_of_others(
        &self,
        mut handle_signal: impl FnMut(W::Signal) -> SignalOutcome<M>,
    ) -> Result<Option<M>, NotInTurn> {
        loop {
            let Batch { oldest, only_messages, .. } =
                self.save_queue(|save_queue| self.take(save_queue, false))?;
            if !only_messages && self.sort(oldest, &mut handle_signal)?.is_none() {
                return Ok(None);
            }
            match self.save_queue(SaveQueue::pop)? {
                Some(header) => return Ok(Some(self.received(header))),
                None if only_messages || !self.has_arrivals() => return Ok(None),
                None => {}
            }
        }
    }

    /// Takes what arrived, and moves it to the save queue if it contains messages only. Only in the
    /// turn, which the borrow of the save queue proves.
    #[inline(always)]
    fn take(&self, save_queue: &mut SaveQueue, beginning: bool) -> Batch {
        let base = self.base();
        // SAFETY: this thread is in the turn, and `take` does not re-enter.
        let taken = base.contention.with_mut(|now| unsafe { base.inbox.take(&mut *now) });
        if taken.woken && !beginning {
            base.set_flag(RESCHEDULE);
        }
        if taken.arrived.only_messages {
            // SAFETY: the batch is owned here and holds messages only.
            unsafe { save_queue.append_all(&taken.arrived) };
            base.add_waiting(taken.arrived.len);
        }
        taken.arrived
    }

    /// Handles the signals of a batch and moves the messages to the save queue. Returns their
    /// number, or `None` if the process must end.
    #[inline(never)]
    fn sort(
        &self,
        oldest: *mut Header,
        mut handle_signal: impl FnMut(W::Signal) -> SignalOutcome<M>,
    ) -> Result<Option<usize>, NotInTurn> {
        let mut rest = oldest;
        let (mut added, mut over) = (0, false);
        while let Some(header) = NonNull::new(rest) {
            // SAFETY: the batch is owned here; a header of class `Signal` precedes a `W::Signal`.
            let message = unsafe {
                rest = header.as_ref().next();
                match header.as_ref().class() {
                    Class::Message => header,
                    Class::Signal => match handle_signal(Envelope::<W::Signal>::open(header).0) {
                        SignalOutcome::Message(converted) => {
                            self.bound().inspect(|bound| bound.count_unadmitted());
                            converted.into_header()
                        }
                        SignalOutcome::Nothing => continue,
                        SignalOutcome::Over => {
                            over = true;
                            continue;
                        }
                    },
                }
            };
            // SAFETY: the header is owned here and precedes a message.
            self.save_queue(|save_queue| unsafe { save_queue.append(message) })?;
            self.base().add_waiting(1);
            added += 1;
        }
        Ok((!over).then_some(added))
    }

    /// Removes the message marked with this number, if it has not been received.
    ///
    /// COST: linear in the number of queued messages.
    pub fn withdraw(&self, mark: u64) -> Result<Option<M>, NotInTurn> {
        let found = self.save_queue(|save_queue| {
            save_queue.take_first_matching(|header| {
                // SAFETY: the save queue owns its headers, which precede messages of this type.
                unsafe { Envelope::<M>::mark(header) == Some(mark) }
            })
        })?;
        Ok(found.map(|header| {
            self.base().remove_waiting();
            self.bound().inspect(|bound| bound.uncount());
            // SAFETY: the header has left the save queue and precedes a message of this type.
            unsafe { Envelope::<M>::open(header) }.0
        }))
    }

    /// Returns whether the oldest messages must be dropped. The result may be stale.
    #[inline]
    pub fn is_past_bound(&self) -> bool {
        self.bound().is_some_and(Bound::is_flag_raised)
    }

    /// [`Owner::fetch`] at the beginning of a turn; drops the oldest messages if the bound is
    /// exceeded.
    pub fn fetch_within_bound(
        &self,
        mut handle_signal: impl FnMut(W::Signal) -> SignalOutcome<M>,
    ) -> Result<usize, NotInTurn> {
        // WHY before the flag is read: a wake consumed by the fetch was sent after the flag was
        // raised.
        let added = self.fetch(true, &mut handle_signal)?;
        match self.bound().filter(|bound| bound.is_flag_raised()) {
            None => Ok(added),
            Some(bound) => Ok(added + self.drop_oldest(bound, handle_signal)?),
        }
    }

    /// Lowers the flag, fetches, and drops the oldest messages while the bound is exceeded.
    #[cold]
    fn drop_oldest(
        &self,
        bound: &Bound,
        handle_signal: impl FnMut(W::Signal) -> SignalOutcome<M>,
    ) -> Result<usize, NotInTurn> {
        bound.lower_flag();
        let added = self.fetch(true, handle_signal)?;
        while bound.is_exceeded(&self.base().received) {
            // A message counted but not yet pushed: its sender raises the flag if it exceeds the
            // bound.
            let Some(header) = self.save_queue(SaveQueue::pop_keeping_cursor)? else { break };
            self.base().remove_waiting();
            bound.dropped_oldest();
            // SAFETY: the header has left the save queue and precedes a message of this type.
            catch_panic(|| drop(unsafe { Envelope::<M>::open(header) }));
        }
        if bound.is_flag_raised() {
            // The fetch above may have consumed the wake of the sender that raised the flag again.
            self.base().set_flag(RESCHEDULE);
        }
        Ok(added)
    }

    /// Releases the waiting senders if there is capacity. Call at the end of a turn.
    pub fn release_waiters(&self) {
        if let Some(bound) = self.bound().filter(|bound| bound.has_capacity(&self.base().received))
        {
            bound.wait_list.wake_all();
        }
    }

    /// Receives the oldest message of the save queue.
    #[inline]
    pub fn pop(&self) -> Result<Option<M>, NotInTurn> {
        let header = self.save_queue(SaveQueue::pop)?;
        Ok(header.map(|header| self.received(header)))
    }

    /// Opens a message that has left the save queue.
    #[inline]
    fn received(&self, header: NonNull<Header>) -> M {
        self.base().remove_waiting();
        self.opened(header)
    }

    /// Opens a message that is in no queue.
    #[inline]
    fn opened(&self, header: NonNull<Header>) -> M {
        count(&self.base().received, 1);
        // SAFETY: as below.
        let header = if is_traced() { unsafe { traced_received::<W, M>(header) } } else { header };
        // SAFETY: the header came from the save queue or the inbox; messages there are of this
        // type.
        unsafe { Envelope::<M>::open(header) }.0
    }

    /// Starts a scan at the oldest message of the save queue.
    #[inline]
    pub fn rewind(&self) -> Result<(), NotInTurn> {
        self.save_queue(SaveQueue::rewind)
    }

    /// Takes the next message of the scan. Pass the envelope to [`Owner::accept`] to receive the
    /// message, or both to [`Owner::put_back`].
    #[inline]
    pub fn peek_next(&self) -> Result<Option<(M, Peeked<M>)>, NotInTurn> {
        let Some(header) = self.save_queue(SaveQueue::take_next)? else { return Ok(None) };
        // SAFETY: the save queue holds messages of this type, and this one has left it.
        let (message, empty) = unsafe { Envelope::<M>::open(header) };
        Ok(Some((message, Peeked(empty))))
    }

    /// Receives the message of the last `peek_next`.
    #[inline]
    pub fn accept(&self, peeked: Peeked<M>) -> Result<(), NotInTurn> {
        drop(peeked);
        if !is_running(self.base) {
            return Err(NotInTurn);
        }
        self.base().remove_waiting();
        count(&self.base().received, 1);
        if is_traced() {
            traced::<W, M>(None);
        }
        Ok(())
    }

    /// Returns the message of the last `peek_next` to its position and continues the scan behind
    /// it.
    #[inline]
    pub fn put_back(&self, message: M, peeked: Peeked<M>) -> Result<(), NotInTurn> {
        let header = peeked.0.reseal(message);
        // SAFETY: the header is owned here and precedes a message.
        let put = self.save_queue(|save_queue| unsafe { save_queue.put_back(header) });
        if put.is_err() {
            // SAFETY: the header was not given away.
            drop(unsafe { Envelope::<M>::open(header) });
        }
        put
    }

    /// Requests that messages wake the process after this turn.
    #[inline]
    pub fn listen(&self) -> Result<(), NotInTurn> {
        if !is_running(self.base) {
            return Err(NotInTurn);
        }
        self.base().set_flag(LISTENING);
        Ok(())
    }

    /// Returns whether this thread is in the process's turn.
    #[inline]
    pub fn is_in_turn(&self) -> bool {
        is_running(self.base)
    }

    /// Returns whether `waker` wakes this process only.
    #[inline]
    pub fn is_own_waker(&self, waker: &Waker) -> bool {
        waker::wakes_cell(waker, self.base.as_ptr())
    }

    /// Returns whether the process has private state.
    #[inline]
    pub fn has_local(&self) -> bool {
        self.base().turn.load(Ordering::Relaxed) & HAS_LOCAL != 0
    }

    /// Calls `f` with the process's private state. `f` runs no user code: changes made by a nested
    /// call are lost, and so is the state if `f` panics.
    #[inline]
    pub fn local<R>(&self, f: impl FnOnce(&mut W::Local) -> R) -> Result<R, NotInTurn> {
        if !is_running(self.base) {
            return Err(NotInTurn);
        }
        // SAFETY: this thread is in the process's turn, and the cell is of this type family.
        Ok(unsafe { on_local::<W, R>(self.base, f) })
    }

    /// Returns the slot in the table.
    pub fn slot(&self) -> Slot {
        self.base().slot
    }

    /// Returns the state of this process that any thread may read.
    pub fn shared(&self) -> &W::Shared {
        &self.front().shared
    }

    /// Returns an address of this process.
    pub fn address(&self) -> Address<W, M> {
        // SAFETY: the handle holds a reference.
        unsafe { deferred_rc::retain(self.base) };
        // SAFETY: a reference was counted for the address, and the types are those of the cell.
        unsafe { Address::new(self.base) }
    }
}

impl<W: RuntimeTypes, M> Owner<W, M> {
    #[inline(always)]
    fn base(&self) -> &Base {
        // SAFETY: the handle holds a reference.
        unsafe { self.base.as_ref() }
    }

    #[inline]
    fn bound(&self) -> Option<&Bound> {
        // SAFETY: the handle holds a reference.
        unsafe { bound(self.base) }
    }

    #[inline(always)]
    fn front(&self) -> &Front<W> {
        // SAFETY: the handle holds a reference to a cell of this type family.
        unsafe { self.base.cast::<Front<W>>().as_ref() }
    }
}
