//! Batch of signals taken from the inbox, in the order of arrival.
//!
//! The inbox yields stacks, newest first; the receiver reverses each stack once. Only the owner of
//! the headers may call. Never allocates and never runs user code.
//!
//! COST: one read and one write per header, which brings the envelope into this core's cache.

use std::ptr::{self, NonNull};

use crate::inbox::header::{CONTENDED, Header, SIGNAL};

/// Batch: singly linked list of headers, oldest first.
#[derive(Debug)]
pub struct Batch {
    /// The oldest header, or null.
    pub oldest: *mut Header,
    /// The newest header, or null.
    pub newest: *mut Header,
    /// Number of headers.
    pub len: usize,
    /// Whether all signals are messages.
    pub only_messages: bool,
    /// Number of contended pushes.
    pub contended: usize,
}

impl Batch {
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

    /// Appends a header.
    ///
    /// # Safety
    /// The caller owns the batch and the header, and gives the header away.
    pub(crate) unsafe fn push(&mut self, header: NonNull<Header>) {
        // SAFETY: by the contract.
        unsafe {
            self.only_messages &= header.as_ref().tags() & SIGNAL == 0;
            header.as_ref().set_next(ptr::null_mut());
            match NonNull::new(self.newest) {
                Some(newest) => newest.as_ref().set_next(header.as_ptr()),
                None => self.oldest = header.as_ptr(),
            }
        }
        self.newest = header.as_ptr();
        self.len += 1;
    }

    /// Removes the header behind `before`, or the oldest header if `before` is null.
    ///
    /// # Safety
    /// The caller owns the batch, and `before` is one of its headers.
    pub(crate) unsafe fn take_after(&mut self, before: *mut Header) -> Option<NonNull<Header>> {
        // SAFETY: by the contract.
        unsafe {
            let taken = match NonNull::new(before) {
                Some(before) => NonNull::new(before.as_ref().next())?,
                None => NonNull::new(self.oldest)?,
            };
            match NonNull::new(before) {
                Some(before) => before.as_ref().set_next(taken.as_ref().next()),
                None => self.oldest = taken.as_ref().next(),
            }
            if self.newest == taken.as_ptr() {
                self.newest = before;
            }
            self.len -= 1;
            Some(taken)
        }
    }

    /// Reverses a stack of headers.
    ///
    /// # Safety
    /// The caller owns every header of the stack and gives them away.
    #[inline]
    pub unsafe fn reverse(newest: *mut Header) -> Self {
        let (mut oldest, mut rest, mut len) = (ptr::null_mut(), newest, 0);
        let mut tags = 0;
        while let Some(header) = NonNull::new(rest) {
            // SAFETY: the caller owns the stack.
            unsafe {
                rest = header.as_ref().next();
                tags |= header.as_ref().tags();
                header.as_ref().set_next(oldest);
            }
            oldest = header.as_ptr();
            len += 1;
        }
        let only_messages = tags & SIGNAL == 0;
        // SAFETY: the caller owns the stack.
        let contended = if tags & CONTENDED == 0 { 0 } else { unsafe { count_contended(oldest) } };
        Self { oldest, newest, len, only_messages, contended }
    }

    /// Appends a batch.
    ///
    /// # Safety
    /// The caller owns both batches and gives `later` away.
    #[inline]
    pub unsafe fn append(&mut self, later: Self) {
        if later.len == 0 {
            return;
        }
        match NonNull::new(self.newest) {
            None => self.oldest = later.oldest,
            // SAFETY: by the contract.
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
unsafe fn count_contended(oldest: *mut Header) -> usize {
    let (mut rest, mut contended) = (oldest, 0);
    while let Some(header) = NonNull::new(rest) {
        // SAFETY: the caller owns the batch.
        unsafe {
            rest = header.as_ref().next();
            contended += usize::from(header.as_ref().tags() & CONTENDED != 0);
        }
    }
    contended
}
