//! What everybody else may do with a process: send to it, signal it, look at it.
//!
//! An [`Address`] knows the type of the messages, a [`Ref`] does not. Both hold a reference, may be
//! used from any thread, and outlive the process: what is sent then comes back.

use std::any::TypeId;
use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::World;
use crate::cell::{Base, Front, RUNNING, edge};
use crate::credit;
use crate::current::{exhaust, is_running, sender, sends, untraced};
use crate::edge::{Edge, Entry, Manner, Overflow, Sent};
use crate::head::Pushed;
use crate::link::{Class, Envelope, Link};
use crate::look::Look;
use crate::run::Runnable;
use crate::sync::Ordering;
use crate::table::Slot;

/// A process of any message type.
pub struct Ref<W: World> {
    base: NonNull<Base>,
    world: PhantomData<fn(W)>,
}

/// A process that receives `M`.
pub struct Address<W: World, M> {
    to: Ref<W>,
    message: PhantomData<fn(M)>,
}

/// A message that [`Address::send`] has not sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unsent<M> {
    /// The process has ended.
    Ended(M),
    /// Its mailbox has a bound.
    Bounded(M),
}

/// A message that [`Address::send_within`] has not sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Refused<M> {
    /// The process has ended.
    Ended(M),
    /// Its mailbox is full.
    Full(M),
}

impl<M> std::fmt::Debug for Unsent<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Ended(_) => "Ended(..)",
            Self::Bounded(_) => "Bounded(..)",
        })
    }
}

impl<M> std::fmt::Debug for Refused<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Ended(_) => "Ended(..)",
            Self::Full(_) => "Full(..)",
        })
    }
}

// SAFETY: everything reachable through a `Ref` is atomic, or `W::Shared`, which is `Sync`; the
// signals it sends are `Send`.
unsafe impl<W: World> Send for Ref<W> {}
// SAFETY: as above.
unsafe impl<W: World> Sync for Ref<W> {}

impl<W: World> Clone for Ref<W> {
    fn clone(&self) -> Self {
        // SAFETY: the handle holds a reference.
        unsafe { credit::retain(self.base) };
        Self { base: self.base, world: PhantomData }
    }
}

impl<W: World> Drop for Ref<W> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the handle holds a reference.
        unsafe { credit::release(self.base) }
    }
}

impl<W: World> std::fmt::Debug for Ref<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Ref").field(&self.slot()).finish()
    }
}

impl<W: World> Ref<W> {
    /// # Safety
    /// `base` is a cell of this world, and the handle gets a reference.
    pub(crate) unsafe fn new(base: NonNull<Base>) -> Self {
        Self { base, world: PhantomData }
    }

    #[inline(always)]
    fn base(&self) -> &Base {
        // SAFETY: the handle holds a reference.
        unsafe { self.base.as_ref() }
    }

    /// The place in the table, also after the end.
    pub fn slot(&self) -> Slot {
        self.base().slot
    }

    /// What everybody may read of the process.
    pub fn shared(&self) -> &W::Shared {
        // SAFETY: the handle holds a reference to a cell of this world.
        unsafe { &self.base.cast::<Front<W>>().as_ref().shared }
    }

    /// How the process ended, if it has.
    pub fn last(&self) -> Option<&W::Last> {
        if !self.has_ended() {
            return None;
        }
        // SAFETY: the handle holds a reference to a cell of this world. Its inbox was found
        // closed, so `last` was written before (acquired with the word) and is never written again.
        unsafe { self.base.cast::<Front<W>>().as_ref().last.with(|last| Some(&*last)) }
    }

    /// Sends a signal in order with messages; gives it back if the process has ended.
    ///
    /// WHY inlined up to the push: whoever makes the signal then writes it where it stays. One that is
    /// made on the stack and read back in wider pieces than it was written costs a stall each time.
    #[inline]
    pub fn signal(&self, signal: W::Signal) -> Result<(), W::Signal> {
        let link = Envelope::seal(Class::Signal, signal);
        // SAFETY: the handle holds a reference; the envelope is ours to give, and of the class and
        // payload it says.
        match unsafe { push_signal(self.base, link) } {
            true => Ok(()),
            // SAFETY: a refused link is ours again.
            false => Err(unsafe { Envelope::<W::Signal>::open(link) }.0),
        }
    }

