//! Mailbox of a process, as its turn uses it: fetches what arrived, receives, scans, withdraws.
//!
//! Messages are received from the save queue, in the order of arrival. A *fetch* moves what arrived
//! in the inbox to the save queue and passes signals that are not messages to `handle_signal`, which
//! may turn a signal into a message at its position. No operation runs user code while it borrows
//! the save queue.

use std::ptr::NonNull;

use crate::RuntimeTypes;
use crate::inbox::batch::Batch;
use crate::inbox::bound::Bound;
use crate::inbox::header::{ANCHOR, Class, Envelope, Header};
use crate::inbox::save_queue::SaveQueue;
use crate::inbox::shards::Contention;
use crate::inbox::state::SingleTake;
use crate::process::cell::{Base, LISTENING, RESCHEDULE, count};
use crate::process::context::{budget, is_traced, spend};
use crate::process::owner::InTurn;
use crate::process::signal_outcome::SignalOutcome;
use crate::process::trace::{traced, traced_received};
use crate::process::unopened::Unopened;

/// Mailbox of a process during its turn.
pub struct Mailbox<'t, W: RuntimeTypes, M>(InTurn<'t, W, M>);

/// Save queue during a scan. The scan owns it, so that no message leaves it while user code examines
/// one. The drop puts it back into the mailbox, before messages that were fetched meanwhile.
struct Scanned<'t, W: RuntimeTypes, M: Send + 'static> {
    mailbox: Mailbox<'t, W, M>,
    queue: SaveQueue,
}

impl<W: RuntimeTypes, M: Send + 'static> Drop for Scanned<'_, W, M> {
    fn drop(&mut self) {
        self.mailbox.save_queue(|save_queue| save_queue.prepend(&mut self.queue));
    }
}

/// Envelope behind the cursor of a scan, whose message is moved out. The drop removes it and counts the
/// message as received, also if the test of the scan unwinds.
struct Candidate<'s, 't, W: RuntimeTypes, M: Send + 'static>(&'s mut Scanned<'t, W, M>);

impl<W: RuntimeTypes, M: Send + 'static> Drop for Candidate<'_, '_, W, M> {
    fn drop(&mut self) {
        if let Some(header) = self.0.queue.take_next() {
            self.0.mailbox.count_out();
            count(&self.0.mailbox.base().received, 1);
            // SAFETY: the header has left the save queue, and its message is moved out.
            unsafe {
                let tags = header.as_ref().tags();
                if tags & ANCHOR != 0 {
                    self.0.queue.move_markers(header);
                }
                Envelope::<M>::free(header, tags);
            }
        }
    }
}

impl<W: RuntimeTypes, M> Clone for Mailbox<'_, W, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W: RuntimeTypes, M> Copy for Mailbox<'_, W, M> {}

