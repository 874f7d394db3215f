//! The header of a signal on its way, and the envelope that holds the payload behind it.
//!
//! A link is written by its sender before it is pushed and by the receiver after it was taken;
//! never by two threads at once. `next` carries three facts about *its own* envelope in the lowest
//! bits: the class, whether the push met another sender, and whether the payload is marked. So an
//! envelope is one word larger than its payload and no more.
//!
//! A *marked* message is one that a signal has turned into. It has a number behind it, by which it
//! can be found in the FIFO and taken back; to whoever receives it, it is a message like any other.
//!
//! COST: one block of `8 + size_of::<T>()` bytes per signal, see `pool`.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use crate::pool;
use crate::sync::UnsafeCell;

/// What an envelope holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A message of the mailbox's type. It does not wake a process that waits for something else.
    Message,
    /// A signal of the world's. It wakes its receiver whatever that waits for.
    Signal,
}

/// It is of class [`Class::Signal`].
pub(crate) const SIGNAL: usize = 0b01;
/// The push met another sender.
pub(crate) const CONTENDED: usize = 0b10;
/// It is a message with a number behind it, see [`Marked`].
pub(crate) const MARKED: usize = 0b100;
const TAGS: usize = SIGNAL | CONTENDED | MARKED;

/// The header of an envelope.
#[repr(C)]
pub struct Link {
    next: UnsafeCell<*mut Link>,
}

impl Link {
    /// A header of the given class with nothing behind it.
    pub fn new(class: Class) -> Self {
        let tag = match class {
            Class::Message => 0,
            Class::Signal => SIGNAL,
        };
        Self { next: UnsafeCell::new(std::ptr::without_provenance_mut(tag)) }
    }

    /// The class given at the start.
    ///
    /// # Safety
    /// The caller owns the envelope.
    pub unsafe fn class(&self) -> Class {
        // SAFETY: the caller owns the envelope, so nobody writes `next` now.
        let next = self.next.with(|next| unsafe { *next });
        if next.addr() & SIGNAL == 0 { Class::Message } else { Class::Signal }
    }

    /// Notes that the push met another sender.
    ///
    /// # Safety
    /// The caller owns the envelope.
    pub unsafe fn mark_contended(&self) {
        self.next.with_mut(|next| {
            // SAFETY: the caller owns the envelope, so nobody else touches `next` now.
            unsafe { *next = (*next).map_addr(|addr| addr | CONTENDED) }
        });
    }

    /// What is known of the envelope: `SIGNAL`, `CONTENDED`.
    ///
    /// # Safety
    /// The caller owns the envelope.
    pub(crate) unsafe fn tags(&self) -> usize {
        // SAFETY: the caller owns the envelope, so nobody writes `next` now.
        self.next.with(|next| unsafe { *next }).addr() & TAGS
    }

    /// The link behind this one, or null.
    ///
    /// # Safety
    /// The caller owns the envelope.
    pub unsafe fn next(&self) -> *mut Link {
        // SAFETY: the caller owns the envelope, so nobody writes `next` now.
        self.next.with(|next| unsafe { *next }).map_addr(|addr| addr & !TAGS)
    }

    /// Puts another link behind this one, of a message that is in no chain yet and has no mark.
    ///
    /// # Safety
    /// The caller owns the envelope.
    #[inline(always)]
    pub(crate) unsafe fn put_upon(&self, link: *mut Link) {
        // SAFETY: the caller owns the envelope, so nobody else touches `next` now.
        self.next.with_mut(|next| unsafe { *next = link });
    }

    /// Puts another link behind this one; the class and the mark stay.
    ///
    /// # Safety
    /// The caller owns the envelope.
    pub unsafe fn set_next(&self, link: *mut Link) {
        self.next.with_mut(|next| {
            // SAFETY: the caller owns the envelope, so nobody else touches `next` now.
            unsafe { *next = link.map_addr(|addr| addr | ((*next).addr() & TAGS)) }
        });
    }
}

