//! Sealed message: addressed and in its envelope, to be sent later.
//!
//! The sender, on any thread, need not know the message type; a timer holds one. It is sent once,
//! or dropped. Dropping it runs the message's destructor on the dropping thread and catches a
//! panic.
//!
//! COST: two words, the envelope that the message needs anyway, and a counted reference to the
//! receiver.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use crate::RuntimeTypes;
use crate::inbox::bound::{Admission, SendMode};
use crate::inbox::header::{Class, Envelope, Header};
use crate::process::address::Address;
use crate::process::cell::{Base, bound};
use crate::process::deferred_rc;
use crate::process::send::{push, spill};

/// Sealed message for a process.
#[derive(Debug)]
#[must_use]
pub struct SealedMessage {
    to: NonNull<Base>,
    header: NonNull<Header>,
}

// SAFETY: the message is `Send`, see `Address::seal`, and the receiver is a counted reference.
unsafe impl Send for SealedMessage {}

impl<W: RuntimeTypes, M: Send + 'static> Address<W, M> {
    /// Seals a message for this process without sending it.
    pub fn seal(&self, message: M) -> SealedMessage {
        SealedMessage {
            to: self.clone().untyped().into_base(),
            header: Envelope::seal(Class::Message, message),
        }
    }
}

impl SealedMessage {
    /// Sends the message. Returns `false` if the process had ended; the message is then dropped. If
    /// the mailbox is full, the message is dropped and counted, and the result is `true`.
    pub fn send(self) -> bool {
        // SAFETY: the sealed message's reference keeps the cell alive.
        let (cell, bound) = unsafe { (self.to.as_ref(), bound(self.to)) };
        let entry =
            bound.map(|bound| (bound, bound.admit(&cell.inbox, &cell.received, SendMode::Send)));
        let sent = match entry {
            // No sender can wait.
            // SAFETY: as above; `self` owns the envelope, which holds a message of the receiver's type.
            None | Some((_, Admission::Within | Admission::Past)) => unsafe {
                push(self.to, self.header, Class::Message)
            },
            // SAFETY: likewise.
            Some((bound, Admission::Spill)) => unsafe { spill(self.to, bound, self.header) },
            Some((_, Admission::Dropped)) => return true,
            Some((_, Admission::Ended)) => return false,
            Some((bound, Admission::Full)) => {
                bound.reject();
                return true;
            }
        };
        if sent {
            let this = ManuallyDrop::new(self);
            // SAFETY: the envelope was given away; `this` still holds its reference and
            // releases it.
            unsafe { deferred_rc::release(this.to) };
        }
        sent
    }
}

impl Drop for SealedMessage {
    fn drop(&mut self) {
        // SAFETY: `self` owns the envelope, which holds a message of the receiver's type, and
        // releases its reference.
        unsafe {
            let discard = self.to.as_ref().vtable.discard;
            discard(self.header);
            deferred_rc::release(self.to);
        }
    }
}
