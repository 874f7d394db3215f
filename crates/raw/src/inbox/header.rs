//! Intrusive header of a queued signal, and the envelope that holds its payload.
//!
//! Exactly one thread owns a header: the sender until the push, the receiver after the take. So no
//! two threads access `next` concurrently. The lowest bits of `next` hold four flags of the
//! header's *own* envelope: its class, whether its push was contended, whether its message is
//! marked, and whether it is an anchor. So an envelope is one word larger than its payload.
//!
//! A *marked* message was made from a signal by the receiver. It carries a number, by which it can
//! be found in the save queue and withdrawn; it is received like any other message. An *anchor* is a
//! message of the save queue behind which a receive marker stands, see `markers`.
//!
//! COST: one block of `8 + size_of::<T>()` bytes per signal, see `pool`.

use std::mem::{MaybeUninit, forget};
use std::ptr::NonNull;

use crate::memory::pool;
use crate::sync::UnsafeCell;

/// Kind of payload in an envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A message of the mailbox's type. Does not wake a process that sleeps with `DEAF` set.
    Message,
    /// A signal of type `W::Signal`. Wakes the receiver in any case.
    Signal,
}

/// The envelope is of class [`Class::Signal`].
pub(crate) const SIGNAL: usize = 0b01;
/// The push was contended.
pub(crate) const CONTENDED: usize = 0b10;
/// The message is followed by a number, see [`Marked`].
pub(crate) const MARKED: usize = 0b100;
/// A receive marker stands behind the message, or has stood there.
pub(crate) const ANCHOR: usize = 0b1000;
/// The message is in the priority part of its save queue. This is the flag that outside of a save
/// queue, in which there are messages only, means `SIGNAL`.
pub(crate) const PRIORITY: usize = SIGNAL;
const TAGS: usize = SIGNAL | CONTENDED | MARKED | ANCHOR;

/// Header of an envelope.
#[repr(C)]
pub struct Header {
    next: UnsafeCell<*mut Header>,
}

impl Header {
    /// Creates a header of the given class with no successor.
    pub fn new(class: Class) -> Self {
        let tag = match class {
            Class::Message => 0,
            Class::Signal => SIGNAL,
        };
        Self { next: UnsafeCell::new(std::ptr::without_provenance_mut(tag)) }
    }

    /// Returns the class of an envelope that is in no save queue.
    ///
    /// # Safety
    /// The caller owns the envelope.
    pub unsafe fn class(&self) -> Class {
        // SAFETY: by the contract.
        if unsafe { self.tags() } & SIGNAL == 0 { Class::Message } else { Class::Signal }
    }

    /// Sets the flag `CONTENDED`, `MARKED`, `ANCHOR` or `PRIORITY`.
    ///
    /// # Safety
    /// The caller owns the envelope.
    pub(crate) unsafe fn set_tag(&self, tag: usize) {
        self.next.with_mut(|next| {
            // SAFETY: the caller owns the envelope, so no other thread accesses `next`.
            unsafe { *next = (*next).map_addr(|addr| addr | tag) }
        });
    }

    /// Returns the flags of the envelope: `SIGNAL`, `CONTENDED`, `MARKED`, `ANCHOR`.
    ///
    /// # Safety
    /// The caller owns the envelope.
    pub(crate) unsafe fn tags(&self) -> usize {
        // SAFETY: the caller owns the envelope, so no thread writes `next` concurrently.
        self.next.with(|next| unsafe { *next }).addr() & TAGS
    }

    /// Returns the successor, or null.
    ///
    /// # Safety
    /// The caller owns the envelope.
    pub unsafe fn next(&self) -> *mut Header {
        // SAFETY: the caller owns the envelope, so no thread writes `next` concurrently.
        self.next.with(|next| unsafe { *next }).map_addr(|addr| addr & !TAGS)
    }

    /// [`Header::next`], one cycle faster for an envelope without flags, which most are.
    ///
    /// WHY: a walk along a list is as fast as one address follows from the other.
    ///
    /// # Safety
    /// The caller owns the envelope.
    #[inline(always)]
    pub(crate) unsafe fn next_mostly_untagged(&self) -> *mut Header {
        // SAFETY: the caller owns the envelope, so no thread writes `next` concurrently.
        let next = self.next.with(|next| unsafe { *next });
        if next.addr() & TAGS == 0 { next } else { without_tags(next) }
    }

