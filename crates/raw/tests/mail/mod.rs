//! Envelopes for the inbox models, with payloads whose accesses loom checks.

// WHY: each model file uses only some of these items.
#![allow(dead_code)]

use std::ptr::NonNull;

use loom::cell::UnsafeCell;
use purlin_raw::model::{Chain, Class, Head, Link, Pushed, Traffic};

#[repr(C, align(16))]
struct Mail {
    link: Link,
    payload: UnsafeCell<u32>,
}

pub(crate) fn seal(class: Class, payload: u32) -> NonNull<Link> {
    let mail = Box::new(Mail { link: Link::new(class), payload: UnsafeCell::new(payload) });
    NonNull::from(Box::leak(mail)).cast()
}

/// Moves the payload out of an envelope that the caller owns.
pub(crate) fn open(link: NonNull<Link>) -> u32 {
    // SAFETY: every header of these models was sealed above, and is opened once.
    let mail = unsafe { Box::from_raw(link.cast::<Mail>().as_ptr()) };
    // SAFETY: the envelope is owned here; loom checks the access.
    mail.payload.with(|payload| unsafe { *payload })
}

/// Opens a batch, oldest first.
pub(crate) fn open_all(arrived: Chain) -> Vec<u32> {
    let mut payloads = Vec::new();
    let mut rest = arrived.oldest;
    while let Some(link) = NonNull::new(rest) {
        // SAFETY: the batch was taken, so its headers are owned here.
        rest = unsafe { link.as_ref().next() };
        payloads.push(open(link));
    }
    assert_eq!(payloads.len(), arrived.len);
    payloads
}

/// Takes what arrived, with an uncontended [`Traffic`].
pub(crate) fn take(head: &Head) -> Vec<u32> {
    open_all(head.take(&mut Traffic::new()).arrived)
}

/// Pushes as the sender with that number.
pub(crate) fn push_as(sender: u32, head: &Head, class: Class, payload: u32) -> Pushed {
    let link = seal(class, payload);
    // SAFETY: the envelope is owned here.
    let pushed = unsafe { head.push(link, class, || sender) };
    if pushed == Pushed::Closed {
        open(link);
    }
    pushed
}

pub(crate) fn push(head: &Head, class: Class, payload: u32) -> Pushed {
    push_as(0, head, class, payload)
}