    /// The type of its messages.
    pub fn message_type(&self) -> TypeId {
        (self.base().vtable.message)()
    }

    /// The address of the process, if its messages have this type.
    pub fn typed<M: Send + 'static>(self) -> Result<Address<W, M>, Self> {
        if self.message_type() == TypeId::of::<M>() {
            Ok(Address { to: self, message: PhantomData })
        } else {
            Err(self)
        }
    }

    /// The bound of its mailbox, if it has one.
    #[inline]
    pub fn edge(&self) -> Option<&Edge> {
        // SAFETY: the handle holds a reference.
        unsafe { edge(self.base) }
    }

    /// Whether its mailbox has room for one more: a glance that may be old at once.
    pub(crate) fn has_room(&self) -> bool {
        self.edge().is_none_or(|edge| edge.has_room(self.base()))
    }

    /// Whether this thread is in a turn of the process.
    pub fn is_current(&self) -> bool {
        is_running(self.base)
    }

    /// Whether the process has ended.
    pub fn has_ended(&self) -> bool {
        self.base().head.is_closed()
    }

    /// Whether the process has ended and nothing that waited in its inbox is left.
    pub fn is_over(&self) -> bool {
        // ORDER: acquire from `end`: that it has been dropped and counted.
        self.has_ended() && self.base().turn.load(Ordering::Acquire) & RUNNING == 0
    }

    /// Messages that wait; past 32767 of those still in transit are not all counted.
    pub fn mailbox(&self) -> usize {
        self.base().mailbox()
    }

    /// How many references to the process there are, its own and the table's with them: at most so many, as
    /// credit counts as if it were references. Whoever finds none but those it knows of finds also what
    /// others sent before they gave theirs up.
    pub fn references(&self) -> u32 {
        // ORDER: acquire from `count_down`: what was sent by a reference that is no more.
        self.base().refs.load(Ordering::Acquire)
    }

    /// Looks at the process without stopping it.
    pub fn look(&self) -> Look {
        Look::at(self.base())
    }

    /// Whether it lives in the realm of that cell's process.
    #[inline]
    pub(crate) fn is_beside(&self, other: &Base) -> bool {
        self.base().realm == other.realm
    }

    /// Gives the counted reference away; whoever has it gives it up with `release`.
    #[inline]
    pub(crate) fn into_base(self) -> NonNull<Base> {
        std::mem::ManuallyDrop::new(self).base
    }

    /// Whether two references are to the same process.
    pub fn is_same(&self, other: &Self) -> bool {
        self.base == other.base
    }
}

/// Pushes a link and schedules the process if that is now our duty; `false` gives it back.
///
/// # Safety
/// The caller holds a reference to the cell. As for `Head::push`; the envelope is what its class
/// says in this cell.
#[inline(always)]
pub(crate) unsafe fn push(base: NonNull<Base>, link: NonNull<Link>, class: Class) -> bool {
    if sends() {
        // SAFETY: by the contract.
        return unsafe { push_traced(base, link, class) };
    }
    // SAFETY: by the contract.
    unsafe { push_on(base, link, class) }
}

/// The rest of [`push`].
///
/// # Safety
/// As for [`push`].
#[inline(always)]
unsafe fn push_on(base: NonNull<Base>, link: NonNull<Link>, class: Class) -> bool {
    // SAFETY: by the contract.
    match unsafe { base.as_ref().head.push(link, class, sender) } {
        Pushed::Queued => true,
        Pushed::Schedule => {
            // SAFETY: the push has taken `ASLEEP` away.
            unsafe { Runnable::new(base) }.schedule();
            true
        }
        Pushed::Closed => false,
    }
}

/// Shows what is about to be pushed to the receiver's world, and pushes it.
///
/// WHY all of it: nothing has to be kept for after the call, so those that are not traced save no registers.
///
/// # Safety
/// As for [`push`].
#[cold]
#[inline(never)]
unsafe fn push_traced(base: NonNull<Base>, link: NonNull<Link>, class: Class) -> bool {
    // SAFETY: by the contract; the vtable is the cell's own.
    unsafe {
        untraced(|| (base.as_ref().vtable.sent)(base, link));
        push_on(base, link, class)
    }
}