impl<'t, W: RuntimeTypes, M: Send + 'static> Mailbox<'t, W, M> {
    pub(crate) fn new(process: InTurn<'t, W, M>) -> Self {
        Self(process)
    }

    fn base(&self) -> &Base {
        self.0.base()
    }

    /// Calls `f` with the save queue. Returns `None` if the inbox has no extension: no message was
    /// ever saved.
    #[inline(always)]
    fn save_queue<R>(self, f: impl FnOnce(&mut SaveQueue) -> R) -> Option<R> {
        let extension = self.base().inbox.extension()?;
        // SAFETY: this thread is in the process's turn, of which there is at most one, and no
        // caller of `save_queue` re-enters it within `f`.
        Some(extension.save_queue.with_mut(|save_queue| f(unsafe { &mut *save_queue })))
    }

    /// Appends messages to the save queue, with `append`.
    #[inline(always)]
    fn save(self, messages: usize, append: impl FnOnce(&mut SaveQueue)) {
        // SAFETY: this thread is in the process's turn.
        let extension = unsafe { self.base().inbox.extend() };
        extension.add_waiting(messages);
        // SAFETY: as in `save_queue`.
        extension.save_queue.with_mut(|save_queue| append(unsafe { &mut *save_queue }));
    }

    /// Takes the oldest message of the save queue.
    #[inline(always)]
    fn pop(self) -> Option<NonNull<Header>> {
        let extension = self.base().inbox.extension()?;
        // SAFETY: as in `save_queue`.
        let header =
            extension.save_queue.with_mut(|save_queue| unsafe { &mut *save_queue }.pop())?;
        extension.remove_waiting();
        Some(header)
    }

    /// Counts a message that left the save queue.
    #[inline(always)]
    fn count_out(self) {
        self.base().inbox.extension().inspect(|extension| extension.remove_waiting());
    }

    /// Returns whether a signal or a wake arrived since the last fetch.
    pub fn has_arrivals(self) -> bool {
        self.base().inbox.has_arrivals()
    }

    /// Returns whether a turn should begin with a fetch: a wake, or a signal that is not a message,
    /// has arrived.
    pub fn has_signals(self) -> bool {
        self.base().inbox.has_signals()
    }

    /// Moves arrived messages to the save queue, in order. Passes signals to `handle_signal`; a
    /// message that a signal turns into takes its position. Returns the number of messages added,
    /// or 0 if `handle_signal` returned [`SignalOutcome::Over`].
    ///
    /// With `beginning`, at the beginning of a turn, this turn satisfies a pending wake. Later in a
    /// turn a pending wake requests another turn.
    ///
    /// `handle_signal` may receive what is in the save queue. If it panics, what arrived behind the
    /// signal is leaked.
    ///
    /// At the beginning of a turn and after a wake, drops the oldest messages in excess of the bound,
    /// except those that were made from signals.
    #[inline(never)]
    pub fn fetch(
        self,
        beginning: bool,
        mut handle_signal: impl FnMut(W::Signal) -> SignalOutcome<M>,
    ) -> usize {
        let (arrived, woken) = self.take(beginning);
        let added = match arrived.only_messages {
            true => arrived.len,
            false => match self.sort(arrived.oldest, &mut handle_signal) {
                Some(added) => added,
                None => return 0,
            },
        };
        if (woken || beginning) && self.is_past_bound() {
            let more = self.fetch_spilled(beginning, &mut handle_signal);
            return more.map_or(0, |more| added + more);
        }
        added
    }

    /// Receives the oldest message, from the inbox if the save queue is empty.
    #[inline(always)]
    pub fn receive(self, handle_signal: impl FnMut(W::Signal) -> SignalOutcome<M>) -> Option<M> {
        Some(self.receive_unopened(handle_signal)?.open())
    }

    /// Like [`Mailbox::receive`], and leaves the message in its envelope.
    #[inline(always)]
    pub fn receive_unopened(
        self,
        handle_signal: impl FnMut(W::Signal) -> SignalOutcome<M>,
    ) -> Option<Unopened<M>> {
        let base = self.base();
        let header = if let Some(header) = self.pop() {
            header
        } else {
            // SAFETY: this thread is in the turn, and `take_single` does not re-enter.
            let single = |now: *mut Contention| unsafe { base.inbox.take_single(&mut *now) };
            match base.contention.with_mut(single) {
                SingleTake::Message(header) => header,
                SingleTake::Nothing => return None,
                SingleTake::Others => self.take_of_several(handle_signal)?,
            }
        };
        Some(self.unopened(header))
    }

    /// Fetches, and takes the oldest message.
    ///
    /// WHY a separate function: the common cases then save few registers. WHY it does not return the
    /// message: a message that is returned in memory is read back with other widths than it was
    /// stored with, which costs a store-forwarding stall.
    #[inline(never)]
    fn take_of_several(
        self,
        mut handle_signal: impl FnMut(W::Signal) -> SignalOutcome<M>,
    ) -> Option<NonNull<Header>> {
        loop {
            let (Batch { oldest, only_messages, .. }, woken) = self.take(false);
            if !only_messages {
                self.sort(oldest, &mut handle_signal)?;
            }
            if woken && self.is_past_bound() {
                self.fetch_spilled(false, &mut handle_signal)?;
            }
            match self.pop() {
                None if !only_messages && self.has_arrivals() => {}
                popped => return popped,
            }
        }
    }

    /// Receives the oldest message of the save queue.
    #[inline]
    pub fn receive_fetched(self) -> Option<M> {
        Some(self.unopened(self.pop()?).open())
    }

    /// Takes over a message that is in no queue and counts it as received.
    #[inline(always)]
    fn unopened(self, header: NonNull<Header>) -> Unopened<M> {
        count(&self.base().received, 1);
        // SAFETY: the header has just left the save queue or the inbox; messages there are of this
        // type.
        unsafe {
            if header.as_ref().tags() & ANCHOR != 0 {
                self.save_queue(|save_queue| save_queue.move_markers(header));
            }
            Unopened::new(Self::trace_receipt(header))
        }
    }

    /// Passes a message to the trace of the process, if there is one.
    ///
    /// # Safety
    /// The header is owned here and precedes a message of this type.
    #[inline(always)]
    unsafe fn trace_receipt(header: NonNull<Header>) -> NonNull<Header> {
        // SAFETY: by the contract.
        if is_traced() { unsafe { traced_received::<W, M>(header) } } else { header }
    }

    /// Takes what arrived, and moves it to the save queue if it contains messages only. Returns also
    /// whether a wake was pending.
    #[inline(always)]
    fn take(self, beginning: bool) -> (Batch, bool) {
        let base = self.base();
        // SAFETY: this thread is in the turn, and `take` does not re-enter.
        let taken = base.contention.with_mut(|now| unsafe { base.inbox.take(&mut *now) });
        if taken.woken && !beginning {
            base.set_flag(RESCHEDULE);
        }
        let Batch { len, only_messages, .. } = taken.arrived;
        if only_messages && len > 0 {
            // SAFETY: the batch is owned here and holds messages only.
            self.save(len, |save_queue| unsafe { save_queue.append_all(&taken.arrived) });
        }
        (taken.arrived, taken.woken)
    }

    /// Handles the signals of a batch and moves the messages to the save queue. Returns their
    /// number, or `None` if the process must end.
    ///
    /// WHY priority is decided here: a batch of messages only is appended without a look at them.
    #[inline(never)]
    fn sort<F>(self, oldest: *mut Header, handle_signal: &mut F) -> Option<usize>
    where
        F: FnMut(W::Signal) -> SignalOutcome<M>,
    {
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
                            self.0.bound().inspect(|bound| bound.count_unadmitted());
                            converted.into_header()
                        }
                        SignalOutcome::Priority(converted) => {
                            self.0.bound().inspect(|bound| bound.count_unadmitted());
                            let message = converted.into_header();
                            self.save(1, |save_queue| save_queue.insert_priority(message));
                            added += 1;
                            continue;
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
            self.save(1, |save_queue| unsafe { save_queue.append(message) });
            added += 1;
        }
        (!over).then_some(added)
    }

    /// Starts a scan at the oldest message of the save queue.
    pub fn rewind(self) {
        self.save_queue(SaveQueue::rewind);
    }

    /// Places a receive marker behind the messages of the save queue. [`Mailbox::rewind_to`] finds
    /// it by its number, unless eight others have been placed since.
    pub fn place_marker(self, number: u64) {
        self.save_queue(|save_queue| save_queue.place_marker(number));
    }

    /// Starts a scan at the receive marker with this number, or without such a marker at the oldest
    /// message.
    pub fn rewind_to(self, number: u64) {
        self.save_queue(|save_queue| save_queue.rewind_to(number));
    }

    /// Returns whether the scan has a message to examine; fetches at the end of the save queue.
    #[inline]
    pub fn has_next(self, mut handle_signal: impl FnMut(W::Signal) -> SignalOutcome<M>) -> bool {
        loop {
            if self.save_queue(|save_queue| save_queue.peek_next().is_some()) == Some(true) {
                return true;
            }
            if !self.has_arrivals() || self.fetch(false, &mut handle_signal) == 0 {
                return false;
            }
        }
    }

    /// Passes the messages behind the cursor to `test`, and receives the first that it accepts. The
    /// messages that it returns as an error stay in their positions. Stops at the end of the save
    /// queue, and when the budget is used up, but not before the first message.
    ///
    /// Messages for which `fits` returns `false` are not passed to `test`, except the last that the
    /// budget allows.
    ///
    /// WHY `fits`: a message that `test` returns is written back.
    ///
    /// A message during whose test `test` unwinds is lost.
    #[inline]
    pub fn scan<T>(
        self,
        mut fits: impl FnMut(&M) -> bool,
        mut test: impl FnMut(M) -> Result<T, M>,
    ) -> Option<T> {
        let (limit, mut examined) = (budget(), 0);
        let queue = self.save_queue(|queue| std::mem::replace(queue, SaveQueue::new()))?;
        let mut scanned = Scanned { mailbox: self, queue };
        scanned.queue.begin_scan();
        while let Some(header) = scanned.queue.skip_while(|header| {
            // SAFETY: the queue holds messages of this type and is owned here.
            let skips = examined < limit && !fits(unsafe { Envelope::<M>::peek(header) });
            examined += u32::from(skips);
            skips
        }) {
            let candidate = Candidate(&mut scanned);
            // SAFETY: the queue holds messages of this type. This one leaves it with `candidate`, or
            // is put back, and is not read again before.
            match test(unsafe { Envelope::<M>::read(header) }) {
                Ok(accepted) => {
                    drop(candidate);
                    drop(scanned);
                    spend(examined);
                    if is_traced() {
                        traced::<W, M>(None);
                    }
                    return Some(accepted);
                }
                Err(message) => {
                    std::mem::forget(candidate);
                    // SAFETY: the message was read from this envelope, which is the one behind the
                    // cursor.
                    unsafe {
                        Envelope::<M>::write(header, message);
                        scanned.queue.skip(header);
                    }
                }
            }
            if examined == limit {
                break;
            }
            examined += 1;
        }
        drop(scanned);
        spend(examined);
        None
    }

    /// Requests that messages wake the process after this turn.
    pub fn listen(self) {
        self.base().set_flag(LISTENING);
    }

    /// Removes the message marked with this number, if it has not been received.
    ///
    /// COST: linear in the number of queued messages.
    pub fn withdraw(self, mark: u64) -> Option<M> {
        let header = self.save_queue(|save_queue| {
            save_queue.take_first_matching(|header| {
                // SAFETY: the save queue owns its headers, which precede messages of this type.
                unsafe { Envelope::<M>::mark(header) == Some(mark) }
            })
        })??;
        self.count_out();
        self.0.bound().inspect(|bound| bound.uncount());
        // SAFETY: the header has left the save queue and precedes a message of this type.
        Some(unsafe { Envelope::<M>::open(header) }.0)
    }

    /// Returns whether senders have spilled messages, so that the oldest must be dropped. The result
    /// may be stale, except after the wake of the first of these senders.
    pub fn is_past_bound(self) -> bool {
        self.0.bound().is_some_and(Bound::is_spilling)
    }

    /// Takes the spilled signals, after all that their senders have sent before, and drops the oldest
    /// messages in excess of the bound, except those that were made from signals. Returns the number
    /// of messages added, or `None` if the process must end.
    #[cold]
    #[inline(never)]
    fn fetch_spilled<F>(self, beginning: bool, handle_signal: &mut F) -> Option<usize>
    where
        F: FnMut(W::Signal) -> SignalOutcome<M>,
    {
        let bound = self.0.bound()?;
        // WHY before the inbox: see `bound`.
        let spilled = bound.take_spilled();
        let (arrived, _) = self.take(beginning);
        let fetched = match arrived.only_messages {
            true => Some(arrived.len),
            false => self.sort(arrived.oldest, handle_signal),
        };
        let sorted = self.sort(spilled.oldest, handle_signal);
        // There may be fewer messages: one may be counted and not yet pushed.
        let excess = bound.excess(&self.base().received);
        let oldest = self.save_queue(|save_queue| save_queue.take_oldest_unmarked(excess));
        let mut oldest = oldest.unwrap_or(SaveQueue::new());
        while let Some(header) = oldest.pop() {
            self.count_out();
            bound.dropped_oldest();
            // SAFETY: the header has left the save queue and precedes a message of this type.
            W::contain(|| drop(unsafe { Envelope::<M>::open(header) }));
        }
        if !bound.end_spilling() {
            // The take above may have consumed the wake of the sender that has spilled meanwhile.
            let asleep = self.base().inbox.wake();
            debug_assert!(!asleep, "the process is in a turn");
        }
        Some(fetched? + sorted?)
    }

    /// Releases the waiting senders if there is capacity. Call at the end of a turn.
    pub fn release_waiters(self) {
        if let Some(bound) = self.0.bound() {
            bound.release_waiters(&self.base().received);
        }
    }
}
