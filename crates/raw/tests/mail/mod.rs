//! Envelopes for the inbox models, with payloads whose accesses loom checks.

// WHY: each model file uses only some of these items.
#![allow(dead_code)]

use std::ptr::NonNull;

use loom::cell::UnsafeCell;
use purlin_raw::model::{
    Batch, Class, Contention, Drained, Header, PushOutcome, SleepOutcome, State,
};

#[repr(C, align(16))]
struct Mail {
    link: Header,
    payload: UnsafeCell<u32>,
}

pub(crate) fn seal(class: Class, payload: u32) -> NonNull<Header> {
    let mail = Box::new(Mail { link: Header::new(class), payload: UnsafeCell::new(payload) });
    NonNull::from(Box::leak(mail)).cast()
}

/// Moves the payload out of an envelope that the caller owns.
pub(crate) fn open(header: NonNull<Header>) -> u32 {
    // SAFETY: every header of these models was sealed above, and is opened once.
    let mail = unsafe { Box::from_raw(header.cast::<Mail>().as_ptr()) };
    // SAFETY: the envelope is owned here; loom checks the access.
    mail.payload.with(|payload| unsafe { *payload })
}

/// Opens a batch, oldest first.
pub(crate) fn open_all(arrived: Batch) -> Vec<u32> {
    let mut payloads = Vec::new();
    let mut rest = arrived.oldest;
    while let Some(header) = NonNull::new(rest) {
        // SAFETY: the batch was taken, so its headers are owned here.
        rest = unsafe { header.as_ref().next() };
        payloads.push(open(header));
    }
    assert_eq!(payloads.len(), arrived.len);
    payloads
}

/// Takes what arrived, with an uncontended [`Contention`].
pub(crate) fn take(inbox: &State) -> Vec<u32> {
    open_all(take_with(inbox, Contention::new()).arrived)
}

/// Takes what arrived, with this estimate.
pub(crate) fn take_with(inbox: &State, mut contention: Contention) -> Drained {
    // SAFETY: in each model one thread receives, and it takes only while the process is awake.
    unsafe { inbox.take(&mut contention) }
}

pub(crate) fn fall_asleep(inbox: &State, deaf: bool) -> SleepOutcome {
    // SAFETY: as in `take_with`.
    unsafe { inbox.sleep(deaf) }
}

pub(crate) fn close(inbox: &State) -> Batch {
    // SAFETY: as in `take_with`.
    unsafe { inbox.close() }
}

/// Pushes as the sender with that number.
pub(crate) fn push_as(sender: u32, inbox: &State, class: Class, payload: u32) -> PushOutcome {
    let header = seal(class, payload);
    // SAFETY: the envelope is owned here.
    let pushed = unsafe { inbox.push(header, class, || sender) };
    if pushed == PushOutcome::Closed {
        open(header);
    }
    pushed
}

pub(crate) fn push(inbox: &State, class: Class, payload: u32) -> PushOutcome {
    push_as(0, inbox, class, payload)
}
