//! A message that is sealed and addressed but not yet sent.
//!
//! Whoever is to send it later, on any thread, need not know its type: a timer keeps one. It is
//! sent once, or dropped, and then the message's destructor runs where it is dropped; a panic in it
//! goes no further.
//!
//! COST: two words, the envelope that the message would take anyway, and a counted reference to the
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

/// A message on its way to a process, to be sent when its time has come.
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
    /// Sends the message; `false` if the process had ended, and the message was dropped. One that
    /// the mailbox has no room for is dropped there, and counted.
    pub fn send(self) -> bool {
        // SAFETY: the reference of the parcel keeps the cell.
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
        // SAFETY: as above; the envelope is ours to give and holds a message of the receiver's type.
        let sent = unsafe { push(self.to, self.link, Class::Message) };
        if sent {
            if let Some((edge, Entry::Past)) = entry {
                // SAFETY: as above. Nobody is there to wait.
                let _ = unsafe { past(self.to, edge) };
            }
            let parcel = ManuallyDrop::new(self);
            // SAFETY: the message is gone; the parcel still holds its reference, and gives it up.
            unsafe { credit::release(parcel.to) };
        }
        sent
    }
}

impl Drop for Parcel {
    fn drop(&mut self) {
        // SAFETY: the envelope is ours and holds a message of the receiver's type, and the parcel
        // gives up its reference.
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
/// The caller owns the link, the header of a sealed envelope of an `M`.
pub(crate) unsafe fn discard<M>(link: NonNull<Link>) {
    // SAFETY: by the contract.
    drop(unsafe { Envelope::<M>::open(link) });
}
