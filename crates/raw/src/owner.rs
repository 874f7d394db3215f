//! Operations that only the process itself may perform: receive, scan, access private state.
//!
//! An [`Owner`] may be moved to any thread. On a thread that is not running its process, the
//! operations that need the turn return [`NotHere`]. No operation runs user code while it borrows
//! the save queue.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::task::Waker;

use crate::World;
use crate::address::Address;
use crate::cell::{AGAIN, Base, Front, KEPT, LISTENING, count, edge};
use crate::chain::Chain;
use crate::credit;
use crate::current::{is_running, is_traced, on_local, untraced};
use crate::edge::Edge;
use crate::fifo::Fifo;
use crate::head::Lone;
use crate::link::{Class, Envelope, Link, Paper};
use crate::quiet::quietly;
use crate::sync::Ordering;
use crate::table::Slot;
use crate::wake;

/// Process's handle on itself. Holds a reference.
pub struct Owner<W: World, M> {
    base: NonNull<Base>,
    types: PhantomData<fn(W, M) -> M>,
}

// SAFETY: access to what belongs to the running turn is checked against the calling thread; the
// rest is a counted reference. Messages cross threads, hence `M: Send`.
unsafe impl<W: World, M: Send> Send for Owner<W, M> {}
// SAFETY: as above.
unsafe impl<W: World, M: Send> Sync for Owner<W, M> {}

/// Error: this thread is not running the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotHere;

/// Result of looking for the next message.
enum Next {
    /// A message taken from the save queue.
    Fetched(NonNull<Link>),
    /// The save queue is empty. Result of looking in the inbox.
    New(Lone),
}

/// Result of handling a signal in the receiver.
#[derive(Debug)]
pub enum Turned<M> {
    /// The signal yields no message.
    Nothing,
    /// The signal is replaced by a message, in its position.
    Message(Sealed<M>),
    /// The process must end: nothing after the signal is received.
    Over,
}

/// Message that a signal has turned into, in its envelope.
#[derive(Debug)]
pub struct Sealed<M> {
    link: NonNull<Link>,
    message: PhantomData<M>,
}

impl<M> Sealed<M> {
    /// Seals a message, marked with a number by which [`Owner::withdraw`] finds it.
    #[inline]
    pub fn new(message: M, mark: u64) -> Self {
        Self { link: Envelope::seal_marked(message, mark), message: PhantomData }
    }

    fn into_link(self) -> NonNull<Link> {
        std::mem::ManuallyDrop::new(self).link
    }
}

impl<M> Drop for Sealed<M> {
    fn drop(&mut self) {
        // SAFETY: `self` owns the envelope, which holds an `M` and is not used again.
        drop(unsafe { Envelope::<M>::open(self.link) });
    }
}

/// Empty envelope of a message taken by [`Owner::look`].
pub struct Vacant<M>(Paper<M>);

// SAFETY: the `Paper` holds no payload, and its successor pointer is not followed until the
// envelope is back in a save queue.
unsafe impl<M> Send for Vacant<M> {}
// SAFETY: a shared reference to a `Paper` gives access to nothing.
unsafe impl<M> Sync for Vacant<M> {}

impl<M> std::fmt::Debug for Vacant<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Vacant")
    }
}

impl<W: World, M> std::fmt::Debug for Owner<W, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Owner").field(&self.base().slot).finish()
    }
}

impl<W: World, M> Drop for Owner<W, M> {
    fn drop(&mut self) {
        // SAFETY: the handle holds a reference.
        unsafe { credit::let_go(self.base) }
    }
}