    /// Sets the successor of a message that is in no queue and has no flags.
    ///
    /// # Safety
    /// The caller owns the envelope.
    #[inline(always)]
    pub(crate) unsafe fn set_next_untagged(&self, header: *mut Header) {
        // SAFETY: the caller owns the envelope, so no other thread accesses `next`.
        self.next.with_mut(|next| unsafe { *next = header });
    }

    /// Sets the successor and keeps the flags.
    ///
    /// # Safety
    /// The caller owns the envelope.
    pub unsafe fn set_next(&self, header: *mut Header) {
        self.next.with_mut(|next| {
            // SAFETY: the caller owns the envelope, so no other thread accesses `next`.
            unsafe { *next = header.map_addr(|addr| addr | ((*next).addr() & TAGS)) }
        });
    }
}

#[cold]
#[inline(never)]
fn without_tags(next: *mut Header) -> *mut Header {
    next.map_addr(|addr| addr & !TAGS)
}

/// Header and payload.
///
/// The payload is initialised while the envelope is in an inbox or a save queue. Dropping an
/// envelope drops no payload.
#[repr(C, align(16))] // WHY: the inbox state word keeps four flags in the address.
pub(crate) struct Envelope<T> {
    header: Header,
    payload: MaybeUninit<T>,
}

impl<T> Envelope<T> {
    /// Allocates an envelope and returns its header; [`Envelope::open`] reverses this.
    #[inline]
    pub(crate) fn seal(class: Class, payload: T) -> NonNull<Header> {
        // SAFETY: the block was taken for this type.
        unsafe { Self::fill(pool::take(), class, payload) }
    }

    /// Makes an envelope of a block and returns its header, as [`Envelope::seal`] does.
    ///
    /// # Safety
    /// The block was taken for this type, and is owned by the caller.
    #[inline]
    pub(crate) unsafe fn fill(block: NonNull<Self>, class: Class, payload: T) -> NonNull<Header> {
        let sealed = Self { header: Header::new(class), payload: MaybeUninit::new(payload) };
        // SAFETY: by the contract.
        unsafe { block.write(sealed) };
        block.cast()
    }

    /// Like [`Envelope::fill`], with the payload that `make` returns. Frees the block if `make`
    /// panics.
    ///
    /// # Safety
    /// As for [`Envelope::fill`].
    #[inline]
    pub(crate) unsafe fn fill_with(
        block: NonNull<Self>,
        class: Class,
        make: impl FnOnce() -> T,
    ) -> NonNull<Header> {
        let guard = Vacant(block);
        let payload = make();
        forget(guard);
        // SAFETY: by the contract.
        unsafe { Self::fill(block, class, payload) }
    }

    /// Moves the payload out. The returned [`EmptyEnvelope`] owns the emptied envelope.
    ///
    /// # Safety
    /// The header comes from `Envelope::<T>::seal` or `Envelope::<T>::seal_marked` with this same
    /// `T`, and the caller owns it.
    #[inline]
    pub(crate) unsafe fn open(header: NonNull<Header>) -> (T, EmptyEnvelope<T>) {
        // SAFETY: by the contract this is the header, at offset zero, of an envelope of this type,
        // and its payload is initialised. `EmptyEnvelope` does not read the payload again.
        unsafe { (Self::read(header), Self::emptied(header)) }
    }

    /// Frees the emptied envelope of a message with these flags.
    ///
    /// # Safety
    /// As for [`Envelope::write`]; the envelope is not used again.
    #[inline]
    pub(crate) unsafe fn free(header: NonNull<Header>, tags: usize) {
        // SAFETY: by the contract. The block was taken for `Envelope<Marked<T>>` if the flag `MARKED`
        // is set, else for this type.
        unsafe {
            if tags & MARKED == 0 {
                pool::free(header.cast::<Self>());
            } else {
                Self::free_marked(header);
            }
        }
    }

