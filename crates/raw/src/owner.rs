//! What only the process itself may do: receive, scan, keep its own state.
//!
//! An [`Owner`] may be moved anywhere, also to a thread that is not running its process; there
//! every operation answers [`NotHere`]. No operation runs user code while it holds the FIFO.

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

/// The process's handle on itself. Holds a reference.
pub struct Owner<W: World, M> {
    base: NonNull<Base>,
    types: PhantomData<fn(W, M) -> M>,
}

// SAFETY: every access to what belongs to the running turn is checked against the thread; what is
// left is a counted reference. Messages cross threads, hence `M: Send`.
unsafe impl<W: World, M: Send> Send for Owner<W, M> {}
// SAFETY: as above.
unsafe impl<W: World, M: Send> Sync for Owner<W, M> {}

/// This thread is not running the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotHere;

/// What a receive finds.
enum Next {
    /// A message that has left the FIFO.
    Fetched(NonNull<Link>),
    /// The FIFO is empty. What is in the word, of which a message never was in the FIFO.
    New(Lone),
}

/// What a signal turns into when its receiver acts on it.
#[derive(Debug)]
pub enum Turned<M> {
    /// Nothing that is received.
    Nothing,
    /// A message in the signal's place.
    Message(Sealed<M>),
    /// The end: nothing that came after it is received.
    Over,
}

/// A message that a signal has turned into, in its envelope.
#[derive(Debug)]
pub struct Sealed<M> {
    link: NonNull<Link>,
    message: PhantomData<M>,
}

impl<M> Sealed<M> {
    /// Seals a message, with a number by which [`Owner::withdraw`] finds it.
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
        // SAFETY: the envelope is ours, holds an `M`, and is not used any more.
        drop(unsafe { Envelope::<M>::open(self.link) });
    }
}

/// The empty envelope of a message that was taken for a look.
pub struct Vacant<M>(Paper<M>);

