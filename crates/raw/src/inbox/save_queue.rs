//! Save queue: received messages in order, and the cursor of a selective receive. Priority messages
//! come first, see `priority`.
//!
//! Accessed by the owning process only. Each operation is a few pointer writes; none runs user
//! code.
//!
//! INVARIANT: `cursor` is null, the anchor of the priority part, or a header of this list that stays
//! in the list until the cursor moves. Headers are removed only directly behind the cursor, at the
//! front, which resets it, or by `take_oldest_unmarked`, which moves a cursor at a removed header back
//! to the header before it.

use std::ptr::{self, NonNull};

use crate::inbox::batch::Batch;
use crate::inbox::header::{Header, MARKED};
use crate::inbox::priority::PriorityPart;

/// Save queue: received messages, oldest first.
#[derive(Debug)]
pub(crate) struct SaveQueue {
    pub(super) oldest: *mut Header,
    pub(super) newest: *mut Header,
    /// The last message that a selective receive skipped; null at the start of a scan.
    pub(super) cursor: *mut Header,
    /// Null until a priority message is inserted.
    pub(super) priority: *mut PriorityPart,
}

impl SaveQueue {
    pub(crate) const fn new() -> Self {
        Self {
            oldest: ptr::null_mut(),
            newest: ptr::null_mut(),
            cursor: ptr::null_mut(),
            priority: ptr::null_mut(),
        }
    }

    /// Appends a message.
    ///
    /// # Safety
    /// The caller owns the header and gives it away.
    #[inline]
    pub(crate) unsafe fn append(&mut self, header: NonNull<Header>) {
        // SAFETY: the caller gave the header away.
        unsafe { header.as_ref().set_next(ptr::null_mut()) };
        match NonNull::new(self.newest) {
            None => self.oldest = header.as_ptr(),
            // SAFETY: `newest` is a header of this list, which owns its headers.
            Some(last) => unsafe { last.as_ref().set_next(header.as_ptr()) },
        }
        self.newest = header.as_ptr();
    }

    /// Appends a batch.
    ///
    /// # Safety
    /// The caller owns the batch, which is not empty, and gives it away.
    #[inline]
    pub(crate) unsafe fn append_all(&mut self, arrived: &Batch) {
        match NonNull::new(self.newest) {
            None => self.oldest = arrived.oldest,
            // SAFETY: `last` is a header of this list, which owns its headers.
            Some(last) => unsafe { last.as_ref().set_next(arrived.oldest) },
        }
        self.newest = arrived.newest;
    }

    /// Puts the messages of another queue, whose scan has ended, before those of this one, and takes
    /// over its cursor. The other queue must not be used again.
    // WHY a reference: the queue is not copied once more.
    #[inline]
    pub(crate) fn prepend(&mut self, before: &mut Self) {
        if self.priority.addr() | before.priority.addr() != 0 {
            self.settle_priority(before);
        }
        match NonNull::new(before.newest) {
            None => before.oldest = self.oldest,
            // SAFETY: `last` is a header of that queue, which owns its headers.
            Some(last) => unsafe { last.as_ref().set_next(self.oldest) },
        }
        if !self.newest.is_null() {
            before.newest = self.newest;
        }
        *self = Self { ..*before };
    }

    /// Removes the oldest message and restarts the current scan.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<NonNull<Header>> {
        self.cursor = ptr::null_mut();
        self.take_next()
    }

    /// Removes the oldest messages that are not marked, at most `limit`; the current scan continues
    /// where it was.
    pub(crate) fn take_oldest_unmarked(&mut self, limit: u64) -> Self {
        let mut scanned_to = std::mem::replace(&mut self.cursor, ptr::null_mut());
        let (mut taken, mut left) = (Self::new(), limit);
        while left > 0
            && let Some(header) = self.peek_next()
        {
            // SAFETY: `header` is in this list, which owns its headers. One that is not marked
            // leaves this list before it is given to the other.
            unsafe {
                if header.as_ref().tags() & MARKED != 0 {
                    self.skip(header);
                    continue;
                }
                self.take_next();
                taken.append(header);
            }
            left -= 1;
            if scanned_to == header.as_ptr() {
                scanned_to = self.cursor;
            }
            self.resume_before(header);
        }
        self.cursor = scanned_to;
        taken
    }

    /// Prepares for examining the messages behind the cursor.
    #[inline]
    pub(crate) fn begin_scan(&mut self) {
        if !self.priority.is_null() {
            self.begin_detour();
        }
    }

    /// Restarts the scan at the oldest message.
    #[inline]
    pub(crate) fn rewind(&mut self) {
        self.cursor = ptr::null_mut();
    }

    /// Returns the message behind the cursor.
    #[inline]
    pub(crate) fn peek_next(&self) -> Option<NonNull<Header>> {
        NonNull::new(if self.cursor.is_null() {
            self.oldest
        } else {
            // SAFETY: the cursor is a header of this list, and only the owning process accesses the
            // list.
            unsafe { (*self.cursor).next() }
        })
    }

    /// Moves the cursor past the message behind it.
    ///
    /// # Safety
    /// `header` is that message.
    #[inline]
    pub(crate) unsafe fn skip(&mut self, header: NonNull<Header>) {
        self.cursor = header.as_ptr();
    }

    /// Removes the message behind the cursor.
    #[inline]
    pub(crate) fn take_next(&mut self) -> Option<NonNull<Header>> {
        let header = self.peek_next()?;
        // SAFETY: `header` is in this list, which owns its headers.
        let rest = unsafe { header.as_ref().next() };
        if self.cursor.is_null() {
            self.oldest = rest;
        } else {
            // SAFETY: the cursor is a header of this list.
            unsafe { (*self.cursor).set_next(rest) };
        }
        if rest.is_null() {
            self.newest = self.cursor;
        }
        Some(header)
    }

    /// Removes the first message for which `is_it` returns `true`; restarts the current scan.
    pub(crate) fn take_first_matching(
        &mut self,
        mut is_it: impl FnMut(NonNull<Header>) -> bool,
    ) -> Option<NonNull<Header>> {
        self.rewind();
        let mut header = NonNull::new(self.oldest);
        while let Some(here) = header {
            if is_it(here) {
                let found = self.take_next();
                self.find_last_priority();
                self.rewind();
                return found;
            }
            self.cursor = here.as_ptr();
            // SAFETY: the header is in this list, which owns its headers.
            header = NonNull::new(unsafe { here.as_ref().next() });
        }
        self.rewind();
        None
    }
}
