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

use crate::World;
use crate::address::{Address, past, push};
use crate::cell::{Base, edge};
use crate::credit;
use crate::edge::{Entry, Manner};
use crate::link::{Class, Envelope, Link};
use crate::quiet::quietly;

/// Sealed message for a process.
#[derive(Debug)]
#[must_use]
pub struct Parcel {
    to: NonNull<Base>,
    link: NonNull<Link>,
}

// SAFETY: the message is `Send`, see `Address::parcel`, and the receiver is a counted reference.
unsafe impl Send for Parcel {}

impl<W: World, M: Send + 'static> Address<W, M> {
    /// Seals a message for this process without sending it.
    #[inline]
    pub fn parcel(&self, message: M) -> Parcel {
        Parcel {
            to: self.clone().untyped().into_base(),
            link: Envelope::seal(Class::Message, message),
        }
    }
}

impl Parcel {
    /// Sends the message. Returns `false` if the process had ended; the message is then dropped. If
    /// the mailbox is full, the message is dropped and counted, and the result is `true`.
    pub fn send(self) -> bool {
        // SAFETY: the parcel's reference keeps the cell alive.
        let (cell, edge) = unsafe { (self.to.as_ref(), edge(self.to)) };
        let entry = edge.map(|edge| (edge, edge.enter(cell, Manner::Send)));
        match entry {
            None | Some((_, Entry::Within | Entry::Past)) => {}
            Some((_, Entry::Dropped)) => return true,
            Some((_, Entry::Ended)) => return false,
            Some((edge, Entry::Full)) => {
                edge.reject();
                return true;
            }
        }
        // SAFETY: as above; the parcel owns the envelope, which holds a message of the receiver's
        // type.
        let sent = unsafe { push(self.to, self.link, Class::Message) };
        if sent {
            if let Some((edge, Entry::Past)) = entry {
                // SAFETY: as above. The result is ignored because no sender can wait.
                let _ = unsafe { past(self.to, edge) };
            }
            let parcel = ManuallyDrop::new(self);
            // SAFETY: the envelope was given away; the parcel still holds its reference and
            // releases it.
            unsafe { credit::release(parcel.to) };
        }
        sent
    }
}

impl Drop for Parcel {
    fn drop(&mut self) {
        // SAFETY: the parcel owns the envelope, which holds a message of the receiver's type, and
        // releases its reference.
        unsafe {
            let discard = self.to.as_ref().vtable.discard;
            quietly(|| discard(self.link));
            credit::release(self.to);
        }
    }
}

/// Drops a message that was sealed and not sent.
///
/// # Safety
/// The caller owns the header of a sealed envelope of an `M`.
pub(crate) unsafe fn discard<M>(link: NonNull<Link>) {
    // SAFETY: by the contract.
    drop(unsafe { Envelope::<M>::open(link) });
}