// SAFETY: paper holds no payload, and what its header points to is not followed until it is back in
// a FIFO.
unsafe impl<M> Send for Vacant<M> {}
// SAFETY: nothing can be read through a shared reference to paper.
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
    /// `base` is a cell of this world and message type, and the handle gets a reference.
    pub(crate) unsafe fn new(base: NonNull<Base>) -> Self {
        Self { base, types: PhantomData }
    }

    /// Runs `f` on the FIFO, if this thread is in the turn. `f` runs no user code.
    #[inline]
    fn fifo<R>(&self, f: impl FnOnce(&mut Fifo) -> R) -> Result<R, NotHere> {
        if !is_running(self.base) {
            return Err(NotHere);
        }
        // SAFETY: this thread is in the process's turn, of which there is one, and no caller of
        // `fifo` comes back here within `f`.
        Ok(self.base().fifo.with_mut(|fifo| f(unsafe { &mut *fifo })))
    }

    /// Whether anything has arrived, or woken the process, since the last `fetch`.
    #[inline]
    pub fn has_news(&self) -> bool {
        self.base().head.has_news()
    }

    /// Whether a turn should begin with a `fetch`: a signal has arrived, or a wake.
    #[inline]
    pub fn has_signals(&self) -> bool {
        self.base().head.has_signals()
    }

    /// Moves what arrived to the end of the FIFO, in order. Signals are given to `act`; what they
    /// turn into takes their place among the messages. Says how many messages were added; none, if
    /// it is over.
    ///
    /// A wake found at the `beginning` of a turn is that turn; one found later asks for another.
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

    /// Takes the oldest message, out of what has arrived if nothing is left of what was fetched.
    #[inline]
    pub fn next(&self, act: impl FnMut(W::Signal) -> Turned<M>) -> Result<Option<M>, NotHere> {
        let next = self.fifo(|fifo| {
            if let Some(link) = fifo.pop() {
                return Next::Fetched(link);
            }
            let base = self.base();
            // SAFETY: this thread is in the turn, and `take_lone` does not come back here.
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

    /// WHY apart: so the common cases save few registers.
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

    /// Takes what arrived; messages, if that is all there is, are moved to the end of the FIFO. Only
    /// in the turn, which whoever has the FIFO is in.
    #[inline(always)]
    fn take(&self, fifo: &mut Fifo, beginning: bool) -> Chain {
        let base = self.base();
        // SAFETY: this thread is in the turn, and `take` does not come back here.
        let taken = base.traffic.with_mut(|traffic| base.head.take(unsafe { &mut *traffic }));
        if taken.woken && !beginning {
            base.ask(AGAIN);
        }
        if taken.arrived.only_messages {
            // SAFETY: the chain is ours and holds messages.
            unsafe { fifo.append_all(&taken.arrived) };
            base.came(taken.arrived.len);
        }
        taken.arrived
    }

    /// Acts on the signals of a chain and moves the rest to the end of the FIFO; says how many, or
    /// `None` if it is over.
    #[inline(never)]
    fn sort(
        &self,
        oldest: *mut Link,
        mut act: impl FnMut(W::Signal) -> Turned<M>,
    ) -> Result<Option<usize>, NotHere> {
        let mut rest = oldest;
        let (mut added, mut over) = (0, false);
        while let Some(link) = NonNull::new(rest) {
            // SAFETY: the chain is ours; a link of class `Signal` has a `W::Signal` behind it.
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
            // SAFETY: the link is ours and holds a message.
            self.fifo(|fifo| unsafe { fifo.append(message) })?;
            self.base().came(1);
            added += 1;
        }
        Ok((!over).then_some(added))
    }

    /// Takes back the message with that number, if it has not been received.
    ///
    /// COST: a look at each message that waits.
    pub fn withdraw(&self, mark: u64) -> Result<Option<M>, NotHere> {
        let found = self.fifo(|fifo| {
            fifo.take_first(|link| {
                // SAFETY: the links of the FIFO hold messages of this type, and are the owner's.
                unsafe { Envelope::<M>::mark(link) == Some(mark) }
            })
        })?;
        Ok(found.map(|link| {
            self.base().left();
            self.edge().inspect(|edge| edge.withdrawn());
            // SAFETY: the link has left the FIFO and holds a message of this type.
            unsafe { Envelope::<M>::open(link) }.0
        }))
    }

    /// Whether the mailbox is past its bound, and the oldest are to be dropped: a glance.
    #[inline]
    pub fn is_past_bound(&self) -> bool {
        self.edge().is_some_and(Edge::is_raised)
    }

    /// [`Owner::fetch`] at the beginning of a turn, which drops the oldest messages if too many wait.
    pub fn fetch_within_bound(
        &self,
        mut act: impl FnMut(W::Signal) -> Turned<M>,
    ) -> Result<usize, NotHere> {
        // WHY before the flag is looked at: a wake that is found was sent after the flag was raised.
        let added = self.fetch(true, &mut act)?;
        match self.edge().filter(|edge| edge.is_raised()) {
            None => Ok(added),
            Some(edge) => Ok(added + self.drop_oldest(edge, act)?),
        }
    }

    /// Takes the flag down, fetches, and drops the oldest messages if too many wait.
    #[cold]
    fn drop_oldest(
        &self,
        edge: &Edge,
        act: impl FnMut(W::Signal) -> Turned<M>,
    ) -> Result<usize, NotHere> {
        edge.lower();
        let added = self.fetch(true, act)?;
        while edge.is_past(self.base()) {
            // What is not there is on its way, and whoever sends it past the bound raises the flag.
            let Some(link) = self.fifo(Fifo::shift)? else { break };
            self.base().left();
            edge.dropped_oldest();
            // SAFETY: the link has left the FIFO and holds a message of this type.
            quietly(|| drop(unsafe { Envelope::<M>::open(link) }));
        }
        if edge.is_raised() {
            // The wake of whoever raised it may have been found above.
            self.base().ask(AGAIN);
        }
        Ok(added)
    }

    /// Lets those who wait for room go, if there is room. At the end of a turn.
    pub fn make_room(&self) {
        if let Some(edge) = self.edge().filter(|edge| edge.has_room(self.base())) {
            edge.line.let_go();
        }
    }

    /// Takes the oldest message that was fetched.
    #[inline]
    pub fn pop(&self) -> Result<Option<M>, NotHere> {
        let link = self.fifo(Fifo::pop)?;
        Ok(link.map(|link| self.received(link)))
    }

    /// Opens a message that has left the FIFO.
    #[inline]
    fn received(&self, link: NonNull<Link>) -> M {
        self.base().left();
        self.opened(link)
    }

    /// Opens a message that nobody sees any more.
    #[inline]
    fn opened(&self, link: NonNull<Link>) -> M {
        count(&self.base().received, 1);
        // SAFETY: as below.
        let link = if is_traced() { unsafe { shown::<W, M>(link) } } else { link };
        // SAFETY: callers took the link out of the FIFO or the word; messages there are of this type.
        unsafe { Envelope::<M>::open(link) }.0
    }

    /// Begins to look through the FIFO from its oldest message.
    #[inline]
    pub fn rewind(&self) -> Result<(), NotHere> {
        self.fifo(Fifo::rewind)
    }

    /// Takes the next message for a look. Keep it, then call [`Owner::keep`]; or put it back.
    #[inline]
    pub fn look(&self) -> Result<Option<(M, Vacant<M>)>, NotHere> {
        let Some(link) = self.fifo(Fifo::take_next)? else { return Ok(None) };
        // SAFETY: the FIFO holds messages of this type, and this one has left it.
        let (message, paper) = unsafe { Envelope::<M>::open(link) };
        Ok(Some((message, Vacant(paper))))
    }

    /// The message of the last look was received.
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

    /// Puts the message of the last look back where it was and passes over it.
    #[inline]
    pub fn put_back(&self, message: M, paper: Vacant<M>) -> Result<(), NotHere> {
        let link = paper.0.reseal(message);
        // SAFETY: the link is ours and holds a message.
        let put = self.fifo(|fifo| unsafe { fifo.put_back(link) });
        if put.is_err() {
            // SAFETY: the link was not given away.
            drop(unsafe { Envelope::<M>::open(link) });
        }
        put
    }

    /// Asks to be woken by messages when this turn ends.
    #[inline]
    pub fn listen(&self) -> Result<(), NotHere> {
        if !is_running(self.base) {
            return Err(NotHere);
        }
        self.base().ask(LISTENING);
        Ok(())
    }

    /// Whether this thread is in the process's turn.
    #[inline]
    pub fn is_here(&self) -> bool {
        is_running(self.base)
    }

    /// Whether a waker wakes this process and nothing else.
    #[inline]
    pub fn is_own(&self, waker: &Waker) -> bool {
        wake::is_own(waker, self.base.as_ptr())
    }

    /// Whether there is anything in the process's own state.
    #[inline]
    pub fn has_local(&self) -> bool {
        self.base().turn.load(Ordering::Relaxed) & KEPT != 0
    }

    /// Runs `f` on the process's own state. `f` runs no user code: what it does to the state when it
    /// is called within itself is lost, and so is the state if it panics.
    #[inline]
    pub fn local<R>(&self, f: impl FnOnce(&mut W::Local) -> R) -> Result<R, NotHere> {
        if !is_running(self.base) {
            return Err(NotHere);
        }
        // SAFETY: this thread is in the process's turn, and the cell is of this world.
        Ok(unsafe { on_local::<W, R>(self.base, f) })
    }

    /// The place in the table.
    pub fn slot(&self) -> Slot {
        self.base().slot
    }

    /// What everybody may read of this process.
    pub fn shared(&self) -> &W::Shared {
        &self.front().shared
    }

    /// An address of this process.
    pub fn address(&self) -> Address<W, M> {
        // SAFETY: the handle holds a reference.
        unsafe { credit::retain(self.base) };
        // SAFETY: a reference was counted for it, and the types are these.
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

/// [`traced`] with a message that has left the FIFO.
///
/// WHY it hands the link on: whoever is not traced then need not keep it in a register for after the call.
///
/// # Safety
/// The caller owns the link, the header of a sealed envelope of an `M`.
#[cold]
#[inline(never)]
unsafe fn shown<W: World, M: Send + 'static>(link: NonNull<Link>) -> NonNull<Link> {
    // SAFETY: by the contract.
    traced::<W, M>(Some(unsafe { Envelope::<M>::peek(link) }));
    link
}

/// Shows the world that a process which is traced has received a message; which one, if it can still be seen.
#[cold]
#[inline(never)]
fn traced<W: World, M: Send + 'static>(message: Option<&M>) {
    untraced(|| W::received(std::any::type_name::<M>(), message.map(|message| message as _)));
}