/// [`push`] for a signal, once for all worlds.
///
/// # Safety
/// As for [`push`].
unsafe fn push_signal(base: NonNull<Base>, link: NonNull<Link>) -> bool {
    // SAFETY: by the contract.
    unsafe { push(base, link, Class::Signal) }
}

/// Does what is to be done about a message that was pushed past the bound.
///
/// # Safety
/// The caller holds a reference to the cell, whose edge this is.
pub(crate) unsafe fn past(base: NonNull<Base>, edge: &Edge) -> Sent {
    if edge.overflow() != Overflow::DropOldest {
        return Sent::Past;
    }
    if is_running(base) {
        exhaust();
    }
    // SAFETY: the caller keeps the cell; a process that was asleep has not left its table, and the
    // wake has taken `ASLEEP` away.
    unsafe {
        if edge.raise() && base.as_ref().head.wake() {
            Runnable::new(base).schedule();
        }
    }
    Sent::Done
}

impl<W: World, M> Clone for Address<W, M> {
    fn clone(&self) -> Self {
        Self { to: self.to.clone(), message: PhantomData }
    }
}

impl<W: World, M> std::fmt::Debug for Address<W, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Address").field(&self.to.slot()).finish()
    }
}

impl<W: World, M> std::ops::Deref for Address<W, M> {
    type Target = Ref<W>;

    fn deref(&self) -> &Ref<W> {
        &self.to
    }
}

impl<W: World, M: Send + 'static> Address<W, M> {
    /// # Safety
    /// `base` is a cell of this world and message type, and the handle gets a reference.
    pub(crate) unsafe fn new(base: NonNull<Base>) -> Self {
        // SAFETY: by the contract.
        Self { to: unsafe { Ref::new(base) }, message: PhantomData }
    }

    /// Sends a message; gives it back if the process has ended, or if its mailbox has a bound: then
    /// [`Address::send_within`] is to be used.
    ///
    /// COST: one allocation of `8 + size_of::<M>()` bytes, one compare-and-swap.
    #[inline]
    pub fn send(&self, message: M) -> Result<(), Unsent<M>> {
        if self.to.edge().is_some() {
            return Err(Unsent::Bounded(message));
        }
        let link = Envelope::seal(Class::Message, message);
        // SAFETY: the envelope is ours to give, and of the class and payload it says.
        match unsafe { push(self.to.base, link, Class::Message) } {
            true => Ok(()),
            // SAFETY: a refused link is ours again.
            false => Err(Unsent::Ended(unsafe { refused(link) })),
        }
    }

    /// Sends a message to a mailbox that has a bound, in the manner that is asked for; gives it back
    /// if the process has ended, or has no room for it.
    ///
    /// COST: as [`Address::send`], and one more compare-and-swap.
    #[cold]
    pub fn send_within(&self, message: M, manner: Manner) -> Result<Sent, Refused<M>> {
        let base = self.to.base;
        let edge = self.to.edge();
        let entry = edge.map_or(Entry::Within, |edge| edge.enter(self.to.base(), manner));
        match entry {
            Entry::Within | Entry::Past => {}
            Entry::Full => return Err(Refused::Full(message)),
            Entry::Dropped => return Ok(Sent::Done),
            Entry::Ended => return Err(Refused::Ended(message)),
        }
        let link = Envelope::seal(Class::Message, message);
        // SAFETY: the envelope is ours to give, and of the class and payload it says.
        if !unsafe { push(base, link, Class::Message) } {
            // SAFETY: a refused link is ours again.
            return Err(Refused::Ended(unsafe { refused(link) }));
        }
        match edge {
            // SAFETY: the handle holds a reference.
            Some(edge) if entry == Entry::Past => Ok(unsafe { past(base, edge) }),
            _ => Ok(Sent::Done),
        }
    }

    /// The process without the type of its messages.
    pub fn untyped(self) -> Ref<W> {
        self.to
    }
}

/// The payload of an envelope that was not delivered.
///
/// # Safety
/// As for [`Envelope::open`].
#[cold]
unsafe fn refused<T>(link: NonNull<Link>) -> T {
    // SAFETY: by the contract.
    unsafe { Envelope::<T>::open(link) }.0
}
