//! Save queue: received messages in order, and the cursor of a selective receive. Priority messages
//! come first, see `priority`. A receive for a reference begins at a receive marker, see `markers`.
//!
//! Accessed by the owning process only. Each operation is a few pointer writes; none runs user
//! code.
//!
//! INVARIANT: `cursor` is null, the anchor of the priority part, or a header of this list that stays
//! in the list until the cursor moves. Headers are removed only directly behind the cursor, at the
//! front, which resets it, or by `take_oldest_unmarked`, which moves a cursor at a removed header back
//! to the header before it.
//!
//! INVARIANT: the anchors of the markers are headers of this list, or of the messages that a detour
//! has taken out of it. A caller of `pop` or `take_next` that gets an anchor calls `move_markers`
//! next, or uses the list only to empty it.

use std::ptr::{self, NonNull};

use crate::inbox::batch::Batch;
use crate::inbox::header::{Header, MARKED};
use crate::inbox::markers::Markers;
use crate::inbox::priority::{PriorityPart, has_priority};

/// Save queue: received messages, oldest first.
#[derive(Debug)]
pub(crate) struct SaveQueue {
    pub(super) oldest: *mut Header,
    pub(super) newest: *mut Header,
    /// The last message that a selective receive skipped; null at the start of a scan.
    pub(super) cursor: *mut Header,
    /// Null until a marker is placed behind a message, or a priority message is inserted.
    pub(super) positions: *mut Positions,
}

/// Receive markers and priority part of a save queue.
///
/// COST: one block of 168 bytes, allocated when first needed and freed with the extension.
pub(super) struct Positions {
    pub(super) markers: Markers,
    pub(super) priority: PriorityPart,
}

impl SaveQueue {
    pub(crate) const fn new() -> Self {
        let null = ptr::null_mut();
        Self { oldest: null, newest: null, cursor: null, positions: ptr::null_mut() }
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
    /// over its cursor and its markers. The other queue must not be used again.
    // WHY a reference: the queue is not copied once more.
    #[inline]
    pub(crate) fn prepend(&mut self, before: &mut Self) {
        if self.positions.addr() | before.positions.addr() != 0 {
            self.settle(before);
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
            // SAFETY: `header` and the cursor are in this list, which owns its headers. One that is
            // not marked leaves this list before it is given to the other.
            unsafe {
                if header.as_ref().tags() & MARKED != 0 {
                    self.skip(header);
                    continue;
                }
                self.take_next();
                self.move_markers(header);
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
        if !self.positions.is_null() {
            self.begin_detour();
        }
    }

    /// Restarts the scan at the oldest message.
    #[inline]
    pub(crate) fn rewind(&mut self) {
        self.cursor = ptr::null_mut();
    }

    /// Places a marker behind the newest message. A queue without ordinary messages needs none: a
    /// scan from the oldest message examines no older ones.
    pub(crate) fn place_marker(&mut self, number: u64) {
        if let Some(newest) = NonNull::new(self.newest)
            // SAFETY: the list owns its headers.
            && unsafe { !has_priority(newest.as_ptr()) }
        {
            let positions = self.allocate_positions();
            // SAFETY: the list owns its headers. Only this queue points to the positions, and nothing
            // to the markers in them.
            unsafe { (*positions).markers.place(number, newest) };
        }
    }

    /// Restarts the scan at the marker with this number, or without such a marker at the oldest
    /// message. All priority messages are examined first.
    pub(crate) fn rewind_to(&mut self, number: u64) {
        self.cursor = ptr::null_mut();
        if !self.positions.is_null() {
            // SAFETY: as in `place_marker`.
            self.cursor = unsafe { (*self.positions).markers.find(number) };
            self.detour_to_priority();
        }
    }

    /// Moves the markers of the header that `pop` or `take_next` has just removed.
    #[cold]
    #[inline(never)]
    pub(crate) fn move_markers(&mut self, removed: NonNull<Header>) {
        if !self.positions.is_null() {
            let before = self.ordinary_before();
            // SAFETY: as in `place_marker`; `before` is null or a header that the list owns.
            unsafe { (*self.positions).markers.moved(removed, before) };
        }
    }

    /// Returns the positions, and allocates them at the first call.
    #[cold]
    pub(super) fn allocate_positions(&mut self) -> *mut Positions {
        if self.positions.is_null() {
            let positions = Positions { markers: Markers::new(), priority: PriorityPart::new() };
            self.positions = Box::into_raw(Box::new(positions));
        }
        self.positions
    }

    /// Frees the markers and the priority part.
    pub(crate) fn free_positions(&mut self) {
        let positions = std::mem::replace(&mut self.positions, ptr::null_mut());
        if !positions.is_null() {
            // SAFETY: the positions came from a box, and only this queue points to them.
            drop(unsafe { Box::from_raw(positions) });
        }
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

    /// Moves the cursor past the messages for which `skips` returns `true`. Returns the next one.
    #[inline(always)]
    pub(crate) fn skip_while(
        &mut self,
        mut skips: impl FnMut(NonNull<Header>) -> bool,
    ) -> Option<NonNull<Header>> {
        let mut cursor = self.cursor;
        let mut next = self.peek_next();
        while let Some(header) = next
            && skips(header)
        {
            cursor = header.as_ptr();
            // SAFETY: the header is in this list, which owns its headers.
            next = NonNull::new(unsafe { header.as_ref().next_mostly_untagged() });
        }
        self.cursor = cursor;
        next
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
                self.move_markers(here);
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

#[cfg(all(test, not(loom)))]
mod tests;