impl<W: World, M: Send + 'static> Owner<W, M> {
    /// # Safety
    /// `base` is a cell of this world and message type, and the handle takes over a reference.
    pub(crate) unsafe fn new(base: NonNull<Base>) -> Self {
        Self { base, types: PhantomData }
    }

    /// Calls `f` with the save queue if this thread is in the turn. `f` runs no user code.
    #[inline]
    fn fifo<R>(&self, f: impl FnOnce(&mut Fifo) -> R) -> Result<R, NotHere> {
        if !is_running(self.base) {
            return Err(NotHere);
        }
        // SAFETY: this thread is in the process's turn, of which there is at most one, and no
        // caller of `fifo` re-enters it within `f`.
        Ok(self.base().fifo.with_mut(|fifo| f(unsafe { &mut *fifo })))
    }

    /// Returns whether a signal or a wake arrived since the last `fetch`.
    #[inline]
    pub fn has_news(&self) -> bool {
        self.base().head.has_news()
    }

    /// Returns whether a turn should begin with a `fetch`: a wake, or a signal that is not a
    /// message, has arrived.
    #[inline]
    pub fn has_signals(&self) -> bool {
        self.base().head.has_signals()
    }

    /// Moves arrived messages to the save queue, in order. Passes signals to `act`; a message that
    /// a signal turns into takes its position. Returns the number of messages added, or 0 if `act`
    /// returned [`Turned::Over`].
    ///
    /// With `beginning`, at the beginning of a turn, this turn satisfies a pending wake. Later in a
    /// turn a pending wake requests another turn.
    #[inline(never)]
    pub fn fetch(
        &self,
        beginning: bool,
        act: impl FnMut(W::Signal) -> Turned<M>,
    ) -> Result<usize, NotHere> {
        let arrived = self.fifo(|fifo| self.take(fifo, beginning))?;
        if arrived.only_messages {
            return Ok(arrived.len);
        }
        Ok(self.sort(arrived.oldest, act)?.unwrap_or(0))
    }

    /// Receives the oldest message, from the inbox if the save queue is empty.
    #[inline]
    pub fn next(&self, act: impl FnMut(W::Signal) -> Turned<M>) -> Result<Option<M>, NotHere> {
        let next = self.fifo(|fifo| {
            if let Some(link) = fifo.pop() {
                return Next::Fetched(link);
            }
            let base = self.base();
            // SAFETY: this thread is in the turn, and `take_lone` does not re-enter.
            Next::New(
                base.traffic.with_mut(|traffic| base.head.take_lone(unsafe { &mut *traffic })),
            )
        })?;
        match next {
            Next::Fetched(link) => Ok(Some(self.received(link))),
            Next::New(Lone::Link(link)) => Ok(Some(self.opened(link))),
            Next::New(Lone::Nothing) => Ok(None),
            Next::New(Lone::Others) => self.next_of_others(act),
        }
    }

    /// WHY a separate function: the common cases then save few registers.
    #[inline(never)]
    fn next_of_others(
        &self,
        mut act: impl FnMut(W::Signal) -> Turned<M>,
    ) -> Result<Option<M>, NotHere> {
        loop {
            let Chain { oldest, only_messages, .. } = self.fifo(|fifo| self.take(fifo, false))?;
            if !only_messages && self.sort(oldest, &mut act)?.is_none() {
                return Ok(None);
            }
            match self.fifo(Fifo::pop)? {
                Some(link) => return Ok(Some(self.received(link))),
                None if only_messages || !self.has_news() => return Ok(None),
                None => {}
            }
        }
    }

    /// Takes what arrived, and moves it to the save queue if it contains messages only. Only in the
    /// turn, which the borrow of the save queue proves.
    #[inline(always)]
    fn take(&self, fifo: &mut Fifo, beginning: bool) -> Chain {
        let base = self.base();
        // SAFETY: this thread is in the turn, and `take` does not re-enter.
        let taken = base.traffic.with_mut(|traffic| base.head.take(unsafe { &mut *traffic }));
        if taken.woken && !beginning {
            base.ask(AGAIN);
        }
        if taken.arrived.only_messages {
            // SAFETY: the batch is owned here and holds messages only.
            unsafe { fifo.append_all(&taken.arrived) };
            base.came(taken.arrived.len);
        }
        taken.arrived
    }

    /// Handles the signals of a batch and moves the messages to the save queue. Returns their
    /// number, or `None` if the process must end.
    #[inline(never)]
    fn sort(
        &self,
        oldest: *mut Link,
        mut act: impl FnMut(W::Signal) -> Turned<M>,
    ) -> Result<Option<usize>, NotHere> {
        let mut rest = oldest;
        let (mut added, mut over) = (0, false);
        while let Some(link) = NonNull::new(rest) {
            // SAFETY: the batch is owned here; a header of class `Signal` precedes a `W::Signal`.
            let message = unsafe {
                rest = link.as_ref().next();
                match link.as_ref().class() {
                    Class::Message => link,
                    Class::Signal => match act(Envelope::<W::Signal>::open(link).0) {
                        Turned::Message(sealed) => {
                            self.edge().inspect(|edge| edge.passed());
                            sealed.into_link()
                        }
                        Turned::Nothing => continue,
                        Turned::Over => {
                            over = true;
                            continue;
                        }
                    },
                }
            };
            // SAFETY: the header is owned here and precedes a message.
            self.fifo(|fifo| unsafe { fifo.append(message) })?;
            self.base().came(1);
            added += 1;
        }
        Ok((!over).then_some(added))
    }

    /// Removes the message marked with this number, if it has not been received.
    ///
    /// COST: linear in the number of queued messages.
    pub fn withdraw(&self, mark: u64) -> Result<Option<M>, NotHere> {
        let found = self.fifo(|fifo| {
            fifo.take_first(|link| {
                // SAFETY: the save queue owns its headers, which precede messages of this type.
                unsafe { Envelope::<M>::mark(link) == Some(mark) }
            })
        })?;
        Ok(found.map(|link| {
            self.base().left();
            self.edge().inspect(|edge| edge.withdrawn());
            // SAFETY: the header has left the save queue and precedes a message of this type.
            unsafe { Envelope::<M>::open(link) }.0
        }))
    }

    /// Returns whether the oldest messages must be dropped. The result may be stale.
    #[inline]
    pub fn is_past_bound(&self) -> bool {
        self.edge().is_some_and(Edge::is_raised)
    }

    /// [`Owner::fetch`] at the beginning of a turn; drops the oldest messages if the bound is
    /// exceeded.
    pub fn fetch_within_bound(
        &self,
        mut act: impl FnMut(W::Signal) -> Turned<M>,
    ) -> Result<usize, NotHere> {
        // WHY before the flag is read: a wake consumed by the fetch was sent after the flag was
        // raised.
        let added = self.fetch(true, &mut act)?;
        match self.edge().filter(|edge| edge.is_raised()) {
            None => Ok(added),
            Some(edge) => Ok(added + self.drop_oldest(edge, act)?),
        }
    }

    /// Lowers the flag, fetches, and drops the oldest messages while the bound is exceeded.
    #[cold]
    fn drop_oldest(
        &self,
        edge: &Edge,
        act: impl FnMut(W::Signal) -> Turned<M>,
    ) -> Result<usize, NotHere> {
        edge.lower();
        let added = self.fetch(true, act)?;
        while edge.is_past(self.base()) {
            // A message counted but not yet pushed: its sender raises the flag if it exceeds the
            // bound.
            let Some(link) = self.fifo(Fifo::shift)? else { break };
            self.base().left();
            edge.dropped_oldest();
            // SAFETY: the header has left the save queue and precedes a message of this type.
            quietly(|| drop(unsafe { Envelope::<M>::open(link) }));
        }
        if edge.is_raised() {
            // The fetch above may have consumed the wake of the sender that raised the flag again.
            self.base().ask(AGAIN);
        }
        Ok(added)
    }

    /// Releases the waiting senders if there is capacity. Call at the end of a turn.
    pub fn make_room(&self) {
        if let Some(edge) = self.edge().filter(|edge| edge.has_room(self.base())) {
            edge.line.let_go();
        }
    }

    /// Receives the oldest message of the save queue.
    #[inline]
    pub fn pop(&self) -> Result<Option<M>, NotHere> {
        let link = self.fifo(Fifo::pop)?;
        Ok(link.map(|link| self.received(link)))
    }

    /// Opens a message that has left the save queue.
    #[inline]
    fn received(&self, link: NonNull<Link>) -> M {
        self.base().left();
        self.opened(link)
    }

    /// Opens a message that is in no queue.
    #[inline]
    fn opened(&self, link: NonNull<Link>) -> M {
        count(&self.base().received, 1);
        // SAFETY: as below.
        let link = if is_traced() { unsafe { shown::<W, M>(link) } } else { link };
        // SAFETY: the header came from the save queue or the inbox; messages there are of this
        // type.
        unsafe { Envelope::<M>::open(link) }.0
    }

    /// Starts a scan at the oldest message of the save queue.
    #[inline]
    pub fn rewind(&self) -> Result<(), NotHere> {
        self.fifo(Fifo::rewind)
    }

    /// Takes the next message of the scan. Pass the envelope to [`Owner::keep`] to receive the
    /// message, or both to [`Owner::put_back`].
    #[inline]
    pub fn look(&self) -> Result<Option<(M, Vacant<M>)>, NotHere> {
        let Some(link) = self.fifo(Fifo::take_next)? else { return Ok(None) };
        // SAFETY: the save queue holds messages of this type, and this one has left it.
        let (message, paper) = unsafe { Envelope::<M>::open(link) };
        Ok(Some((message, Vacant(paper))))
    }

    /// Receives the message of the last `look`.
    #[inline]
    pub fn keep(&self, paper: Vacant<M>) -> Result<(), NotHere> {
        drop(paper);
        if !is_running(self.base) {
            return Err(NotHere);
        }
        self.base().left();
        count(&self.base().received, 1);
        if is_traced() {
            traced::<W, M>(None);
        }
        Ok(())
    }

    /// Returns the message of the last `look` to its position and continues the scan behind it.
    #[inline]
    pub fn put_back(&self, message: M, paper: Vacant<M>) -> Result<(), NotHere> {
        let link = paper.0.reseal(message);
        // SAFETY: the header is owned here and precedes a message.
        let put = self.fifo(|fifo| unsafe { fifo.put_back(link) });
        if put.is_err() {
            // SAFETY: the header was not given away.
            drop(unsafe { Envelope::<M>::open(link) });
        }
        put
    }

    /// Requests that messages wake the process after this turn.
    #[inline]
    pub fn listen(&self) -> Result<(), NotHere> {
        if !is_running(self.base) {
            return Err(NotHere);
        }
        self.base().ask(LISTENING);
        Ok(())
    }

    /// Returns whether this thread is in the process's turn.
    #[inline]
    pub fn is_here(&self) -> bool {
        is_running(self.base)
    }

    /// Returns whether `waker` wakes this process only.
    #[inline]
    pub fn is_own(&self, waker: &Waker) -> bool {
        wake::is_own(waker, self.base.as_ptr())
    }

    /// Returns whether the process has private state.
    #[inline]
    pub fn has_local(&self) -> bool {
        self.base().turn.load(Ordering::Relaxed) & KEPT != 0
    }

    /// Calls `f` with the process's private state. `f` runs no user code: changes made by a nested
    /// call are lost, and so is the state if `f` panics.
    #[inline]
    pub fn local<R>(&self, f: impl FnOnce(&mut W::Local) -> R) -> Result<R, NotHere> {
        if !is_running(self.base) {
            return Err(NotHere);
        }
        // SAFETY: this thread is in the process's turn, and the cell is of this world.
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
        unsafe { credit::retain(self.base) };
        // SAFETY: a reference was counted for the address, and the types are those of the cell.
        unsafe { Address::new(self.base) }
    }
}

