//! Batch of signals taken from the inbox, in the order of arrival.
//!
//! The inbox yields stacks, newest first; the receiver reverses each stack once. Only the owner of
//! the headers may call. Never allocates and never runs user code.
//!
//! COST: one read and one write per header, which brings the envelope into this core's cache.

use std::ptr::{self, NonNull};

use crate::link::{CONTENDED, Link, SIGNAL};

/// Batch: singly linked list of headers, oldest first.
#[derive(Debug)]
pub struct Chain {
    /// The oldest header, or null.
    pub oldest: *mut Link,
    /// The newest header, or null.
    pub newest: *mut Link,
    /// Number of headers.
    pub len: usize,
    /// Whether all signals are messages.
    pub only_messages: bool,
    /// Number of contended pushes.
    pub contended: usize,
}

impl Chain {
    /// Creates an empty batch.
    pub const fn empty() -> Self {
        Self {
            oldest: ptr::null_mut(),
            newest: ptr::null_mut(),
            len: 0,
            only_messages: true,
            contended: 0,
        }
    }

    /// Reverses a stack of headers.
    ///
    /// # Safety
    /// The caller owns every header of the stack and gives them away.
    #[inline]
    pub unsafe fn turn_round(newest: *mut Link) -> Self {
        let (mut oldest, mut rest, mut len) = (ptr::null_mut(), newest, 0);
        let mut tags = 0;
        while let Some(link) = NonNull::new(rest) {
            // SAFETY: the caller owns the stack.
            unsafe {
                rest = link.as_ref().next();
                tags |= link.as_ref().tags();
                link.as_ref().set_next(oldest);
            }
            oldest = link.as_ptr();
            len += 1;
        }
        let only_messages = tags & SIGNAL == 0;
        // SAFETY: the caller owns the stack.
        let contended = if tags & CONTENDED == 0 { 0 } else { unsafe { count_contended(oldest) } };
        Self { oldest, newest, len, only_messages, contended }
    }

    /// Appends a batch.
    #[inline]
    pub fn append(&mut self, later: Self) {
        if later.len == 0 {
            return;
        }
        match NonNull::new(self.newest) {
            None => self.oldest = later.oldest,
            // SAFETY: a batch owns its headers.
            Some(newest) => unsafe { newest.as_ref().set_next(later.oldest) },
        }
        self.newest = later.newest;
        self.len += later.len;
        self.only_messages &= later.only_messages;
        self.contended += later.contended;
    }
}

/// WHY a second pass: it runs only under contention, and the headers are in this core's cache.
///
/// # Safety
/// The caller owns every header of the batch.
#[cold]
unsafe fn count_contended(oldest: *mut Link) -> usize {
    let (mut rest, mut contended) = (oldest, 0);
    while let Some(link) = NonNull::new(rest) {
        // SAFETY: the caller owns the batch.
        unsafe {
            rest = link.as_ref().next();
            contended += usize::from(link.as_ref().tags() & CONTENDED != 0);
        }
    }
    contended
}