/// A payload and its header.
///
/// The payload is there while the envelope is in an inbox or a FIFO; whoever takes it out keeps an
/// envelope that drops nothing.
#[repr(C, align(16))] // WHY: the word of a process keeps four flags in the address.
pub(crate) struct Envelope<T> {
    link: Link,
    payload: MaybeUninit<T>,
}

impl<T> Envelope<T> {
    /// Seals a payload and gives the header away; [`Envelope::open`] takes it back.
    #[inline]
    pub(crate) fn seal(class: Class, payload: T) -> NonNull<Link> {
        let envelope = pool::take::<Self>();
        let sealed = Self { link: Link::new(class), payload: MaybeUninit::new(payload) };
        // SAFETY: the block was taken for this type.
        unsafe { envelope.write(sealed) };
        envelope.cast()
    }

    /// Takes the payload out and keeps the paper.
    ///
    /// # Safety
    /// The link comes from `Envelope::<T>::seal`, `Envelope::<T>::seal_marked` or
    /// `Paper::<T>::reseal` with this very `T`, and the caller owns it.
    #[inline]
    pub(crate) unsafe fn open(link: NonNull<Link>) -> (T, Paper<T>) {
        let envelope = link.cast::<Self>();
        // SAFETY: by the contract this is the header, at offset zero, of an envelope of this type;
        // a sealed one has its payload, and nobody reads it from this paper again.
        let payload = unsafe { envelope.as_ref().payload.assume_init_read() };
        (payload, Paper(envelope))
    }
}

impl<T> Envelope<T> {
    /// Looks at the payload.
    ///
    /// # Safety
    /// As for [`Envelope::open`]; the caller keeps the envelope as it is meanwhile.
    pub(crate) unsafe fn peek<'a>(link: NonNull<Link>) -> &'a T {
        // SAFETY: by the contract the payload is there.
        unsafe { link.cast::<Self>().as_ref().payload.assume_init_ref() }
    }
}

/// A payload with a number behind it.
///
/// WHY `repr(C)` and the number last: the payload is where that of an [`Envelope`] without a number
/// is, so whoever takes it out need not know.
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

    /// Seals a message with a number behind it; [`Envelope::open`] takes it back.
    pub(crate) fn seal_marked(payload: T, mark: u64) -> NonNull<Link> {
        let () = Self::SAME_PLACE;
        let link = Envelope::<Marked<T>>::seal(Class::Message, Marked { payload, mark });
        // SAFETY: the envelope is ours; nobody else touches `next` now.
        unsafe { link.as_ref() }.next.with_mut(|next| unsafe {
            // SAFETY: as above.
            *next = (*next).map_addr(|addr| addr | MARKED);
        });
        link
    }

    /// The number behind a message, if it has one.
    ///
    /// # Safety
    /// As for [`Envelope::open`].
    pub(crate) unsafe fn mark(link: NonNull<Link>) -> Option<u64> {
        // SAFETY: by the contract; one with the tag was sealed by `seal_marked`.
        unsafe {
            (link.as_ref().tags() & MARKED != 0)
                .then(|| (*link.cast::<Envelope<Marked<T>>>().as_ref().payload.as_ptr()).mark)
        }
    }
}

/// An envelope whose payload was taken out.
pub(crate) struct Paper<T>(NonNull<Envelope<T>>);

impl<T> Paper<T> {
    /// Puts a payload back in.
    #[inline]
    pub(crate) fn reseal(self, payload: T) -> NonNull<Link> {
        let envelope = std::mem::ManuallyDrop::new(self).0;
        // SAFETY: the paper owned the envelope, and gives it away here.
        unsafe { (&raw mut (*envelope.as_ptr()).payload).write(MaybeUninit::new(payload)) };
        envelope.cast()
    }
}

impl<T> Drop for Paper<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the paper owns its envelope, which was taken for this type, or for this type with
        // a number behind it if it has the tag; there is no payload.
        unsafe {
            if self.0.as_ref().link.tags() & MARKED == 0 {
                pool::free(self.0);
            } else {
                pool::free(self.0.cast::<Envelope<Marked<T>>>());
            }
        }
    }
}