impl<W: World, M> Owner<W, M> {
    #[inline(always)]
    fn base(&self) -> &Base {
        // SAFETY: the handle holds a reference.
        unsafe { self.base.as_ref() }
    }

    #[inline]
    fn edge(&self) -> Option<&Edge> {
        // SAFETY: the handle holds a reference.
        unsafe { edge(self.base) }
    }

    #[inline(always)]
    fn front(&self) -> &Front<W> {
        // SAFETY: the handle holds a reference to a cell of this world.
        unsafe { self.base.cast::<Front<W>>().as_ref() }
    }
}

/// [`traced`] for a message that has left the queue.
///
/// WHY it returns the header: the untraced path then need not preserve it across the call.
///
/// # Safety
/// The caller owns the header of a sealed envelope of an `M`.
#[cold]
#[inline(never)]
unsafe fn shown<W: World, M: Send + 'static>(link: NonNull<Link>) -> NonNull<Link> {
    // SAFETY: by the contract.
    traced::<W, M>(Some(unsafe { Envelope::<M>::peek(link) }));
    link
}

/// Calls [`World::received`], with the message if it is still accessible.
#[cold]
#[inline(never)]
fn traced<W: World, M: Send + 'static>(message: Option<&M>) {
    untraced(|| W::received(std::any::type_name::<M>(), message.map(|message| message as _)));
}