    /// Frees the emptied envelope of a marked message.
    ///
    /// WHY a function: inlined, the compiler computed the free list from the flag, and the free of
    /// every message waited for its flags.
    ///
    /// # Safety
    /// As for [`Envelope::free`], and the flag `MARKED` is set.
    #[inline(never)]
    unsafe fn free_marked(header: NonNull<Header>) {
        // SAFETY: by the contract.
        unsafe { pool::free(header.cast::<Envelope<Marked<T>>>()) }
    }

    /// Copies the payload out. The envelope counts as emptied until [`Envelope::write`].
    ///
    /// # Safety
    /// As for [`Envelope::open`].
    #[inline]
    pub(crate) unsafe fn read(header: NonNull<Header>) -> T {
        // SAFETY: by the contract the payload is initialised.
        unsafe { header.cast::<Self>().as_ref().payload.assume_init_read() }
    }

    /// Puts a payload into an emptied envelope.
    ///
    /// # Safety
    /// The caller owns the header of an emptied envelope of this same type.
    #[inline]
    pub(crate) unsafe fn write(header: NonNull<Header>, payload: T) {
        // SAFETY: by the contract.
        unsafe { (&raw mut (*header.cast::<Self>().as_ptr()).payload).cast::<T>().write(payload) }
    }

    /// Takes over an emptied envelope.
    ///
    /// # Safety
    /// As for [`Envelope::write`].
    pub(crate) unsafe fn emptied(header: NonNull<Header>) -> EmptyEnvelope<T> {
        EmptyEnvelope(header.cast())
    }

    /// Borrows the payload.
    ///
    /// # Safety
    /// As for [`Envelope::open`]; the caller neither opens nor gives away the envelope during `'a`.
    pub(crate) unsafe fn peek<'a>(header: NonNull<Header>) -> &'a T {
        // SAFETY: by the contract the payload is initialised.
        unsafe { header.cast::<Self>().as_ref().payload.assume_init_ref() }
    }
}

/// Block for an envelope, not yet initialised. The drop frees it.
struct Vacant<T>(NonNull<Envelope<T>>);

impl<T> Drop for Vacant<T> {
    fn drop(&mut self) {
        // SAFETY: the block was taken for this type, and is owned here.
        unsafe { pool::free(self.0) };
    }
}

/// Payload followed by a number.
///
/// WHY `repr(C)` and the number last: the payload is then at the same offset as in an [`Envelope`]
/// without a number, so `Envelope::open` works for both.
#[repr(C)]
struct Marked<T> {
    payload: T,
    mark: u64,
}

impl<T> Envelope<T> {
    const SAME_PLACE: () = assert!(
        std::mem::offset_of!(Envelope<T>, payload)
            == std::mem::offset_of!(Envelope<Marked<T>>, payload)
    );

    /// Allocates a marked message; [`Envelope::open`] reverses this.
    pub(crate) fn seal_marked(payload: T, mark: u64) -> NonNull<Header> {
        let () = Self::SAME_PLACE;
        let header = Envelope::<Marked<T>>::seal(Class::Message, Marked { payload, mark });
        // SAFETY: the envelope is owned here.
        unsafe { header.as_ref().set_tag(MARKED) };
        header
    }

    /// Returns the number of a marked message, or `None` if the message is not marked.
    ///
    /// # Safety
    /// As for [`Envelope::open`].
    pub(crate) unsafe fn mark(header: NonNull<Header>) -> Option<u64> {
        // SAFETY: by the contract; an envelope with the `MARKED` flag was made by `seal_marked`.
        unsafe {
            (header.as_ref().tags() & MARKED != 0)
                .then(|| (*header.cast::<Envelope<Marked<T>>>().as_ref().payload.as_ptr()).mark)
        }
    }
}

/// Envelope whose payload has been moved out.
pub(crate) struct EmptyEnvelope<T>(NonNull<Envelope<T>>);

impl<T> Drop for EmptyEnvelope<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: `self` owns the envelope, whose payload is uninitialised.
        unsafe { Envelope::<T>::free(self.0.cast(), self.0.as_ref().header.tags()) }
    }
}
