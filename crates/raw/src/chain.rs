//! A chain of links in the order in which they arrived.
//!
//! An inbox gives back stacks, newest first; the owner turns each round once. Only the owner of the
//! links may call. Never allocates, never runs user code.
//!
//! COST: one read and one write of each link, which fetches the envelope into this core's cache.

use std::ptr::{self, NonNull};

use crate::link::{CONTENDED, Link, SIGNAL};

/// Links, oldest first.
#[derive(Debug)]
pub struct Chain {
    /// The first to be sent, or null.
    pub oldest: *mut Link,
    /// The last to be sent, or null.
    pub newest: *mut Link,
    /// How many.
    pub len: usize,
    /// Whether all of them are messages.
    pub only_messages: bool,
    /// How many met another sender when they were pushed.
    pub contended: usize,
}

impl Chain {
    /// No links.
    pub const fn empty() -> Self {
        Self {
            oldest: ptr::null_mut(),
            newest: ptr::null_mut(),
            len: 0,
            only_messages: true,
            contended: 0,
        }
    }

    /// Turns a stack of links round.
    ///
    /// # Safety
    /// The caller owns every link of the stack and gives them away.
    #[inline]
    pub unsafe fn turn_round(newest: *mut Link) -> Self {
        let (mut oldest, mut rest, mut len) = (ptr::null_mut(), newest, 0);
        let mut tags = 0;
        while let Some(link) = NonNull::new(rest) {
            // SAFETY: the stack is the caller's.
            unsafe {
                rest = link.as_ref().next();
                tags |= link.as_ref().tags();
                link.as_ref().set_next(oldest);
            }
            oldest = link.as_ptr();
            len += 1;
        }
        let only_messages = tags & SIGNAL == 0;
        // SAFETY: the chain is the caller's.
        let contended = if tags & CONTENDED == 0 { 0 } else { unsafe { count_contended(oldest) } };
        Self { oldest, newest, len, only_messages, contended }
    }

    /// Adds another chain behind this one.
    #[inline]
    pub fn append(&mut self, later: Self) {
        if later.len == 0 {
            return;
        }
        match NonNull::new(self.newest) {
            None => self.oldest = later.oldest,
            // SAFETY: a chain owns its links.
            Some(newest) => unsafe { newest.as_ref().set_next(later.oldest) },
        }
        self.newest = later.newest;
        self.len += later.len;
        self.only_messages &= later.only_messages;
        self.contended += later.contended;
    }
}

/// WHY a second walk: it is for crowds only, and the links are in this core's cache by now.
///
/// # Safety
/// The caller owns every link of the chain.
#[cold]
unsafe fn count_contended(oldest: *mut Link) -> usize {
    let (mut rest, mut contended) = (oldest, 0);
    while let Some(link) = NonNull::new(rest) {
        // SAFETY: the chain is the caller's.
        unsafe {
            rest = link.as_ref().next();
            contended += usize::from(link.as_ref().tags() & CONTENDED != 0);
        }
    }
    contended
}
