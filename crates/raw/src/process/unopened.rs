//! Message that has left the mailbox and is still in its envelope.
//!
//! WHY not the message itself: a message that passes through several functions in memory is copied
//! by each of them. One in its envelope is copied once, by the function that needs it.

use std::marker::PhantomData;
use std::mem::{ManuallyDrop, forget};
use std::ptr::NonNull;

use crate::inbox::header::{Envelope, Header};

/// Received message in its envelope. Dropping it drops the message.
#[derive(Debug)]
pub struct Unopened<M> {
    header: NonNull<Header>,
    message: PhantomData<M>,
}

// SAFETY: an `Unopened` owns its envelope and the message in it.
unsafe impl<M: Send> Send for Unopened<M> {}

impl<M> Unopened<M> {
    /// Takes over an envelope.
    ///
    /// # Safety
    /// The header is owned by the caller, is in no queue and precedes a message of this type.
    #[inline(always)]
    pub(super) unsafe fn new(header: NonNull<Header>) -> Self {
        Self { header, message: PhantomData }
    }

    /// Returns the message.
    #[inline(always)]
    pub fn message(&self) -> &M {
        // SAFETY: the envelope is owned here, and the borrow ends before it is opened or dropped.
        unsafe { Envelope::<M>::peek(self.header) }
    }

    /// Moves the message out and frees the envelope.
    #[inline(always)]
    pub fn open(self) -> M {
        let header = self.header;
        forget(self);
        // SAFETY: the envelope was owned here, and is not used again.
        unsafe {
            let tags = header.as_ref().tags();
            // WHY the payload is read in one place, and is not dropped if the free should panic: it
            // then stays in registers.
            let message = ManuallyDrop::new(Envelope::<M>::read(header));
            Envelope::<M>::free(header, tags);
            ManuallyDrop::into_inner(message)
        }
    }
}

impl<M> Drop for Unopened<M> {
    fn drop(&mut self) {
        // SAFETY: the header is owned here, and `self` is not used again.
        drop(unsafe { Self::new(self.header) }.open());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::inbox::header::Class;

    #[test]
    fn message_is_dropped_once_whether_it_is_opened_or_not() {
        let payload = Arc::new(7);
        for opens in [true, false] {
            let header = Envelope::seal(Class::Message, Arc::clone(&payload));
            // SAFETY: the envelope is owned here, and its payload is of this type.
            let unopened = unsafe { Unopened::<Arc<i32>>::new(header) };
            assert_eq!((**unopened.message(), Arc::strong_count(&payload)), (7, 2));
            if opens {
                assert_eq!(*unopened.open(), 7);
            } else {
                drop(unopened);
            }
            assert_eq!(Arc::strong_count(&payload), 1);
        }
    }
}
