//! The owner's end of an inbox: what was received, in order, and how far a selective receive has
//! looked.
//!
//! Only the owner touches it. Each operation is a few pointer writes; none runs user code.
//!
//! INVARIANT: `cursor` is null or a link of this list that stays in it until the cursor moves:
//! links leave the list only behind the cursor, or at the front with the cursor reset if it was there.

use std::ptr::{self, NonNull};

use crate::chain::Chain;
use crate::link::Link;

/// Received links, oldest first.
pub(crate) struct Fifo {
    oldest: *mut Link,
    newest: *mut Link,
    /// The last link that a selective receive has passed over; null: none yet.
    cursor: *mut Link,
}

impl Fifo {
    pub(crate) const fn new() -> Self {
        Self { oldest: ptr::null_mut(), newest: ptr::null_mut(), cursor: ptr::null_mut() }
    }

    /// Adds a link at the end.
    ///
    /// # Safety
    /// The caller owns the link and gives it away.
    #[inline]
    pub(crate) unsafe fn append(&mut self, link: NonNull<Link>) {
        let last = self.newest;
        // SAFETY: the link is ours now; `last` is null or a link of this list.
        unsafe { self.insert(last, link) }
    }

    /// Adds a chain at the end.
    ///
    /// # Safety
    /// The caller owns the chain and gives it away.
    #[inline]
    pub(crate) unsafe fn append_all(&mut self, arrived: &Chain) {
        if arrived.len == 0 {
            return;
        }
        match NonNull::new(self.newest) {
            None => self.oldest = arrived.oldest,
            // SAFETY: it is a link of this list, which owns its links.
            Some(last) => unsafe { last.as_ref().set_next(arrived.oldest) },
        }
        self.newest = arrived.newest;
    }

    /// Takes the oldest link; a scan under way starts again.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<NonNull<Link>> {
        self.cursor = ptr::null_mut();
        self.take_next()
    }

    /// Takes the oldest link; a scan under way goes on where it was.
    pub(crate) fn shift(&mut self) -> Option<NonNull<Link>> {
        let cursor = std::mem::replace(&mut self.cursor, ptr::null_mut());
        let oldest = self.take_next()?;
        if cursor != oldest.as_ptr() {
            self.cursor = cursor;
        }
        Some(oldest)
    }

    /// Begins a scan at the oldest link.
    #[inline]
    pub(crate) fn rewind(&mut self) {
        self.cursor = ptr::null_mut();
    }

    /// Takes the link behind the cursor.
    #[inline]
    pub(crate) fn take_next(&mut self) -> Option<NonNull<Link>> {
        let behind = if self.cursor.is_null() {
            self.oldest
        } else {
            // SAFETY: the cursor is a link of this list, and the list is the owner's.
            unsafe { (*self.cursor).next() }
        };
        let link = NonNull::new(behind)?;
        // SAFETY: `link` is in this list, which owns its links.
        let rest = unsafe { link.as_ref().next() };
        if self.cursor.is_null() {
            self.oldest = rest;
        } else {
            // SAFETY: the cursor is a link of this list.
            unsafe { (*self.cursor).set_next(rest) };
        }
        if rest.is_null() {
            self.newest = self.cursor;
        }
        Some(link)
    }

    /// Takes the first link of which `is_it` is so; a scan under way starts again.
    pub(crate) fn take_first(
        &mut self,
        mut is_it: impl FnMut(NonNull<Link>) -> bool,
    ) -> Option<NonNull<Link>> {
        self.rewind();
        let mut link = NonNull::new(self.oldest);
        while let Some(here) = link {
            if is_it(here) {
                let found = self.take_next();
                self.rewind();
                return found;
            }
            self.cursor = here.as_ptr();
            // SAFETY: the link is in this list, which owns its links.
            link = NonNull::new(unsafe { here.as_ref().next() });
        }
        self.rewind();
        None
    }

    /// Puts a link back where the cursor is and passes over it.
    ///
    /// # Safety
    /// The caller owns the link and gives it away.
    #[inline]
    pub(crate) unsafe fn put_back(&mut self, link: NonNull<Link>) {
        // SAFETY: the link is ours now; the cursor is null or a link of this list.
        unsafe { self.insert(self.cursor, link) };
        self.cursor = link.as_ptr();
    }

    /// # Safety
    /// The caller gives `link` away; `before` is null or a link of this list.
    #[inline]
    unsafe fn insert(&mut self, before: *mut Link, link: NonNull<Link>) {
        let after = if before.is_null() {
            std::mem::replace(&mut self.oldest, link.as_ptr())
        } else {
            // SAFETY: `before` is a link of this list, which owns its links.
            unsafe {
                let after = (*before).next();
                (*before).set_next(link.as_ptr());
                after
            }
        };
        // SAFETY: the link is ours by the contract.
        unsafe { link.as_ref().set_next(after) };
        if after.is_null() {
            self.newest = link.as_ptr();
        }
    }
}
